"""Whose row it is follows from that row's id alone, and one person more or less moves no row of anybody else."""

import io
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shell import run
from veil import BadInput, Categorical, Schema, load_model
from veil.files.tables import read_csv, read_rows
from veil.kernel import SeededNoise
from veil.kernel.people import LONG, NO_ONE, RESPELT, SHORT, keep_per_person, matches, numbers_of, person_id
from veil.kernel.reading import read_table
from veil.schema import encoding
from veil.schema.encoding import as_column
from veil.schema.spelling import NUMBER, spelling

MOST = 2
SCHEMA = Schema(name="visits", person="id", rows_per_person=MOST, column=[Categorical(name="a", values=("x",))])
COMPOSED, APART = "Mü", "Mu\u0308"


class Keys(SeededNoise):
    """Random keys that a row keeps, whatever the other rows are."""

    def __init__(self, keys: Any) -> None:
        super().__init__(0)
        self.drawn = np.array(keys, np.uint64)

    def words(self, size: int) -> Any:
        assert size == len(self.drawn)
        return self.drawn


def kept(ids: Any, keys: Any) -> list[int]:
    """The places of the rows that are kept."""
    table = read_table({"a": ["x"] * len(keys), "id": ids}, SCHEMA, Keys(keys))
    return list(range(len(keys))) if table._rows is None else np.flatnonzero(table._own()).tolist()


def check_neighbours(build: Callable[[list[Any]], Any], ids: list[Any], keys: list[int]) -> None:
    """Without any one of the people, all others keep the rows that they had; nobody has more than the bound."""
    people = [person_id(build([value])[0]) for value in ids]
    before = kept(build(ids), keys)
    counts = Counter(people[place] for place in before)
    assert None not in counts and all(count <= MOST for count in counts.values())
    assert counts == {name: min(count, MOST) for name, count in Counter(people).items() if name is not None}
    for left_out in {*people}:
        there = [place for place, name in enumerate(people) if name != left_out]
        after = kept(build([ids[place] for place in there]), [keys[place] for place in there])
        assert [there[place] for place in after] == [place for place in before if people[place] != left_out]


def objects(values: list[Any]) -> Any:
    return np.fromiter(values, object, len(values))


ANY: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "numpy": objects,
    "masked": lambda values: np.ma.array(objects(values), mask=[value is None for value in values]),
    "pandas": lambda values: pd.Series(objects(values), dtype=object).array,
    "polars": lambda values: pl.Series(values, dtype=pl.Object),
}


@pytest.mark.parametrize("build", ANY.values(), ids=ANY)
@settings(max_examples=25)
@given(data=st.data())
def test_a_person_more_moves_no_row_of_another_whatever_ids_are(
    build: Callable[[list[Any]], Any], odd_values: Callable[..., Any], data: st.DataObject
) -> None:
    few = list(odd_values(data, min_size=1, max_size=5))
    places = data.draw(st.lists(st.integers(0, len(few) - 1), max_size=12))
    keys = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=len(places), max_size=len(places), unique=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "BLOCK", data.draw(st.integers(1, 5)))
        check_neighbours(build, [few[place] for place in places], keys)


TEXTS = ["", " ", "a", " a", "A", "1", "01", "1.0", "1e0", "-0", "0", "NA", "true", "True", COMPOSED, APART, "2", None]
TYPED: dict[str, Callable[[list[Any]], Any]] = {
    "numpy texts": lambda values: np.array([value or "" for value in values], "U9"),
    "numpy bytes": lambda values: np.array([(value or "").encode("latin-1", "ignore") for value in values], "S9"),
    "numpy variable texts": lambda values: np.array([value or "" for value in values], np.dtypes.StringDType()),
    "pandas": lambda values: pd.Series(values, dtype="str"),
    "pandas category": lambda values: pd.Series(values, dtype="category"),
    "polars": lambda values: pl.Series(values, dtype=pl.String),
    "polars categorical": lambda values: pl.Series(values, dtype=pl.Categorical),
    "arrow": lambda values: pa.array(values, pa.string()),
    "arrow latin-1": lambda values: pa.array([v and v.encode("latin-1", "ignore") for v in values], pa.binary()),
    "arrow dictionary": lambda values: pa.array(values, pa.string()).dictionary_encode(),
}


