"""ChoiceMaker: it chooses by public facts and paid answers alone, and costs its budget exactly on every path."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from veil import (
    WHOLE,
    BadInput,
    Budget,
    Categorical,
    ChoiceMaker,
    Database,
    Ledger,
    Metafeature,
    Numeric,
    Option,
    Schema,
    Trace,
    grid,
    open_source,
)

AGE = Numeric(name="age", bounds=(0, 100), bins=10)
SICK = Categorical(name="sick", values=("no", "yes"))
PRIVATE = Schema(name="people", label="sick", column=[AGE, SICK])
PUBLIC = Schema(name="people", label="sick", column=[AGE, SICK], public=True)


def people(number, seed=0):
    coins = np.random.default_rng(seed)
    age = coins.uniform(0, 100, number)
    return pd.DataFrame({"age": age, "sick": np.where(coins.random(number) < age / 100, "yes", "no")})


def fine(source, budget, totals=None):
    return source.count(grid(source.schema, "age"), budget).value


def coarse(source, budget, totals=None):
    return np.repeat(source.count(WHOLE, budget).value / 11, 11, axis=0)


def rows_of(situation):
    return max(float(situation.answers["rows"].value.sum()), 1.0)


ROWS = Metafeature("rows", rows_of, lambda source, budget: source.count(WHOLE, budget), percent=10, hand_on="totals")
SIGNAL = Metafeature("signal", lambda situation: np.log(situation.facts["rows"] * situation.epsilon))
BY_FORMULA = [Option("fine", fine, lambda facts: facts["signal"]), Option("coarse", coarse, lambda facts: 5.0)]


def opened(number, epsilon=1, schema=PRIVATE, noise=0):
    ledger = Ledger(epsilon, schema.name)
    return open_source(people(number), schema, ledger, noise=noise), ledger


@pytest.mark.parametrize(("number", "chosen"), [(40, "coarse"), (5000, "fine")])
def test_the_best_by_formula_runs_and_all_costs_the_budget(number, chosen):
    source, ledger = opened(number)
    choose = ChoiceMaker(BY_FORMULA, [ROWS, SIGNAL])
    answer = choose(source, Budget(1))
    assert choose.trace.chosen == chosen and answer.shape == (11, 2)
    assert ledger.spent == 1 and choose.trace.price == Fraction(1, 10)
    assert [fact.price for fact in choose.trace.facts] == [Fraction(1, 10), 0]
    assert choose.trace.facts[0].noise == pytest.approx(np.sqrt(2) * 10)


def test_a_question_with_too_little_budget_is_not_asked():
    source, ledger = opened(400, "1/100")
    asked = Metafeature("rows", rows_of, ROWS.ask, percent=10, least=Fraction(1, 100))
    choose = ChoiceMaker([Option("fine", fine, lambda facts: 1.0)], [asked])
    choose(source, Budget("1/100"))
    assert choose.trace.facts == () and ledger.spent == Fraction(1, 100)


def refused(schema, budget):
    raise BadInput("there are too many cells")


def test_options_that_cannot_be_used_are_left_out_before_a_charge():
    source, ledger = opened(400)
    choose = ChoiceMaker([Option("huge", fine, lambda facts: 9.0, check=refused), *BY_FORMULA], [ROWS, SIGNAL])
    choose(source, Budget(1))
    assert choose.trace.left_out == {"huge": "there are too many cells"} and choose.trace.chosen != "huge"
    source, ledger = opened(400)
    with pytest.raises(BadInput, match="no option can be used on this table: there are too many cells"):
        ChoiceMaker([Option("huge", fine, lambda facts: 9.0, check=refused)], [ROWS])(source, Budget(1))
    assert ledger.spent == 0


def test_an_option_without_a_check_is_tried_on_no_rows():
    def greedy(source, budget, totals=None):
        return source.count(grid(source.schema, "nothing"), budget)

    source, ledger = opened(400)
    choose = ChoiceMaker([Option("greedy", greedy, lambda facts: 9.0), *BY_FORMULA], [ROWS, SIGNAL])
    choose(source, Budget(1))
    assert list(choose.trace.left_out) == ["greedy"] and ledger.spent == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "much", [1.0, 2.0]])
def test_predictions_that_are_no_number_are_refused(value):
    source, _ = opened(40)
    with pytest.raises(BadInput, match="the predict of option 'odd' must give one finite number"):
        ChoiceMaker([Option("odd", fine, lambda facts: value)])(source, Budget(1))


def test_what_cannot_be_a_choice_is_refused_in_a_sentence():
    with pytest.raises(BadInput, match="nothing to choose from"):
        ChoiceMaker([])
    with pytest.raises(BadInput, match="different names"):
        ChoiceMaker([*BY_FORMULA, BY_FORMULA[0]])
    with pytest.raises(BadInput, match="need traces"):
        ChoiceMaker([Option("fine", fine)])
    with pytest.raises(BadInput, match="less than 100 percent"):
        ChoiceMaker(BY_FORMULA, [ROWS, Metafeature("more", rows_of, ROWS.ask, percent=90)])
    with pytest.raises(BadInput, match="1 to 99"):
        Metafeature("rows", rows_of, ROWS.ask)
    with pytest.raises(BadInput, match="'people' is not declared public"):
        Database("people", people(10), PRIVATE, measure=float)


def test_the_choice_depends_on_rows_through_what_was_released_alone():
    """Over neighbouring tables and many draws of noise, the same released totals always lead to the same choice."""
    rows = people(150)
    chosen = {}
    for seed in range(40):
        for table in (rows, rows.iloc[1:], rows.iloc[:-1]):
            source = open_source(table, PRIVATE, Ledger(1, PRIVATE.name), noise=seed)
            choose = ChoiceMaker(BY_FORMULA, [ROWS, SIGNAL])
            choose(source, Budget(1))
            released = tuple(source.record.releases[0].value[0].tolist())
            chosen.setdefault(released, set()).add(choose.trace.chosen)
    assert {len(found) for found in chosen.values()} == {1}
    assert set.union(*chosen.values()) == {"fine", "coarse"}


def test_a_choice_stands_inside_another_plan():
    source, ledger = opened(5000)
    inner = ChoiceMaker(BY_FORMULA, [ROWS, SIGNAL])
    outer = ChoiceMaker([Option("inner", inner, lambda facts: 1.0), Option("coarse", coarse, lambda facts: 0.0)])
    outer(source, Budget(1))
    assert outer.trace.chosen == "inner" and inner.trace.chosen == "fine" and ledger.spent == 1


def test_an_answer_is_handed_on_to_options_that_take_it_alone():
    inner = ChoiceMaker(BY_FORMULA, [ROWS, SIGNAL])
    deaf = Option("deaf", lambda source, budget: source.count(WHOLE, budget), lambda facts: 0.0)
    for option in (deaf, Option("inner", inner, lambda facts: 1.0)):
        for rows in (ROWS, replace(ROWS, hand_on="budget")):
            source, ledger = opened(500)
            ChoiceMaker([option], [rows])(source, Budget(1))
            assert ledger.spent == 1


def test_a_fact_costs_what_it_is_given():
    def twice(source, budget):
        return [source.count(WHOLE, budget) for _ in range(2)][0]

    for ask in (twice, lambda source, budget: 5.0, lambda source, budget: source.count(WHOLE, budget).value):
        source, _ = opened(500, 5)
        with pytest.raises(BadInput, match="must return a release, and cost what it is given"):
            ChoiceMaker(BY_FORMULA, [replace(ROWS, ask=ask), SIGNAL])(source, Budget(1))


def test_what_traces_do_not_know_is_refused_before_a_charge():
    databases = [database(number, seed) for number in (200, 1000) for seed in range(2)]
    known = ChoiceMaker([Option("fine", fine)], [ROWS, SIGNAL], trained_on=databases).traces
    with pytest.raises(BadInput, match="no option 'coarse'"):
        ChoiceMaker([Option("fine", fine), Option("coarse", coarse)], [ROWS, SIGNAL], traces=known)
    for goal in ({"fame": 1.0}, {"quality": float("nan")}):
        with pytest.raises(BadInput, match="which are quality"):
            ChoiceMaker([Option("fine", fine)], [ROWS, SIGNAL], traces=known, goal=goal)
    for close in (-1.0, float("nan")):
        with pytest.raises(BadInput, match="zero or more"):
            ChoiceMaker(BY_FORMULA, [ROWS, SIGNAL], close=close)


class Interrupted(ChoiceMaker):
    """As if another thread used the same choice on few rows as soon as this one has chosen."""

    @property
    def trace(self):
        return self._trace

    @trace.setter
    def trace(self, trace):
        self._trace = trace
        if trace is not None and trace.chosen == "fine":
            self(opened(40)[0], Budget(1))


def test_two_choices_at_once_do_not_take_each_others_option():
    choose = Interrupted(BY_FORMULA, [ROWS, SIGNAL])
    answer = choose(opened(5000)[0], Budget(1))
    assert choose.trace.chosen == "coarse" and len(np.unique(answer[:, 0])) > 1  # fine: cells differ


def test_an_option_that_nothing_is_known_of_has_no_prediction_in_the_trace():
    databases = [database(number, seed) for number in (200, 1000) for seed in range(2)]
    traces = ChoiceMaker(OPTIONS_TO_LEARN, [ROWS, SIGNAL], trained_on=databases).traces
    traces.quality["quality"][:, 1] = np.nan
    choose = ChoiceMaker(OPTIONS_TO_LEARN, [ROWS, SIGNAL], traces=traces)
    choose(opened(200)[0], Budget(1))
    assert choose.trace.chosen == "fine" and {one.option for one in choose.trace.predictions} == {"fine"}
    assert Trace.from_dict(choose.trace.to_dict()) == choose.trace


OPTIONS_TO_LEARN = [Option("fine", fine), Option("coarse", coarse)]


def database(number, seed):
    rows = people(number, seed)
    codes = np.clip(rows.age // 10, 0, 9).astype(int)
    truth = np.zeros((11, 2))
    np.add.at(truth, (codes, (rows.sick == "yes").astype(int)), 1)
    return Database(f"made {number} {seed}", rows, PUBLIC, lambda answer: -np.abs(answer - truth).mean(), str(seed))


def test_options_without_formulas_are_learned_from_public_databases():
    databases = [database(number, seed) for number in (20, 60, 200, 1000, 4000) for seed in range(3)]
    choose = ChoiceMaker(OPTIONS_TO_LEARN, [ROWS, SIGNAL], trained_on=databases)
    assert len(choose.traces) == 60 and choose.traces.fact_names == ("rows", "signal")
    for number, best in ((30, "coarse"), (4000, "fine")):
        source, ledger = opened(number, "0.3")
        choose(source, Budget("0.3"))
        assert choose.trace.chosen == best and ledger.spent == Fraction(3, 10)
    expected = choose.trace.expected("quality")
    assert expected.low <= expected.value <= expected.high and choose.trace.nearest


def test_a_formula_is_corrected_by_what_traces_show():
    """The formula says a constant that is far off; with traces the prediction is about what was measured."""
    databases = [database(number, seed) for number in (200, 1000) for seed in range(3)]
    options = [Option("fine", fine, lambda facts: 100.0), Option("coarse", coarse, lambda facts: -100.0)]
    choose = ChoiceMaker(options, [ROWS, SIGNAL], trained_on=databases)
    source, _ = opened(1000)
    choose(source, Budget(1))
    assert choose.trace.chosen == "fine" and -20 < choose.trace.expected("quality").value < 0


def test_a_trace_is_data_and_reads_itself_back():
    source, _ = opened(5000)
    choose = ChoiceMaker(BY_FORMULA, [ROWS, SIGNAL])
    choose(source, Budget(1))
    again = Trace.from_dict(choose.trace.to_dict())
    assert again == choose.trace and "chosen" in repr(again) and "<table" in again._repr_html_()
    with pytest.raises(BadInput, match="newer version"):
        Trace.from_dict({**choose.trace.to_dict(), "version": 99})


def test_names_in_a_trace_cannot_control_a_terminal():
    trace = Trace((), (), "\x1b[2J", "\x07", {}, ("\x1b[31m",))
    assert (trace.in_short() + "".join(trace.in_words())).isprintable()


@pytest.mark.parametrize(
    "damage",
    [
        *({"facts": 3}, {"chosen": 4}, {"far": "yes"}, {"predictions": [{}]}, {"nearest": [1]}),
        *({"nearest": ["one"] * 1001}, {"facts": [{"name": "rows", "value": 1.0, "noise": 0.0, "price": "0"}] * 1001}),
        *(
            {"facts": [{"name": "rows", "value": 1.0, "noise": 0.0, "price": price}]}
            for price in ("1e999999999", "-1", float("inf"), 10**5000, None)
        ),
    ],
)
def test_a_damaged_trace_is_refused(damage):
    whole = ChoiceMaker(BY_FORMULA, [ROWS, SIGNAL])
    source, _ = opened(50)
    whole(source, Budget(1))
    with pytest.raises(BadInput, match="damaged"):
        Trace.from_dict({**whole.trace.to_dict(), **damage})
    for nothing in (None, [], "trace", {}):
        with pytest.raises(BadInput, match="damaged"):
            Trace.from_dict(nothing)


def fails(facts):
    raise ValueError("row 17 is Anna's")


@pytest.mark.parametrize("how", [fails, lambda facts: float("nan"), lambda facts: np.ones(2), lambda facts: "much"])
@pytest.mark.parametrize("corrected", [False, True])
def test_a_formula_that_gives_no_number_is_refused_before_a_charge_and_says_nothing_of_rows(how, corrected):
    source, ledger = opened(40)
    options = [Option("odd", fine, how), Option("coarse", coarse, lambda facts: 1.0)]
    with pytest.raises(BadInput, match="the predict of option 'odd' must give one finite number") as refused:
        more = {"trained_on": [Database("p", people(30), PUBLIC, measure=lambda made: 1.0)]} if corrected else {}
        ChoiceMaker(options, [ROWS, SIGNAL], **more)(source, Budget(1))
    assert ledger.spent == 0 and "Anna" not in str(refused.value)


def test_a_metafeature_that_fails_is_refused_before_a_charge():
    source, ledger = opened(40)
    wrong = Metafeature("wrong", lambda situation: situation.answers["nothing"])
    with pytest.raises(BadInput, match="metafeature 'wrong' must give one finite number, and failed with KeyError"):
        ChoiceMaker(BY_FORMULA, [ROWS, SIGNAL, wrong])(source, Budget(1))
    assert ledger.spent == 0


def test_a_formula_that_fails_on_some_facts_alone_is_a_sentence_too():
    source, _ = opened(5_000)
    picky = Option("picky", fine, lambda facts: 1 / 0 if facts["rows"] > 2_000 else 1.0)
    with pytest.raises(BadInput, match="failed with ZeroDivisionError"):
        ChoiceMaker([picky], [ROWS])(source, Budget(1))
