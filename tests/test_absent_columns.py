"""Messages about columns that are not there: what may be meant, where it is declared, and never a row."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from shell import run
from veil import BadInput, Ledger, NaiveBayesClassifier, Schema, datasets, open_source
from veil.display import absent

SECRET = "SECRET"
ROWS, SCHEMA = datasets.load("fair")
NAMES = [column.name for column in SCHEMA.column]


def said_of(rows: Any) -> str:
    with pytest.raises(BadInput) as problem:
        open_source(rows, SCHEMA, Ledger(1, "fair"))
    return str(problem.value)


def test_a_name_in_other_letters_is_recognised() -> None:
    assert "no column 'age' (did you mean 'Age'?): check the names" in said_of(ROWS.rename(columns={"age": "Age"}))
    upper = said_of(ROWS.rename(columns=str.upper))
    assert "'affair' (did you mean 'AFFAIR'?)" in upper and "first line" not in upper


def test_names_unlike_those_that_are_wanted_are_not_repeated() -> None:
    pivoted = ROWS[["age", "affair"]].assign(**{SECRET: 1})  # a table may have values of another as names
    assert SECRET not in said_of(pivoted) and said_of(pivoted).endswith("check the names against the schema")


def test_a_column_that_is_wanted_itself_is_not_meant_by_another_name() -> None:
    assert "did you mean" not in absent(["education", "education-num"], ["education-num", "x"], "the rows")


def test_many_absent_columns_are_counted() -> None:
    said = absent([f"c{place}" for place in range(3000)], ["c0"], "the rows")
    assert "and 2,987 more" in said and len(said) < 500


@pytest.mark.parametrize("kind", [pd.DataFrame, lambda rows: rows.to_dict("list"), pa.Table.from_pandas])
def test_a_row_in_the_place_of_the_names_is_not_repeated(kind: Any) -> None:
    rows = ROWS.head(5).set_axis([f"{SECRET}{place}" for place in range(ROWS.shape[1])], axis=1)
    said = said_of(kind(rows))
    assert SECRET not in said and "the first line of a file has them" in said
    near = ROWS.head(5).set_axis([f"{name}{place}"[1:] for place, name in enumerate(ROWS)], axis=1)
    assert "did you mean" not in said_of(kind(near))  # a word in a row may look like a name


def test_a_stream_says_the_same() -> None:
    rows = pa.Table.from_pandas(ROWS.rename(columns={"age": "Age"}), preserve_index=False)
    assert "did you mean 'Age'?" in said_of(rows.to_reader())


def test_a_command_names_the_file_and_the_line_of_the_schema(tmp_path: Path) -> None:
    ROWS.rename(columns={"age": "Age"}).to_csv(tmp_path / "rows.csv", index=False)
    text = SCHEMA.to_toml()
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    line = text.splitlines().index('name = "age"') + 1
    given = [tmp_path / "rows.csv", "--schema", tmp_path / "s.toml", "--epsilon", "1", "--out", tmp_path / "m.veil"]
    with pytest.raises(BadInput) as problem:
        run("train", *given)
    assert "did you mean 'Age'?" in str(problem.value)
    assert str(problem.value).endswith(f"(line {line} of {tmp_path / 's.toml'})")


def test_a_schema_says_which_columns_it_has() -> None:
    with pytest.raises(BadInput, match="the schema has no column 'agee': did you mean 'age'?"):
        SCHEMA.get("agee")
    with pytest.raises(BadInput, match=f"the schema has no column 'zzz': there are {NAMES[0]}, "):
        SCHEMA.get("zzz")
    with pytest.raises(BadInput, match="label must name one of its columns; did you mean 'affair'"):
        Schema(name="t", label="afair", column=SCHEMA.column)


def test_predicting_says_it_too() -> None:
    model = NaiveBayesClassifier(schema=SCHEMA, ledger=Ledger(1, "fair"), random_state=1).fit(ROWS)
    with pytest.raises(BadInput, match=r"did you mean 'AGE'\?"):
        model.predict(ROWS.rename(columns={"age": "AGE"}))


TEXT = 'name = "mail"\nlabel = "kind"\n[[column]]\nname = "kind"\nkind = "categorical"\nvalues = ["ham", "spam"]\n'
TEXT += '[[column]]\nname = "said"\nkind = "text"\n'


def test_a_text_that_is_not_used_says_what_would_use_it(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TEXT, encoding="utf-8")
    (tmp_path / "rows.csv").write_text("kind,said\nham,hello\n", encoding="utf-8")
    assert "nothing, until it has words or buckets" in run("schema", "check", tmp_path / "s.toml").output
    given = [tmp_path / "rows.csv", "--schema", tmp_path / "s.toml", "--epsilon", "1", "--out", tmp_path / "m.veil"]
    for method in ("auto", "naive-bayes", "logistic"):
        with pytest.raises(BadInput, match="text column 'said' is used once the schema gives it buckets = 4096"):
            run("train", *given, "--method", method)
    with pytest.raises(BadInput, match="text column 'said' is used once"):
        run("select", *given[:-2])
    with pytest.raises(BadInput, match="free text cannot be published"):
        run("publish", *given)


def test_words_that_a_method_cannot_use_name_the_one_that_can(tmp_path: Path) -> None:
    schema = Schema.loads(f"{TEXT}buckets = 64\n")
    with pytest.raises(BadInput, match="learned from by sparse-naive-bayes"):
        NaiveBayesClassifier(schema=schema).fit({"kind": ["ham"], "said": ["hello"]})


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.parquet"])
def test_rows_in_the_place_of_a_schema_are_not_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(f"[{SECRET}]\n[{SECRET}]\n", encoding="utf-8")
    with pytest.raises(BadInput, match="looks like rows, not like a schema: draft one with `veil schema new") as said:
        Schema.read(tmp_path / name)
    assert SECRET not in str(said.value)


@pytest.mark.parametrize(("name", "kind"), [("s.toml", "schema"), ("m.veil", "published file"), ("l.ledger", "ledger")])
def test_what_holds_no_rows_is_refused_in_their_place(tmp_path: Path, name: str, kind: str) -> None:
    (tmp_path / name).write_text(TEXT, encoding="utf-8")
    (tmp_path / "good.toml").write_text(TEXT, encoding="utf-8")
    with pytest.raises(BadInput, match=f"holds no rows, as a {kind}: name the file of rows"):
        run(
            "train", tmp_path / name, "--schema", tmp_path / "good.toml", "--epsilon", "1", "--out", tmp_path / "o.veil"
        )
