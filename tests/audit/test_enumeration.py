"""Exact output laws on small domains, by enumeration and not by sampling: no neighbours lose more than the claim.

Where a verb's noise can be scripted, the laws are those of the code under test.
"""

from fractions import Fraction
from itertools import product
from math import log

import numpy as np
import pytest
from exact_laws import (
    REACH,
    Scripted,
    laplace_pmf,
    laplace_tail,
    loss,
    neighbours,
    selection_laws,
    sieve_law,
    source_of,
    winners,
)

from veil import (
    WHOLE,
    Axis,
    Budget,
    BudgetRefused,
    Correct,
    Entropy,
    ExpectedCorrect,
    Gini,
    Grid,
    Linear,
    Majority,
    Predicted,
    Rows,
)
from veil.audit import broken
from veil.audit.tables import BLUE, COLOURS, NO, RED, YES, rows
from veil.kernel.verbs.sieve import Sieve, sieve_rates

RANGES = [(0, 1), (-1, 1), (-1, 2), (0, 2), (1, 1)]
KINDS = [("yes", "red", 1), ("no", "red", 1), ("yes", "blue", 3), ("no", "blue", 3)]
ONE = Budget(1)


# --- selections: one candidate of many -------------------------------------------------------------------------


def scores_and_changes(candidates: int, low: int, high: int):
    """Score vectors with ties, and for each all vectors of changes (for five candidates only the extreme ones)."""
    values = range(3) if candidates < 5 else range(2)
    steps = range(low, high + 1) if candidates < 5 else sorted({low, high})
    changes = np.array(list(product(steps, repeat=candidates)))
    for scores in product(values, repeat=candidates):
        yield np.array(scores), changes


def worst_selection(law, candidates: int, low: int, high: int) -> float:
    """The largest log ratio over all of these, for a law of many score vectors at once."""
    worst = 0.0
    for scores, changes in scores_and_changes(candidates, low, high):
        before, after = law(scores[None]), law(scores + changes)
        worst = max(worst, float(np.abs(np.log(after / before)).max()))
    return worst


def flip_law(rate: float):
    return lambda scores: selection_laws(scores.max(axis=1, keepdims=True) - scores, rate)


def exponential_law(rate: float):
    def law(scores):
        weights = np.exp(rate * scores)
        return weights / weights.sum(axis=1, keepdims=True)

    return law


def noisy_max_law(rate: float, uniform: bool):
    """Report the largest of scores + discrete Laplace noise; ties to the first, or to any of them alike."""
    pmf, tail = laplace_pmf(rate), laplace_tail

    def wins(scores, i):
        others = np.delete(scores, i)
        less = np.array([1 - tail(rate, scores[i] + REACH - s) for s in others])
        tied = np.array([1 - tail(rate, scores[i] + REACH - s + 1) for s in others]) - less
        if not uniform:
            return (pmf * np.where((np.arange(len(others)) < i)[:, None], less, less + tied).prod(axis=0)).sum()
        chances = {0: np.ones(len(REACH))}
        for a, b in zip(less, tied, strict=True):
            chances = {k: chances.get(k, 0) * a + chances.get(k - 1, 0) * b for k in range(max(chances) + 2)}
        return (pmf * sum(chance / (k + 1) for k, chance in chances.items())).sum()

    cache: dict[tuple[int, ...], list[float]] = {}

    def law(scores):
        for row in map(tuple, scores):
            if row not in cache:
                cache[row] = [wins(np.array(row), i) for i in range(len(row))]
        return np.array([cache[row] for row in map(tuple, scores)])

    return law


@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("candidates", [2, 3, 4, 5])
def test_permute_and_flip_loses_exactly_rate_times_the_width_of_the_changes(candidates, low, high):
    assert worst_selection(flip_law(0.7), candidates, low, high) == pytest.approx(0.7 * (high - low), abs=1e-9)


@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("uniform", [False, True])
def test_discrete_noisy_max_with_ties_keeps_the_range_lemma(uniform, low, high):
    """The bound is attained by a candidate far behind the others."""
    law = noisy_max_law(1.0, uniform)
    worst = max(worst_selection(law, candidates, low, high) for candidates in (2, 3))
    for others in (1, 2, 4):
        before = law(np.array([[0] + [150] * others]))
        after = law(np.array([[low] + [150 + high] * others, [high] + [150 + low] * others]))
        worst = max(worst, float(np.abs(np.log(after / before)).max()))
    assert worst == pytest.approx(high - low, abs=1e-9)


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_the_exponential_mechanism_keeps_the_range_lemma(low, high):
    worst = max(worst_selection(exponential_law(0.7), candidates, low, high) for candidates in (2, 3, 4))
    assert worst <= 0.7 * (high - low) + 1e-9
    crowd = np.array([[40] + [0] * 9, [40 + low] + [high] * 9])  # one candidate against the sum of all weights
    before, after = exponential_law(0.7)(crowd)
    assert abs(np.log(after / before)).max() == pytest.approx(0.7 * (high - low), abs=1e-6)


