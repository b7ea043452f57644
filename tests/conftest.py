"""What many tests share: a table of ten rows, its schema, its source, values no table should hold, and real data."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st

import luck
from veil import Categorical, Ledger, Numeric, Schema, Source, datasets, open_source
from veil.cli import main

_STATE = tempfile.TemporaryDirectory()
os.environ["VEIL_STATE"] = _STATE.name  # marks of ledgers, for this process and those that it starts

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("VEIL_HYPOTHESIS", "repeatable"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Every test has noise of its own, the same in each run."""
    if item.get_closest_marker("system_noise"):
        return (yield)
    with luck.drawn_by(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Iterator[None]:
    """What tests share is the same whichever of them comes first."""
    if fixturedef.scope == "function":
        return (yield)
    with luck.drawn_by(f"{fixturedef.baseid}::{fixturedef.argname}"):
        return (yield)


@pytest.fixture(scope="session")
def rows() -> pd.DataFrame:
    """Ten people."""
    return pd.DataFrame(
        {
            "town": ["Bonn", "Köln", "Lyon", "Nice", "Bonn", "Lyon", "Oslo", "Köln", "Bonn", "Nice"],
            "age": [17, 18, 25, 34, 41, 52, 60, 73, 88, 90],
            "income": [1.0, 12.5, 900.0, 1500.0, 2200.0, 31000.0, 4100.0, 99999.0, 100000.0, 640.0],
            "party": ["left", "right", "other", "left", "left", "right", "right", "other", "left", "right"],
        }
    )


@pytest.fixture(scope="session")
def schema() -> Schema:
    """The public description of the ten rows."""
    towns = {"Germany": {"Rhine": ["Bonn", "Köln"]}, "France": ["Lyon", "Nice"]}
    return Schema(
        name="ten",
        label="party",
        column=[
            Categorical(name="town", values=["Bonn", "Köln", "Lyon", "Nice", "Oslo"], groups=towns),
            Numeric(name="age", bounds=(17, 90), integer=True, bins=8),
            Numeric(name="income", bounds=(1, 100_000), scale="log", bins=5),
            Categorical(name="party", values=["left", "right", "other"]),
        ],
    )


@pytest.fixture
def source(rows: pd.DataFrame, schema: Schema) -> Source:
    """The ten rows behind a ledger of epsilon 100, with seeded noise."""
    return open_source(rows, schema, Ledger(100, schema.name), noise=1)


@pytest.fixture(scope="session")
def fair() -> tuple[pd.DataFrame, Schema]:
    """A real survey and its schema."""
    return datasets.load("fair")


@pytest.fixture
def files(tmp_path: Path, fair: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, and the current one, with 500 rows of the survey and its schema."""
    rows, schema = fair
    rows.head(500).to_csv(tmp_path / "fair.csv", index=False)
    (tmp_path / "fair.toml").write_text(schema.to_toml())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables as wide as they like, so that words stay whole."""
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr("veil.cli.output.console._width", 300)


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs `main` as the shell would: gives the exit code, the output and the complaints."""

    def to_the_end(*arguments: Any) -> tuple[Any, str, str]:
        monkeypatch.setattr(sys, "argv", ["veil", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        return (caught.value.code, *capfd.readouterr())

    return to_the_end


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the real data sets."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("VEIL_DATA") or beside)
    if not folder.is_dir():
        pytest.skip("real data not found: set VEIL_DATA to the folder that holds it")
    return folder


def _raise(*_: Any) -> NoReturn:
    raise RuntimeError("nothing may ask")


class Hostile:
    """An object of which nothing can be asked."""

    __str__ = __repr__ = __float__ = __int__ = __bool__ = __eq__ = __ne__ = __lt__ = __hash__ = __len__ = _raise


class HostileText(str):
    """Text that cannot be looked up by itself."""

    __str__ = __eq__ = __ne__ = __hash__ = __len__ = strip = _raise


ODD_VALUES: tuple[Any, ...] = (
    *(None, pd.NA, pd.NaT, float("nan"), np.float32("nan"), Decimal("NaN"), Decimal("sNaN"), np.datetime64("NaT", "s")),
    *(float("inf"), float("-inf"), -0.0, 0, 1, 1.0, True, False, np.True_, np.int8(1), np.uint64(2**64 - 1)),
    *(np.float16(1), np.float32(1.5), np.longdouble(1), np.complex128(1), np.complex64(2j), 1j, 2**53 + 1, 2**70),
    *(10**400, -(10**400), 10**5000, Decimal("1.00"), Decimal("1.50"), Decimal("1e999999"), Fraction(3, 2)),
    *("", " ", "1", "1.0", " 1 ", "1e400", "-0", "nan", "inf", "1_000", "１２", "a", " a\t", "A", "(missing)", "None"),
    *("\ud800", "a\ud800", "\x00", "x" * 10_000, b"a", b"1", b"\xff", b"", bytearray(b"a"), memoryview(b"a")),
    *(memoryview(b"abc")[::2], np.str_("a"), np.bytes_(b"a"), pa.scalar("a"), pa.scalar(None, pa.string())),
    *(pa.scalar(10**15, pa.timestamp("s")), pa.scalar(1.5), np.datetime64("2020-01-31"), np.timedelta64(1, "ns")),
    *(date(2020, 1, 31), datetime(2020, 1, 31), pd.Timestamp("2020-01-31"), pd.Timedelta(1), pd.Period("2020")),
    *((), (1,), [], [1, 2], ["a"], {}, {"a": 1}, {1}, np.array(1), np.array([1]), np.array(["a", "b"]), range(3)),
    *(object, print, Hostile(), HostileText("a"), HostileText("1"), Ellipsis, NotImplemented, ValueError("1")),
)


@pytest.fixture(scope="session")
def all_odd_values() -> Any:
    """Values that no column expects, and a few that one may."""
    return np.fromiter(ODD_VALUES, object, len(ODD_VALUES))


@pytest.fixture(scope="session")
def odd_values() -> Callable[..., Any]:
    """Draws an array of such values, and of generated ones.

    The former are drawn by a seed: Hypothesis would ask them for more than some of them can bear, and try few of them.
    """
    numbers = st.one_of(st.floats(), st.integers(), st.decimals(), st.complex_numbers(), st.booleans())
    texts = st.one_of(st.text(), st.characters(categories=["Cs"]), st.binary(), st.floats().map(str))

    def draw(data: st.DataObject, min_size: int = 0, max_size: int = 8) -> Any:
        values = data.draw(st.lists(st.one_of(numbers, texts, st.dates()), min_size=min_size, max_size=max_size))
        chance = Random(data.draw(st.integers(0, 10**6)))
        mixed = [chance.choice(ODD_VALUES) if chance.random() < 0.6 else value for value in values]
        return np.fromiter(mixed, object, len(mixed))

    return draw
