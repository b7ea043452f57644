"""veil train: a private model from a file of rows. scikit-learn and matplotlib load only when they are needed."""

import shlex
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import BadInput
from ..kernel import Budget
from ..plans.catalogue import NAMES, presets
from ..schema import Schema
from . import charge
from .evaluate import link, numbers
from .output import Encoding, Json, Multiline, check_paths, console, print_json
from .runs import Training, Walking, cost_of

LEARN = f"{', '.join(NAMES[:-1])} or {NAMES[-1]}"
PRESETS = "; ".join(f"{name}: {', '.join(presets(name))}" for name in NAMES if presets(name))

TRAINED = (
    "The model was trained on a part of the rows. The others, a share of {} drawn at random, were kept to measure it."
)


def train(
    data: charge.Data,
    schema: charge.Public,
    epsilon: Annotated[
        str | None,
        typer.Option(help="What the model may cost, such as 1 or 1/2: the less, the more noise and the more privacy."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the model, such as model.veil.")] = None,
    method: Annotated[str, typer.Option(help=f"How to learn: {LEARN}. See veil methods.")] = "auto",
    preset: Annotated[str | None, typer.Option(help=f"A paper's way to grow trees. Of {PRESETS}.")] = None,
    ledger: charge.LedgerPlace = None,
    note: charge.Note = "",
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable noise: the model is then NOT private.")] = None,
    report: Annotated[Path | None, typer.Option(help="Where to write the report; beside the model if absent.")] = None,
    test_share: Annotated[
        str | None, typer.Option(help="Keep this share of the rows, such as 0.3, to measure the model on.")
    ] = None,
    test_epsilon: Annotated[
        str | None, typer.Option(help="What measuring may cost; as much as the model if absent.")
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(help="Stop at the least epsilon at which the model is this good: auc=0.85 or accuracy=0.8."),
    ] = None,
    at_most: Annotated[
        str | None, typer.Option(help="With --goal, instead of --epsilon: what the model may cost. All is charged.")
    ] = None,
    encoding: Encoding = "utf-8",
    multiline: Multiline = False,
    dry_run: charge.DryRun = False,
    force: charge.Force = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Train a private model, and write it with a report of what was asked and what it cost.

    Without --method, the one is chosen that is expected to be the best; veil plan shows what to expect of all.

    With --test-share the model is also measured, on rows that it was not trained on: a ROC curve, in a report of its
    own. The two parts of the rows are disjoint, so both together cost what the dearer one costs.

    With --goal and --at-most, instead of --epsilon, naive Bayes is trained with less and less noise until it is good
    enough on rows kept apart, a share of 0.3 unless --test-share says otherwise. All of --at-most is charged before it
    starts, whether or not the goal is reached; afterwards it says how little was needed.
    """
    epsilon = cost_of(epsilon, goal, at_most, test_epsilon)
    method = "naive-bayes" if goal and method == "auto" else method
    public, model = Schema.read(schema), _model(method, preset, epsilon, seed)
    model.schema = public
    rows_file = charge.file_of(data, encoding, multiline, public, schema)
    shared = charge.open_ledger(ledger, note, out)
    if test_epsilon is not None and test_share is None:
        raise BadInput("--test-epsilon needs --test-share, the share of rows to measure the model on")
    run = Walking(model, goal, test_share, epsilon) if goal else Training(model, test_share, test_epsilon or epsilon)
    if dry_run:
        rehearsed = run.rehearse()
        more: dict[str, Any] = {"quality": [] if goal else None, "more": run.plan(), "lines": run.before()}
        charge.show_plan(rehearsed, public, shared, as_json, **more)
        if not as_json and not goal and _learnable(public):
            _say([f"What to expect of all methods: {shlex.join(['veil', 'plan', *_asked(schema, epsilon)])}"])
        return
    if out is None:
        raise BadInput("say where to write the model, such as --out model.veil")
    page = report or out.with_suffix(".html")
    judged = out.with_name(f"{out.stem}-evaluation.html") if test_share and not goal else None
    check_paths(out, page, judged, data, schema, ledger)
    cost = max(Budget(epsilon), Budget(test_epsilon or epsilon))
    _say([] if as_json else run.before()[:1])
    charge.check_disk(public, ledger, out, page, judged)
    model.ledger = shared or charge.own_ledger(cost, public, note, out)
    kept_apart = {"how good it is on the rows kept apart": link(judged, page)} if judged else {}
    told = TRAINED.format(run.share) if run.share else ""
    others: dict[Path, charge.Writer] = {page: charge.report_writer(model.ledger, told, kept_apart)}
    if judged:
        others[judged] = partial(run.write, links={f"how {out.name} was made": link(page, judged)})
    with charge.saying_charges(shared, cost):
        charge.run_and_write(rows_file.stream, run.fit, out, _write, others, force, as_json)
    found = run.curve
    if as_json:
        judgement: dict[str, Any] = {"evaluation": {"report": str(judged), **numbers(found)}} if found else {}
        made = {"model": str(out), "report": str(page), **charge.facts(model, model.ledger)}
        print_json({**made, **run.facts(), **judgement})
        return
    charge.say(model, "model", out, page, model.ledger, shared is not None, found.receipts_ if found else ())
    _say(run.after())
    if found:
        console.print(f"On the rows kept apart, in {judged}: {found.summary()}.", markup=False, soft_wrap=True)
        charge.say_verdict(found.verdict_)
    if model.outcome_.trace:
        _say_choice(model, measured=found is not None)
    if not model.verdict_.bad:
        console.print(f"Next: veil predict {out} DATA --out predictions.csv", markup=False)


def _model(method: str, preset: str | None, epsilon: str, seed: int | None) -> Any:
    from ..models import METHODS

    if method not in METHODS:
        raise BadInput(f"there is no method {method!r}: choose one of {', '.join(METHODS)}")
    model = METHODS[method](epsilon=Budget(epsilon).epsilon, random_state=seed)
    if preset is None:
        return model
    if "preset" not in model.get_params():
        raise BadInput(f"method {method!r} has no presets: leave out --preset")
    return model.set_params(preset=preset)


def _learnable(schema: Schema) -> bool:
    return len(schema.classes) > 1 and bool(schema.features)


def _asked(schema: Path, epsilon: str) -> list[str]:
    return ["--schema", str(schema), "--epsilon", epsilon]


def _say(lines: list[str]) -> None:
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _say_choice(model: Any, measured: bool) -> None:
    """Print what was chosen and why, and what to expect of it unless that is known better."""
    for line in model.trace_.in_words()[: 1 if measured or model.verdict_.bad else None]:
        console.print(line, markup=False, soft_wrap=True)
    reasons = model.trace_.left_out or {}
    for reason in dict.fromkeys(reasons.values()):
        names = ", ".join(name for name, why in reasons.items() if why == reason)
        console.print(f"Left out: {names}, since {reason}.", markup=False, soft_wrap=True)


def _write(draft: Path, model: Any) -> None:
    from ..models.files import write_model

    write_model(draft, model.outcome_)
