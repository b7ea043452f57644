"""Dates: the same moment has the same code in every kind of table; names, files, plans and synthetic rows know them."""

import io
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import veil
from veil import BadInput, Categorical, Date, Ledger, Schema, publish
from veil.models import METHODS
from veil.plans.run import made_up
from veil.schema import Numeric, encoding
from veil.schema.calendars import PARTS
from veil.schema.columns import MISSING
from veil.schema.moments import own_form, seconds

MONTHLY = Date(name="day", bounds=("2019-01-01", "2020-12-31"), unit="month")
HOURLY = Date(name="day", bounds=("2020-01-30", "2020-02-01"), unit="hour")
NONE = MONTHLY.size - 1
PARIS = timezone(timedelta(hours=1))


def objects(values: list[Any]) -> np.ndarray:
    return np.fromiter(values, object, len(values))


DAYS = [date(2020, 1, 31), None, date(2019, 2, 1), date(1950, 1, 1), date(2100, 1, 1)]
DAY_CODES = [12, NONE, 1, 0, 23]
MOMENTS = [datetime(2020, 1, 31, 23, 30), None, datetime(2020, 1, 30), datetime(1960, 1, 1), datetime(2100, 1, 1)]
MOMENT_CODES = [47, HOURLY.size - 1, 0, 0, HOURLY.size - 2]
CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "texts": lambda values: [value and value.isoformat() for value in values],
    "bytes": lambda values: [value and value.isoformat().encode() for value in values],
    "numpy texts": lambda values: np.array([str(value) for value in values]),
    "numpy, seconds": lambda values: np.array(values, "M8[s]"),
    "numpy, nanoseconds": lambda values: np.array(values, "M8[ns]"),
    "numpy, of an odd unit": lambda values: np.array(values, "M8[s]").astype("M8[30s]"),
    "numpy scalars": lambda values: objects([np.datetime64(value or "NaT", "us") for value in values]),
    "masked": lambda values: np.ma.array([v or MOMENTS[0] for v in values], "M8[s]", mask=[v is None for v in values]),
    "pandas": lambda values: pd.Series(pd.to_datetime(objects(values)).astype("M8[ns]")),
    "pandas, milliseconds": lambda values: pd.Series(np.array(values, "M8[ms]")),
    "pandas object": lambda values: pd.Series(values, dtype=object),
    "pandas texts": lambda values: pd.Series([value and str(value) for value in values], dtype="str"),
    "pandas category": lambda values: pd.Series(np.array(values, "M8[s]")).astype("category"),
    "pandas arrow": lambda values: pd.Series(values, dtype=pd.ArrowDtype(pa.timestamp("us"))),
    "pandas in a place": lambda v: pd.Series(np.array(v, "M8[s]")).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
    "polars": lambda values: pl.Series(values),
    "polars, milliseconds": lambda values: pl.Series(values).cast(pl.Datetime("ms")),
    "polars texts": lambda values: pl.Series([value and str(value) for value in values]),
    "polars objects": lambda values: pl.Series(values, dtype=pl.Object),
    "arrow": lambda values: pa.array(values),
    **{f"arrow, {u}": lambda values, unit=u: pa.array(values, pa.timestamp(unit)) for u in ("s", "ms", "us", "ns")},
    "arrow in a place": lambda values: pa.array(values, pa.timestamp("s", "America/Lima")),
    "arrow dictionary": lambda values: pa.array(values, pa.timestamp("s")).dictionary_encode(),
    "arrow chunks": lambda values: pa.chunked_array([pa.array([value], pa.timestamp("s")) for value in values]),
    "arrow scalars": lambda values: [pa.scalar(value, pa.timestamp("s")) for value in values],
}  # fmt: skip


@pytest.mark.parametrize("build", CONTAINERS.values(), ids=CONTAINERS)
def test_a_date_has_the_same_code_in_every_type(build: Callable[[list[Any]], Any]) -> None:
    assert HOURLY.encode(build(MOMENTS)).tolist() == MOMENT_CODES
    midnights = [value and datetime(value.year, value.month, value.day) for value in DAYS]
    assert MONTHLY.encode(build(midnights)).tolist() == DAY_CODES


DAY_TYPES = [list, pl.Series, pa.array, lambda d: pa.array(d, pa.date64()), lambda d: np.array(d, "M8[D]")]


