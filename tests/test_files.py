"""Files: every value arrives as it is written, no line spoils another, and no message repeats what a file holds."""

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil import BadInput, Schema
from veil.files.tables import RowFile, column_types, read_csv, read_rows
from veil.owner import cut_lines, fit_of

SECRET = "SECRET-7391"
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes bytes to a file of this name."""

    def to_file(content: bytes, name: str = "rows.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return to_file


def parquet(table: Any) -> bytes:
    """A table as a Parquet file."""
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream)
    return stream.getvalue()


def lines(path: Path) -> list[tuple[Any, ...]]:
    """The rows of a file."""
    table = read_rows(path)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


CSVS = {
    "plain": (b"a,b\n1,x\n2,y\n", [(b"1", b"x"), (b"2", b"y")]),
    "words for missing values": (b"a,b\nNA,?\nN,nan\nnull,None\n", [(b"NA", b"?"), (b"N", b"nan"), (b"null", b"None")]),
    "empty texts": (b'a,b\n,\n"",x\n', [(b"", b""), (b"", b"x")]),
    "numbers as they are written": (b"a,b\n1.0,01\n1e3,+5\n", [(b"1.0", b"01"), (b"1e3", b"+5")]),
    "short and long lines": (b"a,b\n1\n1,2,3\n4,5\n,,,\n", [(b"4", b"5")]),
    "no sound line": (b"a,b\n1\n1,2,3\n", []),
    "quoted commas": (b'a,b\n"1,5",x\n', [(b"1,5", b"x")]),
    "quoted line ends": (b'a,b\n"p\nq","r\r\ns"\nt,u\n', [(b"t", b"u")]),
    "stray quotes": (b'a,b\n1,"x\n2,y\n"3,z\n4"",w"\n5,"v"u\n', [(b"2", b"y"), (b'4""', b'w"'), (b"5", b"vu")]),
    "quoted quotes": (b'a,b\n"p""q",x\n', [(b'p"q', b"x")]),
    "white space": (b"a,b\n x , y\n", [(b" x ", b" y")]),
    "bytes that are not UTF-8": (b"a,b\nx\xff,x\nok,y\n", [(b"x\xff", b"x"), (b"ok", b"y")]),
    "ragged bytes that are not UTF-8": (b"a,b\n\xff\n1,\xff,3\nok,y\n", [(b"ok", b"y")]),
    "a zero byte": (b"a,b\n\x00,x\n", [(b"\x00", b"x")]),
    "a byte order mark": (b"\xef\xbb\xbfa,b\n1,x\n", [(b"1", b"x")]),
    "carriage returns": (b"a,b\r1,x\r2,y\r", [(b"1", b"x"), (b"2", b"y")]),
    "Windows": (b"a,b\r\n1,x\r\n2,y", [(b"1", b"x"), (b"2", b"y")]),
    "empty lines": (b"\n\na,b\n\n1,x\n\n\n2,y\n\n", [(b"1", b"x"), (b"2", b"y")]),
    "a header alone": (b"a,b\n", []),
    "a header without an end": (b"a,b", []),
    "a quote that never ends": (b'a,b\n1,x\n"2,y\n3,z\n', [(b"1", b"x"), (b"3", b"z")]),
    "a long cell": (
        b"a,b\n1,x\n" + b"y" * 3_000_000 + b",z\n2,w\n",
        [(b"1", b"x"), (b"y" * 3_000_000, b"z"), (b"2", b"w")],
    ),
    "a long quoted cell": (
        b'a,b\n1,x\n"' + b"y," * 1_500_000 + b'",z\n2,w\n',
        [(b"1", b"x"), (b"y," * 1_500_000, b"z"), (b"2", b"w")],
    ),
}


@pytest.mark.parametrize("content, expected", CSVS.values(), ids=CSVS)
def test_a_csv_keeps_every_value(
    write: Write, content: bytes, expected: list[tuple[bytes, bytes]], capfd: pytest.CaptureFixture[str]
) -> None:
    for path in (write(content), write(gzip.compress(content), "rows.csv.gz")):
        assert column_types(path) == {"a": "", "b": ""}
        assert read_rows(path).column_names == ["a", "b"]
        assert lines(path) == expected
    assert capfd.readouterr() == ("", "")


def test_values_hold_line_ends_where_the_owner_says_so(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    content = b'\n\na,b\n"p\nq","r\r\ns"\n\n1\n\xff\nt\xff,\xc3\xbc\n"2,y\n3,z\n'
    for path in (write(content), write(gzip.compress(content), "rows.csv.gz")):
        table = RowFile(path, multiline=True).read()
        assert table.to_pydict() == {"a": [b"p\nq", b"t\xff"], "b": [b"r\r\ns", "ü".encode()]}
        whole = RowFile(path, multiline=True).read(every_line=True).to_pydict()
        assert whole["a"] == [b"p\nq", None, None, b"t\xff", None]
    assert capfd.readouterr() == ("", "")


def test_names_of_columns_may_hold_anything(write: Write) -> None:
    path = write('"a,""b""",é,  c \n1,2,3\n'.encode())
    assert list(column_types(path)) == ['a,"b"', "é", "  c "]
    assert lines(path) == [(b"1", b"2", b"3")]
    path = write('"a,\n""b""",é,  c \n1,2,3\n'.encode())
    assert RowFile(path, multiline=True).read().to_pydict() == {'a,\n"b"': [b"1"], "é": [b"2"], "  c ": [b"3"]}


