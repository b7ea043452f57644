"""veil query: what a published table answers. It costs nothing, however often."""

from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from ..display import number, readable, row_count
from ..errors import BadInput
from ..files.tables import check_table_path, new_file, read_csv, write_table, writing
from .output import Json, check_paths, console, print_json, show_table

ENDS = ", low and high with 95 % confidence"
SHOWN = 50  # answers printed of a file of queries


def query(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="What veil publish made, such as map.veil.")],
    where: Annotated[
        list[str] | None,
        typer.Option(help="A condition: 'age in 30..50', 'age >= 30', 'sex = Female', 'sex in Female, Male'."),
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option(help="A CSV with a column for each one asked about: 30..50, a value, or nothing for all."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the answers: CSV, gzipped CSV or Parquet.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """About how many rows fulfil all conditions, and how far that may be from the truth.

    Everything comes from noisy counts that were paid for, so any number of queries costs nothing. Conditions are joined
    by repeating --where, or by the word "and"; without any, the answer is the number of all rows.
    """
    from ..synopsis import load_synopsis
    from ..synopsis.where import where as parsed

    if where and queries:
        raise BadInput("give conditions with --where, or a file of them with --queries, not both")
    made = load_synopsis(table)
    asked = _read(queries) if queries else [parsed(where or [], made.columns)]
    if out:
        check_paths(out, table, queries)
        check_table_path(out)
    answers = [_fields(_answered(made, box, place, queries)) for place, box in enumerate(asked, 2)]
    if out:
        with new_file(out, force=force) as draft, writing(out):
            write_table(draft, pa.Table.from_pylist(answers), out)
    if as_json:
        print_json({"answers": [{"where": _said(box), **found} for box, found in zip(asked, answers, strict=True)]})
        return
    known = [name for name in next(iter(answers), {}) if any(found[name] is not None for found in answers)]
    rows = [
        (_said(box) or "all rows", *(_shown(name, found[name]) for name in known))
        for box, found in zip(asked, answers, strict=True)
    ]
    show_table("About how many rows" + ENDS * ("low" in known), ["where", *known], rows[:SHOWN])
    if answers and len(known) == 1:
        console.print("This method tells no intervals: how sure the answers are is not known.")
    if len(rows) > SHOWN:
        console.print(f"{len(rows) - SHOWN:,} more: --out answers.csv writes all of them.")
    if out:
        console.print(f"Wrote {out}.", markup=False)


def _read(path: Path) -> list[dict[str, Any]]:
    """The queries in a file, one for each line."""
    from ..synopsis.where import wanted

    lines: list[dict[str, Any]] = read_csv(path).to_pylist()
    return [{name: wanted(str(text)) for name, text in line.items() if text not in (None, "")} for line in lines]


def _answered(made: Any, box: dict[str, Any], line: int, queries: Path | None) -> Any:
    """The answer to one query; of a file, a refusal names the line: the first has the names of the columns."""
    try:
        return made.query(box)
    except BadInput as refused:
        if queries is None:
            raise
        raise BadInput(f"{queries}, line {line} ({readable(_said(box))}): {refused}; nothing was answered") from None


def _fields(answer: Any) -> dict[str, float | None]:
    """An answer as named numbers: the count and the ends of its interval, or its standard error."""
    if hasattr(answer, "to_dict"):
        found: dict[str, float | None] = answer.to_dict()
        return found
    return {"count": answer.count, "standard_error": answer.standard_error}


def _said(box: dict[str, Any]) -> str:
    return " and ".join(f"{name} {_text(value)}" for name, value in box.items())


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"in {'' if value[0] is None else value[0]}..{'' if value[1] is None else value[1]}"
    return f"in {', '.join(value)}" if isinstance(value, list) else f"= {value}"


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return ""
    return number(value) if name == "standard_error" else row_count(value)
