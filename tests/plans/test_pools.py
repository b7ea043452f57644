"""Pools: rare categories share a code, frequent ones stand alone, and nothing is spent where it cannot pay."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from veil import (
    Categorical,
    Ledger,
    LogisticRegressionClassifier,
    NaiveBayesClassifier,
    Schema,
    load_model,
    open_source,
)
from veil.kernel import Budget
from veil.plans.finding.pools import candidates, find_pools
from veil.plans.finding.search import Search, search
from veil.plans.finish import column_shares
from veil.plans.linear import logistic_regression
from veil.plans.naive_bayes import naive_bayes

CODES = [f"D{code:04}" for code in range(400)]
FREQUENT = {"D0007": 3000, "D0100": 2000, "D0399": 1000}


def schema_of(**fields: Any) -> Schema:
    columns = [Categorical(name="code", values=CODES, **fields), Categorical(name="y", values=["no", "yes"])]
    return Schema(name="t", label="y", column=columns)


def made_rows() -> dict[str, Any]:
    """Three frequent codes and 3,000 rows of all others, of which the even ones are "no" and the odd ones "yes"."""
    codes = [code for code, times in FREQUENT.items() for _ in range(times)]
    codes += [CODES[place % 400] for place in range(3000)]
    return {"code": codes, "y": ["yes" if int(code[1:]) % 2 else "no" for code in codes]}


def opened(schema: Schema, rows: Any = None, limit: Any = 10**6) -> Any:
    return open_source(made_rows() if rows is None else rows, schema, Ledger(limit, "t"), noise=3)


def test_frequent_values_stand_alone_and_rare_ones_are_pooled_with_those_of_like_classes() -> None:
    source, budget = opened(schema_of()), Budget("0.04")
    (column,), spent = find_pools(source, budget, 9000, source.schema.features, 1000)
    assert {*FREQUENT} <= {*column.declared} and len(column.declared) < 30
    assert sorted([*column.declared[: -len(column.pools)], *sum(column.pools.values(), ())]) == CODES
    assert 0 < spent < budget.epsilon and source.record.receipts[-1].epsilon == spent
    recoded = source.recode(column)
    assert naive_bayes(recoded, budget).classes == logistic_regression(recoded, budget).classes == 2


def test_with_little_noise_a_pool_holds_values_of_one_class() -> None:
    from veil.plans.finding.pools import pooled
    from veil.questions import axis

    rare = {"code": [code for code in CODES for _ in range(5)]}
    source = opened(schema_of(), {**rare, "y": ["yes" if int(code[1:]) % 2 else "no" for code in rare["code"]]})
    column = pooled(source.schema.get("code"), source.count(axis(source.schema.get("code")), Budget(1)), 1000)
    shares = [np.mean([int(value[1:]) % 2 for value in part]) for part in column.pools.values()]
    assert len(column.pools) == 4 and max(shares) > 0.85 and min(shares) < 0.15
    assert column.groups is not None and len(column.levels) > 2


def test_nothing_is_spent_and_all_are_pooled_where_no_value_could_stand_out() -> None:
    source = opened(schema_of())
    (column,), spent = find_pools(source, Budget("0.001"), 9000, source.schema.features, 1000)
    assert spent == Fraction(0) and not source.record.receipts and len(column.declared) == 1


@pytest.mark.parametrize("fields", [{"groups": {"g": CODES}}, {"pools": {"p": CODES[9:]}}, {"levels": [2, 4]}])
def test_declared_groups_and_pools_are_left_alone(fields: dict[str, Any]) -> None:
    source = opened(schema_of(**fields))
    assert candidates(source.schema.features) == []
    assert find_pools(source, Budget("0.04"), 9000, source.schema.features, 1000) == ([], Fraction(0))


def test_values_that_the_budget_can_tell_apart_are_left_alone() -> None:
    source = opened(schema_of())
    assert find_pools(source, Budget(10), 9000, source.schema.features, 1000) == ([], Fraction(0))
    assert (
        find_pools(source, Budget(1), -50, source.schema.features, 1000)[1] == 0
    )  # a noisy number of rows may be negative


def test_a_pool_has_a_name_that_no_value_has() -> None:
    values = [*CODES, "(pool 1)", "(pool 2)'"]
    schema = Schema(name="t", label="y", column=[Categorical(name="code", values=values), schema_of().column[1]])
    source = opened(schema)
    (column,), _ = find_pools(source, Budget("0.001"), 9000, source.schema.features, 1000)
    assert set(column.pools) & set(values) == set()


def test_a_model_of_pooled_values_is_kept_in_files_and_predicts_raw_values(tmp_path: Path) -> None:
    pooled = schema_of(pools={"rare": [code for code in CODES if code not in FREQUENT]})
    model = NaiveBayesClassifier(epsilon=5, schema=pooled, random_state=1).fit(made_rows())
    model.save(tmp_path / "m.veil")
    raw = {"code": ["D0007", "D0100", "D0001", "D0002", "nobody knows it"]}
    again = load_model(tmp_path / "m.veil")
    assert again.predict(raw)[:2].tolist() == ["yes", "no"] and again.schema_ == model.schema_
    assert (again.predict_proba(raw) == model.predict_proba(raw)).all()
    assert (again.predict_proba(raw)[2] == again.predict_proba(raw)[3]).all()


def test_a_column_of_many_values_does_not_starve_the_others() -> None:
    shares = np.array(column_shares([5000, *[16] * 15]))
    assert shares[0] / shares.sum() == pytest.approx(0.25, abs=0.001)
    assert column_shares([2, 3]) == [159, 208] and column_shares([5000] * 9) == [column_shares([5000])[0]] * 9


@pytest.mark.parametrize("epsilon", ["1/3", 100])
def test_a_table_of_long_lists_alone_leaves_something_for_the_plan(epsilon: Any) -> None:
    source = opened(schema_of())
    found = search(source, Budget(epsilon), Search(values=50))
    spent = sum(receipt.epsilon for receipt in source.record.receipts)
    assert spent + found.budget.epsilon == Budget(epsilon).epsilon and spent <= found.budget.epsilon * 2


def test_people_are_told_that_values_were_pooled():
    codes = tuple(f"c{i}" for i in range(2000))
    schema = Schema(
        name="codes",
        label="y",
        column=[Categorical(name="code", values=codes), Categorical(name="y", values=("a", "b"))],
    )
    rows = {"code": ["c1", "c2", "c3"] * 400, "y": ["a", "b", "b"] * 400}
    model = LogisticRegressionClassifier(epsilon=2, schema=schema, random_state=1).fit(rows)
    assert model.outcome_.epsilon == 2 and "rare values of 1 column pooled for epsilon" in model._summary()
