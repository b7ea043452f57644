"""A browser on the pages, driven once; the tests look at what it found. Without Chromium they are skipped."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.explore.conftest import folder as folder
from tests.shell import output
from veil import Schema
from veil.results import COLUMNS, MEASURED

HERE = Path(__file__).parent


def chromium() -> str:
    """Where Chromium is; skips if it, Node or what drives it is missing."""
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    if found is None:
        pytest.skip("there is no Chromium here: `make test-browser` installs it where it can")
    if shutil.which("node") is None or not (HERE / "node_modules" / "playwright-core").is_dir():
        pytest.skip("there is nothing to drive Chromium with: `make test-browser` installs it with npm")
    return found


@pytest.fixture(scope="session")
def seen(folder: Path) -> Any:
    """What a browser found on all views of a server over a small table."""
    program = chromium()
    asked = [
        "--results",
        folder / "results.parquet",
        "--schema",
        folder / "clinic.toml",
        "--ledger",
        folder / "clinic.ledger",
    ]
    with explorer([*asked, "--watch", folder / "out"]) as address:
        return driven("check.mjs", address, program)


@contextmanager
def explorer(options: list[Any]) -> Iterator[str]:
    """The address of a running `veil explore`."""
    program = [sys.executable, "-c", "from veil.cli import main; main()", "explore", *map(str, options), "--no-browser"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().split()[-1]
        finally:
            server.terminate()


def driven(script: str, *words: str) -> Any:
    """What a script that drives the browser has found."""
    asked = {"cwd": HERE, "capture_output": True, "text": True, "timeout": 280}
    done = subprocess.run(["node", script, *words], **asked)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


IMAGE, SCRIPT = "<img src=http://evil.example/x onerror=globalThis.pwned=1>", "<script>globalThis.pwned=1</script>"
ATTRIBUTE, END = (
    "\"' onmouseover='globalThis.pwned=1' x='",
    "</title></textarea></svg></script><svg onload=globalThis.pwned=1>",
)
SECRET = "a-value-of-a-row"


def hostile_folder(place: Path) -> list[Any]:
    """Files in which every name and text is markup, and the options of `veil explore` that open them."""
    chance = np.random.default_rng(0)
    rows = {
        IMAGE: chance.random(400),
        ATTRIBUTE: chance.choice([SCRIPT, END], 400),
        END: chance.choice(["a", IMAGE], 400),
    }
    pd.DataFrame(rows).to_csv(place / "rows.csv", index=False)
    (place / "DATA.csv").write_text(SECRET)
    numbers = {"name": IMAGE, "kind": "numeric", "bounds": [0, 1], "bins": 4}
    texts = [{"name": name, "kind": "categorical", "values": values} for name, values in HOSTILE.items()]
    about = {"name": SCRIPT + IMAGE, "label": END, "rows": 400, "column": [numbers, *texts]}
    (schema := place / "evil<img src=x>.toml").write_text(Schema.model_validate(about).to_toml(), encoding="utf-8")
    output("ledger", "create", ledger := place / "a<b>&.ledger", "--limit", "9", "--name", SCRIPT + IMAGE)
    (out := place / "out").mkdir()
    asked = ["--schema", schema, "--ledger", ledger, "--epsilon", "1", "--note", IMAGE]
    output("train", place / "rows.csv", *asked, "--test-share", "0.3", "--out", out / f"{NAMED}.veil")
    output("publish", place / "rows.csv", *asked, "--columns", IMAGE, "--out", out / "'onload='pwned=1.veil")
    page = next(out.glob("*-evaluation.html")).read_text(encoding="utf-8")
    (out / "script.html").write_text(
        page.replace("<body>", f"<body><p>made by hand</p>{SCRIPT}{IMAGE}").replace("</title>", f"</title>{SCRIPT}")
    )
    (out / "link.html").symlink_to(place / "DATA.csv")
    (out / "..%2f..%2fDATA.csv.html").write_text(page)
    return [
        "--results",
        hostile_results(place / "results.parquet"),
        "--schema",
        schema,
        "--ledger",
        ledger,
        "--watch",
        out,
    ]


NAMED = "model<img src=x onerror=globalThis.pwned=1>"
HOSTILE = {ATTRIBUTE: [SCRIPT, END], END: ["a", IMAGE]}


def hostile_results(path: Path) -> Path:
    """Results in which the names of data and methods, reasons and versions are markup."""
    rows = list[dict[str, Any]]()
    for data, method, failed in (
        (IMAGE, SCRIPT, False),
        (IMAGE, END, False),
        (ATTRIBUTE, SCRIPT, True),
        (ATTRIBUTE, END, False),
    ):
        for seed, epsilon in ((seed, epsilon) for seed in range(3) for epsilon in (0.1, 1.0)):
            numbers = dict.fromkeys(MEASURED, None if failed else 0.7 + seed / 100)
            state = {"status": "failed", "reason": IMAGE} if failed else {"status": "done"}
            about = {"data": data, "method": method, "epsilon": epsilon, "seed": seed, "private": True, "delta": 0.0}
            rows.append({**about, **numbers, **state, "rows": None, "version": SCRIPT + IMAGE, "date": IMAGE})
    pq.write_table(pa.Table.from_pylist(rows, COLUMNS), path)
    return path


@pytest.fixture(scope="session")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a browser found on all pages about files that are full of markup."""
    program, place = chromium(), tmp_path_factory.mktemp("hostile")
    with explorer(hostile_folder(place)) as address:
        return driven("hostile.mjs", address, program, SECRET)
