"""Names from a schema or a file steer no terminal, page or spreadsheet, wherever they are shown."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from shell import run
from veil import (
    BadInput,
    Categorical,
    DecisionTreeClassifier,
    Ledger,
    NaiveBayesClassifier,
    Numeric,
    Schema,
    grid,
    load_model,
    load_synopsis,
    open_source,
    private_confusion_matrix,
    private_roc_curve,
)
from veil.files.tables import harmless
from veil.report import report

RED = "\x1b[31m\x9b1m\u202e\x07\r\x08"
SCHEMA = Schema(
    name=f"data{RED}",
    source=f"source{RED}",
    label=f"y{RED}",
    column=[
        Categorical(name=f"a{RED}", values=[f"p{RED}", f"q{RED}"], groups={f"g{RED}": [f"p{RED}", f"q{RED}"]}),
        Numeric(name=f"x{RED}", bounds=(0, 9)),
        Categorical(name=f"y{RED}", values=[f"no{RED}", f"yes{RED}"]),
    ],
)
ROWS = pd.DataFrame(
    {f"a{RED}": [f"p{RED}", f"q{RED}"] * 50, f"x{RED}": [1, 7] * 50, f"y{RED}": [f"no{RED}", f"yes{RED}"] * 50}
)


def steers(text: str) -> bool:
    """Whether a text holds what is no letter, mark or line end."""
    return any(not letter.isprintable() and letter != "\n" for letter in text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "s.toml").write_text(SCHEMA.to_toml(), encoding="utf-8")
    ROWS.to_parquet(tmp_path / "rows.parquet")
    return tmp_path


def test_no_command_prints_what_steers_a_terminal(folder: Path) -> None:
    def said(*arguments: Any) -> None:
        result = run(*arguments)
        assert result.exit_code == 0 and not steers(result.output), arguments

    rows, schema, ledger = folder / "rows.parquet", folder / "s.toml", folder / "l.ledger"
    asked = (rows, "--schema", schema, "--epsilon", 5, "--ledger", ledger)
    said("schema", "new", rows)
    said("schema", "check", schema, "--rows", rows)
    said("ledger", "create", ledger, "--limit", 100, "--name", SCHEMA.name)
    said("train", *asked, "--dry-run")
    said("train", *asked, "--out", folder / "m.veil", "--test-share", "0.5")
    said("publish", *asked, "--out", folder / "t.veil", "--synthetic", folder / "syn.csv")
    said("evaluate", folder / "m.veil", *asked, "--out", folder / "e.html")
    said("select", *asked, "--k", 1)
    said("predict", folder / "m.veil", rows, "--out", folder / "p.csv")
    said("ledger", "show", ledger)
    said("ledger", "verify", ledger, "--against", folder / "m.veil")
    said("ledger", "export", ledger)
    for page in folder.glob("*.html"):
        assert not steers(page.read_text(encoding="utf-8").replace("\t", "")), page.name


def test_nothing_that_shows_itself_steers_a_terminal_or_a_page(folder: Path) -> None:
    ledger = Ledger(100, SCHEMA.name)
    source = open_source(ROWS, SCHEMA, ledger)
    release = source.count(grid(SCHEMA, f"a{RED}"), 1)
    models = [model(schema=SCHEMA, epsilon=5).fit(ROWS) for model in (NaiveBayesClassifier, DecisionTreeClassifier)]
    found = [judge(models[0], ROWS, epsilon=5) for judge in (private_roc_curve, private_confusion_matrix)]
    from veil import publish

    table = publish(ROWS, SCHEMA, epsilon=5, random_state=1)
    shown = [SCHEMA, ledger, source, release, release.receipt, *models, *found, table, table.marginal([f"y{RED}"])]
    for one in shown:
        assert not steers(repr(one)) and not steers(str(one)), type(one)
        if hasattr(one, "_repr_html_"):
            assert not steers(one._repr_html_()), type(one)
    for one in (*models, table, found[0]):
        assert not steers(report(one))
    assert not steers(SCHEMA.to_toml()) and Schema.loads(SCHEMA.to_toml()) == SCHEMA


def test_complaints_do_not_steer_a_terminal(folder: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from veil.cli import main

    for arguments in (["schema", "check", f"no{RED}.toml"], ["predict", f"no{RED}.veil", "x", "--out", "y.csv"]):
        monkeypatch.setattr("sys.argv", ["veil", *arguments])
        with pytest.raises(SystemExit):
            main()
        said = capsys.readouterr().err
        assert said.startswith("veil: ") and not steers(said)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("=1", "'=1"),
        (" =1", "' =1"),
        ("\n=1", "'\n'=1"),
        ("\t=1", "'\t'=1"),
        ("\tx", "'\tx"),
        ("x;=1+1", "x;'=1+1"),
        ("x; =1+1", "x;' =1+1"),
        ("x\t@SUM(1)", "x\t'@SUM(1)"),
        ('x";"=1', 'x";\'"=1'),
        ("x\n-1", "x\n'-1"),
        ("＝1", "'＝1"),
        ("\u00a0=1", "'\u00a0=1"),
        ("@x", "'@x"),
        ("-5 to 3", "'-5 to 3"),
        ("-5", "-5"),
        ("+1.5", "+1.5"),
        ("-1e-5", "-1e-5"),
        ("-", "'-"),
        ("a=b", "a=b"),
        ("a - b", "a - b"),
        ("x, y", "x, y"),
        ("", ""),
    ],
)
def test_no_part_of_a_cell_is_a_formula(name: str, expected: str) -> None:
    assert harmless(name) == expected


def test_a_file_that_is_no_text_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_bytes(json.dumps([[]] * 5000).encode())
    Ledger.create(tmp_path / "l.ledger", 1, "t")
    with pytest.raises(BadInput, match="holds no receipts"):
        run("ledger", "verify", tmp_path / "l.ledger", "--against", tmp_path / "w.json")
    for load in (load_model, load_synopsis):
        with pytest.raises(BadInput, match="or was damaged or changed"):
            load(tmp_path / "w.json")
