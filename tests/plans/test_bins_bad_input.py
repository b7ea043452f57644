"""Finding bins withstands whatever is declared and whatever the rows hold: nothing warns or raises, and what is found
lies within the bounds."""

import warnings
from itertools import pairwise

import numpy as np
import pytest

from veil import (
    BadInput,
    Categorical,
    KDiscernibilitySelect,
    Ledger,
    LogisticRegressionClassifier,
    NaiveBayesClassifier,
    Numeric,
    PrivateSelectKBest,
    Schema,
)
from veil.errors import LittleLearned
from veil.plans.finding.search import widest
from veil.plans.linear import too_many

MODELS = (NaiveBayesClassifier, LogisticRegressionClassifier)
ROWS = 2000
CHANCE = np.random.default_rng(7)
NORMAL, TAIL = CHANCE.normal(size=ROWS), CHANCE.pareto(0.5, ROWS)
HUGE = 8e307  # of which twice is still a number

COLUMNS = {
    "both ends at the end of what numbers hold": ({"bounds": (-HUGE, HUGE)}, NORMAL),
    "values as huge as the bounds": ({"bounds": (-HUGE, HUGE)}, NORMAL * 1e307),
    "zero to 1e300": ({"bounds": (0, 1e300)}, np.abs(NORMAL)),
    "the largest number": ({"bounds": (0, 1.7e308)}, np.abs(NORMAL) * 1e300),
    "bounds forty steps apart": ({"bounds": (1, 1 + 1e-14)}, 1 + NORMAL * 1e-15),
    "bounds twenty steps apart": ({"bounds": (1, 1 + 5e-15)}, 1 + NORMAL * 1e-15),
    "tiny bounds": ({"bounds": (0, 1e-320)}, np.abs(NORMAL) * 1e-321),
    "all values equal": ({"bounds": (0, 1e6)}, np.full(ROWS, 17.0)),
    "all at the lower bound": ({"bounds": (0, 1e6)}, np.zeros(ROWS)),
    "all at the upper bound": ({"bounds": (0, 1e6)}, np.full(ROWS, 1e6)),
    "all beyond the bounds": ({"bounds": (0, 1e6)}, np.full(ROWS, np.inf)),
    "all missing": ({"bounds": (0, 1e6)}, np.full(ROWS, np.nan)),
    "no numbers at all": ({"bounds": (0, 1e6)}, np.array(["n/a", "", "x", None] * (ROWS // 4), object)),
    "whole numbers beyond 2^53": ({"bounds": (0, 2.0**60), "integer": True}, np.round(TAIL * 2.0**40)),
    "whole numbers beyond 2^53 below zero": ({"bounds": (-(2.0**63), 2.0**63), "integer": True}, NORMAL * 2.0**62),
    "a narrow range beyond 2^53": ({"bounds": (2.0**60, 2.0**60 + 2.0**14), "integer": True}, 2.0**60 + TAIL),
    "sixteen whole numbers": ({"bounds": (0, 16), "integer": True}, np.round(np.abs(NORMAL) * 5)),
    "a spike and a far tail": ({"bounds": (0, 1e9)}, np.where(np.arange(ROWS) % 10, 42.0, TAIL * 1e6)),
    "below zero": ({"bounds": (-1e6, -1)}, -np.abs(NORMAL) * 50 - 1),
    "below zero, whole": ({"bounds": (-1e6, -1), "integer": True}, np.round(-np.abs(NORMAL) * 50)),
    "around zero": ({"bounds": (-1e6, 1e6)}, NORMAL),
    "with a declared missing value": ({"bounds": (-1, 1e6), "missing": -1}, np.where(NORMAL > 0, np.nan, TAIL)),
    "with a missing value of no bin's own": ({"bounds": (0, 1e6), "missing": 77.5}, np.where(NORMAL > 0, np.nan, TAIL)),
}


def table(values, people=None):
    """Rows with one or more columns, and a label that has something to do with the first half of them."""
    columns = values if isinstance(values, dict) else {"x": values}
    rows = len(next(iter(columns.values())))
    labels = {"y": np.where(np.arange(rows) < rows // 2, "no", "yes")}
    return {**columns, **labels, **({} if people is None else {"who": people})}


def schema_of(*columns, **more):
    return Schema(name="t", label="y", column=(*columns, Categorical(name="y", values=("no", "yes"))), **more)


def fitted(model, schema, rows, epsilon=1):
    """A model and its report; to fit, predict and show it warns of nothing, except of little that was learned."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", LittleLearned)
        ledger = Ledger(epsilon, "t")
        made = model(epsilon=epsilon, schema=schema, ledger=ledger).fit(rows)
        assert ledger.spent == epsilon == made.outcome_.epsilon
        made.predict(rows), made._repr_html_()
        return made, made.report()


def check_edges(declared, found):
    """What was found has the bounds, type and missing value that were declared, and edges that increase."""
    for before, after in zip(declared.features, found.features, strict=True):
        assert (before.bounds, before.integer, before.missing) == (after.bounds, after.integer, after.missing)
        assert all(low < high for low, high in pairwise(after.cuts)) and np.isfinite(after.cuts).all()
        assert after.edges is None or (after.edges[0], after.edges[-1]) == before.bounds
        assert not before.integer or all(edge.is_integer() for edge in after.cuts)


@pytest.mark.parametrize("case", COLUMNS)
@pytest.mark.parametrize("model", MODELS)
def test_any_bounds_and_any_values_do_no_harm(model, case):
    declared, values = COLUMNS[case]
    schema = schema_of(Numeric(name="x", **declared))
    made, page = fitted(model, schema, table(values))
    check_edges(schema, made.schema_)
    assert any(release.receipt.verb == "choose_bins" for release in made.outcome_.searched)


@pytest.mark.parametrize("rows", [0, 1, 2])
@pytest.mark.parametrize("model", MODELS)
def test_hardly_any_rows_do_no_harm(model, rows):
    schema = schema_of(Numeric(name="x", bounds=(0, 1e6)), Numeric(name="z", bounds=(-1e6, 0), integer=True))
    made, page = fitted(model, schema, table({"x": NORMAL[:rows], "z": -TAIL[:rows]}))
    check_edges(schema, made.schema_)


@pytest.mark.parametrize("model", MODELS)
def test_rows_of_people_do_no_harm(model):
    schema = schema_of(Numeric(name="x", bounds=(0, 1e6)), person="who", rows_per_person=3)
    made, page = fitted(model, schema, table(np.abs(NORMAL) * 30, people=np.arange(ROWS) // 4))
    check_edges(schema, made.schema_)
    assert made.schema_.get("x").edges is not None


def many(columns):
    """A schema of so many columns, no two of them alike, and rows of it."""
    names = [f"x{place}" for place in range(columns)]
    schema = schema_of(*(Numeric(name=name, bounds=(0, 10 + place)) for place, name in enumerate(names)))
    return schema, table(dict.fromkeys(names, np.abs(NORMAL[:1000])))


@pytest.mark.parametrize(("model", "columns"), [(NaiveBayesClassifier, 300), (LogisticRegressionClassifier, 80)])
def test_too_many_columns_for_the_rows_are_not_searched_and_the_report_says_why(model, columns):
    schema, rows = many(columns)
    made, page = fitted(model, schema, rows)
    assert {release.receipt.verb for release in made.searched_} == {"count"}
    assert made.schema_ == schema
    assert "too few to find bins" in page


REFUSED = [
    (NaiveBayesClassifier, {"smoothing": -1}, 2),
    (LogisticRegressionClassifier, {"penalty": -1}, 2),
    (LogisticRegressionClassifier, {}, 300),
    (PrivateSelectKBest, {"k": 1, "score": "nothing"}, 2),
    (KDiscernibilitySelect, {"k": -1}, 2),
]


@pytest.mark.parametrize(("model", "settings", "columns"), REFUSED)
def test_what_a_plan_refuses_is_refused_before_the_search_is_paid_for(model, settings, columns):
    schema, rows = many(columns)
    ledger = Ledger(1, "t")
    with pytest.raises(BadInput):
        model(epsilon=1, schema=schema, ledger=ledger, **settings).fit(rows)
    assert ledger.spent == 0


def test_bins_are_not_searched_where_those_that_are_found_could_be_too_many_to_fit():
    schema, _ = many(200)
    model = LogisticRegressionClassifier(schema=schema)
    assert not too_many(schema) and too_many(widest(schema, model.search))
    assert model.search_for(schema) is None and NaiveBayesClassifier().search_for(schema) is not None
