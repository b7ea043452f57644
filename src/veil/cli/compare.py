"""veil compare: how good are private methods, next to each other, to peers and to no privacy at all?"""

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from ..display import number
from ..errors import BadInput
from .output import Json, console, print_json, progress_bar, show_table

HEADER = ["method", "epsilon", "AUC", "accuracy", "M", "log loss", "seconds", "MB", "runs"]
WIDE, FEW = 130, 4  # a narrow terminal shows the first few columns
LEGEND = "Mean over runs ± half the width of its 95 % interval. Methods at epsilon inf are NOT private."


def compare(
    methods: Annotated[
        str, typer.Option(help="Veil's methods, others that are not private, and peers, by name.")
    ] = "naive-bayes,ceiling,majority",
    data: Annotated[
        str,
        typer.Option(
            help="Public data: embedded, or files whose schema says `public = true`, by path or in VEIL_DATA."
        ),
    ] = "fair",
    epsilons: Annotated[str, typer.Option(help="The budgets of private methods.")] = "0.05,0.1,0.2,0.5,1",
    seeds: Annotated[int, typer.Option(min=1, help="How many splits, each with its own noise.")] = 10,
    out: Annotated[Path, typer.Option(help="The table of results; runs that it holds are not repeated.")] = Path(
        "results.parquet"
    ),
    jobs: Annotated[int | None, typer.Option(min=1, help="Runs at a time; as many as processors if absent.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the results, as PNG or SVG.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing figure.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Measure methods on PUBLIC data, with seeded noise that protects nobody; lists are separated by commas."""
    from .. import compare as comparing  # takes longer to load than the other commands to run
    from ..compare.figure import file_format

    if plot is not None and file_format(plot) and plot.exists() and not force:
        raise BadInput(f"{plot} exists already: choose another path or add --force")
    with progress_bar(as_json) as progress:
        task = progress.add_task("comparing", total=None)
        results = comparing.compare(
            _list(methods),
            _list(data),
            [_number(epsilon) for epsilon in _list(epsilons)],
            seeds,
            out=out,
            jobs=jobs,
            progress=lambda name, done, total: progress.update(task, description=name, completed=done, total=total),
        )
    if plot is not None:
        comparing.plot(results, plot, force=force)
    show(comparing.summary(results).to_pylist(), as_json)


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"{text!r} is not an epsilon: give numbers such as 0.1,0.5,1") from None


def show(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print a summary of results."""
    if as_json:
        print_json([{**row, "epsilon": row["epsilon"] if math.isfinite(row["epsilon"]) else None} for row in rows])
        return
    shown = len(HEADER) if console.width >= WIDE else FEW
    for name in dict.fromkeys(row["data"] for row in rows):
        cells = [_cells(row)[:shown] for row in rows if row["data"] == name]
        show_table(f"Held-out rows of {name}", HEADER[:shown], cells)
    console.print(LEGEND, markup=False)
    for reason in dict.fromkeys(f"{row['method']} on {row['data']}: {row['reason']}" for row in rows if row["failed"]):
        console.print(f"FAILED {reason}", markup=False)


def _cells(row: dict[str, Any]) -> list[str]:
    """A row of the table that is printed."""
    delta = f" (delta {row['delta']:g})" if row["delta"] else ""
    measured = [_range(row, name) for name in ("auc", "accuracy", "m", "log_loss")]
    costs = ["-" if row[name] is None else number(row[name]) for name in ("seconds", "peak_memory")]
    runs = f"{row['runs']}" + (f", {row['failed']} failed" if row["failed"] else "")
    return [row["method"] + delta, f"{row['epsilon']:g}", *measured, *costs, runs]


def _range(row: dict[str, Any], name: str) -> str:
    mean, margin = row[name], row[f"{name}_margin"]
    if mean is None:
        return "-"
    return f"{mean:.3f}" if margin is None else f"{mean:.3f} ± {margin:.3f}"