CELLS = st.text("ab \x00é", max_size=12) | st.text('ab,"é', max_size=12).map(
    lambda cell: '"' + cell.replace('"', '""') + '"'
)
LINES = st.lists(st.lists(CELLS, min_size=1, max_size=3).map(",".join), max_size=8)


@given(text=st.text('ab",\r\n\x00é'))
def test_quotes_in_disorder_are_no_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("disorder") / "rows.csv"
    path.write_bytes(f"a,b\n1,2\n{text}".encode())
    assert lines(path)[0][0] == b"1"


@given(rows=LINES, extra=CELLS, place=st.integers(0, 8))
def test_a_ragged_line_changes_no_other(
    tmp_path_factory: pytest.TempPathFactory, rows: list[str], extra: str, place: int
) -> None:
    path = tmp_path_factory.mktemp("ragged") / "rows.csv"
    path.write_bytes("\n".join(["a,b", *rows, ""]).encode())
    whole = lines(path)
    path.write_bytes("\n".join(["a,b", *rows[:place], f"{extra},{extra},{extra}", *rows[place:], ""]).encode())
    assert lines(path) == whole


@given(table=st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5))))
def test_a_csv_gives_back_what_was_written(tmp_path_factory: pytest.TempPathFactory, table: list[Any]) -> None:
    path = tmp_path_factory.mktemp("written") / "rows.csv"
    quoted = ['"{}","{}"\n'.format(*(cell.replace('"', '""') for cell in row)) for row in [("a", "b"), *table]]
    path.write_bytes("".join(quoted).encode())
    read = RowFile(path, multiline=True).read()
    assert list(zip(*(column.to_pylist() for column in read.columns), strict=True)) == [
        (first.encode(), second.encode()) for first, second in table
    ]
    assert read_csv(path, multiline=True).to_pylist() == [{"a": first, "b": second} for first, second in table]


def test_parquet_keeps_values_and_types(write: Write) -> None:
    table = pa.table({"a": ["NA", "", None], "b": [1, None, 3], "c": pa.array(["x", "y", None]).dictionary_encode()})
    for name in ("rows.parquet", "rows.PQ"):
        path = write(parquet(table), name)
        assert read_rows(path).to_pydict() == table.to_pydict()
        assert list(column_types(path).items())[:2] == [("a", "string"), ("b", "int64")]


def test_a_folder_name_adds_no_column(tmp_path: Path) -> None:
    folder = tmp_path / "year=2020"
    folder.mkdir()
    (folder / "rows.parquet").write_bytes(parquet(pa.table({"a": [1]})))
    assert read_rows(folder / "rows.parquet").column_names == ["a"]


def test_a_folder_of_parquet_files_is_read_whatever_its_name(tmp_path: Path) -> None:
    for year in (2020, 2021):
        (tmp_path / f"visits/year={year}").mkdir(parents=True)
        (tmp_path / f"visits/year={year}/part.parquet").write_bytes(parquet(pa.table({"a": [year, 1]})))
    assert sorted(read_rows(tmp_path / "visits")["a"].to_pylist()) == [1, 1, 2020, 2021]
    assert sorted(read_rows(tmp_path / "visits")["year"].to_pylist()) == [
        "2020",
        "2020",
        "2021",
        "2021",
    ]  # text, whatever other folders there are


