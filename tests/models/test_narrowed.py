"""What travels with rows can leave declared columns out, and nothing else: not the unit, not a bound, not a class."""

from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from veil import Categorical, NaiveBayesClassifier, Numeric, PrivateSelectKBest, Schema, Text
from veil.models.narrowed import MARK, Narrowed, fitting, mark

AGE, TOWN = Numeric(name="age", bounds=(0, 99)), Categorical(name="town", values=("Bonn", "Lyon"))
SCHEMA = Schema(
    name="visits",
    label="ill",
    person="who",
    rows_per_person=5,
    column=[AGE, TOWN, Categorical(name="ill", values=("no", "yes"))],
)
WORDS = Schema(
    name="mail",
    label="ill",
    column=[Text(name="text", words=("one", "two", "three")), Categorical(name="ill", values=("no", "yes"))],
)
ROWS = pd.DataFrame({"age": [3, 40], "town": ["Bonn", "Lyon"], "ill": ["no", "yes"], "who": ["a", "b"]})
SHRUNK = SCHEMA.model_copy(update={"person": None, "rows_per_person": 1})


def marked(names):
    rows = ROWS.copy()
    rows.attrs = {MARK: names}
    return rows


CRAFTED = [
    {},
    [],
    "veil",
    None,
    {"of": "visits"},
    {"of": "visits", "columns": None, "words": 3},
    {"of": "visits", "columns": ["ill"], "words": []},
    {"of": "visits", "columns": ["age"], "words": []},
    {"of": "visits", "columns": ["age", "ill", "salary"], "words": []},
    {"of": "visits", "columns": [["age"], "ill"], "words": []},
    {"of": "visits", "columns": ["age", "ill"], "words": ["one"]},
    {"of": "another", "columns": ["age", "ill"], "words": []},
    {"declared": SCHEMA.to_toml(), "selected": SHRUNK.to_toml()},
    {"of": SCHEMA.to_toml(), "columns": SHRUNK.to_toml(), "words": {}},
]


@pytest.mark.parametrize("names", CRAFTED, ids=range(len(CRAFTED)))
def test_a_mark_that_is_no_selection_changes_nothing(names):
    assert fitting(marked(names), SCHEMA) == SCHEMA


def test_a_mark_leaves_columns_out_and_all_that_is_left_is_as_declared():
    names = {"of": "visits", "columns": ["ill", "age"], "words": [], "person": None, "rows_per_person": 1}
    names |= {"selected": SHRUNK.to_toml(), "column": [{"name": "age", "bounds": (0, 3)}], "public": True}
    found = fitting(pd.read_parquet(BytesIO(marked(names).to_parquet())), SCHEMA)
    assert found.model_dump() == {**SCHEMA.model_dump(), "column": (AGE.model_dump(), SCHEMA.column[2].model_dump())}


@pytest.mark.parametrize("rows", [sparse.csr_matrix((2, 3)), np.zeros((2, 3)), pd.DataFrame(np.zeros((2, 3)))])
def test_a_mark_is_found_again_on_every_kind_of_rows_and_leaves_words_out(rows):
    cut = WORDS.model_copy(update={"column": (Text(name="text", words=("one", "three")), WORDS.column[1])})
    assert fitting(mark(rows, WORDS, cut), WORDS) == cut
    assert fitting(rows, WORDS) == (WORDS if isinstance(rows, np.ndarray) else cut)


def test_attributes_of_an_array_cannot_shrink_the_unit():
    rows = ROWS[["age", "town", "who"]].to_numpy().view(Narrowed)
    rows.veil = {"declared": SCHEMA.to_toml(), "selected": SHRUNK.to_toml()}
    assert fitting(rows, SCHEMA) == SCHEMA


@pytest.mark.parametrize("model", [NaiveBayesClassifier, PrivateSelectKBest])
def test_noise_goes_by_the_declared_unit_whatever_is_marked(model):
    crafted = marked({"declared": SCHEMA.to_toml(), "selected": SHRUNK.to_toml()})
    more = {"k": 1} if model is PrivateSelectKBest else {}
    plain, odd = (model(epsilon=1, schema=SCHEMA, random_state=0, **more).fit(rows) for rows in (ROWS, crafted))
    assert odd.schema_ == plain.schema_ and plain.schema_.rows_per_person == SCHEMA.rows_per_person
    assert [column.name for column in plain.schema_.column] == [column.name for column in SCHEMA.column]
    assert [r.scale for r in odd.releases_] == [r.scale for r in plain.releases_]
    assert {receipt.protects for receipt in odd.receipts_} == {receipt.protects for receipt in plain.receipts_}
