"""Histograms of a few columns: queries with intervals, quantiles, synthetic points, files, maps and pictures."""

import json
import struct
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

import veil
from veil import BadInput, Categorical, Date, Histogram, Ledger, LittleLearned, Numeric, Schema, Text
from veil.plans.run import made_up
from veil.synopsis.histogram.answers import Answer
from veil.synopsis.histogram.publishing import MOST_CELLS, histogram_schema
from veil.synopsis.histogram.runs import bars, span_text
from veil.synopsis.where import where
from veil.verdicts.ranges import typical_width

ROWS = 20_000
SCHEMA = Schema(
    name="visits",
    label="kind",
    column=[
        Numeric(name="age", bounds=(0, 120), integer=True),
        Numeric(name="longitude", bounds=(-10, 30)),
        Numeric(name="latitude", bounds=(35, 60)),
        Categorical(name="kind", values=("new", "old")),
        Date(name="day", bounds=("2024-01-01", "2024-12-31"), unit="month"),
        Text(name="notes"),
    ],
)


@pytest.fixture(scope="module")
def visits():
    chance = np.random.default_rng(0)
    days = np.datetime64("2024-01-01") + chance.integers(0, 366, ROWS)
    return pd.DataFrame(
        {
            "age": chance.integers(20, 80, ROWS),
            "longitude": chance.normal(5, 3, ROWS),
            "latitude": chance.normal(48, 2, ROWS),
            "kind": chance.choice(["new", "old"], ROWS, p=[0.3, 0.7]),
            "day": days.astype(str),
            "notes": "",
        }
    )


@pytest.fixture(scope="module")
def map_(visits):
    return veil.publish(visits, SCHEMA, columns=["longitude", "latitude"], epsilon=1, random_state=1)


def test_no_label_is_needed_and_the_budget_is_spent_exactly(visits):
    ledger = Ledger(2, "visits")
    plain = SCHEMA.model_copy(update={"label": None})
    made = veil.publish(visits, plain, columns="age", epsilon="2/3", ledger=ledger)
    assert isinstance(made, Histogram) and made.private_ and made.columns == ("age",)
    assert ledger.spent == made.epsilon and 3 * made.epsilon == 2
    assert made.table.shape == (121,) and made.method == "adaptive-tree"
    assert made.settings_ == {"columns": "age", "resolution": None, "epsilon": "2/3"}


def test_an_answer_is_near_the_truth_and_its_interval_holds_it(map_, visits):
    inside = visits.longitude.between(3, 7) & visits.latitude.between(46, 49)
    answer = map_.query(longitude=(3, 7), latitude=(46, 49))
    low, high = answer.interval(0.999)
    assert answer.count == pytest.approx(inside.sum(), rel=0.03) and low <= inside.sum() <= high
    assert high - low < 0.1 * inside.sum() and answer.interval()[0] > low
    assert "95 % sure between" in repr(answer)
    with pytest.raises(BadInput, match="confidence"):
        answer.interval(2)


def test_without_conditions_all_rows_are_counted_and_open_ends_reach_the_bounds(map_):
    assert map_.query().count == pytest.approx(ROWS, rel=0.01)
    assert map_.query({"longitude": (None, 5)}).count + map_.query(longitude=(5, None)).count == pytest.approx(
        map_.query().count
    )
    assert map_.query(longitude=(-500, 500)).count == pytest.approx(map_.query().count)


@pytest.mark.parametrize(
    "wanted", [{"longitude": (100, 200)}, {"nowhere": 1}, {"latitude": "north"}, {"longitude": (5, 3)}]
)
def test_what_cannot_be_asked_is_refused_with_a_reason(map_, wanted):
    with pytest.raises(BadInput, match="declared|no column|range"):
        map_.query(wanted)


def test_a_label_a_date_and_an_integer_can_be_axes(visits):
    made = veil.publish(visits, SCHEMA, columns=["age", "kind", "day"], epsilon=3, random_state=2)
    assert made.table.shape == (64, 2, 12)
    young = made.query(age=(20, 39), kind="old", day=("2024-01", "2024-06"))
    truth = ((visits.age < 40) & (visits.kind == "old") & (visits.day < "2024-07-01")).sum()
    assert young.count == pytest.approx(truth, rel=0.15)
    assert made.marginal(["kind"]).tolist() == pytest.approx([0.3 * ROWS, 0.7 * ROWS], rel=0.05)
    assert made.marginal(["day", "kind"]).shape == (12, 2)
    with pytest.raises(BadInput, match="once"):
        made.marginal(["kind", "kind"])


