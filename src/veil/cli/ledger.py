"""veil ledger: make, read and check the ledger of a data set."""

import csv
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from ..addresses import is_address, shown
from ..display import SHOWN, amount, earlier, run_rows
from ..errors import LedgerProblem
from ..files.tables import harmless
from ..files.witnesses import read_witnesses
from ..kernel import Ledger, Receipt
from ..markup import plural
from .output import Json, amounts, console, echo, print_json, show_table, write_text

app = typer.Typer(
    help="Make, read and check the ledger of a data set.",
    epilog="Example: veil ledger show survey.ledger",
    no_args_is_help=True,
)
LEDGER = "The ledger: a file, or an address such as postgresql://host/database?ledger=survey."
Place = Annotated[str, typer.Argument(metavar="LEDGER", help=LEDGER)]


@app.command(epilog="Example: veil ledger create survey.ledger --limit 1 --name survey")
def create(
    ledger: Place,
    limit: Annotated[str, typer.Option(help="The most that may ever be spent, such as 1 or 1/2.")],
    name: Annotated[str, typer.Option(help="The name of the data set, as in its schema.")],
) -> None:
    """Make a new ledger: what is spent on a data set, with the most that may ever be spent on it."""
    made = Ledger.create(ledger, limit, name)
    echo(f"Created {shown(ledger)}: epsilon {amount(made.limit)} for '{made.name}'.")


@app.command(epilog="Example: veil ledger show survey.ledger")
def show(
    ledger: Place,
    entries: Annotated[bool, typer.Option("--entries", help="Show every entry instead of one line a run.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show all runs, not the latest alone.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Show what the rows were opened for and what it cost, oldest first, and what is left."""
    opened = Ledger.open(ledger)
    runs, receipts = opened.runs(), opened.receipts()
    spent = runs[-1].total if runs else Fraction(0)
    if as_json:
        totals = amounts(limit=opened.limit, spent=spent, left=opened.limit - spent)
        lists = {"runs": [r.to_dict() for r in runs], "receipts": [r.to_dict() for r in receipts]}
        print_json({"name": opened.name, "ledger": opened.id, **totals, **lists})
        return
    if entries:
        show_table(f"Ledger '{opened.name}', every entry", *_entries(receipts))
    else:
        for line in [] if everything else earlier(runs, "veil ledger show --all"):
            console.print(line)
        show_table(f"Ledger '{opened.name}'", *run_rows(runs if everything else runs[-SHOWN:]))
    console.print(f"{amount(spent)} of {amount(opened.limit)} spent, {amount(opened.limit - spent)} left")
    if opened.moved:
        console.print(f"Closed: it went to {opened.moved}", markup=False)
    if any(not r.private for r in receipts):
        console.print("Some answers are NOT private: seeded noise, or rows declared public.", style="bold red")


def _entries(receipts: list[Receipt]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The header and the rows of a table of receipts."""
    rows = [
        (r.number, amount(r.epsilon), r.account, r.verb, r.question, "yes" if r.private else "NO", r.time)
        for r in receipts
    ]
    return ["entry", "epsilon", "part", "verb", "question", "private", "time"], rows


@app.command(epilog="Example: veil ledger upgrade survey.ledger")
def upgrade(ledger: Place) -> None:
    """Rewrite a ledger of an earlier version in its place, entry by entry; receipts stay valid."""
    from .upgrade import upgrade

    if is_address(ledger):
        raise LedgerProblem(f"{shown(ledger)} is not a file: a ledger in a database needs no upgrade")
    echo(f"Upgraded {ledger}: {upgrade(Path(ledger))} entries, as they were.")


@app.command(epilog="Example: veil ledger copy survey.ledger postgresql://host/database?ledger=survey")
def copy(
    ledger: Place,
    to: Annotated[str, typer.Argument(metavar="ADDRESS", help="Where it goes: the address of a new ledger.")],
) -> None:
    """Move a ledger to a database, which many machines can share; the old one is closed for good.

    All entries go there, and receipts stay valid. If it was interrupted, run it again.
    """
    from .copying import copy

    echo(f"Copied {shown(ledger)} to {shown(to)}: {copy(Ledger.open(ledger), to)} entries. The old one is closed.")


@app.command(epilog="Example: veil ledger verify survey.ledger --against receipt.json")
def verify(
    ledger: Place,
    against: Annotated[
        list[Path] | None, typer.Option(help="A receipt, an export, a model or a synopsis that was kept elsewhere.")
    ] = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Check every entry; with --against, also that none went missing since a receipt was given."""
    witnesses = [witness for path in against or [] for witness in read_witnesses(path)]
    entries = Ledger.open(ledger).verify(witnesses)
    if as_json:
        print_json({"sound": True, "entries": entries, "witnesses": len(witnesses)})
        return
    echo(f"{shown(ledger)} is sound: {entries} entries, {len(witnesses)} of them confirmed by receipts.")
    if not witnesses:
        echo("Without a receipt (--against), elsewhere than here, one that was cut short or is old looks the same.")


@app.command(epilog="Example: veil ledger export survey.ledger --json --out receipts.json")
def export(
    ledger: Place,
    out: Annotated[Path | None, typer.Option(help="Where to write; the terminal if absent.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Write all receipts, as CSV or, with --json or to a file named so, as JSON; kept elsewhere, that is a witness for
    later checks."""
    receipts = [receipt.to_dict() for receipt in Ledger.open(ledger).receipts()]
    in_json = as_json or out is not None and out.suffix.lower() == ".json"
    text = json.dumps(receipts, indent=2) + "\n" if in_json else _csv(receipts)
    if out is None:
        echo(text, nl=False)
        return
    write_text(out, text, force)
    echo(f"Wrote {out}: {plural(len(receipts), 'receipt')}.")


def _csv(receipts: list[dict[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(Receipt.__dataclass_fields__), lineterminator="\n")
    writer.writeheader()
    for receipt in receipts:  # a spreadsheet must not take a name for a formula
        writer.writerow({name: harmless(str(value)) for name, value in receipt.items()})
    return stream.getvalue()
