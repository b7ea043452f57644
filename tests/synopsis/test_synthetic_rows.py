"""Synthetic rows have the original columns, units and domains, and follow the released counts."""

import sys
from time import process_time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from test_answers import dense_grid, made, wide_synopsis

from veil import BadInput, Categorical, NaiveBayesClassifier, Numeric, Schema, Text, axis, datasets, grid


@pytest.fixture
def synopsis(rows, schema):
    return made(rows, schema, lambda source, budget: source.count(dense_grid(schema), budget))


def counted(synopsis, table):
    """The exact counts of synthetic rows over the grid of the synopsis."""
    codes = synopsis.schema_.encode(table)
    cells = synopsis.grid.cells(codes).astype(int) * len(synopsis.schema_.classes) + codes[synopsis.schema_.label]
    return np.bincount(cells, minlength=synopsis.release_.value.size).reshape(synopsis.release_.value.shape)


@pytest.mark.parametrize("values", ["uniform", "midpoint"])
def test_every_row_lies_in_the_cell_it_was_drawn_for(synopsis, values):
    table = synopsis.to_frame(values=values)
    assert np.array_equal(counted(synopsis, table), np.maximum(synopsis.release_.value, 0))
    assert list(table.columns) == ["town", "age", "income", "party"]  # the order of the schema
    assert table["age"].dtype == np.int64 and table["income"].dtype == np.float64


def test_noise_below_zero_makes_no_rows(rows, schema):
    noisy = made(rows, schema, lambda s, b: s.count(dense_grid(s.schema), b), epsilon=1)
    table = noisy.to_frame(random_state=1)
    assert (noisy.release_.value < 0).any() and len(table) == np.maximum(noisy.release_.value, 0).sum()
    assert np.array_equal(counted(noisy, table), np.maximum(noisy.release_.value, 0))


def test_any_number_of_rows_can_be_drawn_by_weight(synopsis):
    table = synopsis.to_frame(20_000, random_state=0)
    shares, expected = counted(synopsis, table) / 20_000, synopsis.release_.value / 10
    assert len(table) == 20_000 and np.abs(shares - expected).max() < 0.02 and not shares[expected == 0].any()
    assert len(synopsis.to_frame(0)) == 0 and list(synopsis.to_frame(0).columns) == list(table.columns)
    for wrong in (-1, 0.5, 10**10):
        with pytest.raises(BadInput, match="whole number"):
            synopsis.to_frame(wrong)
    with pytest.raises(BadInput, match="midpoint"):
        synopsis.to_frame(values="mode")


def test_the_same_seed_draws_the_same_rows_in_no_order(synopsis):
    first, second, other = (synopsis.to_frame(500, seed) for seed in (1, 1, 2))
    assert first.equals(second) and not first.equals(other)
    assert not np.array_equal(np.sort(first["age"]), first["age"])


def odd_schema():
    return Schema(
        name="odd",
        label="y",
        column=[
            Categorical(name="flag", values=["False", "True"]),
            Categorical(name="grade", values=["1", "2", "10"], groups={"low": ["1", "2"], "high": ["10"]}),
            Numeric(name="n", bounds=(1, 6), integer=True, edges=(1, 4, 6)),
            Numeric(name="x", bounds=(-1, 1), bins=3, missing=0),
            Text(name="note"),
            Categorical(name="unused", values=["u", "v"], missing="v"),
            Categorical(name="y", values=["0", "1"]),
        ],
    )


def odd_rows():
    return {
        "flag": [True, False, None] * 4,
        "grade": [1, 2, 10, 3] * 3,
        "n": [1, 6, "x"] * 4,
        "x": [None, 0.9] * 6,
        "y": [0, 1] * 6,
    } | {"unused": ["u"] * 12, "note": ["secret"] * 12}


def odd_synopsis():
    schema = odd_schema()
    cells = grid(schema, "flag") & axis(schema.get("grade"), 1) & grid(schema, "n", "x")
    return made(odd_rows(), schema, lambda source, budget: source.count(cells, budget))


def test_values_have_the_types_that_the_schema_writes():
    table = odd_synopsis().to_frame(missing=False)
    assert table["flag"].dtype == bool and table["y"].dtype == np.int64 and table["n"].dtype == np.int64
    assert set(table["grade"]) <= {1, 2, 10} and table["x"].dtype == float and not table.isna().any(axis=None)
    arrow = odd_synopsis().to_arrow()
    assert arrow.schema.types == [pa.bool_(), pa.int64(), pa.int64(), pa.float64(), pa.int64()]


def test_only_cells_of_nothing_but_missing_values_are_missing():
    synopsis = odd_synopsis()
    table, arrow = synopsis.to_frame(), synopsis.to_arrow()
    assert len(table) == 12 == arrow.num_rows
    assert table.isna().sum().to_dict() == {"flag": 4, "grade": 3, "n": 4, "x": 0, "y": 0}
    assert arrow["n"].null_count == 4 and arrow["flag"].null_count == 4 and "secret" not in str(table)
    assert 0 < len(synopsis.to_frame(missing=False)) < 12
    whole = synopsis.to_frame(all_columns=True)
    assert list(whole.columns) == [column.name for column in odd_schema().column]
    assert whole["note"].isna().all() and set(whole["unused"]) <= {"u", "v"}


