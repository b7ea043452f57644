"""veil predict: what a model says about rows."""

from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from ..files.tables import RowFile, check_space, check_table_path, new_file, write_table, writing
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

    published = load_model(model)
    check_paths(model, data, out)
    check_table_path(out)
    with new_file(out, force=force) as draft, steps("reading rows", "predicting", "writing", quiet=as_json) as step:
        rows = RowFile(data, encoding, multiline).read(every_line=True)
        step()
        check_space({out: len(rows) * WIDTH * (1 + len(published.classes_))})
        odds = published.predict_proba(rows)
        step()
        columns = {f"p_{name}": odds[:, i] for i, name in enumerate(published.classes_)}
        names = pa.array([str(name) for name in published.classes_])
        table = pa.table({"prediction": names.take(pa.array(odds.argmax(axis=1))), **columns})
        with writing(out):
            write_table(draft, table, out)
        step()
    if as_json:
        print_json({"predictions": str(out), "columns": table.column_names})
        return
    console.print(f"Wrote {out}: for each row the prediction, then the probability of each class.", markup=False)
    console.print("It tells about these rows: whoever may not see them may not see it.")
