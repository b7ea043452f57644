"""Bins found before a plan: where they lie, what they cost, and that careless bounds do no harm."""

from fractions import Fraction

import numpy as np
import pytest

from veil import Ledger, NaiveBayesClassifier, PrivatePipeline, PrivateSelectKBest, load_model, open_source
from veil.errors import BadInput
from veil.kernel import Budget
from veil.models import METHODS
from veil.plans.finding.binnings import CUTS, ways_to_cut
from veil.plans.finding.bins import choices, number_of_cells
from veil.plans.finding.search import Search, search, widest
from veil.plans.run import opened, run
from veil.questions import axis
from veil.schema import Categorical, Numeric, Schema
from veil.schema.fine import finest

BINNING = ("naive-bayes", "logistic", "svm", "tree", "forest", "privpfc", "projected")


def careless(top=10**6, **more):
    """A schema of three numeric columns and a category, with bounds up to `top`."""
    numbers = [Numeric(name=name, bounds=(0, top), **more) for name in ("height", "weight")]
    return Schema(
        name="people",
        label="sex",
        column=[
            *numbers,
            Numeric(name="income", bounds=(-top, top), integer=True, **more),
            Categorical(name="colour", values=("red", "blue")),
            Categorical(name="sex", values=("m", "f")),
        ],
    )


@pytest.fixture(scope="module")
def people():
    chance = np.random.default_rng(5)
    sex = chance.integers(2, size=4000)
    return {
        "height": chance.normal(165 + 12 * sex, 7),
        "weight": chance.normal(65 + 12 * sex, 9),
        "income": np.round(chance.lognormal(7, 1, 4000)),
        "colour": chance.choice(["red", "blue"], 4000),
        "sex": np.where(sex, "m", "f"),
    }


def right(model, rows):
    return float(np.mean(model.predict(rows) == rows["sex"]))


@pytest.mark.parametrize("method", BINNING)
def test_careless_bounds_do_no_harm_and_the_epsilon_is_spent_exactly(people, method):
    tight, wide = careless(250), careless()
    found, public = (
        METHODS[method](epsilon="1/2", schema=schema, random_state=3).fit(people)
        for schema in (wide, careless(bins="public"))
    )
    assert found.outcome_.epsilon == public.outcome_.epsilon == Fraction(1, 2)
    assert right(found, people) > 0.83 > 0.75 > right(public, people)
    assert all(column.edges is not None for column in found.schema_.features[:3])
    assert METHODS[method](epsilon="1/2", schema=tight, random_state=3).fit(people).outcome_.epsilon == Fraction(1, 2)


def test_with_a_huge_epsilon_no_bin_is_crowded(people):
    model = NaiveBayesClassifier(epsilon=10**6, schema=careless(), random_state=1).fit(people)
    for column in model.schema_.features[:3]:
        counts = np.bincount(column.encode(people[column.name]))
        assert np.minimum(counts, 4000 / 16).sum() > 0.7 * 4000  # of 4000, if no bin may keep more than a sixteenth
        assert len(column.edges) <= 36 and column.edges[0] == column.bounds[0] and column.edges[-1] == column.bounds[1]


def test_class_totals_are_counted_once_and_columns_of_equal_bounds_choose_together(people):
    model = METHODS["logistic"](epsilon="0.1", schema=careless(), random_state=1).fit(people)
    verbs = [receipt.verb for receipt in model.receipts_]
    assert verbs == ["count", "choose_bins", "choose_bins", "minimise"]
    assert "height, weight" in model.receipts_[1].question
    assert model.outcome_.known == model.releases_[:1] == model.outcome_.searched[:1]
    assert sum(receipt.epsilon for receipt in model.receipts_[:-1]) + model.outcome_.left.epsilon - Fraction("0.1") == 0
    assert len(model.outcome_.answers) == 4


def test_too_few_rows_are_not_searched_and_only_their_number_is_paid_for(people):
    few = {name: values[:60] for name, values in people.items()}
    model = NaiveBayesClassifier(epsilon=1, schema=careless(), random_state=1).fit(few)
    assert [receipt.verb for receipt in model.receipts_].count("choose_bins") == 0
    assert model.receipts_[0].epsilon == Fraction(2, 100) and model.outcome_.epsilon == 1
    assert model.schema_ == careless()


def test_many_columns_and_few_rows_are_not_searched():
    columns = [Numeric(name=f"x{i}", bounds=(0, 1)) for i in range(300)]
    assert not [*choices(columns, Budget(1), 1000.0, 300, 80)]
    assert len([*choices(columns, Budget(1), 10000.0, 300, 80)]) == 1  # they choose together
    assert len([*choices(columns, Budget(1), 1e6, 300, 80)]) == 300
    assert [number_of_cells(base, 0.5) for base in (0, 100, 1000, 10**9)] == [4, 4, 16, 32]


