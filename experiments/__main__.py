"""python -m experiments: comparisons with peers, and the experiments of the papers on their data."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from veil.cli import main
from veil.cli.compare import compare, show
from veil.cli.output import Json, print_json, progress_bar, show_table
from veil.compare.data import KNOWN

from . import PUBLISHED, peers  # noqa: F401  adds them to what can be compared

KNOWN.update(PUBLISHED)
app = typer.Typer(
    name="experiments", help="What was measured for Veil.", no_args_is_help=True, pretty_exceptions_enable=False
)


class Paper(StrEnum):
    """A paper whose experiments can be repeated."""

    projected = "projected"
    privpfc = "privpfc"
    trees = "trees"
    priroc = "priroc"
    selection = "selection"
    dpbench = "dpbench"
    grids = "grids"


@app.command(epilog="Example: python -m experiments reproduce privpfc --quick --out results.parquet")
def reproduce(
    paper: Annotated[Paper | None, typer.Argument(help="One of the papers; the first three if absent.")] = None,
    out: Annotated[Path, typer.Option(help="The table of results; runs that it holds are not repeated.")] = Path(
        "results.parquet"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Two folds or splits, and two epsilons.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Repeat the experiments of Vinterbo 2012, of Su et al. 2018 and of five learners of trees on the PUBLIC tables in
    the folder VEIL_DATA; of Stoddard et al. 2014 those on ROC curves (priroc) and on words (selection); and those on
    range queries of Hay et al. 2016 (dpbench) and of Qardaji, Yang and Li 2013 (grids).

    Noise is seeded and protects nobody.
    """
    if paper is Paper.priroc:
        _curves(out, quick, as_json)
        return
    if paper is Paper.selection:
        _reproduce_selection(out, quick, as_json)
        return
    if paper in (Paper.dpbench, Paper.grids):
        _reproduce_ranges(paper, out, quick, as_json)
        return
    from veil.compare.summary import summary

    from .papers.grids import left_out
    from .papers.grids import reproduce as repeat  # takes longer to load than the other commands to run

    absent = left_out() if paper in (None, Paper.projected) else []
    if absent:
        note = f"Left out: {', '.join(absent)}, whose environments are built by `make peers`. All else is repeated."
        typer.echo(note, err=True)
    with progress_bar(as_json) as progress:
        task = progress.add_task("reproducing", total=None)
        results = repeat(
            [paper] if paper else [Paper.projected, Paper.privpfc, Paper.trees],
            quick=quick,
            out=out,
            progress=lambda name, done, total: progress.update(task, description=name, completed=done, total=total),
        )
    show(summary(results).to_pylist(), as_json)


def _curves(out: Path, quick: bool, as_json: bool) -> None:
    from .papers.curves import reproduce_roc, table_one

    with progress_bar(as_json) as progress:
        task = progress.add_task("reproducing", total=None)
        results = reproduce_roc(
            quick=quick,
            out=out,
            progress=lambda name, done, total: progress.update(task, description=name, completed=done, total=total),
        )
    found = list(table_one(results))
    if as_json:
        print_json(found)
        return
    rows = [[row["data"], row["method"], row["epsilon"], row["area"], row["paper"] or ""] for row in found]
    show_table("Area between exact and private curves", ["data", "method", "epsilon", "median", "the paper's"], rows)


def _reproduce_selection(out: Path, quick: bool, as_json: bool) -> None:
    """The experiments with words, which have measures of their own."""
    from .papers.words import reproduce_selection, selection_summary

    with progress_bar(as_json) as progress:
        task = progress.add_task("reproducing", total=None)
        results = reproduce_selection(
            quick=quick,
            out=out,
            progress=lambda name, done, total: progress.update(task, description=name, completed=done, total=total),
        )
    found = selection_summary(results)
    if as_json:
        print_json(found)
    else:
        show_table("Means over folds", list(found[0]), [list(row.values()) for row in found])


def _reproduce_ranges(paper: Paper, out: Path, quick: bool, as_json: bool) -> None:
    """The experiments on range queries, whose errors are shares of all rows."""
    from .papers import ranges

    with progress_bar(as_json) as progress:
        task = progress.add_task("reproducing", total=None)
        found = (ranges.dpbench if paper is Paper.dpbench else ranges.grids)(
            out, quick, lambda name, done, total: progress.update(task, description=name, completed=done, total=total)
        )
    if as_json:
        print_json(found)
    else:
        lines = [["" if value is None else value for value in row.values()] for row in found]
        show_table("Errors, as a share of all rows", [*found[0]], lines)


app.command(
    epilog="Example: python -m experiments compare --methods naive-bayes,dp-ebm --data adult --out results.parquet"
)(compare)

if __name__ == "__main__":
    main(app)
