"""Synthetic tables of all columns: from Python, from files, on the command line and in reports."""

import json
import zipfile
from dataclasses import replace
from fractions import Fraction
from io import BytesIO

import numpy as np
import pandas as pd
import pytest

from shell import output, run
from veil import (
    BadInput,
    Categorical,
    Date,
    Ledger,
    Numeric,
    Schema,
    SyntheticTable,
    Text,
    datasets,
    load_synopsis,
    publish,
)
from veil.files.artefacts import make_parts, write_parts
from veil.plans.synthesis.tails import Found, is_blurred
from veil.synopsis import SYNTHESISERS
from veil.synopsis.where import where
from veil.verdicts.synthetic import of_tables

METHODS = [*SYNTHESISERS]
CHANCE = np.random.default_rng(0)
SIZE = 2000
ILL = CHANCE.integers(0, 2, SIZE)
VISITS = Schema(
    name="visits",
    label="ill",
    column=[
        Numeric(name="dose", bounds=(0, 10)),
        Date(name="day", bounds=("2020-01-01", "2021-01-01")),
        Categorical(name="town", values=("Bonn", "Köln", "Lyon")),
        Text(name="notes", words=("pain", "fever"), words_per_row=2),
        Categorical(name="ill", values=("no", "yes")),
    ],
)
PATIENTS = pd.DataFrame(
    {
        "dose": ILL * 5 + CHANCE.uniform(0, 4, SIZE),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(CHANCE.integers(0, 360, SIZE), unit="D"),
        "town": CHANCE.choice(["Bonn", "Köln", None], SIZE),
        "notes": ["fever"] * SIZE,
        "ill": np.where(ILL, "yes", "no"),
    }
)


def made(method="marginals", epsilon=10, **settings):
    settings = {"random_state": 3, "ledger": Ledger(epsilon, "visits"), **settings}
    return publish(PATIENTS, VISITS, epsilon=epsilon, method=method, **settings)


@pytest.fixture(scope="module", params=METHODS)
def table(request):
    return made(request.param)


def test_it_costs_exactly_epsilon_and_holds_all_columns_but_text(table):
    assert table.epsilon == 10 == sum(receipt.epsilon for receipt in table.receipts_)
    assert table.columns == ("dose", "day", "town", "ill") == tuple(table.to_frame(5).columns)
    assert table.settings_["left_out"] == ["notes"] and table.settings_["focus"] == "ill"


def test_rows_have_the_types_units_and_relations_of_the_table(table):
    frame = table.to_frame(random_state=1)
    assert abs(len(frame) - SIZE) < 50 and frame.dose.between(0, 10).all()
    assert frame.day.dtype.kind == "M" and {*frame.ill} == {"no", "yes"}
    assert frame.dose[frame.ill == "yes"].mean() - frame.dose[frame.ill == "no"].mean() > 3
    assert frame.equals(table.to_frame(random_state=1)) and len(table.to_frame(17)) == 17
    assert table.to_arrow(4).num_rows == 4


def test_missing_values_are_drawn_where_there_are_many_and_not_where_there_are_none():
    frame = made().to_frame(random_state=1)
    assert 0.2 < frame.town.isna().mean() < 0.45
    assert not frame[["dose", "day", "ill"]].isna().any().any() and (frame.town != "Lyon").mean() > 0.98


def test_marginals_and_queries_agree_with_each_other_and_with_the_rows(table):
    counts = table.marginal(["ill", "town"])
    assert counts.shape == (len(table.names("ill")), len(table.names("town")))
    assert counts.sum() == pytest.approx(table.query().count) == pytest.approx(SIZE, rel=0.02)
    assert table.query(ill="yes").count == pytest.approx(ILL.sum(), rel=0.05)
    true = ((PATIENTS.dose > 5) & (ILL == 1)).sum()
    assert table.query(dose=(5, None), ill="yes").count == pytest.approx(true, rel=0.1)
    for wrong in ({"notes": "fever"}, {"ill": "perhaps"}, {"dose": "high"}):
        with pytest.raises(BadInput):
            table.query(wrong)
    with pytest.raises(BadInput, match="only once"):
        table.marginal(["ill", "ill"])
    with pytest.raises(BadInput, match="values must be"):
        table.to_frame(values="mean")