@pytest.mark.parametrize("more", [{"bins": "public"}, {"bins": 8}, {"scale": "linear"}])
def test_declared_bins_are_kept_and_cost_nothing(people, more):
    model = NaiveBayesClassifier(epsilon=1, schema=careless(**more), random_state=1).fit(people)
    assert (
        model.schema_ == careless(**more)
        and {r.verb for r in model.receipts_} == {"count"}
        and not model.outcome_.searched
    )


def test_only_columns_that_are_used_are_searched(people):
    model = NaiveBayesClassifier(epsilon=1, schema=careless(), random_state=1, columns=["weight"]).fit(people)
    assert [column.edges is not None for column in model.schema_.features[:3]] == [False, True, False]


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("logistic", {"penalty": -1}),
        ("tree", {"depth": 0}),
        ("naive-bayes", {"smoothing": 0}),
        ("privpfc", {"pool": 0}),
    ],
)
def test_bad_settings_are_refused_before_the_search_is_charged(people, method, settings):
    ledger = Ledger(1, "people")
    with pytest.raises(BadInput):
        METHODS[method](epsilon=1, schema=careless(), ledger=ledger, **settings).fit(people)
    assert ledger.spent == 0


def test_models_with_found_bins_are_saved_and_drawn(people, tmp_path):
    model = METHODS["tree"](epsilon=2, schema=careless(), random_state=1).fit(people)
    model.save(tmp_path / "tree.veil")
    loaded = load_model(tmp_path / "tree.veil")
    assert np.array_equal(loaded.predict_proba(people), model.predict_proba(people))
    assert loaded.schema_ == model.schema_ and len(loaded.outcome_.searched) == len(model.outcome_.searched) > 1
    assert loaded.outcome_.left == model.outcome_.left and loaded.export_text() == model.export_text()


def test_a_pipeline_finds_bins_once(people):
    steps = [PrivateSelectKBest(k=2), NaiveBayesClassifier()]
    model = PrivatePipeline(steps, epsilon=2, schema=careless(), random_state=1).fit(people)
    verbs = [receipt.verb for receipt in model.receipts_]
    assert verbs.count("choose_bins") == len(model.outcome_.searched) - 1 == 3 and model.outcome_.epsilon == 2
    assert {*model.steps_[0].selected_} == {"height", "weight"} and right(model, people) > 0.83


def test_a_search_on_a_part_of_the_rows_protects_that_part(people):
    schema = careless()
    source = opened(people, schema, Budget(1), noise=1)
    parts = source.split_at_random(1, 1)
    for part in parts:
        NaiveBayesClassifier().fit_source(part, 1)
    assert {receipt.account.count("/") for receipt in source.record.receipts} == {1}


def test_a_plan_without_a_search_sees_public_bins(people):
    source = opened(people, careless(), Budget(1), noise=1)
    outcome = run(source, lambda source, budget: source.schema, Budget(1))
    assert outcome.made == careless() == outcome.schema and not outcome.searched


@pytest.mark.parametrize("bounds", [(0, 1), (0, 10**9), (-5, 10**4), (5, 9), (-9, -5), (-(10.0**300), 10.0**300)])
@pytest.mark.parametrize("integer", [False, True])
def test_every_way_to_cut_is_ascending_and_covers_all_cells(bounds, integer):
    column = Numeric(name="x", bounds=(bounds[0] * 9, bounds[1] * 9), integer=integer)
    fine = finest(column)
    if fine is column:
        pytest.skip("few values have a bin each")
    ways = ways_to_cut(fine, integer)
    assert ways.places.shape == (len(ways.alike), CUTS) == (len(ways.window), CUTS)
    assert np.all(np.diff(ways.places) >= 0) and np.all(np.diff(fine.cuts) > 0)
    assert np.all(ways.places[:, 0] == 0) and np.all(ways.places[:, -1] == len(fine.cuts) - 1)
    assert np.array_equal(np.unique(fine.cuts[ways.places[0]]), column.cuts)


HEAPED = Schema(name="heaped", column=[Numeric(name="age", bounds=(0, 99), integer=True)])
AGES = {"age": [30, 40, 50, 60] * 500}


@pytest.mark.parametrize(("epsilon", "each", "found"), [(10, 100, 100), (10, 99, None), (Fraction(1, 10), 100, None)])
def test_few_whole_numbers_have_a_bin_each_for_nothing_where_rows_allow_it(epsilon, each, found):
    ledger = Ledger(epsilon, "heaped")
    source = open_source(AGES, HEAPED, ledger, noise=1)
    budget = Budget(epsilon)
    made = search(source, budget, Search(each=each))
    assert (made.source.schema.get("age").size == 100 + 1) == (found is not None)
    paid = budget.epsilon - made.budget.epsilon
    assert paid == ledger.spent and (paid == budget.epsilon * Fraction(3, 100)) == (found is not None)
    if found:
        counts = made.source.count(axis(made.source.schema.get("age")), made.budget).value[:, 0]
        assert (np.argsort(counts)[-4:] % 10 == 0).all()
        assert widest(HEAPED, Search(each=each)).get("age").size == 100 + 1