def test_quantiles_are_those_of_the_rows(map_, visits):
    for share in (0.1, 0.5, 0.9):
        assert map_.quantile("longitude", share) == pytest.approx(visits.longitude.quantile(share), abs=0.2)
    assert map_.quantile("latitude", 0) >= 35 and map_.quantile("latitude", 1) <= 60
    with pytest.raises(BadInput, match="quantile"):
        map_.quantile("latitude", 2)


def test_synthetic_points_are_spread_as_the_rows_are(map_, visits):
    drawn = map_.to_frame(random_state=0)
    assert abs(len(drawn) - ROWS) < 300 and list(drawn) == ["longitude", "latitude"]
    assert drawn.longitude.mean() == pytest.approx(visits.longitude.mean(), abs=0.15)
    assert map_.to_frame(7, values="midpoint").shape == (7, 2) and map_.to_arrow(3).num_rows == 3


def test_a_file_gives_the_same_answers_and_holds_no_groups(map_, tmp_path):
    map_.save(tmp_path / "map.veil")
    again = veil.load_synopsis(tmp_path / "map.veil")
    assert isinstance(again, Histogram) and repr(again) == repr(map_)
    box = {"longitude": (3, 7)}
    assert again.query(box).to_dict() == map_.query(box).to_dict() and again.missing == map_.missing
    assert (tmp_path / "map.veil").stat().st_size < 3_000_000
    with pytest.raises(BadInput, match="holds a histogram, not a model"):
        veil.load_model(tmp_path / "map.veil")
    assert "A histogram of" in (page := again.report()) and page.index("<svg") < page.index("What it answers")


def test_maps_are_geojson_and_geoparquet(map_, tmp_path):
    map_.to_geojson(tmp_path / "map.geojson", "longitude", "latitude")
    found = json.loads((tmp_path / "map.geojson").read_text())
    assert sum(cell["properties"]["rows"] for cell in found["features"]) == pytest.approx(ROWS, rel=0.02)
    ring = found["features"][0]["geometry"]["coordinates"][0]
    assert ring[0] == ring[-1] and len(ring) == 5 and ring[0][0] < ring[1][0] and ring[1][1] < ring[2][1]
    map_.to_geoparquet(tmp_path / "map.parquet", "longitude", "latitude")
    table = pyarrow.parquet.read_table(tmp_path / "map.parquet")
    about = json.loads(table.schema.metadata[b"geo"])
    assert about["primary_column"] == "geometry" and table.num_rows == len(found["features"])
    shape = table["geometry"][0].as_py()
    assert struct.unpack("<BIII", shape[:13]) == (1, 3, 1, 5) and list(struct.unpack("<2d", shape[13:29])) == ring[0]
    with pytest.raises(BadInput, match="height"):
        map_.to_geojson(tmp_path / "other.geojson", "longitude", "height")


def test_pictures_have_bars_or_a_map_and_the_truth_beside_it(map_, visits):
    from matplotlib import pyplot

    pair = map_.plot(truth=np.zeros(map_.table.shape))
    assert [ax.get_title() for ax in pair] == ["true, of public rows", "published, epsilon 1"]
    single = veil.publish(visits, SCHEMA, columns=["age"], epsilon=1, random_state=1)
    ax = single.plot(truth=np.bincount(visits.age, minlength=121))
    assert ax.get_xlabel() == "age" and len(ax.patches) >= 60
    kinds = veil.publish(visits, SCHEMA, columns=["kind"], epsilon=1, random_state=1).plot()
    assert [label.get_text() for label in kinds.get_xticklabels()] == ["new", "old"]
    with pytest.raises(BadInput, match="shape"):
        map_.plot(truth=[1, 2])
    pyplot.close("all")


def test_cells_are_public_and_too_many_are_refused_before_a_charge(visits):
    ledger = Ledger(1, "visits")
    for columns, more in [
        (["longitude", "latitude"], {"resolution": 4096}),
        (["notes"], {}),
        ([], {}),
        (["age", "age"], {}),
        (["age"], {"resolution": 1}),
        (["age"], {"method": "privpfc"}),
        (["nothing"], {}),
        (5, {}),
        ([["age"]], {}),
    ]:
        with pytest.raises(BadInput):
            veil.publish(visits, SCHEMA, columns=columns, epsilon=1, ledger=ledger, **more)
    assert ledger.spent == 0
    assert histogram_schema(SCHEMA, ["longitude"]).column[0].size == 4097
    assert MOST_CELLS == 1 << 20
    with pytest.raises(BadInput, match="columns="):
        veil.publish(visits, SCHEMA.model_copy(update={"label": None}), epsilon=1, ledger=ledger)


