"""veil predict: what a model says about rows."""

from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from ..files import new_file, read_rows
from .output import check_paths, console, steps, write_csv


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The model, such as model.veil.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The rows: CSV, gzipped CSV or Parquet.")],
    out: Annotated[Path, typer.Option(help="Where to write the predictions, a CSV file.")],
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write the predicted class of each row and the probability of every class.

    Columns are found by name; the label may be absent. Predictions tell about the rows they are made for: whoever
    may not see those may not see these.
    """
    from ..models import load_model  # scikit-learn takes two seconds to load

    published = load_model(model)
    check_paths(model, data, out)
    with new_file(out, force=force) as draft, steps("reading rows", "predicting", "writing") as step:
        rows = read_rows(data, every_line=True)
        step()
        odds = published.predict_proba(rows)
        step()
        columns = {f"p_{name}": odds[:, i] for i, name in enumerate(published.classes_)}
        names = pa.array([str(name) for name in published.classes_])
        write_csv(draft, pa.table({"prediction": names.take(pa.array(odds.argmax(axis=1))), **columns}))
        step()
    console.print(f"Wrote {out}: for each row the prediction, then the probability of each class.", markup=False)
    console.print("It tells about these rows: whoever may not see them may not see it.")
