"""veil compare: how good are private methods, next to each other, to peers and to no privacy at all?"""

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from ..display import number, with_margin
from ..errors import BadInput
from .output import Json, console, print_json, progress_bar, show_table, write_text

HEADER = ["method", "epsilon", "AUC", "accuracy", "M", "log loss", "seconds", "MB", "runs"]
WIDE, FEW = 130, 4  # a narrow terminal shows the first few columns
RANGE_METHODS = "adaptive-tree,adaptive-grid,hierarchy,identity,uniform"
RANGE_MEASURES = ("rmse", "p95", "mae", "msae", "mre", "seconds")
RANGE_HEADER = ["method", "epsilon", "RMSE / rows", "95 % below", "MAE", "MSAE", "MRE", "seconds", "runs"]
ENOUGH = 5  # runs
FEW_RUNS = "So few runs tell little, hence intervals so wide: --seeds 10 goes on with what was measured."
RANGE_LEGEND = (
    "Means over runs with seeded noise, which protects nobody. RMSE and the value that 95 % of the errors stay below "
    "are shares of all rows; MAE and MSAE are in rows; MRE counts small answers as a thousandth of all rows."
)
LEGEND = "Mean over runs ± half the width of its 95 % interval. Methods at epsilon inf are NOT private."


def compare(
    methods: Annotated[
        str | None,
        typer.Option(help="Veil's methods, others that are not private, and peers, by name; some of each if absent."),
    ] = None,
    data: Annotated[
        str,
        typer.Option(
            help="Public data: embedded, or files whose schema says `public = true`, by path or in VEIL_DATA."
        ),
    ] = "fair",
    epsilons: Annotated[str, typer.Option(help="The budgets of private methods.")] = "0.05,0.1,0.2,0.5,1",
    ranges: Annotated[
        str | None,
        typer.Option(help="Compare histograms of these columns, such as longitude,latitude, by 2,000 random ranges."),
    ] = None,
    rows: Annotated[
        str, typer.Option(help="How many of the training rows to learn from, such as 1000,3000,all.")
    ] = "all",
    seeds: Annotated[int, typer.Option(min=1, help="How many splits, each with its own noise.")] = 10,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The table of results, results.parquet if absent; runs that it holds are not repeated. With --ranges, "
            "a file of histograms, true and noisy, and of errors by width, for veil explore --results."
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Runs at a time; as many as processors if absent.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the results, as PNG or SVG.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also write a page about all results in the table, one file of HTML.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing figure or page.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Measure methods on PUBLIC data, with seeded noise that protects nobody; lists are separated by commas."""
    from .. import compare as comparing  # takes longer to load than the other commands to run
    from ..compare.figure import file_format
    from ..explore.export import export
    from ..explore.given import Given

    budgets = [_number(epsilon) for epsilon in _list(epsilons)]
    if ranges is not None and plot:
        raise BadInput("ranges are drawn on a page: leave out --plot, or have --report")
    if plot is not None:
        file_format(plot)
    for path in (plot, report, out if ranges is not None else None):
        if path is not None and path.exists() and not force:
            raise BadInput(f"{path} exists already: choose another path or add --force")
    if ranges is not None:
        asked = _list(methods or RANGE_METHODS), _list(data), _list(ranges), budgets, seeds
        rows_, kept = measured_ranges(*asked, as_json)
        keep_ranges(kept, out, report, force)
        show_ranges(rows_, asked[2], as_json)
        return
    out = out or Path("results.parquet")
    with progress_bar(as_json) as progress:
        task = progress.add_task("comparing", total=None)
        results = comparing.compare(
            _list(methods or "naive-bayes,ceiling,majority"),
            _list(data),
            budgets,
            seeds,
            rows=[_size(text) for text in _list(rows)],
            out=out,
            jobs=jobs,
            progress=lambda name, done, total: progress.update(task, description=name, completed=done, total=total),
        )
    if plot is not None:
        comparing.plot(results, plot, force=force)
    if report is not None:
        write_text(report, export(Given(results=(out,))), force)
    show(comparing.summary(results).to_pylist(), as_json)


def measured_ranges(
    methods: list[str], data: list[str], columns: list[str], epsilons: list[float], seeds: int, as_json: bool
) -> tuple[list[dict[str, Any]], list[Any]]:
    """The errors of methods for histograms of these columns, and for each data set what is kept of it."""
    from ..compare.ranges import compare_ranges

    rows, kept = list[dict[str, Any]](), list[Any]()
    with progress_bar(as_json) as bar:
        task = bar.add_task("comparing", total=None)

        def tell(name: str, done: int, total: int) -> None:
            bar.update(task, description=name, completed=done, total=total)

        for name in dict.fromkeys(data):
            found, one = compare_ranges(name, columns, methods, epsilons, seeds, tell)
            rows += found
            kept.append(one)
    return rows, kept


def keep_ranges(kept: list[Any], out: Path | None, report: Path | None, force: bool) -> None:
    """Write what is kept to a file, and a page about it, where these are asked for."""
    from ..explore.export import export
    from ..explore.given import Given
    from ..files.kept_ranges import write_ranges
    from ..files.tables import new_file

    if out is not None:
        with new_file(out, force=force) as draft:
            write_ranges(draft, kept)
    if report is not None:
        with TemporaryDirectory() as scratch:
            path = Path(scratch, "ranges.zip")
            write_ranges(path, kept)
            write_text(report, export(Given(results=(path,))), force)


def show_ranges(rows: list[dict[str, Any]], columns: list[str], as_json: bool) -> None:
    """Print how far methods for histograms of these columns are off."""
    if as_json:
        print_json(rows)
        return
    for name in dict.fromkeys(row["data"] for row in rows):
        cells = [
            [row["method"], f"{row['epsilon']:g}", *(number(row[measure]) for measure in RANGE_MEASURES), row["runs"]]
            for row in rows
            if row["data"] == name
        ]
        show_table(f"Ranges of {', '.join(columns)} in {name}", RANGE_HEADER, cells)
    console.print(RANGE_LEGEND, markup=False)


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"{text!r} is not an epsilon: give numbers such as 0.1,0.5,1") from None


def _size(text: str) -> int | None:
    """A number of rows; None for all."""
    if text != "all" and not (text.isascii() and text.isdigit()):
        raise BadInput(f"{text!r} is not a number of rows: give numbers such as 1000,3000,all")
    return None if text == "all" else int(text)


def show(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print a summary of results."""
    if as_json:
        print_json([{**row, "epsilon": row["epsilon"] if math.isfinite(row["epsilon"]) else None} for row in rows])
        return
    shown = len(HEADER) if console.width >= WIDE else FEW
    for name in dict.fromkeys(row["data"] for row in rows):
        for size in dict.fromkeys(row["rows"] for row in rows if row["data"] == name):
            cells = [_cells(row)[:shown] for row in rows if (row["data"], row["rows"]) == (name, size)]
            learned = "" if size is None else f", learned from {size:,}"
            show_table(f"Held-out rows of {name}{learned}", HEADER[:shown], cells)
    console.print(LEGEND, markup=False)
    if any(0 < row["runs"] < ENOUGH for row in rows):
        console.print(FEW_RUNS, markup=False)
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
    return with_margin(mean, margin)
