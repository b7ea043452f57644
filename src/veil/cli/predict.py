"""veil predict: what a model says about rows."""

from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from ..files.tables import RowFile, check_space, check_table_path, new_file, write_tables, writing
from .output import Encoding, Json, Multiline, check_paths, console, print_json, steps

WIDTH = 32  # bytes of a number in a file, at most about


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The model, such as model.veil.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The rows: CSV, gzipped CSV or Parquet.")],
    out: Annotated[Path, typer.Option(help="Where to write the predictions: CSV, gzipped CSV or Parquet.")],
    encoding: Encoding = "utf-8",
    multiline: Multiline = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Write the predicted class of each row and the probability of every class.

    Columns are found by name; the label may be absent. Predictions tell about the rows they are made for: whoever
    may not see those may not see these.
    """
    from ..models import load_model  # scikit-learn takes two seconds to load
    from ..models.rows import inputs

    published = load_model(model)
    check_paths(model, data, out)
    check_table_path(out)
    rows = RowFile(data, encoding, multiline).stream(every_line=True)
    needed = inputs(published.schema_, {}, person=False)
    with new_file(out, force=force) as draft, steps("predicting", quiet=as_json) as step:
        with writing(out):
            write_tables(draft, (_predicted(published, frame, out) for frame in rows.frames(needed)), out)
        step()
    if as_json:
        print_json({"predictions": str(out), "columns": _names(published)})
        return
    console.print(f"Wrote {out}: for each row the prediction, then the probability of each class.", markup=False)
    console.print("It tells about these rows: whoever may not see them may not see it.")


def _names(model: Any) -> list[str]:
    return ["prediction", *(f"p_{name}" for name in model.classes_)]


def _predicted(model: Any, rows: Any, out: Path) -> pa.Table:
    """The predictions of some rows; refused if the disk has no room for them."""
    odds = model.predict_proba(rows)
    check_space({out: len(odds) * WIDTH * (1 + len(model.classes_))})
    names = pa.array([str(name) for name in model.classes_])
    return pa.table([names.take(pa.array(odds.argmax(axis=1))), *odds.T.copy()], _names(model))