GZIP = gzip.compress(f"a,b\n{SECRET},{SECRET}\n".encode() + np.random.default_rng(1).bytes(9000))


@pytest.mark.parametrize("other", [";", "\t", "|"])
def test_another_separator_is_named(write: Write, other: str) -> None:
    path = write(f"{SECRET}{other}town\n{SECRET}{other}1\n".encode())  # a header may be absent, and be a row
    for read in (column_types, read_rows):
        with pytest.raises(
            BadInput, match="has one column and no comma in its header: values must be separated by commas"
        ) as said:
            read(path)
        assert SECRET not in str(said.value) and f"sep={other!r}" in str(said.value)
    assert list(column_types(write(f"a{other}b,c\n1,2\n".encode()))) == [f"a{other}b", "c"]


def test_what_is_said_of_semicolons_saves_a_file_that_can_be_read(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput) as said:
        column_types(write(b"a;b\n1,5;x\n2;y\n"))
    exec(f"import pandas\n{str(said.value).split('to save it so: ')[1]}")
    assert read_rows(tmp_path / "commas.csv").to_pydict() == {"a": [b"1.5", b"2.0"], "b": [b"x", b"y"]}


PARQUET = parquet(pa.table({"a": [SECRET, "x"] * 999, "b": [7391, 2] * 999}))
BROKEN = {
    "an empty CSV": (b"", "rows.csv"),
    "only line ends": (b"\n\r\n\n", "rows.csv"),
    "a header that is not UTF-8": (b"\xff" + SECRET.encode() + b",b\n1,2\n", "rows.csv"),
    "UTF-16": (f"a,b\n{SECRET},2\n".encode("utf-16"), "rows.csv"),
    "a header without end": (SECRET.encode() * 20_000, "rows.csv"),
    "gzip called CSV": (GZIP, "rows.csv"),
    "CSV called gzip": (f"a,b\n{SECRET},2\n".encode(), "rows.csv.gz"),
    "gzip cut short": (GZIP[:-20], "rows.csv.gz"),
    "gzip cut at once": (GZIP[:8], "rows.csv.gz"),
    "gzip with a wrong sum": (GZIP[:-8] + b"\0\0\0\0" + GZIP[-4:], "rows.csv.gz"),
    "gzip overwritten at the start": (GZIP[:12] + b"\xff" * 9 + GZIP[21:], "rows.csv.gz"),
    "gzip overwritten": (GZIP[:900] + b"\xff" * 99 + GZIP[999:], "rows.csv.gz"),
    "an empty Parquet": (b"", "rows.parquet"),
    "CSV called Parquet": (f"a,b\n{SECRET},2\n".encode(), "rows.parquet"),
    "Parquet cut short": (PARQUET[:-9], "rows.parquet"),
    "Parquet overwritten": (PARQUET[:4] + b"\xff" * 60 + PARQUET[64:], "rows.parquet"),
    "Parquet with a broken end": (PARQUET[:-60] + b"\xff" * 30 + PARQUET[-30:], "rows.parquet"),
}


WORDS = {
    "empty": "is empty: its first line must name the columns",
    "not UTF-8": "is not utf-8: save the file as UTF-8, or say what it is, such as --encoding latin-1",
    "": "cannot be read: check that it is a CSV, a gzipped CSV or a Parquet file, and is whole",
}
OTHERWISE = {"an empty CSV": "empty", "an empty Parquet": "empty"} | dict.fromkeys(
    ["a header that is not UTF-8", "UTF-16", "gzip called CSV"], "not UTF-8"
)


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_is_refused_in_words_that_do_not_depend_on_it(write: Write, what: str) -> None:
    path = write(*BROKEN[what])
    with pytest.raises(BadInput) as caught:
        read_rows(path)
    said = str(caught.value).replace(str(path), "PATH")
    assert WORDS[OTHERWISE.get(what, "")] in said and len(said) < 200 and SECRET not in said


