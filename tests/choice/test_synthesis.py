"""Synthesis finds the formula by which simulated traces were made, says which facts it needs, and finds none where
there is none."""

import numpy as np
import pytest

from veil import BadInput
from veil.choice import ChoiceMaker, Formula, Option, Rule, Traces, propose

NAMES = ("rows", "epsilon", "classes", "columns", "shift")
FAMILIES = 6


def traces_of(worth, size=600, seed=0, noise=0.01):
    """Traces whose options are worth what `worth` says of the facts, with noise; families differ in their facts."""
    draws = np.random.default_rng(seed)
    families = draws.integers(FAMILIES, size=size)
    facts = np.exp(draws.normal(0, 1, (size, 5)) + draws.normal(0, 0.3, (FAMILIES, 5))[families])
    facts[:, 4] = np.log(facts[:, 4])  # may be negative
    options = worth(dict(zip(NAMES, facts.T, strict=True)))
    quality = np.column_stack([*options.values()]) + noise * draws.normal(size=(size, len(options)))
    names = tuple(f"family {family}" for family in families)
    return Traces(tuple(map(str, range(size))), names, NAMES, (*options,), facts, {"quality": quality})


def by_ratio(facts):
    """The first option is the better one where rows * epsilon / classes is 3 or more."""
    ratio = np.log(facts["rows"] * facts["epsilon"] / facts["classes"] / 3)
    return {"fine": 0.1 * np.tanh(ratio), "coarse": np.zeros(len(ratio)), "poor": np.full(len(ratio), -1.0)}


@pytest.fixture(scope="module")
def found():
    return propose(traces_of(by_ratio))


def test_it_finds_the_formula_that_was_put_in(found):
    assert (found.rule.above, found.rule.below) == ("fine", "coarse")
    assert dict(found.rule.formula.powers) == {"rows": 1, "epsilon": 1, "classes": -1}
    assert found.rule.formula.threshold == pytest.approx(3, rel=0.2)
    assert str(found.rule).startswith("fine if rows * epsilon / classes >= ")
    assert found.regret < 0.5 * found.sizes[0] and found.regret == pytest.approx(found.sizes[3])


def test_it_tells_which_facts_earn_their_price(found):
    needed = {name for name, regret in found.without.items() if regret > found.regret + 0.002}
    assert needed == {"rows", "epsilon", "classes"}
    assert found.without["columns"] == pytest.approx(found.regret, abs=1e-3)


def test_where_one_option_is_always_best_it_says_so_without_a_formula():
    found = propose(traces_of(lambda facts: {"a": facts["rows"] * 0 + 0.1, "b": facts["rows"] * 0}))
    assert found.rule == Rule("a") and str(found.rule) == "a" and len({*found.without.values()}) == 1


def test_where_nothing_but_noise_decides_no_formula_is_found():
    found = propose(traces_of(lambda facts: {"a": facts["rows"] * 0, "b": facts["rows"] * 0}, noise=0.1))
    assert found.rule.formula is None


def test_a_fact_that_may_be_negative_is_compared_by_itself():
    found = propose(traces_of(lambda facts: {"up": np.sign(facts["shift"] - 0.5), "down": facts["shift"] * 0}))
    assert found.rule.formula.plain and found.rule.formula.powers == (("shift", 1),)
    assert found.rule.formula.threshold == pytest.approx(0.5, abs=0.1)
    assert found.rule({"shift": 2.0}) == "up" and found.rule({"shift": -2.0}) == "down"


def test_the_predicts_of_a_rule_choose_as_it_does(found):
    rule = found.rule
    maker = ChoiceMaker([Option(name, predict=rule.predict(name)) for name in ("fine", "coarse", "poor")])
    draws = np.random.default_rng(1)
    for values in np.exp(draws.normal(0, 2, (50, 5))):
        facts = dict(zip(NAMES, values.tolist(), strict=True))
        assert maker.pick(facts) == rule(facts) == maker.trace.chosen


def test_an_option_that_refused_is_worth_as_much_as_the_worst():
    traces = traces_of(by_ratio)
    traces.quality["quality"][:, 2] = np.nan
    assert "poor" not in str(propose(traces).rule)


def test_a_goal_weighs_the_measures():
    traces = traces_of(lambda facts: {"a": facts["rows"] * 0 + 1, "b": facts["rows"] * 0})
    traces.quality["speed"] = -traces.quality["quality"]
    assert propose(traces, goal={"quality": 1.0}).rule.above == "a"
    assert propose(traces, goal={"speed": 1.0}).rule.above == "b"


def test_a_proposal_can_be_read(found):
    said = repr(found)
    assert "Proposed: fine if rows * epsilon / classes >= " in said
    assert "rules of up to 0 facts" in said and "without columns" in said


def test_one_family_is_refused():
    traces = traces_of(by_ratio)
    with pytest.raises(BadInput, match="two families"):
        propose(traces.only([place for place, one in enumerate(traces.families) if one == "family 1"]))


def test_a_formula_reads_as_it_computes():
    formula = Formula((("rows", 1), ("classes", -1)), 50.0)
    assert str(formula) == "rows / classes >= 50"
    assert formula({"rows": 100.0, "classes": 2.0}) == pytest.approx(0)
    assert formula({"rows": 0.0, "classes": 2.0}) < -10
