"""Lines of a CSV: whatever is in one, the others are read the same with it and without; in every encoding."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import veil
from veil import BadInput
from veil.files import lines
from veil.files.tables import RowFile

LETTERS = [
    b"a",
    b"b",
    b",",
    b",",
    b'"',
    b'"',
    b'""',
    b'",',
    b',"',
    b"\x00",
    b"\xff",
    b"\xc3",
    "é".encode(),
    b" ",
    b"\xef\xbb\xbf",
]
LINE = st.lists(st.sampled_from(LETTERS), max_size=9).map(b"".join)
END = st.sampled_from([b"\n", b"\r", b"\r\n"])
NAMES = {1: b"a", 2: b"a,b", 3: b"a,b,c"}


def rows(path: Path, content: bytes, **how: Any) -> list[tuple[Any, ...]]:
    """The rows of a file with this content."""
    path.write_bytes(content)
    table = RowFile(path, **how).read()
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    return lambda size: monkeypatch.setattr(lines, "PIECE", size)


@given(text=st.lists(st.tuples(LINE, END), max_size=9), width=st.sampled_from([1, 2, 3]), size=st.integers(1, 40))
def test_the_rows_of_a_file_are_those_of_its_lines(
    tmp_path_factory: pytest.TempPathFactory, text: list[tuple[bytes, bytes]], width: int, size: int
) -> None:
    path, header = tmp_path_factory.mktemp("lines") / "rows.csv", NAMES[width] + b"\n"
    alone = [rows(path, header + line + b"\n") for line, _ in text]
    assert all(len(found) <= 1 for found in alone)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PIECE", size)
        together = rows(path, header + b"".join(line + end for line, end in text))
        assert together == [row for found in alone for row in found]
        whole = RowFile(path).read(every_line=True)
    expected = [found[0][0] if found else None for (line, _), found in zip(text, alone, strict=True) if line]
    assert whole["a"].to_pylist() == expected


@given(line=LINE, before=st.integers(0, 3), after=st.integers(0, 3))
def test_one_more_line_is_at_most_one_more_row(
    tmp_path_factory: pytest.TempPathFactory, line: bytes, before: int, after: int
) -> None:
    path, sound = tmp_path_factory.mktemp("more") / "rows.csv", b'"1",2\n'
    found = rows(path, b"a,b\n" + sound * before + line + b"\n" + sound * after)
    assert found[:before] == [(b"1", b"2")] * before and len(found) in (before + after, before + after + 1)
    assert found[len(found) - after :] == [(b"1", b"2")] * after


def test_a_line_that_is_too_long_costs_itself_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST", 20)
    for size in (1, 7, 15):
        monkeypatch.setattr(lines, "PIECE", size)
        for most, kept in ((20, [(b"1", b"2"), (b"x" * 18, b"y"), (b"3", b"4")]), (21, [(b"1", b"2"), (b"3", b"4")])):
            long = b"x" * (most - 2) + b",y"
            assert rows(tmp_path / "rows.csv", b"a,b\n1,2\n" + long + b"\n3,4\n") == kept
            assert rows(tmp_path / "rows.csv", b"a,b\n1,2\n3,4\n" + long) == [kept[0], kept[-1], *kept[1:-1]]


def test_a_line_may_be_longer_than_a_piece(tmp_path: Path, small: Callable[[int], None]) -> None:
    small(1 << 10)
    long = b"x" * 100_000
    assert rows(tmp_path / "rows.csv", b'a,b\n1,2\n"' + long + b'",y\n3,4\n') == [
        (b"1", b"2"),
        (long, b"y"),
        (b"3", b"4"),
    ]


ENCODED = [
    "latin-1",
    "cp1252",
    "utf-16",
    "utf-16-le",
    "utf-32",
    "cp437",
    "iso8859-15",
    "mac-roman",
    "UTF8",
    "utf-8-sig",
]


@pytest.mark.parametrize("name", ENCODED)
@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_a_file_in_another_encoding_is_the_same_table(tmp_path: Path, name: str, suffix: str) -> None:
    text = 'größe,b\nMüller,"é, è"\nMöller,2\nx\n'
    path, content = tmp_path / f"rows.{suffix}", text.encode(name if name != "cp437" else "cp850")
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    table = veil.read_csv(path, encoding=name if name != "cp437" else "cp850")
    assert table.to_pydict() == {"größe": ["Müller", "Möller"], "b": ["é, è", "2"]}


@given(content=st.binary(max_size=60), name=st.sampled_from(["utf-8", "cp1252", *lines.SEVERAL]))
def test_bytes_of_no_encoding_never_raise(tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str) -> None:
    path, header = tmp_path_factory.mktemp("bytes") / "rows.csv", "a,b\n1,2\n".encode(name)
    path.write_bytes(header + content + ("\n" * 4).encode(name))
    assert veil.read_csv(path, encoding=name)["a"].to_pylist()[0] == "1"


@pytest.mark.parametrize("name", ["utf-8", "cp1252", "ascii", "utf-16-le", "gb18030", "shift_jis"])
def test_different_bytes_stay_different(tmp_path: Path, name: str) -> None:
    path, odd = tmp_path / "rows.csv", {"utf-16-le": [b"\x00\xdc", b"\x01\xdc"]}.get(name, [b"\x81", b"\x9d"])
    path.write_bytes("a,b\n".encode(name) + b"".join(one + ",x\n".encode(name) for one in odd))
    first = RowFile(path, name).read()["a"].to_pylist()
    assert len(set(first)) == 2
    assert len(set(veil.read_csv(path, encoding=name)["a"].to_pylist())) == 2


@pytest.mark.parametrize("odd", [b"\x81", b"\x810", b"\x810\x81", b"\x8f", b"\x8f\xa1"])
@pytest.mark.parametrize("name", ["gb18030", "euc_jp", "shift_jis", "big5", "cp949"])
def test_the_last_line_says_what_it_says_whether_or_not_another_follows(tmp_path: Path, name: str, odd: bytes) -> None:
    path, said = tmp_path / "rows.csv", []
    for more in (b"", b"z,2\n"):
        path.write_bytes(b"a,b\n1,k" + odd + b"\n" + more)
        said.append(veil.read_csv(path, encoding=name)["b"].to_pylist()[:1])
    assert said[0] == said[1]


@pytest.mark.parametrize(
    "name", ["klingon", "utf-7", "rot13", "unicode_escape", "hz", "iso2022_jp", "punycode", "", "\0", "\x1b[1m"]
)
def test_an_encoding_that_is_unknown_or_lets_lines_touch_each_other_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(BadInput, match="is no encoding that can be read: use utf-8, latin-1") as said:
        veil.read_csv(path, encoding=name)
    assert str(said.value).isprintable()


def test_columns_are_texts_whatever_the_rows_are(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    for content in (b"a,b\n", b"a,b\ntrue,1.0\n", b"a,b\ntrue,1.0\n?,?\n", b"a,b\n\xff,1\n", b"a,b\n1\n"):
        path.write_bytes(content)
        assert [str(kind) for kind in veil.read_csv(path).schema.types] == ["string", "string"]
    assert veil.read_csv(path).to_pandas().shape == (0, 2)
