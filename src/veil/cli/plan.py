"""veil plan: how good every method will probably be, before a row is opened. scikit-learn is not loaded."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ..choice.classifiers import OPTIONS, Expected, expect, least_epsilon
from ..choice.trace import Prediction
from ..display import amount, brief, number
from ..errors import BadInput
from ..forecast import MOST_ROWS, check_learnable, declared_rows, predictable, room
from ..kernel import Budget
from ..plans.catalogue import seconds
from ..schema import Schema
from .charge import Public
from .output import Json, amounts, console, print_json, show_table

MEASURES = {"auc": "AUC", "accuracy": "accuracy"}
MOST_EPSILONS = 50
HELD = "Nine public tables in ten, of kinds that were left out, lay between such ends; of some kinds fewer."
BAR = 40  # letters, from an AUC of 0.5 to 1
FAR = "No public table is much like this one: take these numbers as a guess, and measure with veil train --test-share."


def plan(
    schema: Public,
    epsilon: Annotated[str, typer.Option(help="What a model may cost, such as 1 or 1/2.")] = "1",
    rows: Annotated[
        int | None, typer.Option(min=1, max=MOST_ROWS, help="About how many rows there are; else what the schema says.")
    ] = None,
    goal: Annotated[str | None, typer.Option(help="Find the least epsilon for it: auc=0.85 or accuracy=0.9.")] = None,
    epsilons: Annotated[
        str | None, typer.Option(help="Draw what to expect at each of these, such as 0.1,0.3,1.")
    ] = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """What to expect of every method on such a table, from what it did on public ones; nothing is opened or charged.

    Nine tables in ten lie between the two ends, fewer of some kinds: how well a label can be predicted at all differs
    much more than the methods do. More epsilon never makes what is told worse.
    """
    public = Schema.read(schema)
    check_learnable(public)
    number_of_rows = rows or declared_rows(public)
    cost = Budget(epsilon)
    if goal is not None and epsilons is not None:
        raise BadInput("give a goal or a list of epsilons, not both")
    if goal is not None:
        _show_goal(public, number_of_rows, *_goal(goal), as_json)
    elif epsilons is not None:
        _show_curve(public, number_of_rows, _epsilons(epsilons), as_json)
    else:
        _show_methods(public, number_of_rows, cost, as_json, rows is None)


def _goal(text: str) -> tuple[str, float]:
    """A goal such as auc=0.85 as a measure and a value."""
    measure, _, value = text.partition("=")
    try:
        found = float(value)
    except ValueError:
        found = -1.0
    if measure not in MEASURES or not 0 < found <= 1:
        raise BadInput(f"a goal is written auc=0.85 or accuracy=0.9, not {text!r}")
    return measure, found


def _epsilons(text: str) -> list[Budget]:
    found = [Budget(one.strip()) for one in text.split(",") if one.strip()]
    if not 0 < len(found) <= MOST_EPSILONS:
        raise BadInput(f"give 1 to {MOST_EPSILONS} epsilons, such as 0.1,0.3,1")
    return found


def _show_methods(schema: Schema, rows: int, cost: Budget, as_json: bool, guessed: bool) -> None:
    found = expect(schema, rows, predictable(cost))
    lines = [_line(found, option, schema, rows) for option in found.options]
    lines.sort(key=lambda line: -line["auc"]["expected"])
    if as_json:
        asked = {"rows": rows, **amounts(epsilon=cost.epsilon)}
        print_json({**asked, "methods": lines, "nearest": list(found.nearest), "far": found.far})
        return
    header = ["method", "AUC", "90 % between", "accuracy", "90 % between", "seconds", "MB"]
    title = f"What to expect of {rows:,} rows at epsilon {amount(cost.epsilon)}"
    show_table(title, header, [_cells(line) for line in lines])
    if guessed and schema.rows is None:
        console.print(f"The schema does not say how many rows there are, so {rows:,} is a guess: say it with --rows N.")
    console.print(HELD)
    _say_nearest(found)
    among = f"{', '.join(OPTIONS[:-1])} and {OPTIONS[-1]}"
    console.print(f"No row was opened, and nothing was charged. Without --method, veil train chooses among {among}.")


def _line(found: Expected, option: str, schema: Schema, rows: int) -> dict[str, Any]:
    """What to expect of one method, for JSON."""
    said = {
        measure: {"expected": one.value, "low": one.low, "high": one.high}
        for measure in MEASURES
        for one in [found.of(option, measure)]
    }
    work = {"seconds": seconds(option, rows, len(schema.features)), "megabytes": room(option, schema, rows)}
    return {"method": option, **said, **work}


def _cells(line: dict[str, Any]) -> list[str]:
    numbers = [cell for measure in MEASURES for cell in (_short(line[measure]["expected"]), _between(line[measure]))]
    return [line["method"], *numbers, brief(line["seconds"]), number(line["megabytes"])]


def _short(value: float) -> str:
    return f"{value:.2f}"


def _between(said: dict[str, float]) -> str:
    return f"{said['low']:.2f} to {said['high']:.2f}"


def _say_nearest(found: Expected) -> None:
    console.print(f"Most like it among public tables: {', '.join(found.nearest)}.", markup=False)
    if found.far:
        console.print(FAR, style="yellow")


def _show_goal(schema: Schema, rows: int, measure: str, value: float, as_json: bool) -> None:
    """Print the least epsilon at which the goal is expected, and at which it is nearly sure."""
    likely, sure = (least_epsilon(schema, rows, measure, value, sure=sure) for sure in (False, True))
    if as_json:
        print_json({"rows": rows, "goal": {measure: value}, "expected_from": likely, "nearly_sure_from": sure})
        return
    named = f"{MEASURES[measure]} of {value:g} with {rows:,} rows"
    if likely is None:
        console.print(
            f"No epsilon up to 10 is expected to give an {named}: on average, tables like this one stay below."
        )
        return
    console.print(f"Expect an {named} from epsilon {likely:g} up: about half of tables like this one reach it there.")
    where = f"From epsilon {sure:g} up" if sure else "At no epsilon up to 10 do"
    console.print(f"{where} about 95 % of them reach it. The label decides more than epsilon does.")


def _show_curve(schema: Schema, rows: int, costs: Sequence[Budget], as_json: bool) -> None:
    """Print what to expect of the best method at each epsilon, with a bar; the best by accuracy may be another one."""
    found = [(cost, expect(schema, rows, predictable(cost))) for cost in costs]
    best = [(cost, one.best("auc"), one.best("accuracy")) for cost, one in found]
    if as_json:
        lines = [{**amounts(epsilon=cost.epsilon), **_named(auc), **_right(right)} for cost, auc, right in best]
        print_json({"rows": rows, "curve": lines})
        return
    header = [
        "epsilon",
        "method",
        "AUC",
        "90 % between",
        "best accuracy",
        "AUC from 0.5 to 1, with what 90 % lie between",
    ]
    shown = [
        (
            amount(cost.epsilon),
            auc.option,
            _short(auc.value),
            f"{auc.low:.2f} to {auc.high:.2f}",
            _short(right.value),
            _bar(auc.low, auc.value, auc.high),
        )
        for cost, auc, right in best
    ]
    show_table(f"What to expect of {rows:,} rows", header, shown)
    console.print(HELD)
    _say_nearest(found[-1][1])


def _named(auc: Prediction) -> dict[str, Any]:
    return {"method": auc.option, "auc": auc.value, "low": auc.low, "high": auc.high}


def _right(accuracy: Prediction) -> dict[str, Any]:
    return {"accuracy": accuracy.value, "accuracy_method": accuracy.option}


def _bar(low: float, value: float, high: float) -> str:
    """A line of letters: dots between the ends of the interval, and a block at the value."""
    start, middle, end = (round((min(max(place, 0.5), 1.0) - 0.5) * 2 * BAR) for place in (low, value, high))
    cells = ["·" if start <= place <= end else " " for place in range(BAR + 1)]
    cells[middle] = "█"
    return "".join(cells).rstrip()