@pytest.mark.parametrize("build", DAY_TYPES)
def test_days_without_a_time_are_dates_too(build: Callable[[list[Any]], Any]) -> None:
    assert MONTHLY.encode(build(DAYS)).tolist() == DAY_CODES


ALIKE = {  # all of them are the first hour of 31 January 2020 in UTC
    "a day": "2020-01-31",
    "a moment": "2020-01-31T00:10:00",
    "blanks": "  2020-01-31 00:59 ",
    "fractions": "2020-01-31 00:00:00.123456789",
    "bytes": b"2020-01-31",
    "UTC": "2020-01-31T00:00:00Z",
    "a zone": "2020-01-31T05:30:00+05:30",
    "a zone of hours": "2020-01-30 19:00:00-05",
    "Python": datetime(2020, 1, 31, 0, 30),
    "Python in Paris": datetime(2020, 1, 31, 1, 30, tzinfo=PARIS),
    "pandas": pd.Timestamp("2020-01-31 00:00:59.9"),
    "pandas in Berlin": pd.Timestamp("2020-01-31 01:00", tz="Europe/Berlin"),
    "NumPy": np.datetime64("2020-01-31T00:30"),
    "Arrow": pa.scalar(datetime(2020, 1, 31, tzinfo=UTC), pa.timestamp("ms", "UTC")),
}


@pytest.mark.parametrize("value", ALIKE.values(), ids=ALIKE)
def test_a_moment_is_read_in_utc_however_it_is_written(value: Any) -> None:
    assert HOURLY.encode([value]).tolist() == HOURLY.encode([value, object()])[:1].tolist() == [24]


UNREADABLE = [
    *("", "n/a", "0000-00-00", "0000-01-01", "2020-13-01", "2020-02-30", "2020-1-31", "31/01/2020", "2020-01-31T24:00"),
    *(
        "20000-01-01",
        "2020-01-31T10:00+01:99",
        "２０２０-01-31",
        "2020-01-31x",
        "1e9",
        20200131,
        1.5,
        True,
        None,
        pd.NaT,
    ),
    *(
        np.datetime64("NaT"),
        np.datetime64(2**40, "Y"),
        np.datetime64("20000-01-01"),
        pa.scalar(10**15, pa.timestamp("s")),
    ),
    *(datetime.min.replace(tzinfo=PARIS), timedelta(1), b"\xff", "2020-01-31" * 50),
]


@pytest.mark.parametrize("value", UNREADABLE, ids=repr)
def test_what_is_no_date_is_missing_and_spoils_no_other_row(value: Any) -> None:
    assert MONTHLY.encode([value, "2020-01-31"]).tolist() == [NONE, 12]
    assert MONTHLY.encode([value]).tolist() == [NONE]


def test_years_beyond_the_calendar_are_missing_in_every_type() -> None:
    far = np.array([2**40, 10**12, 0], "M8[s]")
    for column in (far, pd.Series(far), pa.array(far), pl.Series(far.astype("M8[ms]"))):
        assert MONTHLY.encode(column).tolist() == [NONE, NONE, 0]
    assert MONTHLY.encode(pa.array([2**31 - 1, 0], pa.int32()).cast(pa.date32())).tolist() == [NONE, 0]


@settings(max_examples=40)
@given(data=st.data())
def test_no_value_raises_or_changes_the_code_of_another_row(
    odd_values: Callable[..., Any], data: st.DataObject
) -> None:
    values = odd_values(data, min_size=1)
    texts = data.draw(st.lists(st.datetimes().map(str) | st.dates().map(str) | st.text("0123456789-:T ", max_size=12)))
    mixed = np.concatenate([values, objects(texts)])
    unit = data.draw(st.sampled_from(["year", "hour", "weekday", None]))
    column = Date(name="x", unit=unit, **({} if unit == "weekday" else {"bounds": ("2019", "2020")}))
    together, alone = column.encode(mixed), [int(column.encode([value])[0]) for value in mixed]
    assert together.tolist() == alone and together.dtype == column.dtype
    assert column.encode(mixed[::-1]).tolist() == alone[::-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "BLOCK", data.draw(st.integers(1, 4)))
        assert column.encode(mixed).tolist() == alone
    assert column.encode(pa.array(texts, pa.string())).tolist() == alone[len(values) :]