@pytest.mark.parametrize("rows", [0, 1, 30])
def test_with_too_few_rows_the_verdict_says_that_only_their_number_is_known(visits, rows):
    with pytest.warns(LittleLearned, match="only the number of rows"):
        made = veil.publish(visits[:rows], SCHEMA, columns=["age"], epsilon=0.5, random_state=1)
    assert made.verdict_.level == "nothing" and made.query().count < 200
    assert len(made.to_frame()) < 200


def test_values_beyond_the_bounds_lie_in_the_last_cells_and_missing_ones_in_none():
    rows = {"longitude": [999.0] * 500 + [-999.0] * 300 + [None] * 100, "latitude": [40.0] * 900}
    made = veil.publish(rows, SCHEMA, columns=["longitude", "latitude"], epsilon=100, random_state=1)
    assert made.marginal("longitude")[[0, -1]].tolist() == pytest.approx([300, 500], abs=1)
    assert made.missing == pytest.approx(100, abs=1) and made.query().count == pytest.approx(800, abs=2)


def test_conditions_can_be_typed():
    assert where(["age in 30..50 and kind = new"]) == {"age": ("30", "50"), "kind": "new"}
    assert where(["age >= 30", "day <= 2024-06"]) == {"age": ("30", None), "day": (None, "2024-06")}
    assert where(["age >= 30 and age <= 50"]) == where(["age <= 50", "age in 30.."]) == {"age": ("30", "50")}
    assert where(["kind in new, old", "age in ..5"]) == {"kind": ["new", "old"], "age": (None, "5")}
    for wrong in ("age", "in 3..4", "age in 3..4 and age = 5"):
        with pytest.raises(BadInput, match="condition"):
            where([wrong])


def test_many_boxes_at_once_count_what_one_at_a_time_does(map_, visits):
    chance = np.random.default_rng(3)
    ends = np.sort(chance.uniform([[-12, 34]], [[32, 62]], (50, 2, 2)), axis=1)
    many = map_.query_many(ends[:, 0], ends[:, 1])
    boxes = [dict(zip(map_.columns, zip(*box, strict=True), strict=True)) for box in ends.tolist()]
    assert many == pytest.approx([map_.query(box).count for box in boxes], abs=1e-6)
    ages = veil.publish(visits, SCHEMA, columns=["age", "longitude"], epsilon=1, random_state=1)
    whole = ages.query_many([[30, -np.inf], [29.5, 0]], [[30, np.inf], [40.2, 5]])
    assert whole == pytest.approx([ages.query(age=30).count, ages.query(age=(30, 40), longitude=(0, 5)).count])
    for lows, highs in ([[[1]], [[2]]], [[[3, 3]], [[2, 4]]], [[1, 2], [3, 4]]):
        with pytest.raises(BadInput, match="boxes"):
            map_.query_many(lows, highs)


def changed(histogram, **new):
    """The histogram with other estimates, as a stranger's file may have them."""
    return Histogram(replace(histogram.outcome_, made=replace(histogram.spread, **new)))


@pytest.mark.parametrize("number", [1e308, -1e308, float("nan"), float("inf")])
def test_a_file_of_impossible_numbers_is_refused(map_, tmp_path, number):
    cells, doubt = np.full_like(map_.spread.cells, number), np.full_like(map_.spread.doubt, number)
    for new in ({"cells": cells}, {"doubt": doubt}, {"missing": number}, {"total_variance": number}):
        changed(map_, **new).save(tmp_path / "odd.veil", force=True)
        with pytest.raises(BadInput, match="is not a histogram"):
            veil.load_synopsis(tmp_path / "odd.veil")


def test_a_file_of_more_columns_than_a_histogram_has_is_refused(map_, tmp_path):
    columns = tuple(Categorical(name=f"c{place}", values=("a",)) for place in range(70))  # an array has 64 axes at most
    spread = replace(map_.spread, cells=np.ones(1), doubt=np.zeros(1))
    schema = map_.schema_.model_copy(update={"column": columns})
    Histogram(replace(map_.outcome_, made=spread, schema=schema)).save(tmp_path / "odd.veil")
    with pytest.raises(BadInput, match="is not a histogram"):
        veil.load_synopsis(tmp_path / "odd.veil")


