"""Words and features: what one row can move, what is chosen, what it costs."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from veil import (
    BadInput,
    Bag,
    Budget,
    BudgetRefused,
    Categorical,
    Correct,
    Difference,
    Discernibility,
    Entropy,
    Gini,
    Ledger,
    Majority,
    Numeric,
    Purity,
    Rows,
    Schema,
    SeededNoise,
    Text,
    axis,
    bag,
    open_source,
)
from veil.kernel import Logistic
from veil.kernel.reading import read_table
from veil.kernel.verbs.choose import peel
from veil.kernel.words import word_counts, word_tables

WORDS = ("ant", "bee", "cat", "dog", "elk", "fox")
LABEL = Categorical(name="label", values=("no", "yes"))
SCHEMA = Schema(name="zoo", label="label", column=[LABEL, Text(name="text", words=WORDS, words_per_row=2)])
HUGE = Budget(10**12)
SCORES = [Rows(), Difference(), Purity(), Entropy(), Gini(), Majority()]
held = st.lists(st.tuples(st.sampled_from(["no", "yes"]), st.sets(st.sampled_from(WORDS))), max_size=8)


def opened(rows, schema=SCHEMA, limit=10**15, seed=0):
    table = {"label": [label for label, _ in rows], "text": [" ".join(sorted(words)) for _, words in rows]}
    return open_source(table, schema, Ledger(limit, schema.name), seed)


def table_of(rows):
    table = {"label": [label for label, _ in rows], "text": [" ".join(sorted(words)) for _, words in rows]}
    return read_table(table, SCHEMA, SeededNoise(0))


@given(
    rows=held, extra=st.tuples(st.sampled_from(["no", "yes"]), st.sets(st.sampled_from(WORDS))), most=st.integers(1, 7)
)
def test_an_added_row_moves_no_more_counts_of_words_than_its_reach(rows, extra, most):
    for words in (None, (0, 2, 3)):
        asked = bag(SCHEMA, words=words, most=most)
        before, after = (word_counts(table_of(some), asked, asked.most, 2) for some in (rows, [*rows, extra]))
        moved = np.abs(after - before).sum()
        having = len(extra[1] & {WORDS[code] for code in asked.codes})
        assert moved == min(having, most) <= asked.reach == min(most, asked.size)


@given(rows=held, extra=st.tuples(st.sampled_from(["no", "yes"]), st.sets(st.sampled_from(WORDS))))
def test_an_added_row_moves_the_score_of_every_word_within_its_range(rows, extra):
    before, after = (word_tables(table_of(some), bag(SCHEMA)) for some in (rows, [*rows, extra]))
    for score in SCORES:
        moves = score.each(after) - score.each(before)
        assert score.low <= moves.min() and moves.max() <= score.high


def test_words_that_a_row_counts_for_are_a_uniform_draw_of_those_asked_about():
    rows = [("yes", set(WORDS))] * 6000
    counts = opened(rows).count(bag(SCHEMA, words=(1, 2, 5), most=1), HUGE).value[:, 1]
    assert counts.sum() == 6000 and abs(counts - 2000).max() < 5 * (6000 * 2 / 9) ** 0.5


def test_counts_within_a_set_of_words_have_the_noise_of_the_set():
    source = opened([("yes", {"ant"})])
    scales = [source.count(bag(SCHEMA, words=words, most=4), Budget(1)).scale for words in (None, (0,), (0, 1))]
    assert scales == [4, 1, 2]


def test_a_sparse_count_of_words_blanks_what_is_below_the_threshold():
    rows = [("yes", {"ant", "bee"})] * 30 + [("no", {"bee"})] * 4
    found = opened(rows).count_sparse(bag(SCHEMA), HUGE, threshold=4).value
    assert (found.codes.tolist(), found.counts.tolist()) == ([1, 3], [30, 30])
    alone = opened(rows).count_sparse(bag(SCHEMA), HUGE, threshold=33, by_class=False).value
    assert (alone.codes.tolist(), alone.counts.tolist()) == ([1], [34])


@pytest.mark.parametrize("level", [0.5, -1, True, None])
def test_a_threshold_that_would_tell_empty_cells_is_refused_whatever_the_settings_let_through(monkeypatch, level):
    """Between whole numbers an occupied cell without noise passes where an empty one does not."""
    monkeypatch.setattr("veil.kernel.verbs.sparse.sparse_level", lambda *_: level)
    source = opened([("yes", {"ant"})])
    with pytest.raises(BadInput, match="threshold must be a whole number"):
        source.count_sparse(bag(SCHEMA), Budget(1))
    assert not source.record.receipts


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_a_huge_budget_chooses_the_true_best(score):
    rows = [("yes", {"ant", "bee"})] * 40 + [("no", {"bee", "cat"})] * 20 + [("no", {"dog"})] * 7 + [("yes", {"elk"})]
    exact = score.each(word_tables(table_of(rows), bag(SCHEMA)))
    best = opened(rows).choose_best(bag(SCHEMA), score, HUGE, count=3).value
    assert sorted(exact[best], reverse=True) == exact[best].tolist() == sorted(exact, reverse=True)[:3]
    level = sorted(exact, reverse=True)[2] / score.unit
    above = opened(rows).choose_above(bag(SCHEMA), score, Fraction(int(exact[best[2]]), score.unit), HUGE, most=6).value
    assert set(above[:, 0]) == set(np.flatnonzero(exact >= level * score.unit))
    assert above[:, 1].tolist() == exact[above[:, 0]].tolist()
    sifted = opened(rows).sift(bag(SCHEMA), score, Fraction(int(exact[best[2]]), score.unit), HUGE, most=6).value
    assert set(sifted) == set(above[:, 0])


def test_columns_of_a_table_are_chosen_as_words_are():
    columns = [Categorical(name="a", values=("0", "1")), Numeric(name="b", bounds=(0, 4), bins=4), LABEL]
    schema = Schema(name="zoo", label="label", column=columns)
    rows = {"a": [0, 1] * 20, "b": [1, 1, 3, 3] * 10, "label": ["no", "no", "yes", "yes"] * 10}
    source = open_source(rows, schema, Ledger(10**15, "zoo"), 0)
    axes = [axis(column) for column in schema.features]
    for score in (Gini(), Entropy(), Majority(), Purity(), Discernibility()):
        assert source.choose_best(axes, score, HUGE, count=2).value.tolist() == [1, 0]
    assert source.choose_above(axes, Majority(), 30, HUGE, most=2).value.tolist() == [[1, 40]]
    assert source.sift(axes, Majority(), 30, HUGE, most=1).value.tolist() == [1]


def test_peeling_has_the_law_of_permute_and_flip_without_replacement():
    """Three scores, two rounds: every outcome as often as the orders and coins say."""
    scores, rate, trials, noise = np.array([0, 1, 3]), Fraction(1, 2), 40_000, SeededNoise(1)

    def first(left):
        chance = dict.fromkeys(left, 0.0)
        for order in permutations(left):
            rest = 1 / len(list(permutations(left)))
            for one in order:
                stop = np.exp(0.5 * (scores[one] - max(scores[list(left)])))
                chance[one] += rest * stop
                rest *= 1 - stop
        return chance

    law = {(a, b): p * q for a, p in first((0, 1, 2)).items() for b, q in first(tuple({0, 1, 2} - {a})).items()}
    seen = dict.fromkeys(law, 0)
    for _ in range(trials):
        walk = peel(scores, rate, noise)
        seen[next(walk), next(walk)] += 1
    assert sum(law.values()) == pytest.approx(1)
    assert all(abs(seen[pair] / trials - chance) < 5 * (chance / trials) ** 0.5 for pair, chance in law.items())


@pytest.mark.parametrize(
    "ask",
    [
        lambda source, part: source.count(bag(SCHEMA), part),
        lambda source, part: source.count_sparse(bag(SCHEMA), part),
        lambda source, part: source.choose_best(bag(SCHEMA), Rows(), part, count=2),
        lambda source, part: source.choose_above(bag(SCHEMA), Rows(), 1, part, most=2),
        lambda source, part: source.sift(bag(SCHEMA), Rows(), 1, part, most=2),
    ],
)
def test_every_verb_is_charged_before_it_answers_and_refused_without_budget(ask):
    source = opened([("yes", {"ant"})], limit=1)
    assert ask(source, Budget("3/4")).receipt.epsilon == Fraction(3, 4)
    with pytest.raises(BudgetRefused):
        ask(source, Budget("1/2"))
    assert len(source.record.receipts) == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda s: s.choose_best(bag(SCHEMA), Rows(), Budget(1), count=7),
        lambda s: s.choose_best(bag(SCHEMA), Rows(2), Budget(1), count=1),
        lambda s: s.choose_best(bag(SCHEMA), Correct(), Budget(1), count=1),
        lambda s: s.choose_above(bag(SCHEMA), Discernibility(), 1, Budget(1), most=1),
        lambda s: s.choose_above(bag(SCHEMA), Rows(), float("nan"), Budget(1), most=1),
        lambda s: s.sift(bag(SCHEMA), Rows(), 1, Budget(1), most=0),
        lambda s: s.sift([], Rows(), 1, Budget(1), most=1),
        lambda s: s.count(Bag("text", 6, 0), Budget(1)),
        lambda s: s.count(Bag("text", 1, 2, (3, 4)), Budget(1)),
        lambda s: s.count(Bag("text", 2, 2, (4, 3)), Budget(1)),
        lambda s: s.count(Bag("text", 1, 2, (6,)), Budget(1)),
        lambda s: s.count(Bag("text", 0, 2, ()), Budget(1)),
        lambda s: s.count(Bag("label", 2, 2), Budget(1)),
        lambda s: s.count("text", Budget(1)),
        lambda s: s.count_sparse(bag(SCHEMA), Budget("1/1000000000"), threshold=-1),
    ],
)
def test_a_question_that_does_not_fit_is_refused_before_it_is_charged(ask):
    source = opened([("yes", {"ant"})])
    with pytest.raises(BadInput):
        ask(source)
    assert not source.record.receipts


def test_parts_of_a_split_keep_the_words_of_their_rows():
    rows = [("yes", {"ant"})] * 5 + [("no", {"bee"})] * 3
    parts = opened(rows).split(axis(LABEL))
    found = [part.count(bag(SCHEMA), HUGE, by_class=False).value[:2, 0].tolist() for part in parts]
    assert found == [[0, 3], [5, 0], [0, 0]]


def test_a_matrix_is_counted_like_the_texts_it_stands_for():
    rows = [("yes", {"ant", "fox"}), ("no", set()), ("yes", {"cat"})] * 20
    dense = np.array([[word in words for word in WORDS] for _, words in rows], float)
    wide = SCHEMA.model_copy(update={"column": (LABEL, Text(name="text", words=WORDS, words_per_row=6))})
    labels = [label for label, _ in rows]
    texts = opened(rows, wide).count(bag(wide), HUGE).value
    for matrix in (dense, sparse.csr_array(dense), sparse.coo_matrix(dense), sparse.csc_matrix(dense)):
        source = open_source({"label": labels, "text": matrix}, wide, Ledger(10**15, "zoo"), 0)
        assert (source.count(bag(wide), HUGE).value == texts).all()


def test_a_person_s_rows_share_what_one_row_may_cost():
    people = SCHEMA.model_copy(update={"person": "who", "rows_per_person": 3})
    table = {"label": ["yes"] * 9, "text": ["ant bee"] * 9, "who": ["a"] * 9}
    source = open_source(table, people, Ledger(10**15, "zoo"), 0)
    assert source.count(bag(people), Budget(1)).scale == 2 * 3
    assert source.choose_best(bag(people), Rows(), Budget(1), count=2).scale == 2 * 3
    assert source.count(bag(people), HUGE).value[0].tolist() == [0, 3]


def test_sifting_has_the_law_of_a_sieve_asked_one_by_one():
    """Two candidates, one hit: how often each is found, or none, by `sift` and by `above` in a random order."""
    rows, asked, trials, found = [("yes", {"ant"})] * 2, [(0, "ant"), (1, "bee")], 4_000, []
    source, order = opened(rows), np.random.default_rng(5)
    two = bag(SCHEMA, words=(0, 1))
    for _ in range(trials):
        found.append(tuple(source.sift(two, Rows(), 1, Budget(1), most=1).value.tolist()))
    columns = [Categorical(name=word, values=("1", "0"), missing="0") for _, word in asked]
    schema = Schema(name="zoo", label="label", column=[*columns, LABEL])
    dense = open_source({"ant": [1, 1], "bee": [0, 0], "label": ["yes"] * 2}, schema, Ledger(10**15, "zoo"), 1)
    one_by_one = []
    for _ in range(trials):
        sieve, places = dense.above(Rows(0), 1, Budget(1)), order.permutation(2)
        hit = next((int(place) for place in places if sieve.ask(axis(columns[place]))), None)
        one_by_one.append(() if hit is None else (hit,))
    for outcome in ((), (0,), (1,)):
        shares = [answers.count(outcome) / trials for answers in (found, one_by_one)]
        assert abs(shares[0] - shares[1]) < 5 * (2 * max(shares) / trials) ** 0.5


def test_strange_rows_never_warn_print_or_fail(capfd, recwarn):
    strange = [None, float("nan"), 7, b"\xff ant", "x" * 10**5, object(), "", "\ud800 bee", ["ant"], {"a": 1}]
    for labels in (["yes"] * 10, [None] * 10, [object()] * 10):
        source = open_source({"label": labels, "text": strange}, SCHEMA, Ledger(10**15, "zoo"))
        answers = [
            source.count(bag(SCHEMA), Budget(1)),
            source.choose_best(bag(SCHEMA), Entropy(), Budget(1), count=6),
            source.choose_above(bag(SCHEMA), Gini(), -5, Budget(1), most=6),
            source.sift(bag(SCHEMA), Purity(), 1, Budget(1), most=6),
            source.minimise(Logistic(), bag(SCHEMA), Budget(1), label=1),
        ]
        assert all(answer.value.dtype == np.int64 and not answer.value.flags.writeable for answer in answers)
    assert not recwarn.list and capfd.readouterr() == ("", "")


def test_no_row_and_one_row_are_answered_in_the_same_form():
    for rows in ([], [("yes", set())], [("no", set(WORDS))]):
        source = opened(rows)
        assert source.count(bag(SCHEMA), Budget(1)).value.shape == (6, 2)
        assert source.choose_best(bag(SCHEMA), Majority(), Budget(1), count=2).value.shape == (2,)
        assert source.minimise(Logistic(), bag(SCHEMA), Budget(1), label=0).value.shape == (6, 1)


class Shrinking(int):
    """A number that says that it is another one, whenever it is compared."""

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = int.__hash__


@pytest.mark.parametrize("crafted", [Bag("text", Shrinking(1), 6), Bag("text", 6, Shrinking(1)), Bag("text", 6.0, 2)])
def test_a_bag_that_hides_how_many_counts_a_row_moves_is_refused(crafted):
    schema = Schema(name="words", label="label", column=[Text(name="text", words=WORDS, words_per_row=6), LABEL])
    ledger = Ledger(10, "words")
    source = open_source({"text": ["ant bee cat"], "label": ["no"]}, schema, ledger)
    with pytest.raises(BadInput):
        source.count(crafted, Budget(1))
    assert ledger.spent == 0
