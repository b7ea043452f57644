"""Drafts of schemas: what is guessed from names, what is asked, what stays open; and the way to a first model."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from veil import BadInput, Schema
from veil.cli import app
from veil.drafts import _guesses, answered, draft, proposals
from veil.owner import BANNER, CAUTION
from veil.schema.mistakes import OPEN

pytestmark = pytest.mark.usefixtures("wide_terminal")


def output(*arguments, answers=None):
    done = CliRunner().invoke(app, [*map(str, arguments)], input=answers, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def column_of(name, declared=""):
    (found,) = proposals({name: declared})
    return found


@pytest.mark.parametrize("guess", _guesses(), ids=lambda guess: guess["names"][0])
def test_every_guess_is_a_column_or_says_what_to_fill_in_or_why_not(guess):
    assert set(guess) <= {"names", "types", "write", "leave_out", "person", "label", "declared"}
    assert ("write" in guess) != ("leave_out" in guess)
    if "write" in guess:
        fields = tomllib.loads("\n".join(guess["write"]))
        filled = {**fields, **({"values": ["a"]} if fields.get("values") == [] else {})}
        filled |= {"bounds": [0, 1]} if fields.get("bounds") == [] else {}
        assert Schema(name="t", column=[{"name": "x", **filled}]).column[0].kind == fields["kind"]
        assert (filled == fields) or "fill in" in " ".join(guess["write"])


GUESSES = {
    **{"age": "0 to 120", "Age": "0 to 120", "patientAge": "0 to 120", "visit date": "2000-01-01 to 2029-12-31"},
    **{"dob": "1900-01-01 to 2029-12-31", "weekday": "weekday", "month": "month of year", "n_visits": "0 to 1000"},
    **{"annual-income": "0 to 1000000", "is_member": "0, 1, no, yes, No, Yes, N, Y, False, True", "notes": "free text"},
    **{"patient_nbr": "left out", "time_in_hospital": "0 to 10000", "SpO2": "50 to 100", "loan": "unknown"},
    **{"customer_id": "left out", "email": "left out", "zip": "left out", "colour": "unknown", "readmitted": "unknown"},
    **{"weight": "0 to 250", "sample_weight": "left out", "fnlwgt": "left out", "row_weight": "left out"},
}


@pytest.mark.parametrize("name", GUESSES)
def test_a_kind_is_guessed_from_a_name(name):
    assert column_of(name).describe() == GUESSES[name]


def test_a_declared_type_overrules_a_name_that_does_not_go_with_it():
    assert column_of("age", "timestamp[us]").fields["kind"] == "date"
    assert column_of("visit_date", "int64").is_open and column_of("is_new", "bool").describe() == "False, True"
    assert column_of("income", "list<item: string>").fields == {"kind": OPEN}
    assert column_of("when", "date32[day]").fields["unit"] == "year" and column_of("code", "string").is_open


def test_what_comes_from_a_guess_says_so_and_what_is_open_says_what_to_fill_in():
    text = draft("t", proposals({"age": "", "colour": "", "patient_id": "", "y": ""}), "y", False, "guessed")
    assert 'name = "age"  # guessed from the name: check it' in text and 'kind = "?"  # fill in' in text
    assert 'person = "patient_id"  # guessed from the name: check it; of each person, one row is kept' in text
    assert '# "patient_id" is left out: it is the person above' in text and 'name = "y"\nkind' in text


def test_two_columns_that_may_identify_people_are_left_to_the_owner():
    text = draft("t", proposals({"patient_id": "", "customer_id": "", "age": ""}), None, False, "")
    assert "person" not in tomllib.loads(text) and '# "customer_id" is left out: identifies people' in text


@pytest.mark.parametrize(
    ("answer", "fields"),
    [
        ("", {"kind": "?"}),
        ("18 to 97", {"kind": "numeric", "bounds": [18, 97]}),
        ("1 to 5", {"kind": "numeric", "bounds": [1, 5], "integer": True, "bins": 5}),
        ("0.5 to 1e3", {"kind": "numeric", "bounds": [0.5, 1000]}),
        ("2015-01-01 to 2024-12", {"kind": "date", "bounds": ["2015-01-01", "2024-12"], "unit": "year"}),
        ("red, blue , red", {"kind": "categorical", "values": ["red", "blue"]}),
        ("text", {"kind": "text"}),
        ("skip", {}),
    ],
)
def test_an_answer_is_a_range_or_values_or_a_word(answer, fields):
    assert answered(column_of("colour"), answer).fields == fields


def test_what_looks_like_hierarchical_codes_may_be_grouped_by_how_it_begins():
    codes = "I20.0, I20.1, I21.0, I21.1, J10.0, J10.1, J11.0, J11.1"
    assert answered(column_of("colour"), codes).lines[2].startswith("# levels = [1, 3]  #")
    assert all(
        len(answered(column_of("colour"), some).lines) == 2 for some in ("a, b", "I20, I21", "1, 2, 3, 4, 5, 6, 7, 8")
    )
    text = draft("t", proposals({"icd10": "string"}), "", True, "")
    assert "\n# levels = [1, 3]" in text and "levels" not in tomllib.loads(text)["column"][0]
    offered = text.replace("# levels", "levels").replace("values = []", 'values = ["I21.0", "I21.1", "J10.0"]')
    assert Schema.loads(offered).get("icd10").group_name([0, 1]) == "I21"


@pytest.mark.parametrize("answer", ["red", "low to high", "5 to"])
def test_an_answer_that_is_not_understood_is_refused(answer):
    with pytest.raises(BadInput, match="write `"):
        answered(column_of("colour"), answer)


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("small.csv").write_text("age,colour,town,outcome\n34,red,Bonn,good\n")
    return tmp_path


def test_columns_are_asked_about_one_by_one_again_if_need_be_and_enter_accepts(small):
    output(
        "schema", "new", "small.csv", "--ask", "--out", "b.toml", answers="outcome:good,bad\n\nred\nred, green\nskip\n"
    )
    schema = Schema.read("b.toml")
    assert schema.label == "outcome" and schema.classes == ("good", "bad")
    assert [c.name for c in schema.column] == ["age", "colour", "outcome"]
    assert schema.get("colour").values == ("red", "green") and schema.get("age").bounds == (0, 120)


def test_a_label_that_was_guessed_can_be_accepted_and_its_classes_asked(small):
    output("schema", "new", "small.csv", "--ask", "--out", "c.toml", answers="\n\nskip\ntext\nbad, good\n")
    assert Schema.read("c.toml").classes == ("bad", "good")


def test_nothing_is_asked_where_nobody_can_answer(small):
    said = output("schema", "new", "small.csv", "--out", "d.toml")
    assert "1 of 4 columns proposed" in said and "to fill in: colour, town, outcome" in said
    assert output("schema", "new", "small.csv", "--no-ask").startswith("# A draft")


def test_a_table_that_is_only_published_needs_no_label(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("points.csv").write_text("longitude,latitude\n1,2\n", encoding="utf-8")
    said = output("schema", "new", "points.csv", "--out", "points.toml")
    assert "to fill in" not in said and "It has no label, which publishing does not need; training does." in said
    assert Schema.read("points.toml").label is None
    output("schema", "check", "points.toml")


def test_an_index_without_a_name_is_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"age": [3, 4], "kind": ["a", "b"]}).to_csv("indexed.csv")
    said = output("schema", "new", "indexed.csv", "--label", "kind:a,b", "--out", "i.toml")
    assert "left out: a column without a name." in said and "to fill in" not in said
    assert [column.name for column in Schema.read("i.toml").column] == ["age", "kind"]
    assert "is left out: it has no name, as the index that pandas writes" in Path("i.toml").read_text(encoding="utf-8")


def test_a_y_beside_an_x_is_no_label():
    assert [one.label for one in proposals({"x": "", "y": ""})] == [False, False]
    assert [one.label for one in proposals({"age": "", "y": ""})] == [False, True]


def test_a_label_that_is_open_is_not_taken_for_a_column(small):
    Path("plain.csv").write_text("age,colour\n1,red\n", encoding="utf-8")
    said = output("schema", "new", "plain.csv", "--out", "l.toml")
    assert "to fill in: colour, the label (which column to predict)." in said


def test_a_draft_can_be_told_that_there_is_no_label(small):
    columns = ["--column", "colour: red, green", "--column", "town: skip", "--column", "outcome: good, bad"]
    output("schema", "new", "small.csv", "--label", "none", *columns, "--out", "n.toml")
    assert Schema.read("n.toml").label is None
    output("schema", "new", "small.csv", "--ask", "--out", "a.toml", answers="none\n\nred, green\nskip\ngood, bad\n")
    assert Schema.read("a.toml").label is None and Schema.read("a.toml").get("outcome").values == ("good", "bad")


def test_a_column_that_may_be_the_label_is_asked_for(small):
    output("schema", "new", "small.csv", "--column", "outcome: good, bad", "--out", "o.toml")
    assert 'label = "' in Path("o.toml").read_text(encoding="utf-8")


def test_a_check_says_how_many_rows_of_a_person_are_kept(small):
    told = ["--label", "outcome:good,bad", "--column", "colour: red, green", "--column", "town: skip"]
    text = output("schema", "new", "small.csv", *told)
    Path("p.toml").write_text(f'person = "town"\nrows_per_person = 3\n{text}', encoding="utf-8")
    said = output("schema", "check", "p.toml")
    assert "A person is protected, not a row: of each town, 3 rows drawn at random will be kept" in said
    Path("r.toml").write_text(text, encoding="utf-8")
    assert "A person is protected" not in output("schema", "check", "r.toml")


def test_columns_and_label_can_be_told_in_the_command(small):
    said = ["--label", "outcome:good,bad", "--column", "colour: red, green", "--column", "town:skip"]
    draft = output("schema", "new", "small.csv", *said)
    assert [c.name for c in Schema.loads(draft).column] == ["age", "colour", "outcome"]
    for wrong in (["--label", "height"], ["--column", "height: 1 to 2"]):
        with pytest.raises(BadInput, match="there is no column 'height': choose among age, colour, town, outcome"):
            output("schema", "new", "small.csv", *wrong)


def test_a_label_that_parquet_declares_as_a_truth_value_needs_no_classes(tmp_path):
    pyarrow.parquet.write_table(pa.table({"age": [1], "back": [True]}), tmp_path / "t.parquet")
    assert Schema.loads(output("schema", "new", tmp_path / "t.parquet", "--label", "back")).classes == ("False", "True")


ESCAPE = "\x1b[31m\x9bred"
ODD = Schema(
    name="odd",
    label="paid",
    column=[
        {"name": "n", "kind": "numeric", "bounds": [0, 9]},
        {"name": "colour", "kind": "categorical", "values": ["red"]},
        {"name": "day", "kind": "date", "bounds": ["2020", "2021"], "unit": "year"},
        {"name": "paid", "kind": "categorical", "values": ["0", "1"]},
    ],
)


@pytest.fixture
def odd(tmp_path):
    (tmp_path / "odd.toml").write_text(ODD.to_toml())
    frame = pd.DataFrame({"n": ["1", "99", "n/a", "n/a"], "colour": ["red", "Red", "", ESCAPE]})
    frame = frame.assign(day=["2020-01-01", "1.2.2020", "2031-01-01", None], paid=["yes", "no", "yes", "1"])
    frame.to_csv(tmp_path / "odd.csv", index=False)
    return tmp_path


def test_unknown_values_are_named_to_the_owner_below_the_banner_the_labels_first(odd):
    shown = output("schema", "check", odd / "odd.toml", "--rows", odd / "odd.csv")
    assert "label paid: 2 rows say 'yes', 1 row says 'no'; declared: 0, 1" in shown
    assert "n: 2 rows say 'n/a'; declared" in shown and "day: 1 row says '1.2.2020', 1 row says '(no value)'" in shown
    assert "1 (25.0%)" in shown and "\x1b[31m" not in shown and "\x9b" not in shown and "red" in shown
    places = [shown.index(text) for text in (BANNER, "label paid", "n: 2 rows", CAUTION.splitlines()[0], "values = [")]
    assert places == sorted(places)


def test_toml_is_ready_to_declare_them(odd):
    shown = output("schema", "check", odd / "odd.toml", "--rows", odd / "odd.csv")
    pasted = [line for line in shown.splitlines() if line.startswith("values = ")]
    assert [tomllib.loads(line)["values"] for line in pasted] == [["red", "Red"], ["0", "1", "yes", "no"]]
    found = json.loads(output("schema", "check", odd / "odd.toml", "--rows", odd / "odd.csv", "--json"))
    assert found["not private"][3]["unknown"] == [["yes", 2], ["no", 1]]


def test_spellings_of_a_class_and_decimal_commas_are_to_be_mended_in_the_file(tmp_path):
    schema = Schema(name="s", label="state", column=[
        {"name": "dose", "kind": "numeric", "bounds": [0, 9]},
        {"name": "state", "kind": "categorical", "values": ["Alive", "Dead"]},
    ])  # fmt: skip
    (tmp_path / "s.toml").write_text(schema.to_toml())
    states = ["Alive", "ALIVE", " alive ", "Dead", "dead", "unknown"]
    pd.DataFrame({"dose": [f"{i},5" for i in range(6)], "state": states}).to_csv(tmp_path / "s.csv", index=False)
    shown = output("schema", "check", tmp_path / "s.toml", "--rows", tmp_path / "s.csv")
    assert "state: spelled otherwise: " in shown and "'ALIVE' for 'Alive'" in shown and "'dead' for 'Dead'" in shown
    assert 'values = ["Alive", "Dead", "unknown"]' in shown
    assert "dose: nearly no value is a number, and they have commas: write decimals with a point" in shown


def test_at_most_ten_unknown_values_are_named(tmp_path):
    (tmp_path / "odd.toml").write_text(ODD.to_toml())
    values = [f"colour {i // 2 if i < 20 else i}" for i in range(60)]
    rows = {"n": 1, "colour": values, "day": "2020-01-01", "paid": 1}
    pd.DataFrame(rows).to_csv(tmp_path / "odd.csv", index=False)
    shown = output("schema", "check", tmp_path / "odd.toml", "--rows", tmp_path / "odd.csv")
    assert shown.count("2 rows say") == 10 and "1 row says" not in shown


def mixed(n):
    """Twenty columns as tables have them; the last depends on some of the others."""
    chance = np.random.default_rng(0)
    day = np.datetime64("2021-01-01") + chance.integers(0, 900, n)
    table = {"customer_id": np.arange(n), "name": "x", "email": "a@b.c", "age": chance.integers(18, 90, n)}
    table |= {"gender": chance.choice(["F", "M"], n), "birth_date": day - 12_000, "signup_date": day}
    table |= {"weekday": chance.choice(["Monday", "Friday"], n), "hour": chance.integers(0, 24, n)}
    table |= {"month": chance.integers(1, 13, n), "is_member": chance.choice(["yes", "no"], n)}
    table |= {"has_card": chance.integers(0, 2, n), "annual_income": chance.lognormal(10, 1, n).round(2)}
    table |= {"balance": chance.normal(900, 300, n).round(2), "n_orders": chance.poisson(4, n)}
    table |= {"discount_pct": chance.integers(0, 50, n), "rating": chance.integers(1, 6, n), "zip": 53111}
    table |= {"comments": "fine, thanks", "churn": np.where(chance.random(n) < table["age"] / 100, "yes", "no")}
    assert len(table) == 20
    return pd.DataFrame(table)


def test_a_table_of_twenty_columns_comes_to_an_evaluated_model_in_five_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mixed(1500).to_csv("shop.csv", index=False)
    assert "to fill in" not in output("schema", "new", "shop.csv", "--label", "churn:no,yes", "--out", "shop.toml")
    checked = output("schema", "check", "shop.toml", "--rows", "shop.csv")
    assert "Not as declared" not in checked and "class: 0 of 1,500" in checked
    output("ledger", "create", "shop.ledger", "--limit", 2, "--name", "shop")
    arguments = ["--schema", "shop.toml", "--epsilon", 2, "--test-share", 0.3, "--ledger", "shop.ledger"]
    found = json.loads(output("train", "shop.csv", *arguments, "--out", "model.veil", "--json"))
    assert found["evaluation"] and Path("model.veil").exists() and Path("model-evaluation.html").exists()
    output("ledger", "show", "shop.ledger")
    schema = Schema.read("shop.toml")
    assert schema.person == "customer_id" and len(schema.features) == 14
    assert {c.name for c in schema.column if c.kind == "date"} == {"birth_date", "signup_date", "weekday", "month"}


def test_a_unit_is_only_guessed_where_it_is_the_usual_one() -> None:
    """Glucose is measured in mg/dl, insulin is not."""
    glucose, insulin = proposals({"glucose": "", "insulin": ""})
    assert "mg/dl" in " ".join(glucose.lines) and insulin.is_open
