"""The public numbers of a projected histogram: those of the paper, with its errata."""

from math import log

import numpy as np
import pytest

from pairs import undiscerned
from veil import BadInput, Categorical, ProjectedHistogramClassifier, Schema, datasets
from veil.compare import columns_by_mda, public_columns
from veil.plans.histograms.projected_histogram import cut_into
from veil.plans.histograms.projection import (
    bins_for,
    columns_for,
    same_bin,
    share_to_count,
)


def columns_in_public(codes, labels, **settings):
    """`columns_by_mda` for whole numbers: every value is a category of its own."""
    table = {**codes, "y": labels}
    columns = [Categorical(name=name, values=tuple(np.unique(column).tolist())) for name, column in table.items()]
    return columns_by_mda(table, Schema(name="public", label="y", column=columns), **settings)


@pytest.mark.parametrize(
    ("rows", "available", "classes", "columns", "bins", "share"),
    [
        (150, 4, 3, 3, 2, 0.14),
        (6435, 36, 6, 4, 4, 0.23),
        (1753, 44, 2, 4, 3, 0.05),
        (45_083, 14, 2, 4, 5, 0.09),
    ],
    ids=["Iris", "Satellite", "Infarct", "Adult"],
)
def test_the_numbers_of_the_papers_tables(rows, available, classes, columns, bins, share):
    assert columns_for(available, rows) == columns
    assert bins_for(rows, columns) == bins
    assert share_to_count(rows, available, columns, classes, 2) == pytest.approx(share, abs=0.006)


def test_the_bandwidth_never_leaves_a_single_bin():
    """As printed, 36 columns of 6,435 rows would be cut into one bin each, and all information be lost."""
    assert (6435 / log(6435)) ** (1 / 37) - 0.5 < 1
    assert bins_for(6435, 36) == 2


@pytest.mark.parametrize("rows", [0, 1, 2, 10, 10**9])
@pytest.mark.parametrize("available", [1, 2, 40])
def test_any_number_of_rows_and_columns_has_an_answer(rows, available):
    columns = columns_for(available, rows)
    assert 1 <= columns <= available and bins_for(rows, columns) >= 2
    assert 0.05 <= share_to_count(rows, available, columns, 1, 2) <= 0.95


def test_two_halves_of_a_normal_variable_are_equally_likely():
    assert same_bin(2) == pytest.approx(0.5)
    assert same_bin(1) == pytest.approx(1)


def test_public_rows_tell_how_many_columns_are_needed():
    draw = np.random.default_rng(0)
    first, second = draw.integers(0, 2, (2, 400))
    noise = {f"n{i}": np.zeros(400, int) for i in range(5)}
    assert columns_in_public({"a": first, **noise}, first) == 1
    assert columns_in_public({"a": first, "b": second, **noise}, 2 * first + second, left_out=0.01) == 2


def test_independent_columns_of_simulated_rows_agree_with_the_closed_form():
    draw = np.random.default_rng(0)
    columns = {f"x{i}": draw.integers(0, 2, 4000) for i in range(12)}
    assert columns_in_public(columns, draw.integers(0, 2, 4000)) == columns_for(12, 4000) == 4


def test_undiscerned_pairs_are_counted_one_by_one():
    blocks, labels = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 1, 0, 0, 1])
    pairs = [(a, b) for a in range(6) for b in range(6)]
    assert undiscerned(blocks, labels) == sum(blocks[a] == blocks[b] and labels[a] != labels[b] for a, b in pairs)
    assert public_columns.undiscerned(blocks, labels) == undiscerned(blocks, labels)


def test_the_columns_that_public_rows_tell_are_those_that_a_model_takes():
    rows, schema = datasets.load("iris")
    columns = columns_by_mda(rows, schema)
    assert columns <= columns_by_mda(rows, schema, left_out=0) <= len(schema.features)
    model = ProjectedHistogramClassifier(epsilon=5, schema=schema, random_state=0, columns=columns).fit(rows)
    assert len(model.releases_[-1].question.columns) == columns


def test_the_greedy_choice_is_that_of_all_pairs_counted_one_by_one():
    rows, schema = datasets.load("iris")
    codes = {name: np.asarray(column, np.int64) for name, column in schema.encode(rows).items()}
    labels, columns = codes.pop(schema.label), []
    differ = labels[:, None] != labels
    told = {name: (np.asarray(cut_into(schema.get(name), 2).cells(codes))) for name in codes}
    apart = {name: (cells[:, None] != cells) & differ for name, cells in told.items()}
    reached, wanted = np.zeros_like(differ), 0.9 * np.logical_or.reduce([*apart.values()]).sum()
    while reached.sum() < wanted:
        best = max((name for name in apart if name not in columns), key=lambda name: (reached | apart[name]).sum())
        columns.append(best)
        reached |= apart[best]
    assert columns_by_mda(rows, schema, bins=2) == len(columns)


@pytest.mark.parametrize("wrong", [{"left_out": 1}, {"left_out": "0.1"}, {"bins": 0}])
def test_shares_and_bins_that_cannot_be_are_refused(wrong):
    with pytest.raises(BadInput):
        columns_by_mda(*datasets.load("iris"), **wrong)


def test_no_public_row_leaves_one_column():
    rows, schema = datasets.load("iris")
    assert columns_by_mda(rows.head(0), schema) == 1
