"""What the commands that charge a ledger share: checks before anything is charged, the plan, files, and the cost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from ..display import amount, number, readable
from ..errors import BadInput
from ..files import check_types, column_types, new_file, read_rows
from ..kernel.ledger import Ledger
from ..plans.rehearsal import HEADER, plan_cell, plan_row
from ..plans.run import guessed_rows, total
from ..questions import Grid
from ..schema import Schema
from .output import Stopped, amounts, console, print_json, show_table, steps

SECONDS = 8e-8  # to read and encode one value, about
OPEN = "The schema declares the rows public: the {what} is NOT private."
SEEDED = "Seeded noise, which whoever knows the seed can remove: the {what} is NOT private."
Data = Annotated[Path, typer.Argument(metavar="DATA", help="The rows: CSV, gzipped CSV or Parquet.")]
Public = Annotated[Path, typer.Option(help="What is public about them, a TOML file.")]
Account = Annotated[Path | None, typer.Option(help="The account to charge; without one, a budget of exactly epsilon.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan; open no rows, charge nothing.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]


def check_names(data: Path, schema: Schema) -> None:
    """Complain about absent columns, and those of a type that cannot fit, before anything is read or charged."""
    present = column_types(data)
    wanted = [*(column.name for column in (*schema.features, *schema.texts)), schema.person, schema.label]
    if absent := [name for name in wanted if name and name not in present]:
        raise BadInput(f"{data} has no column {', '.join(map(repr, absent))}: rename it, or change the schema")
    check_types(present, schema)


@contextmanager
def accounted(account: Ledger | None) -> Iterator[None]:
    """Says, if what runs inside is stopped or fails, what the ledger was charged meanwhile: that is not refunded."""
    before = account.spent if account else Fraction(0)
    try:
        yield
    except BaseException as problem:
        cost = account.spent - before if account else Fraction(0)
        said = f"epsilon {amount(cost)} was charged to the ledger since the start, and stays charged"
        if not isinstance(problem, Exception):  # interrupted or told to end: nobody else says a word
            typer.echo(f"veil: stopped; {said if cost else 'no ledger was charged'}", err=True)
            raise Stopped(getattr(problem, "code", 130)) from None
        elif cost:
            typer.echo(f"veil: {said}", err=True)
        raise


def run_and_write(
    data: Path,
    make: Callable[[Any], Any],
    out: Path,
    write: Callable[[Path, Any], None],
    others: Mapping[Path, Callable[[Path, Any], None]],
    force: bool,
    quiet: bool = False,
) -> Any:
    """What was made of the rows in a file, once it and the others are written.

    The files are opened first, so that nothing is charged if they cannot be written; the first is whole before the
    others are begun, so that what was paid for is kept whatever happens to these.
    """
    names = ["reading rows", "asking", *["writing"] * len(others)]
    with ExitStack() as files, steps(*names, quiet=quiet) as step:
        drafts = {files.enter_context(new_file(path, force=force)): finish for path, finish in others.items()}
        with new_file(out, force=force) as draft:
            rows = read_rows(data)
            step()
            made = make(rows)
            write(draft, made)
        step()
        for place, finish in drafts.items():
            finish(place, made)
            step()
    return made


def report_writer(
    ledger: Ledger, part: str = "", links: Mapping[str, str] | None = None
) -> Callable[[Path, Any], None]:
    """Writes the report of what was made, with what is left in the ledger, of which part of the rows it is, and where
    other pages are."""

    def write(draft: Path, made: Any) -> None:
        from ..report import report

        page = report(made, left=ledger.left, limit=ledger.limit, part=part, links=links or {})
        draft.write_text(page, encoding="utf-8")

    return write


def facts(made: Any, ledger: Ledger) -> dict[str, Any]:
    """How it was made and what it cost, for machines; what is left and the receipts are exact, as in the ledger."""
    receipts = [receipt.to_dict() for receipt in made.receipts_]
    costs = amounts(epsilon=total(made.receipts_), left=ledger.left)
    return {"method": made.method, **costs, "private": made.private_, "receipts": receipts}


def say(
    made: Any, what: str, out: Path, page: Path | None, ledger: Ledger, shared: bool, beside: Sequence[Any] = ()
) -> None:
    """What was written, whether it is private and what it cost; `shared` if that was charged to a ledger file.

    `beside` are receipts of what was answered in the same run.
    """
    if not made.private_:
        console.print((OPEN if made.schema_.public else SEEDED).format(what=what), style="bold red")
    may = _may_be_published(made, "Both" if page else "It")
    console.print(f"Wrote {out}{f', and {page}' if page else ''}: open it in a browser.{may}", markup=False)
    cost = f"It cost epsilon {amount(total([*made.receipts_, *beside]))}"
    if shared:
        console.print(f"{cost}; the ledger has {amount(ledger.left)} of {amount(ledger.limit)} left.")
    else:
        console.print(f"{cost}; no ledger was charged: use --ledger if more is to follow.")


def _may_be_published(made: Any, what: str) -> str:
    """That it may be published; above a cost that hides little, what its report says of that instead."""
    from ..report.sections import WEAK, hidden

    weak = total(made.receipts_) > WEAK
    return hidden(made) if weak or not made.private_ else f" {what} may be published."


def show_plan(releases: Sequence[Any], schema: Schema, account: Ledger | None, as_json: bool = False) -> None:
    """How a run would divide its budget, and what it would take."""
    plan = [plan_row(release, schema.rows_per_person) for release in releases]
    width = sum(column.dtype.itemsize for column in (*schema.features, schema.get(str(schema.label))))
    width += sum(text.dtype.itemsize * text.words_per_row for text in schema.texts)
    seconds = SECONDS * (len(schema.features) + 1)
    if as_json:
        names = ["answer", "about", "epsilon", "scale", "within"]
        rows = [{**dict(zip(names, row, strict=True)), **amounts(epsilon=row[2])} for row in plan]
        estimate = {"seconds_per_million_rows": seconds * 1e6, "megabytes_per_million_rows": width}
        left = amounts(left=account.left) if account else {}
        print_json({"plan": rows, **estimate, **left})
        return
    cost = total(list({release.receipt.number: release.receipt for release in releases}.values()))
    shown = [(*row[:2], *map(plan_cell, row[2:])) for row in plan]
    shown.append(("together", "", amount(cost), "", ""))
    show_table("The plan", HEADER, shown)
    _say_how_to_read(releases)
    if len({release.receipt.account for release in releases}) > 1:
        console.print("Answers about disjoint rows cost what the dearest of them do.")
    verbs = {release.receipt.verb for release in releases if not release.receipt.verb.startswith("count")}
    if verbs:
        made_up = f"those of {guessed_rows(schema):,} made-up rows"
        console.print(f"Later questions follow from earlier answers, here from {made_up}.")
    if verbs - {"quantiles"}:
        console.print("Choosing takes time of its own: each candidate is counted.")
    _say_left(account, cost)
    _say_size(schema, seconds, width)
    console.print("Nothing was charged, and no row was opened.")


def _say_how_to_read(releases: Sequence[Any]) -> None:
    """What the name of a table means, if one of a single column is asked for."""
    grids = [release.question for release in releases if isinstance(release.question, Grid)]
    for grid in [grid for grid in grids if len(grid.axes) == 1][:1]:
        name = readable(grid.columns[0])
        console.print(
            f"{readable(grid.describe())} stands for a table of the {grid.size} codes of column {name} by class.",
            markup=False,
        )


def _say_left(account: Ledger | None, cost: Fraction) -> None:
    if account:
        console.print(f"The ledger has {amount(account.left)} of {amount(account.limit)} left.")
        if account.left < cost:
            console.print("It would refuse this.", style="bold red")


def _say_size(schema: Schema, seconds: float, width: int) -> None:
    rows, guess = schema.rows or 1_000_000, "" if schema.rows else " (the schema does not say how many there are)"
    estimate = f"about {number(seconds * rows)} s to read them and {number(width * rows / 1e6)} MB of codes"
    console.print(f"For {rows:,} rows{guess} expect {estimate}.")
