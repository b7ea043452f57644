"""A choice inside a plan: `pick` decides by facts that are public already, and asks and runs nothing."""

import pytest

from veil import BadInput, Budget, Ledger, Schema, datasets, open_source
from veil.choice import ChoiceMaker, Option

STOP = Option("stop", predict=lambda facts: 30.0)
DIVIDE = Option("divide", predict=lambda facts: facts["rows"] * facts["left"])


def test_the_option_with_the_best_prediction_is_picked_and_the_trace_tells_why():
    maker = ChoiceMaker([STOP, DIVIDE])
    assert maker.pick({"rows": 1000, "left": 0.1}) == "divide"
    assert {fact.name: fact.value for fact in maker.trace.facts} == {"rows": 1000, "left": 0.1}
    assert maker.trace.price == 0 and maker.trace.expected("predicted").value == 100
    assert maker.pick({"rows": 100, "left": 0.1}) == "stop" == maker.trace.chosen


def test_facts_must_be_numbers():
    with pytest.raises(BadInput, match="fact 'rows' must give one finite number"):
        ChoiceMaker([STOP, DIVIDE]).pick({"rows": float("nan"), "left": 1})


def test_an_option_without_a_plan_is_not_run():
    rows, schema = datasets.load("iris")
    assert isinstance(schema, Schema)
    source = open_source(rows, schema, Ledger(1, schema.name), noise=0)
    with pytest.raises(BadInput, match="a name without a plan"):
        ChoiceMaker([STOP, Option("other", predict=lambda facts: 0.0)])(source, Budget(1))
    assert source._account.ledger.left == 1
