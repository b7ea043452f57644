"""The command line: what it prints, the files it writes, and the exit codes 0, 1, 2 and 3."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import typer

from shell import output, run
from veil import BadInput, Budget, Ledger, NaiveBayesClassifier, Schema, cli, grid, open_source
from veil.cli import app, main
from veil.cli.ledger import app as of_ledgers
from veil.cli.schema import app as of_schemas
from veil.owner import BANNER
from veil.plans.catalogue import CARDS

NAMES = [
    *("ledger", "number", "hash", "data", "account", "verb", "question", "epsilon", "noise", "private", "version"),
    *("time", "protects", "run", "purpose", "note", "file", "store", "engine"),
]
SECRET = "SECRET-7391"
pytestmark = pytest.mark.usefixtures("wide_terminal")
Run = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path, rows: pd.DataFrame, schema: Schema) -> Path:
    """A folder with the ten rows, their schema, and a ledger with three entries."""
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_parquet(tmp_path / "rows.parquet")
    (tmp_path / "schema.toml").write_text(schema.to_toml(), encoding="utf-8")
    source = open_source(rows, schema, Ledger.create(tmp_path / "ten.ledger", 1, schema.name), noise=1)
    source.count(grid(schema, "town"), "1/4")
    source.count(grid(schema, "age"), "1/3")
    return tmp_path


COMMANDS = [
    (), ("schema",), ("schema", "new"), ("schema", "check"), ("ledger",), ("ledger", "create"), ("ledger", "show"),
    ("ledger", "verify"), ("ledger", "export"), ("ledger", "upgrade"), ("ledger", "copy"), ("audit",), ("demo",),
    ("train",), ("predict",), ("publish",), ("query",), ("compare",), ("methods",), ("evaluate",), ("select",),
    ("plan",), ("explore",),
]  # fmt: skip


NEW_COLUMN = '[[column]]\nname = "{}"\nkind = "?"\n'


def all_commands(command: Any, path: tuple[str, ...] = ()) -> Any:
    yield path
    for name, inside in getattr(command, "commands", {}).items():
        yield from all_commands(inside, (*path, name))


def test_the_tests_know_every_command() -> None:
    assert sorted(all_commands(typer.main.get_command(app))) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(command: tuple[str, ...]) -> None:
    for flag in ("--help", "-h"):
        assert f"Example: veil {' '.join(command)}".rstrip() in output(*command, flag)


def test_lines_of_help_end_where_the_window_ends() -> None:
    told = [one.help or "" for room in (app, of_schemas, of_ledgers) for one in room.registered_commands]
    assert all(told) and not [text for text in told if "\n" in text.replace("\n\n", "")]


def test_the_version_is_shown() -> None:
    assert output("--version").startswith("veil 0.")


# ---- schema


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_a_draft_has_the_columns_and_no_value_of_the_rows(files: Path, rows: pd.DataFrame, name: str) -> None:
    draft = output("schema", "new", files / name)
    names = [line.partition("  #")[0] for line in draft.splitlines() if line.startswith("name")]
    assert names == [f'name = "{name}"' for name in ("rows", "town", "age", "income", "party")]
    values = [str(value) for column in rows for value in rows[column] if len(str(value)) > 2]
    assert not [value for value in values if value in draft]


def test_a_draft_knows_the_declared_types_of_parquet(files: Path) -> None:
    draft = output("schema", "new", files / "rows.parquet")
    assert 'name = "age"  # guessed from the name: check it\nkind = "numeric"\nbounds = [0, 120]' in draft
    assert 'name = "town"\nkind = "categorical"\nvalues = []  # fill in' in draft
    assert 'kind = "?"' in output("schema", "new", files / "rows.csv")


ODD_TYPES = {
    "timestamp": [pd.Timestamp("2020-01-31")],
    "list": [["a", "b"]],
    "struct": [{"a": 1, "b\n[x": 2}],
    "duration": [pd.Timedelta(1)],
}


def test_a_draft_takes_declared_times_for_dates(files: Path, rows: pd.DataFrame) -> None:
    rows.assign(age=ODD_TYPES["timestamp"] * 10).to_parquet(files / "odd.parquet")
    draft = output("schema", "new", files / "odd.parquet")
    assert 'name = "age"  # guessed from the declared type: check it\nkind = "date"\nbounds = ["2000-01-01"' in draft


@pytest.mark.parametrize("odd", ["list", "struct", "duration"])
def test_a_draft_has_no_kind_for_durations_and_nested_values(files: Path, rows: pd.DataFrame, odd: str) -> None:
    rows.assign(age=ODD_TYPES[odd] * 10).to_parquet(files / "odd.parquet")
    draft = output("schema", "new", files / "odd.parquet")
    assert f'name = "age"\nkind = "?"  # a {odd}' in draft
    assert tomllib.loads(draft)["column"][1] == {"name": "age", "kind": "?"}


@pytest.mark.parametrize("odd", ODD_TYPES)
@pytest.mark.parametrize("column", ["age", "town"])
def test_a_declared_type_that_cannot_fit_is_refused_and_costs_nothing(
    files: Path, rows: pd.DataFrame, schema: Schema, odd: str, column: str, start: Run
) -> None:
    table = rows.assign(**{column: ODD_TYPES[odd] * 10})
    table.to_parquet(files / "odd.parquet")
    Ledger.create(files / "l.ledger", 1, "ten")
    arguments = ["--schema", files / "schema.toml", "--epsilon", 1, "--out", files / "m.veil", "--ledger"]
    code, _, said = start("train", files / "odd.parquet", *arguments, files / "l.ledger")
    if column == "town" and odd in ("timestamp", "duration"):  # a day can be a category
        assert code == 0
        return
    assert code == 2 and f"column '{column}' has the type {odd}" in said and said.count("\n") == 1
    assert ('declare it with kind = "date"' in said) == (odd == "timestamp")
    assert Ledger.open(files / "l.ledger").spent == 0
    with pytest.raises(BadInput, match=f"column '{column}' has the type {odd}"):
        NaiveBayesClassifier(epsilon=1, schema=schema).fit(pa.Table.from_pandas(table))
    NaiveBayesClassifier(epsilon=1, schema=schema).fit(table)  # what pandas infers from values is no reason


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_a_draft_is_not_a_schema_until_it_is_completed(files: Path, name: str) -> None:
    said = output("schema", "new", files / name, "--out", files / "draft.toml")
    assert "Complete it from public knowledge" in said and "veil schema check" in said
    with pytest.raises(BadInput, match="(?s)draft.toml: 3 problems:.*fill in `label`.*line .*column 'town'.*'party'"):
        run("schema", "check", files / "draft.toml")


def test_a_completed_draft_is_a_schema(files: Path) -> None:
    draft = output("schema", "new", files / "rows.parquet")
    complete = (
        draft.replace('"?"', '"party"').replace("bounds = []", "bounds = [0, 9]").replace("values = []", "values = [1]")
    )
    assert Schema.loads(complete).label == "party"


def test_a_draft_quotes_odd_names(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes('"a ""quoted""\nline","back\\slash","del\x7f",é\n1,2,3,4\n'.encode())
    draft = output("schema", "new", path, "--multiline").replace('label = "?"', "").replace('"?"', '"text"')
    assert [column.name for column in Schema.loads(draft).column] == ['a "quoted"\nline', "back\\slash", "del\x7f", "é"]


def test_every_command_that_reads_rows_takes_their_encoding(tmp_path: Path) -> None:
    import gzip

    header = "größe,y\n"
    schema = tmp_path / "s.toml"
    schema.write_text(
        'name = "t"\nlabel = "y"\n[[column]]\nname = "größe"\nkind = "categorical"\nvalues = ["süß", "klein"]\n'
        '[[column]]\nname = "y"\nkind = "categorical"\nvalues = ["ja", "nö"]\n',
        encoding="utf-8",
    )
    rows = tmp_path / "rows.csv.gz"
    rows.write_bytes(gzip.compress((header + "süß,ja\nklein,nö\n" * 30).encode("cp1252")))
    other = ("--encoding", "cp1252")
    assert 'name = "größe"' in output("schema", "new", rows, *other)
    fits = json.loads(output("schema", "check", schema, "--rows", rows, "--json", *other))["not private"]
    assert [fit["missing"] for fit in fits] == [0, 0]
    train = ("train", rows, "--schema", schema, "--epsilon", 1000, "--seed", 1, "--out", tmp_path / "m.veil")
    output(*train, *other)
    output("predict", tmp_path / "m.veil", rows, "--out", tmp_path / "p.csv", *other)
    assert (tmp_path / "p.csv").read_text(encoding="utf-8").splitlines()[2].startswith('"nö",')
    told = ("--schema", schema, "--epsilon", 1, "--seed", 1, *other)
    output("evaluate", tmp_path / "m.veil", rows, *told, "--out", tmp_path / "e.html")
    output("publish", rows, *told, "--out", tmp_path / "t.veil")
    output("select", rows, *told)
    with pytest.raises(BadInput, match="is not utf-8: save the file as UTF-8, or say what it is, such as --encoding"):
        run(*train, "--force")
    with pytest.raises(BadInput, match="'klingon' is no encoding that can be read"):
        run(*train, "--force", "--encoding", "klingon")


def test_a_draft_is_not_written_over_a_file(files: Path) -> None:
    before = (files / "schema.toml").read_text(encoding="utf-8")
    with pytest.raises(BadInput, match="exists already: choose another path, or replace it with --force"):
        run("schema", "new", files / "rows.csv", "--out", files / "schema.toml")
    assert (files / "schema.toml").read_text(encoding="utf-8") == before
    output("schema", "new", files / "rows.csv", "--out", files / "schema.toml", "--force")
    assert (files / "schema.toml").read_text(encoding="utf-8").startswith("# A draft")


@pytest.mark.parametrize("out", ["nowhere/draft.toml", "rows.csv/draft.toml", "."])
def test_an_output_that_cannot_be_written_is_refused_and_leaves_nothing(files: Path, out: str) -> None:
    before = sorted(files.iterdir())
    with pytest.raises(BadInput, match="cannot be written: check the folder, its permissions and the disk"):
        run("schema", "new", files / "rows.csv", "--out", files / out, "--force")
    assert sorted(files.iterdir()) == before


def test_a_sound_schema_is_shown(files: Path) -> None:
    shown = output("schema", "check", files / "schema.toml")
    assert "Schema 'ten' is sound" in shown and "Bonn, Köln, Lyon, ..., (missing)" in shown
    assert BANNER not in shown


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_the_fit_of_rows_is_shown_below_a_warning(files: Path, name: str) -> None:
    shown = output("schema", "check", files / "schema.toml", "--rows", files / name)
    assert "NOT private" in BANNER and BANNER in shown
    assert shown.index(BANNER) < shown.index("unknown or missing")
    assert [line.split() for line in shown.splitlines() if line.split()[:2] == ["town", "categorical"]][1][2:] == [
        "10", "0", "0",
    ]  # fmt: skip


def test_the_check_of_a_schema_speaks_json(files: Path) -> None:
    found = json.loads(output("schema", "check", files / "schema.toml", "--json"))
    assert found == {"name": "ten", "codes": {"town": 6, "age": 9, "income": 6, "party": 3}}
    found = json.loads(output("schema", "check", files / "schema.toml", "--rows", files / "rows.csv", "--json"))
    assert found["not private"][1] == {
        **{"column": "age", "kind": "numeric", "declared": 10, "clipped": 0, "missing": 0},
        "unknown": [],
        "cut": 0,
    }


def test_the_check_of_rows_says_how_many_are_lost(files: Path) -> None:
    lines = (files / "rows.csv").read_text(encoding="utf-8").splitlines()
    odd = [f"{lines[1]},", "Bonn", f"{lines[2]},,"]
    other = [line.replace("right", "Right") for line in lines[1:]]
    (files / "odd.csv").write_text("\n".join([*lines, *odd, *other]) + "\n", encoding="utf-8")
    shown = output("schema", "check", files / "schema.toml", "--rows", files / "odd.csv")
    assert "Lines left out, because they have too few or too many fields: 3 of 23" in shown
    assert "Rows left out, because their label is not a declared class: 4 of 20" in shown
    assert shown.index(BANNER) < shown.index("Lines left out")
    found = json.loads(output("schema", "check", files / "schema.toml", "--rows", files / "odd.csv", "--json"))
    assert found["left out, not private"] == {"lines": 3, "of_lines": 23, "rows": 4, "of_rows": 20}
    sound = output("schema", "check", files / "schema.toml", "--rows", files / "rows.parquet")
    assert "fields: 0 of 10" in sound and "class: 0 of 10" in sound


# ---- ledger


def test_a_ledger_is_created_once(tmp_path: Path) -> None:
    path = tmp_path / "new.ledger"
    assert "epsilon 0.5 for 'survey'" in output("ledger", "create", path, "--limit", "1/2", "--name", "survey")
    assert Ledger.open(path).limit == Ledger("0.5", "survey").limit
    with pytest.raises(BadInput, match="exists already"):
        run("ledger", "create", path, "--limit", "1", "--name", "survey")


@pytest.mark.parametrize("limit", ["much", "nan", "inf", "0", "-1", "1/0", "", "1e99999"])
def test_a_limit_that_is_no_amount_is_refused(tmp_path: Path, limit: str, start: Run) -> None:
    code, out, said = start("ledger", "create", tmp_path / "new.ledger", f"--limit={limit}", "--name", "survey")
    assert (code, out) == (2, "") and said.startswith("veil: the limit must be") and said.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_ledger_is_shown_with_what_was_spent(files: Path) -> None:
    shown = output("ledger", "show", files / "ten.ledger")
    assert "7/12 of 1 spent, 5/12 left" in shown and "ask: count" in shown and "town[6]" not in shown
    assert "town[6]" in output("ledger", "show", files / "ten.ledger", "--entries")
    assert "NOT private" in shown  # the noise was seeded


def test_many_runs_are_shortened_openly(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "l.ledger", 1, "survey").noted("weekly\x1b[31m", file="table.veil")
    for week in range(25):
        ask = {"verb": "count", "question": "age", "noise": "operating system", "private": True}
        ledger.run(f"publish week {week:02}").charge(Budget("0.01"), **ask)
    shown, every = (output("ledger", "show", ledger.path, *more) for more in ([], ["--all"]))
    assert "... 5 earlier runs: veil ledger show --all" in shown and "earlier" not in every
    assert "week 04" not in shown and "week 05" in shown and "week 00" in every and "\x1b" not in shown + every
    assert "0.25 of 1 spent, 0.75 left" in shown and "table.veil" in shown
    found = json.loads(output("ledger", "show", ledger.path, "--json"))
    assert len(found["runs"]) == len(found["receipts"]) == 25
    first = {key: value for key, value in found["runs"][0].items() if key not in ("run", "time")}
    said = {"purpose": "publish week 00", "file": "table.veil", "note": "weekly\x1b[31m", "private": True}
    assert first == {**said, "answers": 1, "epsilon": "1/100", "total": "1/100", "ex_post": None}


def test_a_ledger_speaks_json(files: Path) -> None:
    found = json.loads(output("ledger", "show", files / "ten.ledger", "--json"))
    assert (found["name"], found["limit_exact"], found["spent_exact"], found["left_exact"]) == (
        "ten",
        "1",
        "7/12",
        "5/12",
    )
    assert [receipt["epsilon"] for receipt in found["receipts"]] == ["1/4", "1/3"]
    assert json.loads(output("ledger", "verify", files / "ten.ledger", "--json"))["sound"] is True


def test_a_ledger_alone_cannot_show_that_it_was_cut_short(files: Path) -> None:
    said = output("ledger", "verify", files / "ten.ledger")
    assert "is sound: 3 entries, 0 of them confirmed" in said and "Without a receipt (--against)" in said


@pytest.fixture(params=["receipt", "export", "shown", "model"])
def witness(request: pytest.FixtureRequest, files: Path) -> tuple[Path, int]:
    """A file that was kept elsewhere, and how many receipts it holds."""
    receipts = [receipt.to_dict() for receipt in Ledger.open(files / "ten.ledger").receipts()]
    path = files / f"{request.param}.json"
    if request.param == "receipt":
        path.write_text(json.dumps(receipts[-1]))
    elif request.param == "export":
        run("ledger", "export", files / "ten.ledger", "--json", "--out", path)
    elif request.param == "shown":
        path.write_text(output("ledger", "show", files / "ten.ledger", "--json"))
    else:
        with zipfile.ZipFile(path, "w") as model:
            model.writestr("receipts.json", json.dumps(receipts))
    return path, 1 if request.param == "receipt" else 2


def test_a_sound_ledger_agrees_with_its_witness(files: Path, witness: tuple[Path, int]) -> None:
    said = output("ledger", "verify", files / "ten.ledger", "--against", witness[0])
    assert f"is sound: 3 entries, {witness[1]} of them confirmed" in said and "Without" not in said
    found = json.loads(output("ledger", "verify", files / "ten.ledger", "--against", witness[0], "--json"))
    assert found == {"sound": True, "entries": 3, "witnesses": witness[1]}


def test_a_ledger_that_was_restored_from_a_backup_is_found_out(
    files: Path, rows: pd.DataFrame, schema: Schema, start: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = files / "old.ledger"
    ledger = Ledger.open(files / "ten.ledger")
    shutil.copy(files / "ten.ledger", old)
    source = open_source(rows, schema, ledger, noise=1)
    (files / "receipt.json").write_text(json.dumps(source.count(grid(schema, "town"), "1/8").receipt.to_dict()))
    assert "1 of them confirmed" in output("ledger", "verify", ledger.path, "--against", files / "receipt.json")
    code, out, said = start("ledger", "verify", old, "--against", files / "receipt.json")
    assert (code, out) == (2, "") and "is not the newest copy" in said and said.count("\n") == 1
    monkeypatch.setenv("VEIL_STATE", str(files / "another machine"))
    code, out, said = start("ledger", "verify", old, "--against", files / "receipt.json")
    assert (code, out) == (2, "") and "the ledger was cut short or is old" in said and said.count("\n") == 1


def test_the_receipt_of_another_ledger_is_no_witness(files: Path, witness: tuple[Path, int]) -> None:
    Ledger.create(files / "other.ledger", 1, "ten")
    with pytest.raises(BadInput, match="belongs to another ledger"):
        run("ledger", "verify", files / "other.ledger", "--against", witness[0])


def encrypted_zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as model:
        model.writestr("receipts.json", "[]")
    content = bytearray(stream.getvalue())
    content[6] |= 1  # the flag of an encrypted file, here and in the directory
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def other_zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as model:
        model.writestr("weights.json", "[]")
    return stream.getvalue()


NO_WITNESS = {
    "no file": None,
    "an empty file": b"",
    "a spreadsheet": b"number,hash\n1,2\n",
    "no receipts": b"[]",
    "a number": b"5",
    "a list of numbers": b"[1, 2]",
    "receipts of no kind": b'{"receipts": 5}',
    "not UTF-8": b'"\xff"',
    "too deep": b"[" * 100_000,
    "another zip": other_zip(),
    "a locked zip": encrypted_zip(),
    "half a zip": other_zip()[:-4],
}


@pytest.mark.parametrize("content", NO_WITNESS.values(), ids=NO_WITNESS)
def test_a_file_without_receipts_is_no_witness(files: Path, content: bytes | None) -> None:
    path = files / "witness"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput, match="witness holds no receipts: give a receipt or an export in JSON, or a model"):
        run("ledger", "verify", files / "ten.ledger", "--against", path)


def test_receipts_are_exported_as_a_spreadsheet_or_json(files: Path) -> None:
    lines = list(csv.DictReader(io.StringIO(output("ledger", "export", files / "ten.ledger"))))
    assert [line["epsilon"] for line in lines] == ["1/4", "1/3"] and list(lines[0]) == NAMES
    receipts = json.loads(output("ledger", "export", files / "ten.ledger", "--json"))
    assert [receipt["question"] for receipt in receipts] == ["town[6]", "age[9]"]
    output("ledger", "export", files / "ten.ledger", "--out", files / "receipts.csv")
    assert list(csv.DictReader(io.StringIO((files / "receipts.csv").read_text()))) == lines


def test_an_export_goes_by_the_name_of_its_file_and_says_what_it_wrote(files: Path) -> None:
    said = output("ledger", "export", files / "ten.ledger", "--out", files / "kept.json")
    assert re.fullmatch(r"Wrote .*kept\.json: \d+ receipts?\.\n", said)
    assert json.loads((files / "kept.json").read_text(encoding="utf-8"))
    assert "confirmed by receipts" in output("ledger", "verify", files / "ten.ledger", "--against", files / "kept.json")


def test_an_export_is_not_written_over_a_file(files: Path) -> None:
    for flags in ([], ["--json"]):
        with pytest.raises(BadInput, match="exists already"):
            run("ledger", "export", files / "ten.ledger", "--out", files / "rows.csv", *flags)
    output("ledger", "export", files / "ten.ledger", "--out", files / "rows.csv", "--force", "--json")
    assert len(json.loads((files / "rows.csv").read_text())) == 2


def test_an_empty_ledger_exports_a_header(tmp_path: Path) -> None:
    Ledger.create(tmp_path / "new.ledger", 1, "survey")
    assert output("ledger", "export", tmp_path / "new.ledger") == ",".join(NAMES) + "\n"
    assert json.loads(output("ledger", "export", tmp_path / "new.ledger", "--json")) == []


def test_a_spreadsheet_takes_no_name_for_a_formula(tmp_path: Path) -> None:
    schema = Schema(name="=HYPERLINK()", column=[{"name": "@x", "kind": "categorical", "values": ["a"]}])
    source = open_source({"@x": ["a"]}, schema, Ledger.create(tmp_path / "t.ledger", 1, schema.name), noise=1)
    source.count(grid(schema, "@x"), 1)
    (line,) = csv.DictReader(io.StringIO(output("ledger", "export", tmp_path / "t.ledger")))
    assert (line["data"], line["question"]) == ("'=HYPERLINK()", "'@x[2]")


# ---- what is not cut off


def test_what_goes_to_a_file_is_not_cut(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    time = Ledger.open(files / "ten.ledger").receipts()[0].time
    assert time in shell("ledger", "show", files / "ten.ledger", "--entries").stdout
    shown = shell("methods").stdout
    assert all(card.good_for in shown for card in CARDS)


def test_a_narrow_terminal_cuts_no_name(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    shown = shell("methods").stdout
    assert all(f" {card.method} " in shown for card in CARDS) and "…" not in shown
    assert "…" not in shell("ledger", "show", files / "ten.ledger").stdout


def test_an_audit_speaks_json_in_numbers() -> None:
    (found, *_) = json.loads(output("audit", "--only", "quantile", "--json"))
    kinds = {name: type(value) for name, value in found.items()}
    assert kinds == {
        **{"case": str, "kind": str, "claim": float, "bound": float, "caught": bool},
        **{"at claim": float, "could see": float, "runs": int, "event": str},
    }


# ---- exit codes


@pytest.mark.parametrize(
    "arguments",
    [
        ("schema", "check", "none.toml"),
        ("schema", "new", "none.csv"),
        ("ledger", "show", "none.ledger"),
        ("ledger", "verify", "none.ledger"),
        ("ledger", "export", "none.ledger"),
        ("demo", "--epsilon", "much"),
        ("demo", "--epsilon", "-1"),
    ],
    ids=" ".join,
)
def test_bad_input_exits_2_with_one_line(start: Run, arguments: tuple[str, ...]) -> None:
    code, _, said = start(*arguments)
    assert code == 2 and said.startswith("veil: ") and said.count("\n") == 1 and "Traceback" not in said


def test_each_of_several_mistakes_has_a_line_of_its_own(start: Run, tmp_path: Path) -> None:
    (tmp_path / "draft.toml").write_text(f'name = "t"\n{"".join(NEW_COLUMN.format(i) for i in range(3))}')
    code, _, said = start("schema", "check", tmp_path / "draft.toml")
    assert code == 2 and [line.partition(":")[0] for line in said.splitlines()[1:]] == [
        "  line 4",
        "  line 7",
        "  line 10",
    ]


@pytest.mark.parametrize(
    "arguments", [("fly",), ("ledger", "create"), ("demo", "--seed", "-1"), ("demo", "--seed", "x")]
)
def test_a_command_that_is_not_understood_exits_2(start: Run, arguments: tuple[str, ...]) -> None:
    code, out, said = start(*arguments)
    assert (code, out) == (2, "") and "Traceback" not in said


def test_success_exits_0(start: Run, files: Path) -> None:
    assert start("schema", "check", files / "schema.toml")[::2] == (0, "")


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema check that fails in a way nobody foresaw, with a value in the message."""

    def explode(*_: Any) -> Any:
        raise RuntimeError(f"could not convert {SECRET}")

    monkeypatch.setattr(cli.schema, "RowFile", explode)