def test_a_billion_synthetic_rows_are_drawn_only_if_asked_for(map_):
    huge = changed(map_, cells=np.full_like(map_.spread.cells, 1e17))
    with pytest.raises(BadInput, match="more than a billion rows: say how many"):
        huge.to_frame()
    assert len(huge.to_frame(5)) == 5


ASKED = [
    Numeric(name="x", bounds=(0, 100)),
    Numeric(name="x", bounds=(0, 100), integer=True, bins=7),
    Date(name="x", bounds=("2020-01-01", "2020-12-31"), bins=11),
    Date(name="x", bounds=("2020-01-01", "2020-12-31"), unit="month"),
    Date(name="x", unit="weekday"),
    Categorical(name="x", values=("a", "b, or c", "d and e", "f"), pools={"both": ("a", "f")}),
]


@pytest.mark.parametrize("column", ASKED)
def test_what_a_report_answers_can_be_asked_again_as_it_stands(column):
    schema = Schema(name="t", public=True, column=(column,))
    made = veil.publish(made_up(schema, 2000), schema, columns=["x"], epsilon=10**6)
    for text, answer in made.quarters():
        assert made.query(where([text], made.columns)).count == pytest.approx(answer.count, rel=0.02, abs=1)


FINE = [
    (Numeric(name="x", bounds=(52.2, 52.9)),),
    (Numeric(name="x", bounds=(13, 13.8)), Numeric(name="y", bounds=(52.2, 52.9))),
    (Numeric(name="x", bounds=(0, 10_000)),),
    (Numeric(name="x", bounds=(-1e9, 1e9)), Numeric(name="y", bounds=(-1e-9, 3e-9))),
    (Numeric(name="x", bounds=(0, 10**6), integer=True),),
    (Date(name="x", bounds=("2020-01-01 00:00", "2020-12-31 23:59"), format="%Y-%m-%d %H:%M"),),
]


@pytest.mark.parametrize("columns", FINE)
@pytest.mark.parametrize("epsilon", [1, 10**6])
def test_every_row_that_is_shown_asked_again_gives_the_same_answer(columns, epsilon):
    schema = Schema(name="t", public=True, column=columns)
    names = [column.name for column in columns]
    made = veil.publish(made_up(schema, 5000), schema, columns=names, epsilon=epsilon, random_state=0)
    for place, column in enumerate(made.schema_.features):
        size = made.domain.shape[place]
        shown = [(f"{column.name} {span_text(column, run)}", made.within(place, run)) for run in bars(size, 64)]
        assert len({text for text, _ in shown}) == len(shown)
        for text, answer in shown + made.quarters():
            again = made.query(where([text], made.columns))
            assert again.count == pytest.approx(answer.count, rel=1e-4, abs=0.01), text
            assert again.interval() == pytest.approx(answer.interval(), rel=1e-3, abs=0.05)


@pytest.fixture(scope="module")
def minutes():
    """Minutes from 0 to about 40 of which the schema says that they end at 10,000."""
    schema = Schema(name="t", public=True, column=(Numeric(name="minutes", bounds=(0, 10_000)),))
    rows = pd.DataFrame({"minutes": np.random.default_rng(0).gamma(3, 3, ROWS).clip(0, 40)})
    return veil.publish(rows, schema, columns=["minutes"], epsilon=1, random_state=0)


def test_under_careless_bounds_a_picture_shows_where_the_rows_are_and_says_what_is_cut_off(minutes):
    from matplotlib import pyplot

    ax = minutes.plot(truth=np.zeros(minutes.table.shape))
    low, high = ax.get_xlim()
    assert -5 < low < 3 and 15 < high < 45 and "of the rows, is cut off" in ax.get_xlabel()
    bars_drawn = [(bar.get_x(), bar.get_x() + bar.get_width(), bar.get_height()) for bar in ax.patches[:64]]
    assert sum((end - start) * height for start, end, height in bars_drawn) == pytest.approx(ROWS, rel=0.02)
    assert ax.get_ylabel() == "rows per unit" and len({round(end - start, 6) for start, end, _ in bars_drawn}) > 5
    pyplot.close("all")


def test_under_careless_bounds_some_answers_divide_the_rows(minutes):
    assert max(answer.count for _, answer in minutes.quarters()) < 0.6 * ROWS
    assert sum(answer.count for _, answer in minutes.quarters()) == pytest.approx(minutes.query().count)