@given(st.lists(st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)), min_size=1))
def test_texts_and_types_agree_on_every_moment(moments: list[datetime]) -> None:
    whole = [moment.replace(microsecond=0) for moment in moments]
    expected = np.array(whole, "M8[s]").astype(float).tolist()
    for column in (
        moments,
        [m.isoformat() for m in moments],
        pa.array([str(m) for m in whole]),
        np.array(moments, "M8[us]"),
    ):
        assert seconds(encoding.as_column(column, "x"), own_form(None)).tolist() == expected


FORMS = [
    "%d/%m/%Y",
    "%Y%m%d",
    "%m/%d/%y %H:%M",
    "%d-%b-%Y",
    "%m/%d/%Y %I:%M:%S %p",
    "%Y-%m-%dT%H:%M:%S%z",
    "%H.%M %% %d %m %Y",
]


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15)
@given(moments=st.lists(st.datetimes(datetime(1970, 1, 1), datetime(2050, 1, 1)), min_size=1))
def test_a_declared_form_is_read_as_python_writes_it(form: str, moments: list[datetime]) -> None:
    texts = [moment.replace(tzinfo=UTC).strftime(form) for moment in moments]
    found = seconds(objects(texts), own_form(form)).tolist()
    again = [datetime.strptime(text, form).replace(tzinfo=UTC).timestamp() for text in texts]
    assert found == again


@pytest.mark.parametrize("around", ["\n", "\0", "é", "😀", "|(", "[*]", "\\d", "\x7f", ")?"])
def test_a_form_may_hold_any_signs(around: str) -> None:
    column = Date(name="x", bounds=("2019", "2020"), unit="year", format=f"a{around}%Y{around}b")
    assert column.encode([f"a{around}2020{around}b", "a2020b"]).tolist() == [1, 2]


def test_a_form_may_be_short_of_zeros_and_takes_dates_of_other_types_as_well() -> None:
    column = Date(name="x", bounds=("2019", "2020"), unit="year", format="%d.%m.%Y")
    assert column.encode(["1.2.2019", "31.12.2020", "2019-02-01", date(2020, 1, 1), "32.1.2020"]).tolist() == [
        0,
        1,
        2,
        1,
        2,
    ]
    assert Date(name="x", bounds=(2019, 2020), unit="year", format="%Y%m%d").encode([20200131]).tolist() == [1]
    assert Date(name="x", unit="hour of day", format="%H:%M").encode(["7:05", "23:59", "24:00"]).tolist() == [7, 23, 24]


TIMES = ["0930", "1500", "0005", "0000", "2359"]
DIGITS = [
    (Date(name="x", unit="hour of day", format="%H%M"), TIMES),
    (Date(name="x", bounds=("1970", "2050"), unit="day", format="%d%m%Y"), ["01032019", "11122019", "31011999"]),
    (Date(name="x", bounds=("1970", "2050"), unit="day", format="%y%m%d"), ["050301", "000229", "991231"]),
    (Date(name="x", unit="hour of day", format="%H%M%S"), ["000005", "093000", "235959"]),
    (Date(name="x", bounds=("1970", "2050"), unit="year"), ["2019", "2019.0", "02019", "1990"]),
]


@pytest.mark.parametrize(("column", "texts"), DIGITS)
def test_dates_of_digits_are_the_same_when_a_reader_takes_them_for_numbers(column: Date, texts: list[str]) -> None:
    """One odd value more makes text of the numbers, and an empty one makes floats of them."""
    expected = column.encode(texts).tolist()
    assert column.size - 1 not in expected
    for more in ([], ["?"], [""], ["1e99"]):
        read = pd.read_csv(io.StringIO("\n".join(["x", *texts, *more])), skip_blank_lines=False)["x"]
        assert column.encode(read).tolist()[: len(texts)] == expected


def test_digits_are_told_apart_by_their_width() -> None:
    assert DIGITS[0][0].encode(TIMES).tolist() == [9, 15, 0, 0, 23]
    assert [DIGITS[1][0].names[code] for code in DIGITS[1][0].encode(DIGITS[1][1])] == [
        "2019-03-01", "2019-12-11", "1999-01-31",
    ]  # fmt: skip


NAMES = {
    "decade": ("1990s", "2000s"),
    "year": ("1999", "2000"),
    "quarter": ("1999 Q4", "2000 Q1"),
    "month": ("1999-12", "2000-01"),
    "week": ("1999-W52", "2000-W01"),
    "day": ("1999-12-31", "2000-01-01"),
    "hour": ("1999-12-31 23h", "2000-01-01 00h"),
}


