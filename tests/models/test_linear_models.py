"""Linear models: files, settings and the command line treat them as any other."""

import warnings

import numpy as np
import pytest

from veil import (
    AutoClassifier,
    BadInput,
    Ledger,
    LinearSVMClassifier,
    LittleLearned,
    LogisticRegressionClassifier,
    Numeric,
    PrivatePipeline,
    datasets,
    load_model,
)

KINDS = [LogisticRegressionClassifier, LinearSVMClassifier]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["fair", "iris"])
def test_a_saved_model_predicts_the_same(kind, name, tmp_path):
    rows, schema = datasets.load(name)
    model = kind(epsilon=1, schema=schema, penalty=5).fit(rows)
    model.save(tmp_path / "m.veil")
    back = load_model(tmp_path / "m.veil")
    assert type(back) is kind and back.penalty == 5 and back.private_
    assert (back.predict_proba(rows) == model.predict_proba(rows)).all()
    assert [release.receipt for release in back.releases_] == [release.receipt for release in model.releases_]
    assert all((a.value == b.value).all() for a, b in zip(back.releases_, model.releases_, strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_more_budget_comes_closer_to_the_truth(kind):
    rows, schema = datasets.load("fair")
    best = kind(epsilon=10**6, schema=schema, random_state=0).fit(rows).predict(rows)
    agree = [
        np.mean(
            [(kind(epsilon=e, schema=schema, random_state=s).fit(rows).predict(rows) == best).mean() for s in range(4)]
        )
        for e in (0.05, 1, 100)
    ]
    assert agree == sorted(agree) and agree[-1] > 0.97


@pytest.mark.parametrize("kind", [*KINDS, AutoClassifier])
@pytest.mark.parametrize("most", [1, 5, 20])
def test_the_weights_of_people_are_judged_as_those_of_rows(kind, most):
    """By the levels that were asked for, which people with many rows can pay fewer of."""
    rows, schema = datasets.load("fair")
    columns = (*schema.column, Numeric(name="wage", bounds=(0, 100), bins=50), Numeric(name="tax", bounds=(0, 100)))
    people = schema.model_copy(update={"person": "who", "rows_per_person": most, "column": columns})
    chance = np.random.default_rng(0)
    known = rows.assign(who=np.arange(len(rows)) // most, wage=chance.random(len(rows)) * 100, tax=30)
    for epsilon in (0.3, 1, 30):
        made = kind(epsilon=epsilon, schema=people, random_state=0, ledger=Ledger(epsilon, "fair"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LittleLearned)
            made.fit(known)
        assert made.verdict_.level != "unknown" and "another version" not in made.report()


@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_penalty_is_refused_before_anything_is_charged(kind):
    rows, schema = datasets.load("fair")
    with pytest.raises(BadInput, match="penalty"):
        kind(epsilon=1, schema=schema, penalty=-1).fit(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_shows_what_was_asked(kind):
    rows, schema = datasets.load("iris")
    model = kind(epsilon=1, schema=schema).fit(rows)
    assert "minimise" in model._repr_html_() and "sepal" in model._repr_html_()
    assert [release.receipt.verb for release in model.rehearse()][:2] == ["count", "minimise"]
    assert "minimise" in repr(model.releases_[-1]) and "petal" in repr(model.releases_[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_margins_decide_as_scikit_learn_has_them(kind):
    for name, classes in (("fair", 2), ("iris", 3)):
        rows, schema = datasets.load(name)
        model = kind(epsilon=10, schema=schema).fit(rows)
        margins, found = model.decision_function(rows), model.predict(rows)
        decided = (margins > 0).astype(int) if classes == 2 else margins.argmax(axis=1)
        assert margins.shape == ((len(rows),) if classes == 2 else (len(rows), 3))
        assert (model.classes_[decided] == found).all()
        whole = PrivatePipeline([kind()], epsilon=1, schema=schema).fit(rows)
        assert whole.decision_function(rows).shape == margins.shape
