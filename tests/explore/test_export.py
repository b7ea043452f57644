"""The same views as one file: it stands by itself, holds no secret of the server, and stays small."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.explore.test_views import Page
from tests.shell import output
from veil import BadInput
from veil.explore.export import MOST_BYTES, export
from veil.explore.given import Given
from veil.explore.serve import MISSING, listening, needed


def test_a_file_has_all_views_and_fetches_nothing(given: Given, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    files = [
        "--results",
        given.results[0],
        "--schema",
        given.schemas[0],
        "--ledger",
        given.ledgers[0],
        "--watch",
        folder / "out",
    ]
    assert "one file" in output("explore", *files, "--export", out)
    text = out.read_text(encoding="utf-8")
    page = Page(text)
    assert page.styled == page.handled == 0
    assert all(f'<article id="{name}">' in text for name in ("compare", "plan", "choice", "ledger", "results"))
    assert "<form" not in text and "<script" not in text and 'href="/' not in text and "default-src 'none'" in text
    assert len(out.read_bytes()) < MOST_BYTES and "AUC at epsilon 1" in text


def test_an_existing_file_is_not_replaced(tmp_path: Path, start: object) -> None:
    out = tmp_path / "page.html"
    out.write_text("mine")
    code, _, said = start("explore", "--export", out)  # type: ignore[operator]
    assert code == 2 and "exists already" in said and out.read_text() == "mine"


def test_a_file_of_what_comes_with_veil_stays_below_a_megabyte() -> None:
    text = export(Given())
    assert len(text.encode()) < MOST_BYTES and "fair" in text


def test_the_command_says_how_to_install_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    with pytest.raises(BadInput, match=r"pip install 'veil\[explore\]'"):
        needed()
    assert "uvicorn" in MISSING


def test_only_this_machine_is_listened_to() -> None:
    with listening(0) as door:
        host, port = door.getsockname()
        assert host == "127.0.0.1" and port > 0
        with pytest.raises(BadInput, match="cannot be used"):
            door.listen()
            listening(port)


@pytest.mark.parametrize("option", ["--results", "--schema", "--ledger", "--watch"])
def test_a_file_that_is_not_there_is_refused_at_the_start(start: object, option: str, tmp_path: Path) -> None:
    code, _, said = start("explore", option, tmp_path / "nothing", "--no-browser")  # type: ignore[operator]
    assert code == 2 and "there is no" in said


def test_neither_scikit_learn_nor_matplotlib_is_loaded_to_compare_and_to_read_ledgers() -> None:
    program = """
import sys
from veil.explore.given import Given
from veil.explore.app import application
from veil.explore import compare, ledger
from veil.explore.asking import Asking
from veil.explore.page import Site
compare.compare(Site("/x/"), Given(), Asking())
assert not {"sklearn", "matplotlib", "scipy.stats", "pandas"} & set(sys.modules), "heavy"
"""
    subprocess.run([sys.executable, "-c", program], check=True)