def test_a_group_with_other_values_is_never_missing():
    schema = odd_schema()
    cells = axis(schema.get("grade"), 0) & axis(schema.get("n"), 0)
    rows = odd_rows() | {"grade": [None] * 12, "n": [None] * 12}
    synopsis = made(rows, schema, lambda source, budget: source.count(cells, budget))
    table = synopsis.to_frame(3000, random_state=0)
    assert not table.isna().any(axis=None) and set(table["n"]) == {1, 2, 3, 4, 5, 6}
    assert table["grade"].value_counts(normalize=True).between(0.3, 0.37).all()
    assert set(synopsis.to_frame(values="midpoint")["n"]) == {4}  # the mean of 2 (1 to 3) and 5 (4 to 6), rounded up


def test_draws_are_even_within_a_bin():
    synopsis = odd_synopsis()
    drawn = synopsis.to_frame(30_000, random_state=0, missing=False)
    ones = drawn["n"][drawn["n"] <= 3]
    assert ones.value_counts(normalize=True).between(0.31, 0.36).all()
    middle = drawn["x"][drawn["x"].between(-1 / 3, 1 / 3)]
    assert abs(middle.mean()) < 0.01 and middle.std() == pytest.approx(2 / 3 / 12**0.5, rel=0.03)


def test_a_table_in_which_nothing_stands_out_is_drawn_evenly(rows, schema):
    synopsis = made(rows.head(0), schema, lambda s, b: s.count(dense_grid(s.schema), b))
    assert len(synopsis.to_frame()) == 0
    table = synopsis.to_frame(6000, random_state=0)
    assert table["party"].value_counts(normalize=True).between(0.3, 0.37).all()
    assert not synopsis.to_frame(100, missing=False).isna().any(axis=None)


def test_rows_of_more_cells_than_a_machine_number_holds():
    synopsis, table = wide_synopsis()
    drawn = synopsis.to_frame()
    names = [*synopsis.schema_.get("c0").values]
    assert len(drawn) == 200 and set(drawn["c7"].astype(str)) <= set(names)
    original = pd.DataFrame(table).astype(str).sort_values([*table]).to_numpy()
    assert np.array_equal(drawn.astype(str).sort_values([*table]).to_numpy(), original)


def test_hostile_counts_do_not_fill_the_memory(rows, schema, monkeypatch):
    synopsis = made(rows, schema, lambda s, b: s.count(dense_grid(s.schema), b))
    value = np.full_like(synopsis.release_.value, 2**62)
    monkeypatch.setitem(synopsis.release_.__dict__, "value", value)
    with pytest.raises(BadInput, match="more than a billion rows"):
        synopsis.to_frame()
    assert len(synopsis.to_frame(10)) == 10


def test_without_pandas_it_is_an_arrow_table(synopsis, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = synopsis.to_frame(5, 0)
    assert isinstance(table, pa.Table) and table.num_rows == 5


def test_a_million_rows_take_seconds():
    rows, schema = datasets.load("fair")
    names = [column.name for column in schema.features[:4]]
    synopsis = made(rows, schema, lambda source, budget: source.count(grid(schema, *names), budget), epsilon=1)
    start = process_time()
    assert len(synopsis.to_frame(10**6, 0, all_columns=True)) == 10**6
    assert process_time() - start < 5


def test_synthetic_rows_train_a_classifier_that_knows_nothing_of_veil():
    rows, schema = datasets.load("fair")
    names = ["rate_marriage", "yrs_married", "religious"]
    synopsis = made(rows, schema, lambda source, budget: source.count(grid(schema, *names), budget), 1, noise=1)
    table = synopsis.to_frame(random_state=0, missing=False)
    model = LogisticRegression(max_iter=1000).fit(table[names], table["affair"])
    assert model.score(rows[names], rows["affair"]) > (rows["affair"] == "no").mean() + 0.01


@pytest.mark.parametrize(
    "names", [("1", "--2"), ("1", "-"), ("1", "9" * 5000), ("-1", str(2**63)), ("0", "-0"), ("1", "01")]
)
def test_categories_that_only_look_like_whole_numbers_stay_text(names):
    schema = Schema(name="s", label="y", column=[Categorical(name=name, values=names) for name in "cy"])
    rows = {"c": list(names) * 50, "y": list(names) * 50}
    table = made(rows, schema, lambda source, budget: source.count(grid(schema, "c"), budget)).to_frame()
    assert set(table["y"]) == set(names) and {type(value) for value in table["y"]} == {str}
    assert NaiveBayesClassifier(epsilon=50, schema=schema, random_state=0).fit(rows).classes_.dtype == object