def test_a_saved_table_is_the_same_when_it_is_read(table, tmp_path):
    table.save(tmp_path / "t.veil")
    again = load_synopsis(tmp_path / "t.veil")
    assert isinstance(again, SyntheticTable) and again.relations == table.relations
    assert again.to_frame(50, random_state=2).equals(table.to_frame(50, random_state=2))
    assert again.report() == table.report() and repr(again) == repr(table)


def test_its_report_compares_every_released_table_with_the_model(table):
    compared = table.compared()
    counted = [one for one in table.releases_ if one.receipt.verb == "count" and one.question.columns]
    assert [one.columns for one in compared] == [one.question.columns for one in counted]
    assert all(0 <= one.apart < 0.2 and one.noise > 0 for one in compared)
    page = table.report()
    assert "What the synthetic rows say of each released table" in page and "Left out: notes" in page


def test_the_model_is_near_every_table_that_was_counted_without_noise():
    assert max(one.apart for one in made(epsilon=10**6).compared()) < 0.02


CHANGES = {
    "label": lambda held: replace(
        held, schema=VISITS.model_copy(update={"column": held.schema.column, "label": "ill"})
    ),
    "rows": lambda held: replace(held, made=replace(held.made, rows=float("nan"))),
    "many rows": lambda held: replace(held, made=replace(held.made, rows=2.0**61)),
    "later parent": lambda held: replace(held, made=replace(held.made, parents=((3,), *held.made.parents[1:]))),
    "no column": lambda held: replace(held, made=replace(held.made, axes=held.made.axes[:-1])),
    "column twice": lambda held: replace(held, made=replace(held.made, axes=(held.made.axes[0],) * 4)),
    "negative": lambda held: replace(
        held, made=replace(held.made, tables=(-held.made.tables[0], *held.made.tables[1:]))
    ),
    "shape": lambda held: replace(held, made=replace(held.made, tables=(np.ones(9) / 9, *held.made.tables[1:]))),
    "not a number": lambda held: replace(
        held, made=replace(held.made, tables=(held.made.tables[0] * np.nan, *held.made.tables[1:]))
    ),
    "searched": lambda held: replace(held, searched=(replace(held.searched[0], value=np.array([[np.nan]])),)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_whose_model_does_not_fit_is_refused(change, tmp_path):
    write_parts(tmp_path / "t.veil", make_parts("synthetic", change(made().outcome_)))
    with pytest.raises(BadInput, match="damaged or changed"):
        load_synopsis(tmp_path / "t.veil")


def test_a_damaged_file_is_refused(tmp_path):
    made().save(tmp_path / "t.veil")
    with zipfile.ZipFile(tmp_path / "t.veil") as file:
        parts = {name: file.read(name) for name in file.namelist()}
    parts["synthetic.json"] = parts["synthetic.json"].replace(b"Network", b"Spread")
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)
    (tmp_path / "u.veil").write_bytes(stream.getvalue())
    with pytest.raises(BadInput, match="damaged"):
        load_synopsis(tmp_path / "u.veil")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"keep": ["dose", "dosis"]}, "dosis"),
        ({"focus": "notes"}, "no column 'notes'"),
        ({"focus": "nothing"}, "no column 'nothing'"),
        ({"pool": 3}, "takes focus and keep"),
        ({"focus": "dose", "method": "privpfc"}, "is for a synthetic table of all columns"),
        ({"focus": "dose", "method": None, "columns": ["dose"]}, "is for a synthetic table of all columns"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_before_a_charge(settings, words):
    ledger = Ledger(1, "visits")
    with pytest.raises(BadInput, match=words):
        made(epsilon=1, ledger=ledger, **settings)
    assert ledger.spent == 0


def test_columns_to_keep_are_published_alone_with_the_label():
    assert made(keep=["dose"]).columns == ("dose", "ill")
    assert made(keep="town", focus="dose").columns == ("dose", "town", "ill")
    few = publish(PATIENTS, VISITS, epsilon=10, keep=["dose", "town"], random_state=0, ledger=Ledger(10, "visits"))
    assert {*few.columns} <= {"dose", "town", "ill"}


def test_no_label_is_needed():
    schema = VISITS.model_copy(update={"label": None})
    found = publish(PATIENTS, schema, epsilon=10, method="marginals", random_state=0, ledger=Ledger(10, "visits"))
    assert found.settings_["focus"] is None and found.columns == ("dose", "day", "town", "ill")
    frame = found.to_frame(random_state=0)
    assert frame.dose[frame.ill == "yes"].mean() - frame.dose[frame.ill == "no"].mean() > 3


def test_people_with_several_rows_have_more_noise():
    rows, schema = datasets.load("iris")
    person = schema.model_copy(update={"person": "who", "rows_per_person": 2})
    people = publish(rows.assign(who=np.arange(len(rows)) // 2), person, epsilon=2, method="privbayes", random_state=0)
    alone = publish(rows, schema, epsilon=2, method="privbayes", random_state=0)
    assert people.releases_[0].noise_scale == 2 * alone.releases_[0].noise_scale


def test_little_but_noise_is_said():
    few = PATIENTS[:30]
    with pytest.warns(UserWarning, match="noise"):
        found = publish(few, VISITS, epsilon="1/100", method="marginals", ledger=Ledger(1, "visits"))
    assert found.verdict_.bad and found.epsilon == Fraction(1, 100)


def test_the_epsilon_to_try_is_a_multiple_of_what_was_paid():
    """Not of what its tables cost, which is what the search for bins left of it."""
    found = publish(PATIENTS[:700], VISITS, epsilon=1, method="marginals", random_state=1)
    assert found.searched_ and found.verdict_.advice.startswith(("try epsilon 2,", "try epsilon 5,"))


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows, schema = datasets.load("fair")
    rows.to_csv("rows.csv", index=False)
    (tmp_path / "fair.toml").write_text(schema.to_toml())
    return rows, schema


def test_the_command_publishes_rows_of_all_columns(files):
    rows, schema = files
    said = output(
        *"publish rows.csv --schema fair.toml --epsilon 2 --method marginals --out t.veil --synthetic s.csv".split()
    )
    made = pd.read_csv("s.csv")
    assert [*made.columns] == [column.name for column in schema.column]
    assert "It cost epsilon 2" in said and "hold rate_marriage" in said
    answers = json.loads(output("query", "t.veil", "--where", "affair = yes", "--json"))["answers"]
    assert answers[0]["count"] == pytest.approx((rows.affair == "yes").sum(), rel=0.1)
    shown = output("query", "t.veil", "--where", "affair = yes")
    assert "tells no intervals" in shown and " low " not in shown
    few = json.loads(
        output(
            *"publish rows.csv --schema fair.toml --epsilon 1 --method privbayes --for age".split(),
            "--keep",
            "age,children",
            "--out",
            "u.veil",
            "--json",
        )
    )
    assert few["columns"] == ["age", "children", "affair"] and few["epsilon_exact"] == "1"


def test_a_dry_run_shows_the_plan_and_charges_nothing(files):
    said = output(*"publish rows.csv --schema fair.toml --epsilon 1 --method marginals --dry-run".split())
    assert "affair[2] x" in said and "age[7]" in said and "Nothing was charged" in said and "noise moves about" in said


def test_the_command_refuses_unknown_names_before_anything_is_written(files, tmp_path):
    with pytest.raises(BadInput, match="sex"):
        run(*"publish rows.csv --schema fair.toml --epsilon 1 --method marginals --keep age,sex --out t.veil".split())
    assert not (tmp_path / "t.veil").exists()


def test_a_marginal_of_more_columns_than_an_array_can_have_axes_is_refused():
    names = [f"c{number}" for number in range(70)]
    schema = Schema(name="t", column=[Categorical(name=name, values=("x",), missing="x") for name in names])
    table = publish({name: ["x"] * 9 for name in names}, schema, epsilon=1, method="marginals", random_state=1)
    with pytest.raises(BadInput, match="ask about fewer columns"):
        table.marginal(names)
    assert table.query(dict.fromkeys(names, "x")).count > 0


def test_what_was_paid_for_is_reported_where_tables_are_too_large_to_be_compared(monkeypatch):
    """As of a million rows of fifteen columns for epsilon 2, by privbayes."""
    table = made("privbayes", epsilon=100)
    every = len(table.compared())
    monkeypatch.setattr("veil.plans.synthesis.network.MOST_CELLS", 20)
    assert 0 < len(table.compared()) < every and "privbayes" in table.report()


@pytest.mark.parametrize("method", METHODS)
def test_a_table_whose_values_did_not_arrive_is_no_success(method):
    lost = PATIENTS.assign(dose="?", town="?", day="?")
    found = publish(lost, VISITS, epsilon=10, method=method, random_state=1, ledger=Ledger(10, "visits")).verdict_
    assert found.level == "poor" and "missing or not as declared" in found.words and "veil schema check" in found.advice


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_are_too_few_are_said_to_be(method):
    found = publish(PATIENTS[:30], VISITS, epsilon=1, method=method, random_state=1, ledger=Ledger(1, "visits"))
    assert found.verdict_.bad and "veil schema check" in found.verdict_.advice


@pytest.mark.parametrize("method", METHODS)
def test_the_verdict_begins_with_its_level(method):
    found = made(method, epsilon=100).verdict_
    assert found.level == "good" and str(found).startswith("good: in a typical table")


@pytest.mark.parametrize("method", METHODS)
def test_synthetic_numbers_have_no_more_digits_than_their_bins_tell(method):
    """And stay in the bins that they were drawn from."""
    found = made(method)
    assert found.to_frame(300, random_state=0).dose.map(lambda dose: len(f"{dose:.12g}")).max() <= 7


STAYS = pd.DataFrame(
    {"days": CHANCE.gamma(1.5, 3.5, 4 * SIZE).clip(0, 90), "ward": CHANCE.choice(["a", "b"], 4 * SIZE)}
)


def stays(method, epsilon, highest, rows=STAYS, random_state=0):
    """Rows whose schema says that days end at `highest`."""
    days, ward = Numeric(name="days", bounds=(0, highest)), Categorical(name="ward", values=("a", "b"))
    schema = Schema(name="stays", public=True, label="ward", column=[days, ward])
    return publish(rows, schema, epsilon=epsilon, method=method, random_state=random_state)


@pytest.mark.parametrize("method", METHODS)
def test_careless_bounds_do_not_make_the_mean_of_synthetic_rows_noise(method):
    for seed in range(3):
        days = stays(method, "1/4", 10_000, random_state=seed).to_frame(random_state=seed).days
        assert days.mean() == pytest.approx(STAYS.days.mean(), abs=0.5), seed
        assert days.max() < 200 and (days > 10).mean() == pytest.approx((STAYS.days > 10).mean(), abs=0.03)


def test_rows_that_are_found_far_away_are_drawn_there():
    far = STAYS.assign(days=np.where(CHANCE.random(len(STAYS)) < 0.05, 9_000, STAYS.days))
    days = stays("marginals", 1, 10_000, far).to_frame(random_state=0).days
    assert (days > 8_000).mean() == pytest.approx(0.05, abs=0.01)


def test_the_verdict_is_fair_at_best_where_noise_in_wide_bins_could_be_most_of_a_mean():
    values = np.where(CHANCE.random(len(STAYS)) < 0.005, 900_000, STAYS.days)
    found = stays("marginals", 1, 10**6, STAYS.assign(days=values)).verdict_
    assert stays("marginals", 1, 40).verdict_.level == "good"
    assert found.level == "good" or "mean of days" in found.words


def test_a_mean_is_blurred_if_noise_moves_it_by_more_than_half_of_what_values_differ_by():
    places, rows = np.arange(3), np.array([500.0, 500.0, 3.0])
    ends = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 10_000.0])
    means = np.array([0.5, 1.5, 5_001.0])
    for deviation, expected in ((0.01, False), (10.0, True)):
        found = Found(places, rows, np.full(3, deviation**2), *ends)
        assert is_blurred(found, rows, means) == expected
        assert not is_blurred(found, np.array([500.0, 500.0, 0.0]), means)
    table = stays("marginals", 1, 40)
    words = of_tables(table.releases_, table.schema_, table.network.rows, table.epsilon, ["days"])
    assert words.level == "fair" and "could make up a large part of the mean of days" in words.words
    assert "bounds" in words.advice


def test_a_range_of_numbers_may_be_written_after_an_equals_sign_too():
    """People do; a category may have two dots in its name, so it depends on the column what they mean."""
    found = made()
    assert found.query(where(["dose = 2..5"])).count == found.query(dose=(2, 5)).count
    assert found.query(where(["dose=2.."])).count == found.query(dose=(2, None)).count
    with pytest.raises(BadInput, match="has no value '2..5'"):
        found.query(where(["town = 2..5"]))
