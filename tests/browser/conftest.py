"""A browser on the pages, driven once; the tests look at what it found. Without Chromium they are skipped."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.explore.conftest import folder as folder

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
    command = [
        sys.executable,
        "-c",
        "from veil.cli import main; main()",
        "explore",
        *asked,
        "--watch",
        folder / "out",
        "--no-browser",
    ]
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        try:
            found = subprocess.run(
                ["node", "check.mjs", address, program],
                cwd=HERE,
                capture_output=True,
                text=True,
                timeout=280,
                check=True,
            )
        finally:
            server.terminate()
    return json.loads(found.stdout)
