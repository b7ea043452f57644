"""Judging choosers: regret against hindsight and against fair hindsight, on families left out."""

import numpy as np
import pandas as pd
import pytest

from experiments.choice import collect, databases, judge, ship
from veil.choice import classifiers
from veil.choice.traces import Traces


def traces(quality, families):
    number = len(families)
    return Traces(
        tuple(f"table{place} 1" for place in range(number)),
        tuple(families),
        ("signal",),
        ("one", "other"),
        np.arange(number, dtype=float)[:, None],
        {measure: np.array(quality, float) for measure in judge.MEASURES},
    )


def test_regret_is_what_the_best_mean_over_seeds_is_ahead():
    judged = traces([[0.6, 0.7], [0.8, 0.7], [0.6, 0.9], [0.6, 0.9]], "aaaa")
    cell = judge.Cell("t", "a", 0.1, (0, 1, 2, 3))
    found = judge.regrets(judge.always("one"), traces([[0.5, 0.5]], "b"), judged, [cell])
    assert found["auc regret"][0] == pytest.approx(0.8 - 0.65) and found["auc"][0] == pytest.approx(0.65)
    assert found["auc fair"][0] == pytest.approx((0.8 + 0.8) / 2 - 0.65)  # the other method is best on both halves


def test_fair_hindsight_is_chosen_on_other_seeds():
    values = np.array([[1.0, 0.0], [0.0, 1.0]])  # each seed has another best, by luck alone
    assert judge._fair(values) == 0 and np.isnan(judge._fair(values[:1]))


def test_cells_may_have_unequal_numbers_of_splits():
    judged = traces([[0.6, 0.7]] * 9, "a" * 9)
    places = [judge.Cell("t", "a", 0.1, (0, 1, 2, 3, 4, 5, 6)), judge.Cell("u", "a", 0.1, (7, 8))]
    found = judge.regrets(judge.always("one"), traces([[0.5, 0.5]], "b"), judged, places)
    assert found["auc regret"].tolist() == pytest.approx([0.1, 0.1])  # a cell counts once, however many splits it has
    assert [len(cell.places) for cell in judge.with_few(places)] == [5, 2]


def test_a_chooser_sees_nothing_of_the_family_that_it_is_judged_on():
    seen = []

    def spy(trained, facts):
        seen.append(set(trained.families))
        return "one"

    trained, judged = traces([[0.5, 0.6]] * 3, "abc"), traces([[0.5, 0.6]] * 2, "ab")
    judge.regrets(spy, trained, judged, [judge.Cell("t", "a", 1.0, (0,)), judge.Cell("u", "b", 1.0, (1,))])
    assert seen == [{"b", "c"}, {"a", "c"}]


def test_the_two_line_rule_goes_by_rows_for_each_weight_and_classes():
    rule = judge.two_lines(2.0)
    plenty, two, many = np.log(100), np.log(2), np.log(3)
    assert rule(None, {"signal": plenty, "weights": np.log(10), "classes": two}) == "logistic"
    assert rule(None, {"signal": plenty, "weights": np.log(90), "classes": two}) == "privpfc"
    assert rule(None, {"signal": plenty, "weights": np.log(10), "classes": many}) == "privpfc"


@pytest.mark.parametrize("name", ["iris", "wine", "additive", "rule", "interactions", "rare", "classes"])
def test_derived_databases_are_the_same_each_time_and_fit_their_schema(name):
    one, again = databases.derived(name, 3), databases.derived(name, 3)
    pd.testing.assert_frame_equal(one.frame, again.frame)
    assert list(one.frame) == [column.name for column in one.schema.column]
    assert set(one.frame[one.schema.label].astype(str)) <= set(one.schema.classes) and not one.schema.public


def test_what_is_collected_has_all_that_is_shipped():
    """A database is run by every method, and its lines have the columns from which traces are made."""
    data = databases.derived("iris", 1)
    found = pd.DataFrame(collect.runs("iris 1", data, 0, 1.0))
    assert tuple(found.method) == collect.OPTIONS and not found.relabelled.any()
    assert len(ship.few(found)) == len(found) and ship.traces_of(found).databases == ("iris 1 1",)


def test_margins_leave_as_many_beyond_each_end():
    truth = np.concatenate([np.linspace(0, 1, 1_001), np.linspace(0.4, 0.6, 1_001)])[:, None]
    found = judge.margins(np.full((2_002, 1, 3), 0.5), truth, np.repeat([0.0, 1.0], 1_001))
    assert found[0.0] == pytest.approx((0.5 - judge.MISSED,) * 2)
    assert found[1.0] == pytest.approx((0.1 - 0.2 * judge.MISSED,) * 2)


@pytest.mark.slow
def test_the_margins_in_use_are_those_that_were_found():
    found = judge.shipped_margins(*judge.read())
    for margins, kept in ((found["of auto"], classifiers.MARGINS), (found["of veil plan"], classifiers.PLANNED)):
        for measure, ends in margins.items():
            assert {group: pytest.approx(end, abs=6e-4) for group, end in ends.items()} == kept[measure]


def test_a_real_choice_is_set_beside_what_is_judged_of_the_same_split():
    trained, judged = traces([[0.5, 0.6]] * 3, "abc"), traces([[0.5, 0.6], [0.5, 0.7]], "aa")
    real = pd.DataFrame([{"database": "t", "epsilon": 1.0, "seed": 1001, "chosen": "x", "auc": 0.65, "accuracy": 0.6}])
    found = judge.beside_real(real, trained, judged, [judge.Cell("t", "a", 1.0, (0, 1))], judge.always("other"))
    (line,) = found.to_dict("records")
    assert (line["auc"], line["auc judged"], line["as judged"]) == (0.65, 0.7, "other")