def test_a_typical_range_is_one_that_holds_rows(minutes):
    wide = typical_width(minutes)
    schema = Schema(name="t", public=True, column=(Numeric(name="minutes", bounds=(0, 40)),))
    rows = pd.DataFrame({"minutes": np.random.default_rng(0).gamma(3, 3, ROWS).clip(0, 40)})
    near = typical_width(veil.publish(rows, schema, columns=["minutes"], epsilon=1, random_state=0))
    assert 0.5 < wide / near < 2
    assert "which holds about a quarter of the rows" in str(minutes.verdict_)


def test_the_report_of_a_method_without_intervals_promises_none(visits, tmp_path):
    for method, said in {
        "uniform": "answers have no intervals",
        "adaptive-tree": "Each answer has an interval",
    }.items():
        made = veil.publish(visits, SCHEMA, columns=["age"], epsilon=1, method=method, random_state=0)
        made.report(tmp_path / "page.html", force=True)
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert said in page and ("at least" in page) == (method != "uniform")


@pytest.mark.parametrize("column", ["kind", "age"])
def test_rows_without_a_value_are_in_no_cell_and_not_said_to_be_none(visits, column):
    made = veil.publish(visits, SCHEMA, columns=[column], epsilon=1, random_state=0)
    for wanted in (None, "(missing)"):
        with pytest.raises(BadInput, match="lie in no cell of the histogram"):
            made.query({column: wanted})


def test_columns_may_be_an_iterator_and_a_resolution_needs_them(visits):
    made = veil.publish(visits, SCHEMA, columns=iter(["age"]), epsilon=1, random_state=0)
    assert made.columns == ("age",) and made.settings_["columns"] == ["age"]
    with pytest.raises(BadInput, match="resolution is for a histogram"):
        veil.publish(visits, SCHEMA, resolution=8, epsilon=1, random_state=0)


def test_an_epsilon_beyond_all_doubles_gives_a_verdict_all_the_same(visits):
    made = veil.publish(visits, SCHEMA, columns=["kind"], epsilon=10**400, random_state=0)
    assert made.verdict_.level == "good" and made.query().count == pytest.approx(ROWS)


@pytest.mark.parametrize("confidence", [0.01, 0.3, 0.5, 0.8, 0.95, 0.999])
def test_an_interval_holds_the_answer_and_begins_at_zero_where_that_is_shorter(confidence):
    for count in (0.0, 1e-9, 0.1, 1.0, 2.0, 2.3, 3.0, 50.0):
        low, high = Answer(count, 1.0).interval(confidence)
        half = NormalDist().inv_cdf((1 + confidence) / 2)
        assert 0 <= low <= count <= high and high - low < 2 * half + 1e-9
        assert (low, high) == pytest.approx((count - half, count + half)) or (low == 0 and count < 2 * half)
    assert Answer(7.0, 0.0).interval(confidence) == (7, 7) and Answer(0.0, 0.0).interval(confidence) == (0, 0)


def test_the_interval_of_few_rows_is_that_of_a_normal_distribution_or_of_markov():
    assert Answer(1.0, 1.0).interval() == (0, pytest.approx(1 + 1.645, abs=0.001))
    assert Answer(0.02, 1.0).interval() == (0, pytest.approx(20 * (0.02 + 0.025)))
    hidden_by_noise = Answer(0.0, 5.0, from_total=5.0)  # none were counted of all rows: that says little about them
    assert hidden_by_noise.interval() == (0, pytest.approx(1.645 * 5, abs=0.01))


def test_with_a_huge_epsilon_answers_are_exact_and_intervals_have_no_width(visits):
    made = veil.publish(visits, SCHEMA, columns=["age", "kind"], epsilon=10**6, random_state=0)
    for ages, kinds in (((20, 39), "new"), ((20, 20), "old"), ((0, 19), "new")):
        truth = (visits.age.between(*ages) & (visits.kind == kinds)).sum()
        assert made.query(age=ages, kind=kinds).interval() == pytest.approx((truth, truth), abs=0.01)
    assert made.query().interval() == pytest.approx((ROWS, ROWS), abs=0.01)


def test_an_answer_is_told_to_a_tenth_of_a_row():
    assert repr(Answer(4.05e-05, 1e-6)) == "about 0 rows, 95 % sure between 0 and 0"
    assert repr(Answer(12.34)) == "about 12.3 rows; how sure is not known"
