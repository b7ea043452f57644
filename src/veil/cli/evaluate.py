"""veil evaluate: what a model is worth on private rows, under the same budget."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..kernel.budget import Budget
from ..kernel.ledger import Ledger
from ..plans.run import check_budget
from ..schema import Schema
from ..verdicts.expected import of_rehearsed_curve
from . import charge
from .output import Encoding, Json, Multiline, as_number, check_paths, console, print_json


def evaluate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The model, such as model.veil.")],
    data: charge.Data,
    schema: charge.Public,
    epsilon: Annotated[str, typer.Option(help="What the evaluation may cost, such as 0.2 or 1/5.")],
    out: Annotated[Path | None, typer.Option(help="Where to write the report; evaluation.html if absent.")] = None,
    positive: Annotated[
        str | None, typer.Option(help="The class that high scores stand for; the last if absent.")
    ] = None,
    ledger: charge.Account = None,
    note: charge.Note = "",
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable noise: the result is then NOT private.")] = None,
    encoding: Encoding = "utf-8",
    multiline: Multiline = False,
    dry_run: charge.DryRun = False,
    force: charge.Force = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Measure a model on private test rows that it was not trained on: a ROC curve with its noise, and a report.

    The rows have the label. Everything is charged to the ledger of the rows before it is answered.
    """
    from ..evaluate import private_roc_curve, rehearse_roc_curve
    from ..models import load_model  # scikit-learn takes two seconds to load

    public, published, budget = Schema.read(schema), load_model(model), Budget(epsilon)
    rows_file = charge.RowFile(data, encoding, multiline)
    charge.check_names(rows_file, published.schema_.model_copy(update={"person": public.person, "label": public.label}))
    page = out or Path("evaluation.html")
    account = charge.open_book(ledger, note, page)
    if dry_run:
        asked = rehearse_roc_curve(published, epsilon=budget, schema=public, positive=positive)
        people = {key: getattr(public, key) for key in ("person", "rows_per_person", "rows")}
        judged = published.schema_.model_copy(update=people)
        charge.show_plan(asked, judged, account, as_json, of_rehearsed_curve)
        return
    check_paths(page, model, data, schema, ledger)
    if account:
        check_budget(account, budget)
    charge.check_disk(public, ledger, page)
    book = account or charge.own_book(budget, public, note, page)
    settings: dict[str, Any] = {"schema": public, "ledger": book, "positive": positive, "random_state": seed}
    make = partial(private_roc_curve, published, epsilon=budget.epsilon, **settings)
    with charge.accounted(account):
        found = charge.run_and_write(rows_file, make, page, charge.report_writer(book), {}, force, as_json)
    if as_json:
        print_json({"report": str(page), **numbers(found), "left": str(book.left)})
        return
    say(found, page, book, account is not None)


def say(found: Any, page: Path, book: Ledger, shared: bool) -> None:
    """What was found, and what it cost."""
    console.print(f"{found.summary()}.", markup=False, soft_wrap=True)
    charge.say(found, "evaluation", page, None, book, shared)


def numbers(found: Any) -> dict[str, Any]:
    """The curve for machines; of several classes, one for each and M in place of the AUC."""
    known = {"auc": found.auc, "auc_interval": list(found.auc_interval), "epsilon": as_number(found.epsilon)}
    known |= {
        "verdict": found.verdict_.to_dict(),
        "private": found.private_,
        "receipts": [receipt.to_dict() for receipt in found.receipts_],
    }
    if hasattr(found, "curves"):
        return {**known, "curves": {name: _points(curve) for name, curve in found.curves.items()}}
    return {**known, **_points(found)}


def _points(curve: Any) -> dict[str, Any]:
    """The points, a threshold beyond all scores as null, which JSON can hold."""
    cuts = [None, *curve.thresholds[1:-1].tolist(), None]
    bands = {"fpr_band": [side.tolist() for side in curve.fpr_band], "tpr_band": [s.tolist() for s in curve.tpr_band]}
    points = {"fpr": curve.fpr.tolist(), "tpr": curve.tpr.tolist(), "thresholds": cuts, **bands}
    return {**points, "positive": curve.positive, "only_noise": curve.only_noise}