@pytest.mark.parametrize("name", ["none.csv", "none.csv.gz", "none.parquet", ".", "", "none\0.csv"])
def test_a_file_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    for read in (read_rows, column_types):
        with pytest.raises(BadInput, match="cannot be read"):
            read(f"{tmp_path}/{name}")


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_too_little_memory_is_called_so(write: Write, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise pa.ArrowMemoryError(SECRET)

    path = write(PARQUET if name.endswith("parquet") else b"a,b\n1,2\n", name)
    monkeypatch.setattr("veil.files.tables.read_tables", full)
    monkeypatch.setattr("veil.files.tables.parquet_tables", full)
    with pytest.raises(
        BadInput, match="^not enough memory to read .*: use fewer columns or rows, or a larger machine$"
    ):
        read_rows(path)


@pytest.mark.parametrize("name", ["ward.xlsx", "ward.json", "ward.SAS7BDAT", "ward.zip", "ward.pkl"])
def test_a_file_of_another_kind_is_called_so(write: Write, name: str) -> None:
    """Not a text in another encoding, which its first line looks like."""
    with pytest.raises(BadInput, match="is neither a CSV nor a Parquet file: save it as one"):
        read_rows(write(b"\xff\xfe" + SECRET.encode(), name))


def test_a_folder_of_other_files_is_told_what_it_may_hold(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(f"a,b\n{SECRET},2\n")
    with pytest.raises(BadInput, match="cannot be read: a folder may hold Parquet files alone") as caught:
        read_rows(tmp_path)
    assert SECRET not in str(caught.value)


def test_two_columns_of_one_name_are_refused(write: Write) -> None:
    both = pa.table([[1], [2]], names=["a", "a"])
    for path in (write(f"a,a\n{SECRET},2\n".encode()), write(parquet(both), "rows.parquet")):
        for read in (read_rows, column_types):
            with pytest.raises(BadInput, match="has two columns of the same name: rename one$"):
                read(path)


def test_the_names_of_the_columns_are_found_without_reading_rows(write: Write) -> None:
    garbage = np.random.default_rng(1).bytes(100_000)
    assert list(column_types(write(b"a,b\n" + garbage))) == ["a", "b"]
    damaged = PARQUET[:4] + b"\xff" * 60 + PARQUET[64:]
    assert column_types(write(damaged, "rows.parquet")) == {"a": "string", "b": "int64"}
    cut = gzip.compress(b"a,b\n" + garbage)[:-50_000]
    assert list(column_types(write(cut, "rows.csv.gz"))) == ["a", "b"]


def test_the_ten_rows_are_the_same_from_every_file(
    tmp_path: Path, rows: pd.DataFrame, schema: Schema, write: Write
) -> None:
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_csv(tmp_path / "rows.csv.gz", index=False)
    rows.to_parquet(tmp_path / "rows.parquet")
    expected = {name: codes.tolist() for name, codes in schema.encode(rows).items()}
    for path in tmp_path.iterdir():
        assert {name: codes.tolist() for name, codes in schema.encode(read_rows(path)).items()} == expected


def test_the_fit_counts_what_is_declared_clipped_and_missing(schema: Schema) -> None:
    odd = {
        "town": ["Bonn", "Rome", None, " Köln "],
        "age": [17, 16, None, "ninety"],
        "income": ["1", float("inf"), float("nan"), 1e5],
        "party": ["left", "left", "left", 3],
    }
    found = {fit.column: (fit.declared, fit.clipped, fit.missing) for fit in fit_of(odd, schema)}
    assert found == {"town": (2, 0, 2), "age": (1, 1, 2), "income": (2, 1, 1), "party": (3, 0, 1)}


def test_the_fit_shows_what_a_declared_missing_value_hides() -> None:
    text = '[[column]]\nname = "x"\nkind = "categorical"\nvalues = ["a", "(missing)"]\nmissing = "(missing)"\n'
    (fit,) = fit_of({"x": ["a", "(missing)", "z", None]}, Schema.loads(f'name = "t"\n{text}'))
    assert (fit.declared, fit.missing) == (2, 2)


def test_the_fit_shows_numbers_that_lose_what_is_behind_their_point() -> None:
    text = '[[column]]\nname = "x"\nkind = "numeric"\nbounds = [0, 3]\ninteger = true\n'
    (fit,) = fit_of({"x": [0.2, 1, "1.0", 2.5, 7.5, None]}, Schema.loads(f'name = "t"\n{text}'))
    assert (fit.declared, fit.clipped, fit.missing, fit.cut) == (4, 1, 1, 2)
    (line,) = cut_lines([fit])
    assert line.startswith("x: 2 of 6 rows are not whole")
    (fit,) = fit_of({"x": [0.2, 2.5]}, Schema.loads(f'name = "t"\n{text.replace("true", "false")}'))
    assert fit.cut == 0 and not [*cut_lines([fit])]