@pytest.mark.parametrize("unit", NAMES)
def test_units_of_the_calendar_have_names_that_people_know(unit: str) -> None:
    column = Date(name="x", bounds=("1999-12-20", "2000-01-20"), unit=unit)
    before, after = column.encode(["1999-12-31T23:59:59", "2000-01-03" if unit == "week" else "2000-01-01"])
    assert (column.names[before], column.names[after]) == NAMES[unit] and after == before + 1
    assert column.names[-1] == MISSING and len(set(column.names)) == column.size


def test_parts_that_come_again_are_read_from_dates_names_and_numbers() -> None:
    weekday, month = Date(name="x", unit="weekday"), Date(name="x", unit="month of year", missing="June")
    assert weekday.names == ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", MISSING)
    assert weekday.encode(["2024-01-01", "Sunday", "7", 1, date(1960, 1, 1), "who"]).tolist() == [0, 6, 6, 0, 4, 7]
    assert month.encode(["1969-12-31", "March", "?"]).tolist() == [11, 2, 5]
    assert weekday.encode(["mon", "TUE", "Thurs", " sunday ", "m", "Tuesdays"]).tolist() == [0, 1, 3, 6, 7, 7]
    assert month.encode(["may", "SEPT", "Dec", "Ma"]).tolist() == [4, 8, 11, 5]
    assert Date(name="x", unit="hour of day").encode([datetime(1960, 1, 1, 23, 59), 5]).tolist() == [23, 5]


def test_bins_of_equal_width_begin_with_days() -> None:
    column = Date(name="x", bounds=("2020-01-01", "2020-01-10"), bins=3)
    assert column.names == ("2020-01-01 to 2020-01-04", "2020-01-05 to 2020-01-07", "2020-01-08 to 2020-01-10", MISSING)
    short = Date(name="x", bounds=("2020-01-01T00:00:00", "2020-01-01T00:00:59"), bins=2)
    assert short.names[0] == "2020-01-01T00:00:00 to 2020-01-01T00:00:29"
    assert len(Date(name="x", bounds=("1970", "2069")).cuts) == 17  # equal, though the seconds start with zero


@st.composite
def columns(draw: Any, name: str = "x") -> Date:
    unit = draw(st.none() | st.sampled_from(["decade", "year", "quarter", "month", "week", "day", "hour", *PARTS]))
    form = draw(st.none() | st.sampled_from(FORMS))
    if unit in PARTS:
        return Date(name=name, unit=unit, format=form, missing=draw(st.none() | st.sampled_from(PARTS[unit])))
    low = draw(st.datetimes(datetime(1, 1, 1), datetime(9990, 1, 1))).replace(microsecond=0)
    high = low + draw(st.timedeltas(timedelta(seconds=1), timedelta(days=400)))
    ends = [low, high] if draw(st.booleans()) else [low.date(), high.date()]
    bins = None if unit else draw(st.none() | st.integers(1, 50))
    return Date(name=name, unit=unit, format=form, bins=bins, bounds=ends, missing=draw(st.none() | st.just(high)))


@given(columns())
def test_a_column_of_dates_survives_toml_and_has_sound_bins(column: Date) -> None:
    schema = Schema(name="t", column=[column])
    assert Schema.loads(schema.to_toml()) == schema
    assert len(set(column.names)) == column.size and (np.diff(column.cuts) > 0).all()
    if column.unit not in PARTS:
        starts = np.array(column.cuts[:-1]).astype("M8[s]")
        assert column.encode(starts).tolist() == [*range(len(starts))]
        assert column.encode(starts[1:] - 1).tolist() == [*range(len(starts) - 1)]


def test_bounds_may_be_dates_of_toml_or_years() -> None:
    text = 'name = "t"\n[[column]]\nname = "x"\nkind = "date"\nbounds = {}\nunit = "year"\n'
    bounds = (
        "[2015-01-01, 2016-12-31]",
        '["2015", "2016"]',
        "[2015, 2016]",
        "[2015-01-01T00:00:00, 2016-12-31T23:59:59]",
    )
    assert len({Schema.loads(text.format(given)).get("x") for given in bounds}) == 1
    assert 'bounds = ["2015-01-01", "2016-12-31"]' in Schema.loads(text.format(bounds[0])).to_toml()