def test_selection_laws_are_laws_and_favour_high_scores():
    laws = selection_laws([[0, 1, 2], [0, 0, 3]], 1.0)
    assert laws.sum(axis=1) == pytest.approx([1, 1])
    assert laws[0, 0] > laws[0, 1] > laws[0, 2] and laws[1, 0] == pytest.approx(laws[1, 1])
    assert winners(2)[-1] == pytest.approx([0.5, 0.5])


PREDICTIONS = [Predicted(Linear({}, constant)) for constant in ([1, 0], [0, 1])]
CHOICES = [
    (Rows(0), [YES, NO, RED], 1.0),
    (Majority(), [WHOLE, RED, YES], 1.0),
    (Correct(), PREDICTIONS, 1.0),
    (Gini(), [WHOLE, RED, YES], 0.66),
    (Entropy(most=2), [WHOLE, RED, YES], 0.99),
]


def chosen_law(table, score, candidates):
    """The law of Source.choose, from what it asks of the noise."""
    noise = Scripted()
    source_of(table, noise).choose(candidates, score, ONE)
    [(gaps, rate)] = noise.asked
    return selection_laws([gaps], float(rate))[0]


@pytest.mark.parametrize(
    ("score", "candidates", "least"), CHOICES, ids=[type(score).__name__ for score, _, _ in CHOICES]
)
def test_choose_loses_at_most_its_budget_on_every_small_table(score, candidates, least):
    worst = 0.0
    for table, larger in neighbours(KINDS, 4, rows):
        before, after = chosen_law(table, score, candidates), chosen_law(larger, score, candidates)
        worst = max(worst, float(np.abs(np.log(after / before)).max()))
    assert least <= worst <= 1 + 1e-9


def divided_laws(table, score, candidates):
    """The laws of Source.choose_each, one for every cell, from what it asks of the noise."""
    noise = Scripted()
    source_of(table, noise).choose_each(COLOURS, candidates, score, ONE)
    [(gaps, rate)] = noise.asked
    return selection_laws(np.reshape(gaps, (COLOURS.size, len(candidates))), float(rate))


@pytest.mark.parametrize(
    ("score", "least"), [(Majority(), 1.0), (Gini(), 0.66), (Entropy(most=2), 0.99), (ExpectedCorrect(1.0), 0.7)]
)
def test_choices_in_all_cells_together_lose_at_most_one_budget_on_every_small_table(score, least):
    """Cells choose independently, so the loss is the sum over cells of what each of them loses."""
    worst, old, young = 0.0, Grid((Axis("age", (0, 0, 1, 1, 1, 1), ("0 or 1", "2 or more")),)), YES
    kinds = [("yes", "red", 1), ("no", "red", 3), ("no", "blue", 1)]
    for table, larger in neighbours(kinds, 4, rows):
        before, after = divided_laws(table, score, [RED, old, young]), divided_laws(larger, score, [RED, old, young])
        worst = max(worst, float(np.abs(np.log(after / before)).max(axis=1).sum()))
    assert least <= worst <= 1 + 1e-9


@pytest.mark.parametrize("q", ["1/10", "1/4", "1/2", "2/3", "9/10"])
def test_the_changes_of_quantile_scores_spread_by_exactly_twice_the_larger_share(q):
    """All tables of at most nine rows in three places; the rate is epsilon by that spread."""
    share, asked, spread, rates = Fraction(q), {}, 0, set()

    def gaps(table):
        key = tuple(table["age"])
        if key not in asked:
            noise = Scripted()
            source_of(table, noise).quantile("age", q, ONE)
            [asked[key]] = noise.asked
        return np.array(asked[key][0]), asked[key][1]

    for table, larger in neighbours([("yes", "red", age) for age in (0, 2, 4)], 9, rows):
        (before, rate), (after, same) = gaps(table), gaps(larger)
        rates |= {rate, same}
        spread = max(spread, int(np.ptp(after - before)))
    most = 2 * max(share.numerator, share.denominator - share.numerator)
    assert rates == {Fraction(1, most)}
    assert spread == most


