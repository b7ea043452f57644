"""veil ledger: make, read and check the account of a data set."""

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Annotated, Any

import typer

from ..display import amount
from ..errors import BadInput
from ..kernel.ledger import Ledger, Receipt
from .output import FORMULA, Json, amounts, console, print_json, show_table, write_text

app = typer.Typer(
    help="Make, read and check the account of a data set.",
    epilog="Example: veil ledger show survey.ledger",
    no_args_is_help=True,
)
MOST_RECEIPTS = 1 << 26  # bytes
File = Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger file.")]


@app.command(epilog="Example: veil ledger create survey.ledger --limit 1 --name survey")
def create(
    ledger: File,
    limit: Annotated[str, typer.Option(help="The most that may ever be spent, such as 1 or 1/2.")],
    name: Annotated[str, typer.Option(help="The name of the data set, as in its schema.")],
) -> None:
    """Make a new ledger."""
    made = Ledger.create(ledger, limit, name)
    typer.echo(f"Created {ledger}: epsilon {amount(made.limit)} for '{made.name}'.")


@app.command(epilog="Example: veil ledger show survey.ledger")
def show(ledger: File, as_json: Annotated[bool, Json] = False) -> None:
    """Show the limit, what is spent and what for."""
    book = Ledger.open(ledger)
    receipts, spent = book.receipts(), book.spent
    if as_json:
        totals = amounts(limit=book.limit, spent=spent, left=book.limit - spent)
        print_json({"name": book.name, "ledger": book.id, **totals, "receipts": [r.to_dict() for r in receipts]})
        return
    rows = [
        (r.number, amount(r.epsilon), r.account, r.verb, r.question, "yes" if r.private else "NO", r.time)
        for r in receipts
    ]
    show_table(f"Ledger '{book.name}'", ["entry", "epsilon", "part", "verb", "question", "private", "time"], rows)
    console.print(f"{amount(spent)} of {amount(book.limit)} spent, {amount(book.limit - spent)} left")
    if any(not r.private for r in receipts):
        console.print("Some answers are NOT private: seeded noise, or rows declared public.", style="bold red")


@app.command(epilog="Example: veil ledger verify survey.ledger --against receipt.json")
def verify(
    ledger: File,
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
    typer.echo(f"{ledger} is sound: {entries} entries, {len(witnesses)} of them confirmed by receipts.")
    if not witnesses:
        typer.echo("Without a receipt (--against) a file that was cut short or restored from a backup looks the same.")


@app.command(epilog="Example: veil ledger export survey.ledger --json --out receipts.json")
def export(
    ledger: File,
    out: Annotated[Path | None, typer.Option(help="Where to write; the terminal if absent.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Write all receipts, as CSV or as JSON; kept elsewhere, the JSON is a witness for later checks."""
    receipts = [receipt.to_dict() for receipt in Ledger.open(ledger).receipts()]
    text = json.dumps(receipts, indent=2) + "\n" if as_json else _csv(receipts)
    typer.echo(text, nl=False) if out is None else write_text(out, text, force)


def _csv(receipts: list[dict[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(Receipt.__dataclass_fields__), lineterminator="\n")
    writer.writeheader()
    for receipt in receipts:  # a spreadsheet must not take a name for a formula
        writer.writerow({k: f"'{v}" if str(v).startswith(FORMULA) else v for k, v in receipt.items()})
    return stream.getvalue()


def read_witnesses(path: Path) -> list[dict[str, Any]]:
    """The receipts in a JSON file, or in the `receipts.json` of a published file."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as file:
                with file.open("receipts.json") as stream:
                    found = json.loads(stream.read(MOST_RECEIPTS))
        else:
            found = json.loads(path.read_text(encoding="utf-8"))
    except Exception:  # a zip can be broken in many ways
        found = []
    found = found.get("receipts", [found]) if isinstance(found, dict) else found
    if not isinstance(found, list) or not found or not all(isinstance(witness, dict) for witness in found):
        raise BadInput(f"{path} holds no receipts: give a receipt or an export in JSON, or a model or synopsis file")
    return found
