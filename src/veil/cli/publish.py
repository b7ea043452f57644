"""veil publish: from a file of rows a private table for classification or a histogram, and synthetic rows."""

import csv
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..display import readable
from ..errors import BadInput
from ..files.tables import check_table_path, write_table
from ..kernel import Budget, Ledger
from ..plans.run import guessed_rows
from ..schema import Schema
from ..verdicts.expected import of_rehearsal
from ..verdicts.ranges import of_rehearsed_ranges
from ..verdicts.synthetic import of_rehearsed_tables
from . import charge
from .output import Encoding, Json, Multiline, check_paths, console, print_json


def publish(
    data: charge.Data,
    schema: charge.Public,
    epsilon: Annotated[
        str,
        typer.Option(help="What the table may cost, such as 1 or 1/2: the less, the more noise and the more privacy."),
    ],
    out: Annotated[Path | None, typer.Option(help="Where to write the table, such as synopsis.veil.")] = None,
    columns: Annotated[
        str | None,
        typer.Option(help="A histogram of these columns, such as longitude,latitude; the schema needs no label."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="How to choose what to count: marginals or privbayes for synthetic rows of all columns, privpfc, "
            "projected or diffgen for a table of a few. For --columns: auto, adaptive-tree, "
            "adaptive-grid, uniform-grid, hierarchy, quadtree, dawa, mwem, ahp, identity or uniform."
        ),
    ] = None,
    focus: Annotated[
        str | None,
        typer.Option("--for", help="With marginals or privbayes: the column whose relations are served first."),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(help="Publish these columns alone, such as age,sex; methods for a few columns choose among them."),
    ] = None,
    resolution: Annotated[
        int | None, typer.Option(min=2, help="With --columns: bins of a numeric column that declares none.")
    ] = None,
    synthetic: Annotated[
        Path | None, typer.Option(help="Where to write synthetic rows of its columns: CSV, gzipped CSV or Parquet.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(min=0, max=10**9, help="How many of them; as many as were counted if absent.")
    ] = None,
    ledger: charge.LedgerPlace = None,
    note: charge.Note = "",
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable noise: the table is then NOT private.")] = None,
    report: Annotated[Path | None, typer.Option(help="Where to write the report; beside the table if absent.")] = None,
    encoding: Encoding = "utf-8",
    multiline: Multiline = False,
    dry_run: charge.DryRun = False,
    force: charge.Force = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Publish a noisy table of a few columns, or of all, with a report of what was asked and what it cost.

    With --method marginals the synthetic rows hold all columns but free text. With --columns it is a histogram of
    these, for range queries and maps. Otherwise the method chooses the columns, those that tell most about the label:
    commonly three to six. The table and the synthetic rows hold these and the label, and nothing of the others.

    veil query asks it for nothing, and so does Python: veil.load_synopsis("synopsis.veil").
    """
    from ..synopsis.publish import SYNTHESISERS, asked, rehearse_publish, settled

    declared, budget = Schema.read(schema), Budget(epsilon)
    settings = _settings(columns, resolution, focus, keep)
    public, _ = asked(declared, used := settled(method, columns), **settings)
    rows_file = charge.file_of(data, encoding, multiline, public, schema)
    shared = charge.open_ledger(ledger, note, out)
    if dry_run:
        expect = of_rehearsal if columns is None else partial(of_rehearsed_ranges, method=used)
        expect = of_rehearsed_tables if columns is None and used in SYNTHESISERS else expect
        charge.show_plan(rehearse_publish(declared, budget, used, **settings), public, shared, as_json, expect)
        return
    if out is None:
        raise BadInput("say where to write the table, such as --out synopsis.veil")
    page = report or out.with_suffix(".html")
    check_paths(out, page, synthetic, data, schema, ledger)
    _check_synthetic(synthetic, rows)
    guess = guessed_rows(public) if rows is None else rows
    charge.check_disk(public, ledger, out, page, more={synthetic: guess} if synthetic else {})
    charged = shared or charge.own_ledger(budget, public, note, out)
    others: dict[Path, charge.Writer] = {synthetic: _rows_writer(synthetic, rows, seed)} if synthetic else {}
    others[page] = charge.report_writer(charged)
    make = _maker(declared, budget, method or used, charged, seed, settings)
    with charge.saying_charges(shared, budget):
        made = charge.run_and_write(rows_file.stream, make, out, _write, others, force, as_json)
    if as_json:
        places = {"synopsis": str(out), "report": str(page), **({"synthetic": str(synthetic)} if synthetic else {})}
        print_json(
            {**places, "columns": list(made.columns), "left_out": _left_out(made), **charge.facts(made, charged)}
            | ({"trace": made.outcome_.trace} if made.outcome_.trace else {})
        )
        return
    charge.say(made, "table", out, page, charged, shared is not None)
    _say_columns(made, synthetic, chosen=not columns)
    if not made.verdict_.bad:
        console.print(f"Next: veil query {out} --where ...", markup=False)
        console.print(f'In Python: veil.load_synopsis("{out}").to_frame()', markup=False)


def _say_columns(made: Any, synthetic: Path | None, chosen: bool) -> None:
    """Print which columns were published and, if the method has chosen them, which were not."""
    if synthetic:
        console.print(f"Wrote {synthetic}: synthetic rows, which cost nothing more.", markup=False)
    if not chosen and getattr(made, "trace_", None):
        from ..choice.ranges import words_of

        console.print(f"Chosen: {words_of(made.trace_)}.", markup=False, soft_wrap=True)
    what = "The table and its synthetic rows hold" if synthetic else "The table holds"
    console.print(f"{what} {', '.join(map(readable, made.columns))}.", markup=False)
    if chosen and (left_out := _left_out(made)):
        why = "it is free text" if "left_out" in made.settings_ else "the budget went to the others"
        console.print(f"Nothing of {', '.join(map(readable, left_out))}: {why}.", markup=False)


def _left_out(made: Any) -> list[str]:
    """The columns of the schema that are not in the table."""
    dropped = [column.name for column in made.schema_.column if column.name not in made.columns]
    return [*dropped, *made.settings_.get("left_out", ())]


def _check_synthetic(synthetic: Path | None, rows: int | None) -> None:
    """Raise, before any charge, if the name of the synthetic file is unknown, or `rows` is given without a file."""
    if synthetic:
        check_table_path(synthetic)
    elif rows is not None:
        raise BadInput("--rows is the number of synthetic rows: say where to write them with --synthetic rows.parquet")


def _settings(
    columns: str | None, resolution: int | None, focus: str | None = None, keep: str | None = None
) -> dict[str, Any]:
    """The columns of a histogram and its resolution, or the column in focus and those to keep, as `publish` takes
    them."""
    if columns is None and resolution is not None:
        raise BadInput("--resolution is for a histogram: name its columns with --columns longitude,latitude")
    named: dict[str, Any] = {} if focus is None else {"focus": focus}
    named |= {} if keep is None else {"keep": names_of(keep)}
    return named if columns is None else {**named, "columns": names_of(columns), "resolution": resolution}


def names_of(columns: str) -> list[str]:
    """The names in a list with commas; a name with a comma is written between quotation marks, as in a CSV."""
    return [name.strip() for name in next(csv.reader([columns], skipinitialspace=True), [])]


def _maker(
    schema: Schema, budget: Budget, method: str, ledger: Ledger, seed: int | None, settings: dict[str, Any]
) -> Callable[[Any], Any]:
    from ..synopsis import publish

    how = {"epsilon": budget, "method": method, "ledger": ledger, "random_state": seed, **settings}
    return lambda rows: publish(rows, schema, **how)


def _write(draft: Path, synopsis: Any) -> None:
    synopsis.write(draft)


def _rows_writer(path: Path, rows: int | None, seed: int | None) -> charge.Writer:
    return lambda draft, synopsis: write_table(draft, synopsis.to_arrow(rows, seed), path)
