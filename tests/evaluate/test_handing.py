"""What a model that is not ours is handed: rows as the schema declares them, whatever type all rows gave a column."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from veil import BadInput, Categorical, Date, Numeric, Schema, Text, private_accuracy
from veil.evaluate.handing import handed
from veil.evaluate.scores import prediction_table, score_table

CHANCE = np.random.default_rng(5)
SCHEMA = Schema(
    name="clinic",
    label="ill",
    person="who",
    rows_per_person=2,
    column=[
        Categorical(name="ward", values=(3, 1, 2)),
        Categorical(name="town", values=("Bonn", "Lyon", "7"), missing="7"),
        Categorical(name="smoker", values=(True, False)),
        Numeric(name="age", bounds=(0, 99), integer=True),
        Numeric(name="weight", bounds=(0, 200), missing=0),
        Text(name="note"),
        Categorical(name="ill", values=("no", "yes")),
    ],
)
LINES = [
    f"{ward},{town},{smoker},{age},{weight:.1f},text,{'yes' if ward == 1 else 'no'},p{place}"
    for place, (ward, town, smoker, age, weight) in enumerate(
        zip(
            CHANCE.integers(1, 4, 24),
            CHANCE.choice(["Bonn", "Lyon"], 24),
            CHANCE.choice(["true", "false"], 24),
            CHANCE.integers(0, 99, 24),
            CHANCE.normal(70, 9, 24),
            strict=True,
        )
    )
]
ODD = {"a mark": "?,?,?,?,?,?,?,?", "nothing": ",,,,,,,", "a fraction": "1.5,1.5,0,1.5,1e9,1.5,1.5,1.5"}
NAMES = ["ward", "town", "smoker", "age", "weight", "note"]


FEW = LINES[:8]


def frame(*more, lines=FEW, **options):
    text = "ward,town,smoker,age,weight,note,ill,who\n" + "\n".join([*lines, *more])
    return pd.read_csv(io.StringIO(text), **options)


def predicted(model, rows):
    """What is made of the rows of the file, without those that were added."""
    return prediction_table(model, rows, None, SCHEMA, None).rows["prediction"][: len(FEW)].tolist()


KINDS = ColumnTransformer(
    [
        ("kinds", OneHotEncoder(handle_unknown="ignore"), ["ward", "town"]),
        ("texts", make_pipeline(FunctionTransformer(lambda X: X.astype(str)), OneHotEncoder(handle_unknown="ignore")),
         ["ward", "age", "smoker"]),
        ("numbers", SimpleImputer(), ["age", "weight"]),
    ]
)  # fmt: skip
MODELS = {
    "one-hot": make_pipeline(KINDS, LogisticRegression(max_iter=5000)),
    "trees": RandomForestClassifier(5, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=3),
}


@pytest.mark.parametrize(
    ("name", "odd"), [*(("one-hot", odd) for odd in ODD), ("trees", "a mark"), ("boosting", "nothing")]
)
def test_one_odd_row_changes_what_a_model_makes_of_no_other(name, odd):
    """The types that pandas gives the columns change with it: whole numbers, floats or texts."""
    odd, rows, columns = ODD[odd], frame(), NAMES if name == "one-hot" else ["ward", "age", "weight"]
    known, more = frame(lines=LINES), frame(odd)
    model = MODELS[name].fit(known[columns], known["ill"])
    assert [str(kind) for kind in more.dtypes] != [str(kind) for kind in rows.dtypes]
    expected = model.predict(rows[columns]).tolist()
    assert predicted(model, rows) == predicted(model, more) == predicted(model, frame(odd, dtype=str)) == expected


def test_categories_of_pandas_are_those_declared_whichever_occur():
    def by_number(row):
        return np.where(row["town"].cat.codes == 1, "yes", "no")

    rows = frame().astype({"town": "category", "ward": "category"})
    more = frame("1,Aachen,true,3,4,x,no,q").astype({"town": "category", "ward": "category"})
    assert predicted(by_number, rows) == predicted(by_number, more)
    assert predicted(by_number, rows) == np.where(rows["town"] == "Lyon", "yes", "no").tolist()
    one = handed(more, by_number, SCHEMA).one(len(FEW))
    assert one["town"].cat.categories.tolist() == ["Bonn", "Lyon", "7"] and one["town"].isna().all()
    assert one["ward"].cat.categories.tolist() == [3, 1, 2] and one["ward"].tolist() == [1]


def test_a_row_has_the_declared_types_and_nan_for_what_is_not_declared():
    odd = "9,Oslo,maybe,old,heavy,,no,q"
    rows = handed(frame(odd, "2.0,7.0,TRUE,40.7,1e3,hello,no,q"), None, SCHEMA)
    full, empty, last = (rows.one(place) for place in (0, len(FEW), len(FEW) + 1))
    assert [*full.columns] == NAMES and [*full.index] == [*last.index] == [0] and not full.attrs
    assert [str(kind) for kind in full.dtypes] == ["int64", "object", "bool", "int64", "float64", "object"]
    assert [str(kind) for kind in last.dtypes] == [str(kind) for kind in full.dtypes]
    assert last.to_dict("records") == [
        {"ward": 2, "town": "7", "smoker": True, "age": 40, "weight": 1000.0, "note": "hello"}
    ]
    assert empty[["ward", "town", "smoker", "age", "weight"]].isna().all(axis=None) and empty["note"].tolist() == [""]


@pytest.mark.parametrize("kind", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "arrow"])
def test_other_frames_are_handed_as_what_they_are(kind):
    rows = kind(frame("?,,,?,,,no,q", dtype=str))
    first, last = (handed(rows, None, SCHEMA).one(place) for place in (0, len(FEW)))
    assert type(first) is type(rows) and len(first) == 1
    types = [
        str(kind).lower().removeprefix("large_")
        for kind in (first.dtypes if kind is pl.from_pandas else first.schema.types)
    ]
    assert types == ["int64", "string", "bool" + "ean" * (kind is pl.from_pandas), "int64",
                     "float64" if kind is pl.from_pandas else "double", "string"]  # fmt: skip
    assert pl.DataFrame(last).row(0) == (None, None, None, None, None, "")


def test_arrays_are_handed_by_position_as_numbers_or_as_objects():
    rows = frame("?,?,?,?,?,?,no,q", dtype=str)
    numbers = Schema(**{**SCHEMA.model_dump(), "person": None, "rows_per_person": 1,
                        "column": [SCHEMA.get(name) for name in ("ward", "age", "weight", "ill")]})  # fmt: skip
    of_numbers = handed(rows[["ward", "age", "weight"]].to_numpy(), None, numbers)
    assert (
        of_numbers.one(0).dtype == float
        and of_numbers.one(0).tolist() == frame()[["ward", "age", "weight"]].to_numpy()[:1].tolist()
    )
    assert np.isnan(of_numbers.one(len(FEW))).all()
    mixed = handed(rows[NAMES].to_numpy().tolist(), None, SCHEMA)
    assert mixed.one(0).dtype == object and mixed.one(0).tolist() == frame()[NAMES].to_numpy()[:1].tolist()
    with pytest.raises(BadInput, match="the schema.s 3 columns"):
        handed(rows[NAMES].to_numpy(), None, numbers)


def test_without_a_schema_only_numbers_by_position_are_handed():
    for rows in ([["1", "2.5"], [3, None]], np.array([[1, "2.5"], [3.0, "x"]], object)):
        found = handed(rows, None, None)
        assert found.one(0).tolist() == [[1.0, 2.5]] and np.isnan(found.one(1)[0, 1])
    for rows in (frame(), pl.from_pandas(frame()), pa.Table.from_pandas(frame())):
        with pytest.raises(BadInput, match="give schema="):
            score_table(len, rows, ["no"] * len(FEW), None, ("no", "yes"))
    for rows in ({"ward": [1]}, np.zeros(2, [("ward", "f8")])):
        with pytest.raises(BadInput, match="must be a data frame, an array or a list of lists"):
            handed(rows, None, SCHEMA)


def test_a_model_gets_the_columns_it_was_trained_on_and_no_others():
    rows = frame()
    model = RandomForestClassifier(3, random_state=0).fit(rows[["weight", "age"]], rows["ill"])
    assert [*handed(rows, model, SCHEMA).one(0).columns] == ["weight", "age"]
    assert [*handed(rows[["who", "ill", "age", "ward"]], len, SCHEMA).one(0).columns] == ["age", "ward"]
    strange = RandomForestClassifier(3).fit(rows[["age"]].assign(shoe=3), rows["ill"])
    with pytest.raises(BadInput, match="takes the column 'shoe', which the schema does not declare"):
        private_accuracy(strange, rows.assign(shoe=3), epsilon=1, schema=SCHEMA)
    with pytest.raises(BadInput, match="no column 'weight'"):
        handed(rows[["age"]], model, SCHEMA)


def test_trees_judge_at_once_what_they_judge_row_by_row():
    rows = frame(*ODD.values())
    columns = ["ward", "age", "weight"]
    known = frame(lines=LINES)
    model = RandomForestClassifier(5, random_state=0).fit(known[columns], known["ill"])
    found = score_table(model, rows, None, SCHEMA, None).rows["score"]
    alone = [score_table(model, rows.iloc[[place]], None, SCHEMA, None).rows["score"][0] for place in range(len(rows))]
    assert found.tolist() == alone


def test_a_change_of_type_before_veil_changes_no_code():
    """pandas reads the 200 rows as truth values and floats, and with one more row as texts."""
    schema = Schema(
        name="two",
        column=[Categorical(name="a", values=("true", "false")), Categorical(name="b", values=("1.0", "2.0"))],
    )
    text = "a,b\n" + "true,1.0\n" * 200
    for more in ("", "?,?\n", ",\n", "FALSE,2\n", "1,01.00\n"):
        codes = schema.encode(pd.read_csv(io.StringIO(text + more)))
        assert [np.bincount(codes[name][:200]).tolist() for name in "ab"] == [[200], [200]]
        whole = schema.encode(pd.read_csv(io.StringIO(text + more), dtype=str, keep_default_na=False))
        assert all((whole[name] == codes[name]).all() for name in "ab")


@pytest.mark.parametrize(
    "declared", [("true", "false"), (True, False), (1, 0), ("01", "00"), ("TRUE", "FALSE"), ("1.0", "0.0")]
)
def test_truth_values_and_numbers_are_found_however_they_are_declared(declared):
    column = Categorical(name="a", values=declared)
    for yes, no in (
        (True, False),
        ("true", "false"),
        (1, 0),
        (1.0, 0.0),
        ("1", "0"),
        ("1.00", "-0"),
        (b"TRUE", b" 0 "),
    ):
        assert column.encode([yes, no, None, "x"]).tolist() == [0, 1, 2, 2]


def test_values_that_are_one_number_are_apart_if_both_are_declared():
    column = Categorical(name="a", values=("01", "1", "1.00", "True"))
    assert column.encode(["01", "1", 1, 1.0, "1.00", " 1 ", "1.0", True, "true"]).tolist() == [
        0,
        1,
        1,
        1,
        2,
        1,
        1,
        3,
        3,
    ]
    assert Categorical(name="a", values=("01", "1.0")).encode(["01", 1, "1.0", "1"]).tolist() == [0, 2, 1, 2]
    numbers = Numeric(name="a", bounds=(0, 3), integer=True)
    assert numbers.encode(["true", True, "False", "01", "1e0", "?"]).tolist() == [1, 1, 0, 1, 1, 4]


DATED = Schema(
    name="visits",
    label="ill",
    column=[
        Date(name="day", bounds=("2000", "2029"), unit="month"),
        Date(name="weekday", unit="weekday"),
        Date(name="born", bounds=("1900", "2029"), unit="decade", format="%d/%m/%Y"),
        Categorical(name="town", values=("Bonn", "Lyon")),
        Categorical(name="ill", values=("no", "yes")),
    ],
)
DATES = {"day": ["2019-03-04", "?"], "weekday": ["2019-03-04", None], "born": ["4/3/1950", ""], "town": [None, "?"]}
MORE = {"day": "2020-01-01", "weekday": "Monday", "born": "01/01/2001", "town": "Bonn"}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


@pytest.mark.parametrize("build", FRAMES.values(), ids=FRAMES)
def test_a_column_without_values_has_the_type_that_it_has_with_them(build):
    """Of a column in which everything is missing, Arrow would make one of the type of nothing."""
    few, more = build(DATES), build({name: [*values, MORE[name]] for name, values in DATES.items()})
    for place in range(2):
        one, other = (handed(rows, None, DATED).one(place) for rows in (few, more))
        assert one.equals(other)
        types = [list(row.schema.types if isinstance(row, pa.Table) else row.dtypes) for row in (one, other)]
        assert types[0] == types[1]


@pytest.mark.parametrize("build", FRAMES.values(), ids=FRAMES)
def test_dates_are_handed_over_as_synthetic_rows_have_them(build):
    rows = handed(build(DATES), None, DATED)
    first, second = (pa.table(rows.one(place)) if build is not pd.DataFrame else rows.one(place) for place in range(2))
    found = {name: np.asarray(first[name])[0] for name in DATES if name != "town"}
    assert np.datetime64(found["day"], "D") == np.datetime64("2019-03-04")
    assert (found["weekday"], found["born"]) == ("Monday", "04/03/1950")
    assert all(pd.isna(np.asarray(second[name])[0]) for name in DATES)


def test_dates_of_an_array_are_handed_over_as_objects():
    array = np.array([*DATES.values()], object).T
    one = handed(array, None, DATED).one(0)[0]
    assert [str(value) for value in one[:3]] == ["2019-03-04", "Monday", "04/03/1950"] and one[3] != one[3]
