"""veil reproduce: the experiments of the papers, on their data."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from .compare import show
from .output import Json, console


class Paper(StrEnum):
    """A paper whose experiments can be repeated."""

    projected = "projected"
    privpfc = "privpfc"
    trees = "trees"


def reproduce(
    paper: Annotated[Paper | None, typer.Argument(help="One of the papers; all if absent.")] = None,
    out: Annotated[Path, typer.Option(help="The table of results; runs that it holds are not repeated.")] = Path(
        "results.parquet"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Two folds or splits, and two epsilons.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Repeat the experiments of Vinterbo 2012, of Su et al. 2018 and of five learners of trees on the PUBLIC tables in
    the folder VEIL_DATA.

    Noise is seeded and protects nobody.
    """
    from ..compare.reproduce import reproduce as repeat  # takes longer to load than the other commands to run
    from ..compare.summary import summary

    with Progress(console=console, transient=True, disable=as_json) as progress:
        task = progress.add_task("reproducing", total=None)
        results = repeat(
            [paper] if paper else list(Paper),
            quick=quick,
            out=out,
            progress=lambda name, done, total: progress.update(task, description=name, completed=done, total=total),
        )
    show(summary(results).to_pylist(), as_json)