MISTAKES = {
    "no bounds": ({}, "bounds is required"),
    "reversed": ({"bounds": ("2020", "2019")}, "the earlier one first"),
    "no dates": ({"bounds": ("today", "2020")}, "a date is written as 2019, 2019-03"),
    "numbers out of the calendar": ({"bounds": (0, 10**9)}, "a date is written as"),
    "an unknown unit": ({"bounds": ("2019", "2020"), "unit": "moon"}, "unit should be"),
    "unit and bins": ({"bounds": ("2019", "2020"), "unit": "day", "bins": 3}, "either a unit or bins"),
    "edges": ({"bounds": ("2019", "2020"), "edges": [1]}, "edges is not a known key of dates"),
    "hours of centuries": ({"bounds": ("0001", "9999"), "unit": "hour"}, "take a longer one"),
    "bounds of weekdays": ({"unit": "weekday", "bounds": ("2019", "2020")}, "needs no bounds"),
    "no such weekday": ({"unit": "weekday", "missing": "Caturday"}, "choose among Monday"),
    "an unknown directive": ({"bounds": ("2019", "2020"), "format": "%Q"}, "format has no %Q"),
    "a form without a date": ({"bounds": ("2019", "2020"), "format": "day"}, "format needs parts"),
    "a directive of control characters": ({"bounds": ("2019", "2020"), "format": "%\x1b"}, "format has no %"),
    "twelve hours of no half": ({"bounds": ("2019", "2020"), "format": "%I"}, "%I needs %p"),
}


