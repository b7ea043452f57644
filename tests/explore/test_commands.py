"""What a page ends in runs: the command, the script, the notebook; on rows that stand for an owner's."""

import html
import json
import re
import shlex
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.explore.conftest import opened
from tests.shell import output
from veil import Ledger, load_model
from veil.explore.commands import Training, compare_command, verify_command
from veil.explore.given import Given


@pytest.fixture
def owner(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A page over files in the current folder, which has rows too: the page does not know them."""
    for name in ("clinic.toml", "DATA.csv"):
        shutil.copy(folder / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    output("ledger", "create", "clinic.ledger", "--limit", "1", "--name", "clinic")
    return opened(Given(schemas=(Path("clinic.toml"),), ledgers=(Path("clinic.ledger"),), watch=Path(".")))


def to_copy(text: str) -> list[str]:
    """All texts of a page that are there to be copied."""
    return [
        html.unescape(found) for found in re.findall(r"<pre class=\"copy\"[^>]*><code>(.*?)</code>", text, re.DOTALL)
    ]


@pytest.mark.parametrize("method", ["auto", "naive-bayes"])
def test_the_copied_command_trains_a_model_that_shows_up_in_results(owner: TestClient, method: str) -> None:
    command, _ = to_copy(owner.get(f"plan?epsilon=1/2&method={method}").text)
    words = shlex.split(command)
    assert words[0] == "veil"
    output(*words[1:])
    assert Ledger.open("clinic.ledger").spent * 2 == 1 and load_model("model.veil").private_
    assert "model.veil" in owner.get("results").text and "0.5 of 1" in owner.get("ledger").text


def test_the_copied_script_trains_the_same_model(owner: TestClient) -> None:
    _, script = to_copy(owner.get("plan?epsilon=0.25&method=tree").text)
    exec(compile(script, "script.py", "exec"), {})  # as an owner would run it
    assert Ledger.open("clinic.ledger").spent * 4 == 1 and load_model("model.veil").method == "tree"
    assert Path("model.html").exists()


def test_the_notebook_runs_cell_by_cell(owner: TestClient) -> None:
    answer = owner.get("plan/notebook?epsilon=0.25&method=naive-bayes")
    assert "attachment" in answer.headers["content-disposition"]
    notebook, space = json.loads(answer.text), dict[str, object]()
    assert notebook["nbformat"] == 4 and len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "cell", "exec"), space)
    assert load_model("model.veil").method == "naive-bayes"


def test_the_command_of_compare_runs_and_writes_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = compare_command(["naive-bayes"], ["iris"], ["1"]).replace("--seeds 5", "--seeds 1")
    output(*shlex.split(command)[1:], "--rows", "50,all")
    page = Path("compare.html").read_text(encoding="utf-8")
    assert "iris" in page and "learned from" in page and "<script" not in page and Path("results.parquet").exists()


def test_the_commands_of_the_ledger_run(owner: TestClient) -> None:
    (command,) = to_copy(owner.get("ledger").text)
    assert "is sound" in output(*shlex.split(command)[1:])


def test_names_cannot_break_out_of_what_is_copied() -> None:
    evil = Training(Path("a b'; rm -rf x.toml"), '"""); evil()  # ', "tree", "DecisionTreeClassifier", Fraction(1, 3))
    assert shlex.split(evil.command())[4] == "a b'; rm -rf x.toml" and evil.price == "1/3"
    parsed = compile(evil.script(), "script", "exec")
    assert "evil" not in parsed.co_names
    assert json.loads(evil.notebook())["cells"][0]["cell_type"] == "markdown"


def test_a_name_is_plain_text_in_a_notebook() -> None:
    name = "![](http://h/x)<img src=x onerror=evil()>"
    evil = Training(Path("a.toml"), f"`{name}", "tree", "DecisionTreeClassifier", Fraction(1))
    (title,) = json.loads(evil.notebook())["cells"][0]["source"]
    before, inside, after = title.split("`")  # what stands between two of these is code, and nothing in it is drawn
    assert name in inside and "<" not in before + after


def test_a_file_whose_name_looks_like_an_option_is_none() -> None:
    assert shlex.split(verify_command(Path("--help"), "-w.json"))[3:] == ["./--help", "--against", "./-w.json"]
