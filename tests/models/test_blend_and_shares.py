"""The blend of a regression and a grid, and the class shares alone."""

from fractions import Fraction

import numpy as np
import pytest

from veil import BlendClassifier, ClassSharesClassifier, Ledger, Linear, Schema, Sum, datasets, load_model

FLOWERS, IRIS = datasets.load("iris")


def test_with_a_huge_epsilon_the_shares_are_those_of_the_rows(fair):
    rows, schema = fair
    model = ClassSharesClassifier(epsilon=10**9, schema=schema, random_state=0).fit(rows)
    shares = rows[schema.label].value_counts(normalize=True)
    assert model.predict_proba(rows.head(3)) == pytest.approx(
        np.tile([shares[name] for name in model.classes_], (3, 1))
    )
    assert set(model.predict(rows)) == {shares.idxmax()} and len(model.releases_) == 1


def test_both_spend_exactly_their_budget():
    for kind in (BlendClassifier, ClassSharesClassifier):
        ledger = Ledger(1, IRIS.name)
        model = kind(epsilon="1/7", schema=IRIS, ledger=ledger, random_state=0).fit(FLOWERS)
        assert model.outcome_.epsilon == ledger.spent == Fraction(1, 7)


def test_a_blend_divides_what_is_left_by_two_to_one():
    model = BlendClassifier(epsilon=1, schema=IRIS, random_state=0).fit(FLOWERS)
    spent = {receipt.verb: receipt.epsilon for receipt in model.receipts_ if receipt.verb in ("minimise", "choose")}
    searched = {release.receipt.number: release.receipt.epsilon for release in model.searched_}
    rest = 1 - (sum(searched.values()) or model.receipts_[0].epsilon)
    assert spent["minimise"] == rest * 2 / 3 and spent["choose"] == rest / 12


def test_the_odds_of_a_blend_are_the_weighted_sum_of_its_parts():
    model = BlendClassifier(epsilon=10**6, schema=IRIS, random_state=0).fit(FLOWERS)
    assert isinstance(model.scorer_, Sum) and isinstance(model.scorer_.parts[0], Linear)
    codes = model.schema_.encode({name: FLOWERS[name] for name in FLOWERS if name != IRIS.label}, label=False)
    parts = [part.scores(codes) for part in model.scorer_.parts]
    assert np.array_equal(model.scorer_.scores(codes), sum(parts))
    assert (model.predict(FLOWERS) == FLOWERS[IRIS.label]).mean() > 0.9


def test_a_blend_is_saved_reported_and_loaded(tmp_path):
    model = BlendClassifier(epsilon=1, schema=IRIS, random_state=0).fit(FLOWERS)
    model.save(tmp_path / "b.veil")
    again = load_model(tmp_path / "b.veil")
    assert np.array_equal(again.predict_proba(FLOWERS), model.predict_proba(FLOWERS)) and "blend" in again.report()


def test_shares_of_one_class_are_certain():
    schema = Schema.loads(IRIS.to_toml())
    rows = FLOWERS[FLOWERS[IRIS.label] == "setosa"]
    model = ClassSharesClassifier(epsilon=10**6, schema=schema, random_state=0).fit(rows)
    assert model.predict_proba(rows).max() > 0.999