@pytest.mark.parametrize("fields, reason", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_column_of_dates_is_one_sentence(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadInput) as caught:
        Date(name="visit", **fields)
    assert str(caught.value).startswith("column 'visit'") and reason in str(caught.value)
    assert str(caught.value).isprintable()


VISITS = Schema(
    name="visits",
    label="back",
    column=[
        Date(name="visit", bounds=("2019-01-01", "2019-12-31"), unit="quarter"),
        Date(name="born", bounds=("1920", "2019"), unit="decade", format="%d/%m/%Y"),
        Date(name="hour", unit="hour of day"),
        Numeric(name="age", bounds=(0, 99), bins=4),
        Categorical(name="back", values=["no", "yes"]),
    ],
)


@pytest.fixture(scope="module")
def visits() -> pd.DataFrame:
    chance, n = np.random.default_rng(0), 400
    rows = made_up(VISITS, n)
    born = [chance.integers(low, high, n) for low, high in ((1, 29), (1, 13), (1930, 2010))]
    rows["born"] = [f"{day}/{month}/{year}" for day, month, year in zip(*born, strict=True)]
    rows["back"] = np.where(np.array(rows["visit"]) < np.datetime64("2019-07-01"), "no", "yes")
    return pd.DataFrame(rows)


@pytest.mark.parametrize("method", [name for name in METHODS if "sparse" not in name and name != "privpfc"])
def test_every_method_learns_from_dates_and_its_file_predicts_the_same(
    method: str, visits: pd.DataFrame, tmp_path: Path
) -> None:
    model = METHODS[method](epsilon=50, schema=VISITS, random_state=1).fit(visits)
    model.save(tmp_path / "model.veil")
    again = veil.load_model(tmp_path / "model.veil")
    texts = visits.assign(visit=visits["visit"].dt.strftime("%Y-%m-%d"))
    assert (again.predict(texts.drop(columns="back")) == model.predict(visits.drop(columns="back"))).all()
    assert model.rehearse()


def test_a_model_of_dates_is_good_and_rehearsed_rows_have_every_code(visits: pd.DataFrame) -> None:
    model = veil.NaiveBayesClassifier(epsilon=50, schema=VISITS, random_state=1).fit(visits)
    assert (model.predict(visits) == visits["back"]).mean() > 0.95
    codes = VISITS.encode(made_up(VISITS, 2000))
    assert all(len(set(codes[c.name].tolist())) >= c.size - 1 for c in VISITS.column if isinstance(c, Date))


@pytest.fixture(scope="module")
def synopsis(visits: pd.DataFrame) -> Any:
    """Nearly exact counts by quarter, decade, hour and class."""
    schema = Schema(name="visits", label="back", column=[c for c in VISITS.column if c.name != "age"])
    return publish(visits, schema, epsilon=10_000, method="projected", columns=3, random_state=0)


def test_a_synopsis_answers_by_dates_as_people_write_them(synopsis: Any, visits: pd.DataFrame, tmp_path: Path) -> None:
    spring = visits["visit"].dt.quarter == 2
    assert synopsis.marginal(["visit"]).names["visit"] == ("2019 Q1", "2019 Q2", "2019 Q3", "2019 Q4", MISSING)
    synopsis.save(tmp_path / "s.veil")
    for held in (synopsis, veil.load_synopsis(tmp_path / "s.veil")):
        for wanted in ("2019 Q2", ("2019-04", "2019-06"), (date(2019, 4, 1), "2019-06-30")):
            assert held.query(visit=wanted).count == pytest.approx(spring.sum(), abs=1)
        assert held.query(visit="2019-05").count == pytest.approx(spring.sum() * 31 / 91, abs=1)
        assert held.query(hour=(8, "11"), visit=("2019-07", None)).count < held.query(hour=(0, 23)).count
    with pytest.raises(BadInput, match="declared from 2019-01-01 to 2019-12-31: ask for a range"):
        synopsis.query(visit="2031")
    with pytest.raises(BadInput, match=r"'visit' needs a range, such as \('2019-01-01'"):
        synopsis.query(visit="soon")
    with pytest.raises(BadInput, match=r"'hour' needs a range, such as \('0', '23'\)"):
        synopsis.query(hour=24)


@pytest.mark.parametrize("values", ["uniform", "midpoint"])
def test_synthetic_rows_hold_dates_in_the_declared_form(synopsis: Any, values: str) -> None:
    frame, table = (make(300, random_state=0, values=values) for make in (synopsis.to_frame, synopsis.to_arrow))
    assert frame["visit"].dt.year.eq(2019).all() and frame["visit"].dt.hour.eq(0).all()
    assert frame["born"].str.fullmatch(r"\d\d/\d\d/\d{4}").all() and frame["hour"].between(0, 23).all()
    assert table.schema.field("visit").type == pa.date32() and table.schema.field("born").type == pa.string()
    counted = VISITS.encode({**frame, "age": np.zeros(300)})
    assert all((counted[name] < VISITS.get(name).size - 1).all() for name in ("visit", "born", "hour"))


def test_missing_dates_are_gaps_in_synthetic_rows() -> None:
    column = Date(name="d", bounds=("2019", "2020"), unit="year")
    schema = Schema(name="t", label="y", column=[column, Categorical(name="y", values=["a"])])
    rows = {"d": ["2019-05-01"] * 50 + ["?"] * 50, "y": ["a"] * 100}
    made = publish(rows, schema, epsilon=10_000, method="projected", columns=1, random_state=0)
    assert made.to_frame()["d"].isna().sum() == made.to_arrow()["d"].null_count == 50


def test_a_ledger_may_be_charged_for_dates(visits: pd.DataFrame) -> None:
    ledger = Ledger(1, "visits")
    veil.NaiveBayesClassifier(epsilon=1, schema=VISITS, ledger=ledger).fit(visits)
    assert ledger.left == 0


def test_time_stamps_of_parquet_are_drafted_trained_on_published_and_checked(
    visits: pd.DataFrame, tmp_path: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    visits[["visit", "back"]].to_parquet("visits.parquet")
    visits[["visit", "back"]].to_csv("visits.csv", index=False)
    assert start("schema", "new", "visits.parquet", "--label", "back:no,yes", "--out", "visits.toml")[0] == 0
    assert Schema.read("visits.toml").get("visit") == Date(name="visit", bounds=("2000", "2029"), unit="year")
    for file in ("visits.parquet", "visits.csv"):
        code, shown, _ = start("schema", "check", "visits.toml", "--rows", file)
        assert code == 0 and "Not as declared" not in shown
    public = ["--schema", "visits.toml", "--epsilon", 1]
    assert "visit[31]" in start("train", "visits.parquet", *public, "--method", "naive-bayes", "--dry-run")[1]
    assert start("train", "visits.csv", *public, "--method", "naive-bayes", "--out", "model.veil")[0] == 0
    assert "2019" in Path("model.html").read_text()
    many = [*public[:-1], 1000, "--method", "projected", "--out", "table.veil", "--synthetic", "rows.csv"]
    assert start("publish", "visits.parquet", *many)[0] == 0
    assert pd.read_csv("rows.csv")["visit"].str.fullmatch(r"\d{4}-\d\d-\d\d").all()