def test_an_unforeseen_error_exits_1_and_keeps_its_message(
    start: Run, files: Path, breaking: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VEIL_DEBUG", raising=False)
    code, out, said = start("schema", "check", files / "schema.toml", "--rows", files / "rows.csv")
    assert (code, out) == (1, "")
    assert said == "veil: stopped by an unforeseen RuntimeError; VEIL_DEBUG=1 shows where\n"


def too_large(*_: Any) -> Any:
    return np.ones(7 * 10**17)


def too_much(*_: Any) -> Any:
    raise pa.ArrowMemoryError("malloc of size 77777 failed")


@pytest.mark.parametrize("explode", [too_large, too_much])
def test_memory_that_ran_out_is_said_in_a_sentence_without_a_number(
    start: Run, files: Path, monkeypatch: pytest.MonkeyPatch, explode: Run
) -> None:
    """What libraries say of it tells how many rows there are: "Unable to allocate 4.86 EiB for an array with shape"."""
    monkeypatch.setattr(cli.schema, "RowFile", explode)
    monkeypatch.delenv("VEIL_DEBUG", raising=False)
    code, out, said = start("schema", "check", files / "schema.toml", "--rows", files / "rows.csv")
    assert (code, out) == (1, "") and "7" not in said and "unforeseen" not in said and said.count("\n") == 1
    assert said.startswith("veil: memory ran out: use fewer columns") and "--dry-run" in said


def test_an_unforeseen_error_is_shown_to_who_asks(files: Path, breaking: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VEIL_DEBUG", "1")
    monkeypatch.setattr(sys, "argv", ["veil", "schema", "check", f"{files}/schema.toml", "--rows", f"{files}/rows.csv"])
    with pytest.raises(RuntimeError, match=SECRET):
        main()


def test_rows_that_do_not_fit_are_refused_without_a_value(start: Run, files: Path) -> None:
    (files / "rows.csv").write_text(f"town,age\n{SECRET},{SECRET}\n")
    code, out, said = start("schema", "check", files / "schema.toml", "--rows", files / "rows.csv")
    assert code == 2 and "the rows have no column 'income'" in said
    assert SECRET not in out + said


def shell(*arguments: Any, script: str = "from veil.cli import main; main()") -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    environment.pop("VEIL_DEBUG", None)
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment, timeout=60)


def test_a_process_exits_with_0_or_2_or_1(files: Path) -> None:
    good = shell("schema", "check", files / "schema.toml", "--json")
    assert (good.returncode, good.stderr) == (0, "") and json.loads(good.stdout)["name"] == "ten"
    bad = shell("ledger", "create", files / "new.ledger", "--limit", "lots", "--name", "x")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == "veil: the limit must be a finite number such as 0.5 or '1/3'\n"
    script = f"from veil import cli\ndef fail(*_): raise KeyError({SECRET!r})\ncli.schema.RowFile = fail\ncli.main()"
    ugly = shell("schema", "check", files / "schema.toml", "--rows", files / "rows.csv", script=script)
    assert (ugly.returncode, ugly.stdout) == (1, "") and SECRET not in ugly.stderr and "Traceback" not in ugly.stderr


def test_the_installed_command_is_the_same(files: Path) -> None:
    installed = Path(sys.executable).with_name("veil")
    if not installed.exists():
        pytest.skip("veil is not installed beside this Python")
    done = subprocess.run([installed, "ledger", "show", files / "none"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stderr.startswith("veil: there is no ledger at")


def test_a_ledger_whose_total_has_very_many_digits_is_shown_as_json(tmp_path):
    """Python by itself writes out no more than 4,300 digits."""
    ledger = Ledger.create(tmp_path / "l", 1, "survey")
    for power in range(2990, 2996):
        ask = {"verb": "count", "question": "age", "noise": "operating system", "private": True}
        ledger.account.charge(Budget(Fraction(2**2900, 2**power - 3)), **ask)
    said = json.loads(output("ledger", "show", tmp_path / "l", "--json"))
    assert len(said["spent_exact"]) > 4300 and len(said["runs"]) == 6
