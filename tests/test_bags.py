"""Words of texts and matrices: what counts as a word, and that no value can fail."""

import numpy as np
import pytest
from scipy import sparse

from veil import BadInput, Categorical, Linear, Predicted, Schema, Text, bag
from veil.kernel import Owner
from veil.schema.bags import Bags, matrix_bags

WORDS = Text(name="text", words=("ant", "Bee", "cat"))


def listed(bags):
    return [bags.words[a:b].tolist() for a, b in zip(bags.starts[:-1], bags.starts[1:], strict=True)]


def test_words_are_runs_of_letters_in_lower_case_each_once():
    texts = ["ANT, ant! bee", "c at cats", "", None, float("nan"), b"cat", 7, object(), "b\ud800ee cat"]
    assert listed(WORDS.encode(texts)) == [[0, 1], [], [], [], [], [2], [], [], [2]]


def test_buckets_hold_all_words_by_a_hash_that_is_the_same_everywhere():
    found = listed(Text(name="text", buckets=1000).encode(["free call", "call free free", "\ud800\ud800"]))
    assert found[0] == found[1] == [270, 896] and len(found[2]) <= 1


def test_entries_of_a_matrix_above_zero_are_words_whatever_else_is_in_it():
    strange = [[0.5, -1, 0], [np.nan, np.inf, 1e-300], [-np.inf, -0.0, 2]]
    wanted = [[0], [1, 2], [2]]
    assert listed(WORDS.encode(np.array(strange))) == listed(WORDS.encode(sparse.csr_matrix(strange))) == wanted
    assert listed(WORDS.encode(np.array(strange, object))) == wanted
    assert listed(WORDS.encode(np.array([["x", None, "1"], [object(), True, -1]], object))) == [[2], [1]]


def test_entries_of_one_place_are_added_up_and_the_matrix_is_left_as_it_is():
    matrix = sparse.csr_matrix(([1.0, -1.0, 2.0], [1, 1, 0], [0, 3]), shape=(1, 3))
    assert listed(WORDS.encode(matrix)) == [[0]]
    assert matrix.data.tolist() == [1, -1, 2] and not matrix.has_canonical_format


@pytest.mark.parametrize(
    "wrong", [np.zeros((2, 4)), sparse.csr_matrix((2, 2)), sparse.csr_matrix((2, 3), dtype=complex)]
)
def test_a_matrix_of_another_shape_or_kind_is_refused(wrong):
    with pytest.raises(BadInput, match="matrix"):
        WORDS.encode(wrong)


@pytest.mark.parametrize(
    "fields",
    [{"words": []}, {"words": ["a", "a"]}, {"words": ["a"], "buckets": 5}, {"buckets": 0}, {"words_per_row": 0}],
)
def test_an_empty_or_contradictory_vocabulary_is_refused(fields):
    with pytest.raises(BadInput, match="column 'text'"):
        Text(name="text", **fields)


def test_a_schema_with_words_comes_back_from_toml_and_a_column_without_them_stays_apart():
    label = Categorical(name="y", values=("a", "b"))
    schema = Schema(name="t", label="y", column=[WORDS, Text(name="notes"), label])
    assert Schema.loads(schema.to_toml()) == schema
    assert schema.texts == (WORDS,) and set(schema.encode({"text": ["ant"], "y": ["a"]})) == {"text", "y"}
    assert "3 codes" in repr(schema)


def test_a_scorer_adds_the_weights_of_all_words_of_a_row():
    schema = Schema(name="t", label="y", column=[WORDS, Categorical(name="y", values=("a", "b"))])
    scorer = Linear({"text": [[1, 0], [2, 0], [0, 4]]}, [0.5, 0])
    Owner(schema)(Predicted(scorer))
    codes = schema.encode({"text": ["ant bee", "", "cat"]}, label=False)
    assert (scorer.scores(codes) / 2**20).tolist() == [[3.5, 0], [0.5, 0], [0.5, 4]]
    with pytest.raises(BadInput, match="weights"):
        Owner(schema)(Predicted(Linear({"text": [[1, 0]]}, [0, 0])))


def test_bags_of_some_rows_are_those_of_the_rows():
    bags = WORDS.encode(["ant bee", "", "cat ant", "bee"])
    assert isinstance(bags, Bags) and len(bags) == 4
    assert listed(bags[1:3]) == [[], [0, 2]] and listed(bags[np.array([3, 0])]) == [[1], [0, 1]]
    assert listed(bags[4:9]) == [] and listed(bags[np.zeros(0, int)]) == []


def test_a_bag_is_of_the_only_text_column_or_of_a_named_one():
    two = Schema(name="t", column=[WORDS, Text(name="more", buckets=4), Text(name="notes")])
    assert bag(two, "more").size == 4 and bag(two, "text", words=[2, 0]).words == (0, 2)
    for column in (None, "notes"):
        with pytest.raises(BadInput):
            bag(two, column)


def test_a_matrix_that_is_not_sound_is_refused_before_it_is_read():
    def broken(form, part, value, place=1):
        matrix = getattr(sparse.coo_array(np.eye(3)), f"to{form}")()
        getattr(matrix, part)[place] = value
        return matrix

    wrong = [broken(form, "indptr", value, -1) for form in ("csc", "csr", "bsr") for value in (-1, 0)]
    wrong += [broken("csc", "indices", 2**30), broken("csr", "indptr", 5), broken("csr", "indptr", -1)]
    for matrix in [*wrong, broken("coo", "row", 2**30), broken("coo", "row", -1), broken("bsr", "indptr", 9)]:
        with pytest.raises(BadInput, match="column 'w' is no sound sparse matrix: make it anew"):
            matrix_bags(matrix, 3, "w", np.uint8)
    assert matrix_bags(broken("csr", "indices", 2**30), 3, "w", np.uint8).words.tolist() == [0, 2]
    with pytest.raises(BadInput, match="must be a matrix with 3 columns"):
        matrix_bags(sparse.coo_array(np.ones(3)), 3, "w", np.uint8)
