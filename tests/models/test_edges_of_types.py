"""Sizes at which the codes of a column fill their type to the last: 255, 256 and 257, or 65,535 to 65,537."""

import numpy as np
import pytest
from scipy import sparse

from veil import (
    WHOLE,
    Categorical,
    Ledger,
    Numeric,
    PrivateSelectKBest,
    PrivateSelectThreshold,
    Schema,
    SparseLogisticRegressionClassifier,
    SparseNaiveBayesClassifier,
    Text,
    bag,
    grid,
    open_source,
)
from veil.models import METHODS

LABEL = Categorical(name="y", values=("a", "b"))
EDGES = (255, 256, 257)
WIDE = (2**16 - 1, 2**16, 2**16 + 1)
CHANCE = np.random.default_rng(0)


def mail(size):
    return Schema(name="mail", label="y", column=[Text(name="text", buckets=size, words_per_row=3), LABEL])


@pytest.mark.parametrize("size", [*EDGES, *WIDE])
def test_words_of_every_place_are_counted(size):
    source = open_source(
        {"text": sparse.eye_array(size, format="csr"), "y": ["a"] * size}, mail(size), Ledger(10**9, "mail"), noise=0
    )
    last = tuple(range(size - 3, size))
    for asked, wanted in ((None, size), (last, 3), (last[:2], 2), ((0,), 1)):
        found = source.count(bag(mail(size), words=asked), 10**7).value
        assert (found == [1, 0]).all() and len(found) == wanted


@pytest.mark.parametrize("size", EDGES)
def test_models_and_selectors_of_words_at_every_edge(size):
    rows = sparse.random_array((90, size), density=0.05, format="csr", rng=CHANCE)
    labels = np.array(["a", "b", "a"] * 30)
    for model in (
        SparseNaiveBayesClassifier(),
        SparseLogisticRegressionClassifier(),
        PrivateSelectKBest(k=3, score="count"),
        PrivateSelectKBest(k=3, how="peel"),
        PrivateSelectThreshold(score="count", threshold=2, how="sieve"),
    ):
        assert model.set_params(epsilon=1, schema=mail(size)).fit(rows, labels).receipts_


def table(size, classes):
    values = tuple(map(str, range(size)))
    return Schema(
        name="table",
        label="y",
        column=[
            Categorical(name="c", values=values, missing="0"),  # no code of its own for what is missing
            Numeric(name="x", bounds=(0, 1), bins=size, missing=0),
            Categorical(name="y", values=tuple(map(str, range(classes))), missing="0"),
        ],
    )


@pytest.mark.parametrize("size", EDGES)
@pytest.mark.parametrize("method", [method for method, kind in METHODS.items() if not kind.of_words])
def test_models_of_columns_at_every_edge(method, size):
    schema = table(size, 2)
    rows = {"c": CHANCE.integers(0, size, 300), "x": CHANCE.random(300), "y": CHANCE.integers(0, 2, 300)}
    model = METHODS[method](epsilon=1, schema=schema).fit(rows)
    assert model.predict({"c": [size - 1], "x": [1]}).shape == (1,)


@pytest.mark.parametrize("classes", EDGES)
@pytest.mark.parametrize("size", [2, 256])
def test_labels_at_every_edge(size, classes):
    schema = table(size, classes)
    rows = {"c": CHANCE.integers(0, size, classes), "x": CHANCE.random(classes), "y": np.arange(classes)}
    source = open_source(rows, schema, Ledger(10**9, "table"), noise=0)
    question = grid(schema, "c", "x")
    dense, sparse_counts = source.count(question, 10**7).value, source.count_sparse(question, 10**7).value
    assert dense.sum() == sparse_counts.counts.sum() == classes and (dense.sum(axis=0) == 1).all()
    assert all(
        part.count(WHOLE, 10**7).value.sum() == rows["c"].tolist().count(c)
        for c, part in enumerate(source.split(grid(schema, "c")))
    )
