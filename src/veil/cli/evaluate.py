"""veil evaluate: what a model is worth on private rows, under the same budget."""

import os
import warnings
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import SameRows
from ..kernel import Budget, Ledger
from ..schema import Schema
from ..verdicts.expected import of_rehearsed_curve
from . import charge
from .output import Encoding, Json, Multiline, amounts, check_paths, console, print_json

FLATTERED = (
    "Caution: by its receipts the model was trained on the rows of this ledger. If these test rows were among them, "
    "the figures flatter it; veil train --test-share 0.3 sets rows apart first."
)


def evaluate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The model, such as model.veil.")],
    data: charge.Data,
    schema: charge.Public,
    epsilon: Annotated[
        str,
        typer.Option(
            help="What the evaluation may cost, such as 0.2 or 1/5: the less, the more noise and the more privacy."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Where to write the report; evaluation.html if absent.")] = None,
    positive: Annotated[
        str | None, typer.Option(help="The class that high scores stand for; the last if absent.")
    ] = None,
    ledger: charge.LedgerPlace = None,
    note: charge.Note = "",
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable noise: the result is then NOT private.")] = None,
    encoding: Encoding = "utf-8",
    multiline: Multiline = False,
    dry_run: charge.DryRun = False,
    force: charge.Force = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Measure a model on private test rows that it was not trained on: a ROC curve with its noise, and a report.

    The rows have the label. Everything is charged to the ledger of the rows before it is answered. Rows that the model
    was trained on flatter it: veil train --test-share sets some apart first.
    """
    from ..evaluate import private_roc_curve, rehearse_roc_curve
    from ..models import load_model  # scikit-learn takes two seconds to load

    public, published, budget = Schema.read(schema), load_model(model), Budget(epsilon)
    asked_for = published.schema_.model_copy(update={"person": public.person, "label": public.label})
    rows_file = charge.file_of(data, encoding, multiline, asked_for)
    page = out or Path("evaluation.html")
    shared = charge.open_ledger(ledger, note, page)
    if dry_run:
        asked = rehearse_roc_curve(published, epsilon=budget, schema=public, positive=positive)
        people = {key: getattr(public, key) for key in ("person", "rows_per_person", "rows")}
        judged = published.schema_.model_copy(update=people)
        charge.show_plan(asked, judged, shared, as_json, of_rehearsed_curve)
        return
    check_paths(page, model, data, schema, ledger)
    charge.check_disk(public, ledger, page)
    charged = shared or charge.own_ledger(budget, public, note, page)
    settings: dict[str, Any] = {"schema": public, "ledger": charged, "positive": positive, "random_state": seed}
    make = partial(private_roc_curve, published, epsilon=budget.epsilon, **settings)
    with charge.saying_charges(shared, budget):
        write = charge.report_writer(charged, links=_beside(model, page))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SameRows)  # said below in other words
            found = charge.run_and_write(rows_file.stream, make, page, write, {}, force, as_json)
    if as_json:
        print_json({"report": str(page), **numbers(found), **amounts(left=charged.left)})
        return
    say(found, page, charged, shared is not None)


def _beside(model: Path, page: Path) -> dict[str, str]:
    """{title: link} of the model's report, if it is where `veil train` puts it."""
    about = model.with_suffix(".html")
    there = about.is_file() and about.resolve() != page.resolve()
    return {f"how {model.name} was made": link(about, page)} if there else {}


def link(target: Path, page: Path) -> str:
    """The relative link from a page to a file."""
    return Path(os.path.relpath(target.resolve(), page.resolve().parent)).as_posix()


def say(found: Any, page: Path, charged: Ledger, shared: bool) -> None:
    """Print the result and what it cost."""
    console.print(f"{found.summary()}.", markup=False, soft_wrap=True)
    if found.same_rows_:
        console.print(FLATTERED, markup=False, soft_wrap=True)
    charge.say(found, "evaluation", page, None, charged, shared)


def numbers(found: Any) -> dict[str, Any]:
    """The curve as plain values for JSON; for several classes one curve for each, and M in place of the AUC."""
    known = {"auc": found.auc, "auc_interval": list(found.auc_interval), **amounts(epsilon=found.epsilon)}
    known |= {"verdict": found.verdict_.to_dict(), "same_rows": found.same_rows_, "private": found.private_}
    known |= {"receipts": [receipt.to_dict() for receipt in found.receipts_]}
    if hasattr(found, "curves"):
        return {**known, "curves": {name: _points(curve) for name, curve in found.curves.items()}}
    return {**known, **_points(found)}


def _points(curve: Any) -> dict[str, Any]:
    """The points of a curve for JSON; an infinite threshold is null."""
    cuts = [None, *curve.thresholds[1:-1].tolist(), None]
    bands = {"fpr_band": [side.tolist() for side in curve.fpr_band], "tpr_band": [s.tolist() for s in curve.tpr_band]}
    points = {"fpr": curve.fpr.tolist(), "tpr": curve.tpr.tolist(), "thresholds": cuts, **bands}
    return {**points, "positive": curve.positive, "only_noise": curve.only_noise}