def test_the_leaf_rule_of_smooth_sensitivity_violates_and_permute_and_flip_does_not():
    steps = [log(broken.minority(lead) / broken.minority(lead + 1)) for lead in (1, 2, 3)]
    assert steps == pytest.approx([2.1, 6.3, 17.3], abs=0.05)
    for lead in (1, 2, 3):
        few, more = selection_laws([[0, lead], [0, lead + 1]], 1.0)
        assert np.abs(np.log(few / more)).max() <= 1 + 1e-9


# --- sieves ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hits", [1, 2])
def test_a_sieve_decides_as_its_law_says(hits):
    """For every small noise: yes if score + noise reaches threshold + noise, until the last hit."""
    for level, *noises in product((-1, 0, 1), repeat=4):
        noise = Scripted(laplace=[level, *noises])
        sieve = Sieve(lambda score: score, 1, (Fraction(1), Fraction(1)), hits, noise)
        left = hits
        for score, drawn in zip((0, 1, 2), noises, strict=True):
            if left == 0:
                with pytest.raises(BudgetRefused):
                    sieve.ask(score)
                break
            assert sieve.ask(score) == (score + drawn >= 1 + level)
            left -= score + drawn >= 1 + level
        assert noise.asked[0] == (Fraction(1), 1)


def worst_sieve(low: int, high: int, hits: int, queries: int, rates) -> float:
    """The largest loss over all changes in [low, high] of queries that start level with one another."""
    worst = 0.0
    for threshold in (0, high):
        base = sieve_law([0] * queries, threshold, rates, hits)
        for changes in product(sorted({low, high}), repeat=queries):
            worst = max(worst, loss(base, sieve_law(changes, threshold, rates, hits)))
    return worst


@pytest.mark.parametrize(("hits", "queries"), [(1, 2), (1, 6), (2, 3), (2, 6), (3, 6)])
def test_sieves_lose_at_most_their_claim(hits, queries):
    for low, high in ((0, 1), (-1, 1), (-2, 0)):
        worst = worst_sieve(low, high, hits, queries, sieve_rates(Fraction(1), low, high, hits))
        assert worst <= 1 + 1e-9
    assert sum(rate * scale for rate, scale in zip(sieve_rates(Fraction(1), 0, 1, hits), (1, hits), strict=True)) == 1


def test_sieves_come_close_to_their_claim():
    assert worst_sieve(0, 1, 1, 6, sieve_rates(Fraction(1), 0, 1, 1)) > 0.98
    assert worst_sieve(-1, 1, 1, 6, sieve_rates(Fraction(1), -1, 1, 1)) > 0.97


def test_the_scale_of_monotone_scores_is_too_small_for_others():
    assert worst_sieve(-1, 1, 1, 6, sieve_rates(Fraction(1), 0, 1, 1)) > 1.4


def test_without_a_cap_the_loss_grows_with_the_number_of_questions():
    rates = Fraction(1, 2), Fraction(1, 2)
    losses = []
    for each in (1, 5, 6):
        scores = [0] * each + [1] * each
        some, swapped = sieve_law(scores, 0, rates, None), sieve_law(scores[::-1], 0, rates, None)
        losses.append(loss(some, swapped))
    assert losses[0] == pytest.approx(0.74, abs=0.01)
    assert 4 < losses[1] < losses[2]


def test_threshold_noise_alone_makes_answers_impossible():
    some = sieve_law([0, 0], 0, (Fraction(1), None), None, query_noise=False)
    more = sieve_law([1, 0], 0, (Fraction(1), None), None, query_noise=False)
    assert some["yn"] == 0 and more["yn"] > 0.1
    assert loss(some, more) == np.inf


def asked_scores(table, score, asks):
    """The scores and rates with which Source.above answers, read off scripted noise that always says no."""
    noise = Scripted(laplace=[10**9])
    source = source_of(table, noise)
    sieve = source.above(score, 1, ONE)
    assert not any(sieve.ask(partition) for partition in asks)
    return [score(source._table.tabulate(partition)) for partition in asks], [rate for rate, _ in noise.asked[:2]]


def test_above_loses_at_most_its_budget_on_every_small_table():
    asks, worst = [RED, BLUE, YES, RED], 0.0
    for table, larger in neighbours(KINDS, 2, rows):
        (few, rates), (more, same) = asked_scores(table, Rows(0), asks), asked_scores(larger, Rows(0), asks)
        assert rates == same
        worst = max(worst, loss(sieve_law(few, 1, rates, 1), sieve_law(more, 1, rates, 1)))
    assert 0.6 < worst <= 1 + 1e-9