@pytest.mark.parametrize("build", TYPED.values(), ids=TYPED)
@settings(max_examples=25)
@given(data=st.data())
def test_a_person_more_moves_no_row_of_another_in_any_container_of_text(
    build: Callable[[list[Any]], Any], data: st.DataObject
) -> None:
    ids = data.draw(st.lists(st.sampled_from(TEXTS), max_size=12))
    keys = data.draw(st.permutations(range(len(ids))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "BLOCK", data.draw(st.integers(1, 5)))
        check_neighbours(build, ids, [*keys])


def test_rows_without_an_id_are_nobodys() -> None:
    """They were one person, so that a new one displaced the row of another."""
    nothing = [None, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN"), pa.scalar(None, pa.string())]
    blank = ["", " \t", "\x00", "\u3000", "\ufeff", b"", b"  ", "NA", "nan", "None", "NULL", "?", "<NA>", "NaT"]
    odd = [[1], (), {}, {1}, object(), print, 1j, float("inf"), 10**5000, np.array(["a"]), ValueError("1")]
    assert [person_id(value) for value in (*nothing, *blank, *odd)] == [None] * 32
    assert kept(objects([*nothing, *blank, *odd, "a"]), range(33)) == [32]


def test_bytes_that_are_no_text_are_people_of_their_own() -> None:
    ids = ["Müller".encode("latin-1"), "Möller".encode("latin-1"), "Maller".encode("latin-1")]
    assert len({*map(person_id, ids)}) == 3
    for column in (ids, np.array(ids), pa.array(ids, pa.binary())):
        assert kept(column, range(3)) == [0, 1, 2]


SAME: list[list[Any]] = [
    [1, 1.0, "1", "1.0", " 01 ", "+1", "1e0", Decimal("1.00"), np.int8(1), np.float32(1), b"1", np.str_("1")],
    [True, np.True_, "True", "true", "TRUE"],
    [COMPOSED, APART, f" {COMPOSED}\x00", COMPOSED.encode()],
    [2**53 + 1, str(2**53 + 1), f"{2**53 + 1}.0", Decimal(2**53 + 1), np.int64(2**53 + 1)],
    [2**53, Decimal(2**53)],
    [date(2020, 1, 31), datetime(2020, 1, 31), pd.Timestamp("2020-01-31"), np.datetime64("2020-01-31"), "2020-01-31"],
    [UUID(int=7), str(UUID(int=7))],
    [0.00001, "0.00001", "1e-5", Decimal("1e-5")],
    [Decimal("1.00000000000000000000000000001")],
    ["a", "a "],
    ["A"],
    ["\ud800"],
    ["2020-01-31 Ann"],
    ["1e20x"],
    ["\udcff", b"\xff"],
    ["ﬁ"],
    ["fi"],
]


def test_spellings_of_one_id_are_one_person_and_others_are_not() -> None:
    ids = [{*map(person_id, group)} for group in SAME]
    assert all(len(names) == 1 and None not in names for names in ids)
    assert len(set.union(*ids)) == len(SAME)


@given(st.one_of(st.text(), st.decimals().map(str), st.floats().map(repr), st.integers().map(str)))
def test_a_spelling_is_its_own_spelling_and_no_number_changes_its_value(text: str) -> None:
    assert spelling(spelling(text)) == spelling(text)
    if NUMBER.fullmatch(text):
        assert Decimal(spelling(text)) == Decimal(text)


MOMENT = datetime(2020, 1, 2, 9, 30, 0, 500_000)
IDENTITY = UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")
BEYOND = 2**24 + 1  # a short float makes another number of it


@pytest.mark.parametrize(
    "moments",
    [
        [MOMENT, pd.Timestamp(MOMENT), np.datetime64(MOMENT), MOMENT.replace(tzinfo=UTC)],
        ["2020-01-02T09:30:00.5", "2020-01-02 09:30:00.500000", "2020-01-02T09:30:00.5Z", "2020-01-02 10:30:00.5+01"],
        *(pa.array([MOMENT], pa.timestamp(unit, zone)) for unit in ("ms", "ns") for zone in (None, "UTC")),
        pa.array([86400], pa.duration("s")),
        pa.array([86400], pa.duration("ns")),
    ],
)
def test_a_moment_is_nobody_for_each_type_writes_it_in_a_way_of_its_own(moments: Any) -> None:
    """With a zone in one file and none in another, a person would be two."""
    assert {*numbers_of(as_column(moments, "id"), {}).tolist()} == {NO_ONE}


def test_a_uuid_is_one_person_whether_a_file_has_it_as_text_or_as_bytes() -> None:
    columns = [[IDENTITY, str(IDENTITY), IDENTITY.bytes], pa.array([IDENTITY.bytes], pa.binary(16))]
    known: dict[str, int] = {}
    found = {number for column in columns for number in numbers_of(as_column(column, "id"), known).tolist()}
    assert len(found) == 1 and NO_ONE not in found


SPACED = [f"{place:07}\u00a0{place:07}" for place in range(3)]  # of 16 bytes, like UUIDs


@pytest.mark.parametrize("odd", [b"M\xfcller", b"\xff" * 16, b"x"])
def test_an_id_that_is_no_text_makes_nobody_else_of_those_beside_it(odd: bytes) -> None:
    """A block with such an id is numbered in the slow way, from bytes; others come as texts."""
    known: dict[str, int] = {}
    ids = [name.encode() for name in SPACED]
    alone = numbers_of(as_column(pa.array(ids, pa.binary()), "id"), known).tolist()
    beside = numbers_of(as_column(pa.array([odd, *ids], pa.binary()), "id"), known).tolist()[1:]
    texts = numbers_of(as_column(pa.array(SPACED), "id"), known).tolist()
    assert alone == beside == texts and len({*alone}) == 3


def test_a_row_without_an_id_makes_nobody_of_the_people_in_other_files(tmp_path: Path) -> None:
    """It makes floats of whole numbers in its own file, and then the folder has two types."""
    first, second = ([start + place for place in range(5)] for start in (49_151_000_000, 49_152_000_000))
    pd.DataFrame({"id": first}).to_parquet(tmp_path / "a.parquet")
    for more in ([], [None]):
        pd.DataFrame({"id": second + more}).to_parquet(tmp_path / "b.parquet")
        found = numbers_of(as_column(read_csv(tmp_path)["id"], "id"), {})
        assert sorted(found[found != NO_ONE].tolist()) == [*first, *second]


def test_a_moment_that_python_cannot_hold_leaves_a_folder_readable(tmp_path: Path) -> None:
    """Whether a folder can be read must not depend on a value in it."""
    pq.write_table(pa.table({"seen": pa.array([0, 2**52], pa.timestamp("ms"))}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"seen": pa.array([None], pa.null())}), tmp_path / "b.parquet")
    assert read_csv(tmp_path)["seen"].to_pylist() == ["1970-01-01 00:00:00", None, None]


@pytest.mark.parametrize(
    "short",
    [
        np.array([BEYOND], np.float32),
        objects([np.float32(BEYOND)]),
        pa.array([float(BEYOND)], pa.float32()),
        pa.array([float(BEYOND)], pa.float32()).dictionary_encode(),
        pd.Series([BEYOND], dtype="Float32"),
        pl.Series([BEYOND], dtype=pl.Float32),
        np.array([2049], np.float16),
        [repr(float(2**60 + 1))],
        ["1.152921504606847E+18"],
    ],
)
def test_a_number_that_its_type_has_changed_is_nobody(short: Any) -> None:
    """The same person's rows elsewhere have the whole number: these few would be a second person's."""
    assert numbers_of(as_column(short, "id"), {}).tolist() == [NO_ONE]


def test_short_floats_are_the_people_of_the_whole_numbers_that_they_hold() -> None:
    whole = numbers_of(np.array([1, 2**24 - 1]), {}).tolist()
    for kind in (np.float32, np.float64):
        assert numbers_of(np.array([1, 2**24 - 1, np.nan], kind), {}).tolist() == [*whole, NO_ONE]


def test_a_float_that_may_be_several_whole_numbers_is_nobody() -> None:
    """A missing id turns a column of whole numbers into floats, and from 2^53 on neighbours into one."""
    assert person_id(float(2**53 - 1)) == str(2**53 - 1)
    assert person_id(float(2**53)) is None and person_id(-1e300) is None
    assert kept(np.array([2.0**60, np.nan, 3, 3, 3]), range(5)) == [2, 3]


def test_people_are_numbered_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [f"p{place % 7}" for place in range(40)]
    at_once = kept(ids, range(40))
    monkeypatch.setattr(encoding, "BLOCK", 3)
    assert kept(ids, range(40)) == kept(pd.Series(ids), range(40)) == at_once == [*range(14)]


@pytest.mark.parametrize("odd", ["?", "", "1.5"])
def test_one_odd_id_leaves_the_people_of_all_other_rows_as_they_were(odd: str, tmp_path: Any) -> None:
    """pandas reads the ids as whole numbers without it, and as floats or texts with it."""
    lines = ["007", "7", "7.0", "12", "012", "3"] * 2
    keys = [*range(len(lines) + 1)]
    found = []
    for more in ([], [odd]):
        path = tmp_path / "rows.csv"
        path.write_text("id,a\n" + "".join(f"{value},x\n" for value in (*lines, *more)))
        found += [kept(pd.read_csv(path)["id"], keys[: len(lines) + len(more)])]
        found += [kept(read_rows(path)["id"], keys[: len(lines) + len(more)])]
    assert all([place for place in places if place < len(lines)] == [0, 1, 3, 4, 5, 11] for places in found)


def test_a_column_of_people_is_one_column() -> None:
    with pytest.raises(BadInput, match="one dimension"):
        kept(np.zeros((2, 2)), range(2))


@pytest.mark.parametrize("text", ["inf", "-inf", "Infinity", "+INF", "nan", "-NaN", "NAN"])
def test_what_a_reader_takes_for_an_endless_number_is_nobody_as_text_too(text: str) -> None:
    """Beside numbers alone it is a float, which is nobody's id; one odd id more makes text of the column."""
    with_numbers = pd.read_csv(io.StringIO(f"id,a\n1,x\n{text},x\n"))["id"]
    with_text = pd.read_csv(io.StringIO(f"id,a\n1,x\n{text},x\nodd,x\n"))["id"]
    assert kept(with_numbers, [1, 2]) == [0] and kept(with_text, [1, 2, 3]) == [0, 2]
    assert person_id(text) is person_id(float(text)) is None


def test_exponents_with_zeros_in_front_are_the_numbers_that_readers_take_them_for() -> None:
    assert person_id("1e0005") == person_id(1e5) == person_id("100000")


LATIN = b"id,a\nM\xfcller,x\nM\xf6ller,x\nM\xfcller,x\nM\xfcller,x\nM\xc3\xbcller,x\n,x\n"


def test_ids_of_another_encoding_stay_different_people_however_the_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(LATIN)
    keys = range(6)
    for rows in (read_rows(path), read_csv(path), read_csv(path, encoding="latin-1")):
        table = read_table(rows, SCHEMA, Keys(keys))
        assert np.flatnonzero(table._own()).tolist() == [0, 1, 2, 4]
    assert read_csv(path, encoding="latin-1")["id"].to_pylist()[:2] == ["Müller", "Möller"]


def test_training_bounds_the_rows_of_people_whose_names_are_latin(tmp_path: Path) -> None:
    """Each name has 400 rows of one class and keeps one: beyond that, noise at epsilon 100 is nothing."""
    (tmp_path / "s.toml").write_text(
        'name = "v"\nlabel = "y"\nperson = "id"\n'
        '[[column]]\nname = "a"\nkind = "categorical"\nvalues = ["x"]\n'
        '[[column]]\nname = "y"\nkind = "categorical"\nvalues = ["0", "1"]\n'
    )
    names = [b"M\xfcller", b"M\xf6ller", b"M\xe4ller"]
    (tmp_path / "v.csv").write_bytes(
        b"id,a,y\n" + b"".join(b"%s,x,%d\n" % (n, i % 2) for i, n in enumerate(names)) * 400
    )
    for number, more in enumerate(((), ("--encoding", "latin-1"))):
        out = tmp_path / f"m{number}.veil"
        asked = ("--schema", tmp_path / "s.toml", "--epsilon", "100", "--method", "naive-bayes")
        run("train", tmp_path / "v.csv", *asked, "--out", out, *more)
        counts = [r.value for r in load_model(out).releases_ if r.receipt.verb == "count"][-1]
        assert counts.sum(axis=0).tolist() == [2, 1]


QUICK = ["1", "7", "007", "12345678", "123456789012345678", "1234567890123456789", "0", "p12345", "p123456", "p1234567"]
QUICK += [
    "P123456",
    "p12345678",
    "infinity",
    "Infinit1",
    "p1234é",
    "p12345\n",
    "p12345 ",
    "0x1234",
    "1e5",
    "false1",
    "!",
]


@pytest.mark.parametrize("build", TYPED.values(), ids=TYPED)
@given(data=st.data())
def test_the_quick_way_to_whose_row_it_is_and_the_slow_one_agree(build: Any, data: st.DataObject) -> None:
    """A block of a kind goes the quick way, a single odd id makes it slow: the same people, in all blocks."""
    forms = (st.from_regex(form, fullmatch=True) for form in (SHORT, LONG))
    ids = data.draw(st.lists(st.one_of(st.sampled_from(QUICK), *forms), min_size=1))
    known: dict[str, int] = {}
    alone = [numbers_of(as_column(build([value]), "id"), known)[0] for value in ids]
    together = numbers_of(as_column(build([*ids, "an odd id"]), "id"), known)[:-1]
    values = [build([value])[0] for value in ids]
    assert alone == together.tolist() == [numbers_of(objects([value, None]), known)[0] for value in values]
    people = {*zip(alone, map(person_id, values), strict=True)}
    assert len(people) == len({*alone}) == len({name for _, name in people})
    assert all((number == NO_ONE) == (name is None) for number, name in people)


NUMERIC = st.from_regex(r"[0-9][-+.eE0-9T: ]{8,30}", fullmatch=True)


@given(st.one_of(st.from_regex(LONG, fullmatch=True), NUMERIC, st.text("eE+-.0123456789", min_size=9)))
@example("2020-01-31T00:00:00").via("midnight")
@example("000000001e00000000000000000000000001").via("a number written at length")
@example("infinity\n").via("a line more")
def test_a_long_text_that_is_not_respelt_is_its_own_person(text: str) -> None:
    both = [matches(pa.array([text]), form)[0].as_py() for form in (LONG, RESPELT)]
    assert both == [form.fullmatch(text) is not None for form in (LONG, RESPELT)]
    if both == [True, False]:
        assert person_id(text) == spelling(text) == text


@given(st.lists(st.integers(-(2**62), 2**64 - 1), min_size=1))
def test_whole_numbers_of_any_type_are_the_people_of_their_texts(ids: list[int]) -> None:
    known: dict[str, int] = {}
    texts = numbers_of(pa.array(map(str, ids)), known)
    assert numbers_of(objects(ids), known).tolist() == texts.tolist()
    for kind in (np.int64, np.uint64, np.int16):
        fitting = [value for value in ids if np.iinfo(kind).min <= value <= np.iinfo(kind).max]
        column = numbers_of(np.array(fitting, kind), known)
        assert column.tolist() == numbers_of(pa.array(map(str, fitting), pa.string()), known).tolist()


@given(st.lists(st.integers(-1, 6), max_size=40), st.integers(1, 3), st.integers(1, 50))
def test_people_ranked_in_parts_keep_as_many_rows(numbers: list[int], most: int, ranked: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("veil.kernel.people.RANKED", ranked)
        patch.setattr("veil.kernel.people.BLOCK", 7)
        keep = keep_per_person(np.array(numbers, np.int64), most, SeededNoise(0))
    kept_of = Counter(np.array(numbers)[keep].tolist())
    assert kept_of == {name: min(count, most) for name, count in Counter(numbers).items() if name != NO_ONE}


def test_which_rows_stay_is_drawn_evenly() -> None:
    """Of three rows of a person each stays a third of the time, whatever rows of others lie between."""
    numbers = np.tile([5, 2**62, 5, -2, 5], 20_000) + np.repeat(np.arange(20_000) * 10, 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("veil.kernel.people.RANKED", 30_000)
        shares = keep_per_person(numbers, 1, SeededNoise(3)).reshape(-1, 5).mean(axis=0)
    assert shares[[0, 2, 4]] == pytest.approx(1 / 3, abs=0.015) and shares[1] == 1
