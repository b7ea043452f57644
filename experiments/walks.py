"""How long four walks through the code are: calls down to the charge, and functions, files and rooms on the way."""

import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import veil
from veil import datasets

SOURCE = str(Path(veil.__file__).parent)


def walk(run: Callable[[], Any]) -> tuple[list[str], int, int, int]:
    """The functions from the first call to the ledger's charge, and how many functions, files and rooms were met."""
    met: set[Any] = set()
    path: list[str] = []

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            met.add(frame.f_code)
            if frame.f_code.co_name == "charge" and frame.f_code.co_filename.endswith("ledger.py") and not path:
                path.extend(_names(frame))

    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(None)
    files = {code.co_filename for code in met}
    rooms = {Path(file).relative_to(SOURCE).parts[0] for file in files}
    return path, len(met), len(files), len(rooms)


def _names(frame: FrameType | None) -> list[str]:
    """The functions of Veil on the way to a frame, without wrappers, comprehensions and the walk itself."""
    names = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(SOURCE) and not code.co_name.startswith("<"):
            names.append(f"{Path(code.co_filename).stem}.{code.co_name}")
        frame = frame.f_back
    return names[::-1]


def walks() -> dict[str, Callable[[], Any]]:
    """The four walks, each ready to go."""
    rows, schema = datasets.load("fair")
    model = veil.NaiveBayesClassifier(epsilon=1, schema=schema, random_state=0).fit(rows)
    folder = Path(tempfile.mkdtemp())
    rows.to_csv(folder / "rows.csv", index=False)
    (folder / "schema.toml").write_text(schema.to_toml())
    common = [str(folder / "rows.csv"), "--schema", str(folder / "schema.toml"), "--epsilon", "1", "--seed", "0"]
    return {
        "train with a test share": lambda: _command(
            "train", *common, "--method", "privpfc", "--test-share", "0.3", "--out", str(folder / "model.veil")
        ),
        "fit": lambda: veil.NaiveBayesClassifier(epsilon=1, schema=schema, random_state=0).fit(rows),
        "ROC curve": lambda: veil.private_roc_curve(model, rows, epsilon=1, schema=schema, random_state=0),
        "publish": lambda: _command(
            "publish", *common, "--synthetic", str(folder / "rows.parquet"), "--out", str(folder / "synopsis.veil")
        ),
    }


def _command(*arguments: str) -> None:
    from veil.cli import main

    sys.argv = ["veil", *arguments, "--json"]
    try:
        main()
    except SystemExit as end:
        assert not end.code


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name, run in walks().items():
        path, functions, files, rooms = walk(run)
        print(f"{name}: {len(path)} calls, {functions} functions, {files} files, {rooms} rooms", file=sys.stderr)
        print("  " + " > ".join(path), file=sys.stderr)
