"""Exact laws of counts, of parts and of people, by enumeration: see test_enumeration for selections and sieves."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations, product
from math import exp, log

import numpy as np
import pytest
from exact_laws import (
    Scripted,
    counts_law,
    laplace_tail,
    loss,
    neighbours,
    pmf,
    source_of,
)

from veil import WHOLE, Budget, BudgetRefused, Ledger, grid
from veil.audit import broken
from veil.audit.tables import COLOURS, EMPTY, LONE, PEOPLE, RED, SCHEMA, people, rows
from veil.kernel.noise import Noise
from veil.kernel.table import Table
from veil.kernel.verbs.sparse import gaps as drawn_gaps
from veil.kernel.verbs.sparse import sparse_threshold

KINDS = [("yes", "red", 1), ("no", "red", 1), ("yes", "blue", 3), ("no", "blue", 3)]
ONE = Budget(1)


# --- counts ----------------------------------------------------------------------------------------------------


class OneWord(Noise):
    """A source whose first word is given; the bits that refine it are zeros."""

    name, private = "one word", False

    def __init__(self, word: int) -> None:
        self.next = word

    def words(self, size: int):
        word, self.next = self.next, 0
        return np.full(size, word, np.uint64)


def words_with(holds) -> int:
    """How many 64-bit words have a property that holds for the small ones and not for the large ones."""
    low, high = 0, 2**64
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if holds(middle) else (low, middle)
    return low


def share_of_words(x: Fraction) -> Decimal:
    """2^64 exp(-x)."""
    with localcontext(prec=60):
        return (Decimal(-x.numerator) / x.denominator).exp() * 2**64


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 3), Fraction(1, 1000), Fraction(7, 2)])
def test_of_all_words_exactly_the_right_share_gives_a_geometric_draw_of_at_least_k(epsilon):
    for k in (1, 2, 3, 10):
        exact = words_with(lambda word, k=k: OneWord(word).geometric(epsilon, 1)[0] >= k)
        assert abs(exact - share_of_words(k * epsilon)) <= 1


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 7), Fraction(3, 10**6)])
def test_of_all_words_exactly_the_right_share_stops_a_selection(rate):
    for gap in (1, 2, 40):
        exact = words_with(lambda word, gap=gap: bool(OneWord(word).flips(np.array([gap]), rate)[0]))
        assert abs(exact - share_of_words(gap * rate)) <= 1


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_neighbouring_values_of_discrete_laplace_noise_differ_by_exactly_exp_epsilon(epsilon):
    """The noise is a difference of two geometric draws; their convolution is summed."""
    assert Noise.discrete_laplace(Scripted(geometric=[5, 2]), Fraction(1), 1)[0] == 3
    geometric = (1 - exp(-epsilon)) * np.exp(-epsilon * np.arange(int(60 / epsilon)))
    law = np.convolve(geometric, geometric[::-1])
    middle = len(geometric) - 1
    assert law[middle : middle + 5] / law[middle + 1 : middle + 6] == pytest.approx(exp(epsilon), abs=1e-12)
    assert law[middle - 5 : middle + 6] == pytest.approx(law[middle - 5 : middle + 6][::-1], abs=1e-15)


def counted(table, ask):
    """Exact counts and rates of a question, read off noise that is zero."""
    noise = Scripted()
    releases = ask(source_of(table, noise))
    rates = np.concatenate([np.full(size, float(rate)) for rate, size in noise.asked])
    return np.concatenate([release.value.ravel() for release in releases]), rates


@pytest.mark.parametrize(
    "ask",
    [
        lambda source: [source.count(grid(SCHEMA, "colour", "age"), ONE)],
        lambda source: source.count_each([WHOLE, RED, COLOURS], ONE, shares=[1, 2, 3]),
        lambda source: [source.count(WHOLE, ONE, by_class=False)],
    ],
)
def test_counts_lose_exactly_their_budget_on_every_small_table(ask):
    """The loss of counts with discrete Laplace noise is the sum of rate times change."""
    for table, larger in neighbours([*KINDS, ("yes", None, None)], 2, rows):
        (few, rates), (more, same) = counted(table, ask), counted(larger, ask)
        assert (rates == same).all()
        assert (rates * np.abs(more - few)).sum() == pytest.approx(1)
    few, more = counted(LONE, ask)[0], counted(rows(("yes", "red", 1), ("maybe", "red", 1)), ask)[0]
    assert (few == more).all()


def passing(epsilon: float, threshold: int) -> float:
    """P(Z > threshold) for discrete Laplace noise."""
    return float(laplace_tail(epsilon, threshold + 1))


@pytest.mark.parametrize(("epsilon", "threshold"), [(Fraction(1), 0), (Fraction(1, 2), 3), (Fraction(3), 20)])
def test_of_all_words_exactly_the_right_share_gives_a_gap_of_at_least_g(epsilon, threshold):
    """The last pair takes the exact branch: one empty cell in 10^27 survives."""
    with localcontext(prec=80):
        rate = Decimal(epsilon.numerator) / epsilon.denominator
        p = (-rate * (threshold + 1)).exp() / (1 + (-rate).exp())
        for gap in (1, 2, 17, int(1 / p)):
            exact = words_with(lambda word, gap=gap: drawn_gaps(OneWord(word), epsilon, threshold, 1)[0] >= gap)
            assert abs(exact - (1 - p) ** gap * 2**64) <= 1


def sparse_law(exact: list[int], threshold: int, epsilon: float, beyond: int) -> dict:
    """The law of `sparse_threshold` over every draw with values up to `beyond` above the threshold."""
    counts = np.array(exact)
    codes = np.flatnonzero(counts)
    law: dict = {}
    for noises, chance in noisy_occupied(counts[codes], threshold, epsilon, beyond):
        for gaps, rare in survivors(len(counts) - len(codes), passing(epsilon, threshold)):
            for extra in product(range(beyond), repeat=len(gaps) - 1):
                noise = Scripted(laplace=noises, gaps=[*gaps, *[99] * 50], geometric=extra)
                kept = sparse_threshold(codes, counts[codes], len(counts), threshold, Fraction(epsilon), noise)
                key = tuple(zip(*(part.tolist() for part in kept), strict=True))
                weight = np.prod([(1 - exp(-epsilon)) * exp(-epsilon * e) for e in extra])
                law[key] = law.get(key, 0) + chance * rare * weight
    return law


def noisy_occupied(counts, threshold, epsilon, beyond):
    """The noise of occupied cells and its chance; all that stays out counts as one."""
    options = []
    for count in counts:
        out = 1 - passing(epsilon, threshold - int(count))
        kept = range(threshold + 1, threshold + 1 + beyond)
        options.append([(-(10**6), out), *((v - count, pmf(epsilon, v - int(count))) for v in kept)])
    for combination in product(*options):
        yield [noise for noise, _ in combination], float(np.prod([chance for _, chance in combination]))


def survivors(empty: int, p: float):
    """The gaps between surviving empty cells, the last one leading beyond them, and their chance."""
    if empty == 0:
        yield [0], 1.0
        return
    yield [empty], (1 - p) ** empty
    for gap in range(empty):
        for gaps, chance in survivors(empty - gap - 1, p):
            yield [gap, *gaps], (1 - p) ** gap * p * chance


def dense_law(exact: list[int], threshold: int, epsilon: float, beyond: int) -> dict:
    """The law of a noisy count of every cell, blanked up to the threshold."""
    law = {}
    for values in product(range(threshold, threshold + 1 + beyond), repeat=len(exact)):
        chances = [
            1 - passing(epsilon, threshold - e) if v == threshold else pmf(epsilon, v - e)
            for v, e in zip(values, exact, strict=True)
        ]
        law[tuple((cell, v) for cell, v in enumerate(values) if v > threshold)] = float(np.prod(chances))
    return law


@pytest.mark.parametrize("threshold", [0, 2])
@pytest.mark.parametrize("exact", [[0, 0, 0], [1, 0, 0], [0, 2, 0], [3, 0, 1], [1, 2, 3]])
def test_sparse_counts_have_the_law_of_dense_ones(threshold, exact):
    sparse, dense = sparse_law(exact, threshold, 1.0, 3), dense_law(exact, threshold, 1.0, 3)
    assert sparse.keys() == dense.keys()
    assert max(abs(sparse[key] - dense[key]) for key in dense) < 1e-12


@pytest.mark.parametrize("threshold", [0, 2])
def test_sparse_counts_lose_exactly_epsilon(threshold):
    laws = {exact: sparse_law(list(exact), threshold, 1.0, 4) for exact in product(range(2), repeat=3)}
    losses = [
        loss(laws[exact], laws[larger])
        for exact, larger in product(laws, laws)
        if sum(larger) - sum(exact) == 1 and sum(abs(a - b) for a, b in zip(exact, larger, strict=True)) == 1
    ]
    assert losses == pytest.approx([1] * len(losses))


# --- parts and people ------------------------------------------------------------------------------------------


def rooms(table, membership):
    """The exact counts of two random rooms when the rows are drawn to these."""
    noise = Scripted(below=membership)
    parts = source_of(table, noise).split_at_random(1, 1)
    return [int(part.count(WHOLE, ONE, by_class=False).value[0, 0]) for part in parts]


def mixture_of_rooms(table, size):
    return [(2.0**-size, rooms(table, membership)) for membership in product((0, 1), repeat=size)]


def occupied_law(table):
    """The law of `occupied` on a table: the exact number, and the one draw of noise that the verb asks for."""
    noise = Scripted(laplace=[0])
    exact = source_of(table, noise).occupied(COLOURS, ONE).value
    assert noise.asked == [(Fraction(1), 1)]
    return counts_law([(1.0, (exact,))], [1.0])


def test_the_number_of_occupied_cells_loses_at_most_epsilon_on_all_neighbours():
    losses = [loss(occupied_law(few), occupied_law(more)) for few, more in neighbours(KINDS, 3, rows)]
    assert max(losses) == pytest.approx(1) and {round(one, 9) for one in losses} == {0.0, 1.0}


@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_random_split_that_is_kept_loses_exactly_epsilon(size):
    few, more = (rows(*[KINDS[0]] * n) for n in (size, size + 1))
    laws = counts_law(mixture_of_rooms(few, size), [1, 1]), counts_law(mixture_of_rooms(more, size + 1), [1, 1])
    assert loss(*laws) <= 1 + 1e-9
    if size == 0:
        assert loss(*laws) == pytest.approx(1)


def test_a_random_split_that_is_redrawn_loses_more():
    again = [(0.25, member) for member in product((0, 1), repeat=2)]
    assert loss(counts_law([(1, (0, 0))], [1, 1]), counts_law(again, [1, 1])) == pytest.approx(
        2 * log((1 + exp(1)) / 2)
    )
    assert 2 * log((1 + exp(1)) / 2) == pytest.approx(1.24, abs=0.001)
    noise = Scripted(below=[0, 1, 1, 0])
    assert broken.membership_redrawn(1, noise, 2).tolist() == [[0, 1], [1, 0]]


def test_a_cap_by_subsampling_loses_more_than_epsilon():
    three = rows(*[("yes", "red", 1)] * 3)
    four = rows(*[("yes", "red", 1)] * 3, ("yes", "blue", 1))
    few = [(1.0, broken.capped_by_subsampling(three, Scripted(), 1)[0])]
    more = [(0.25, broken.capped_by_subsampling(four, Scripted(below=[i]), 1)[0]) for i in range(4)]
    assert loss(counts_law(few, [1, 1]), counts_law(more, [1, 1])) == pytest.approx(1.756, abs=0.001)


def affordable(choices, limit=1):
    """Which of these charges to two parts a ledger of this limit grants, in turn."""
    ledger = Ledger(limit, "audit")
    group = ledger.account.split(question="two parts", parts=2)
    granted = []
    for part, cost in choices:
        try:
            ledger.account.part(group, part).charge(Budget(cost), verb="count", question="", noise="", private=False)
            granted.append(True)
        except BudgetRefused:
            granted.append(False)
    assert ledger.spent <= limit
    return granted


def test_an_adaptive_analyst_of_two_parts_loses_exactly_the_limit():
    """All sequences of questions and answers: the row is in part 0, each answer is a bit with loss equal to its cost.

    A sequence holds for every analyst who may ask it, whatever the answers made them ask next.
    """
    options = list(product((0, 1), (Fraction(1, 2), Fraction(1))))
    worst, transcripts = 0.0, 0
    for choices in product(options, repeat=4):
        granted = affordable(choices)
        costs = [cost if ok and part == 0 else 0 for (part, cost), ok in zip(choices, granted, strict=True)]
        for answers in product((-1, 1), repeat=sum(granted)):
            signs = iter(answers)
            losses = [float(cost) * next(signs) for cost, ok in zip(costs, granted, strict=True) if ok]
            worst, transcripts = max(worst, abs(sum(losses))), transcripts + 1
    assert worst == pytest.approx(1.0)
    assert transcripts > 1000


def test_one_analyst_has_laws_that_add_up_and_differ_by_the_limit():
    """Ask the part that last said yes; a bit is right with probability e / (1 + e), e = exp(cost)."""

    def law(present, answers=(), choices=((0, Fraction(1, 2)),)):
        if not affordable(choices)[-1]:
            return {(*answers, "refused"): 1.0}
        part, cost = choices[-1]
        yes = 1 / (1 + exp(-float(cost))) if present and part == 0 else 1 / (1 + exp(float(cost)))
        laws = {}
        for answer, chance in ((1, yes), (0, 1 - yes)):
            following = (*choices, (part if answer else 1 - part, Fraction(1, 2)))
            laws |= {k: v * chance for k, v in law(present, (*answers, answer), following).items()}
        return laws

    without, having = law(False), law(True)
    assert sum(without.values()) == pytest.approx(1) and sum(having.values()) == pytest.approx(1)
    assert loss(without, having) == pytest.approx(1)


@pytest.mark.parametrize("colours", [("red",) * 4, ("red", "red", "blue", "blue"), ("red", "blue", "green", "blue")])
def test_a_person_with_many_rows_loses_at_most_epsilon(colours):
    """Every order of the random keys: two of the four rows stay, and each count has noise for epsilon / 2."""
    other = ("yes", "red", 1, "ann")
    larger = people(other, *[("yes", colour, 1, "bob") for colour in colours])
    few, rates = person_counts(people(other), [0])
    mixture = [(1 / 24, person_counts(larger, [9, *keys])[0]) for keys in permutations(range(4))]
    assert rates == [0.5] * 3
    assert all(sum(counts) == 3 for _, counts in mixture)
    worst = loss(counts_law([(1.0, few)], rates, 4), counts_law(mixture, rates, 4))
    assert worst == pytest.approx(1) if len(set(colours)) == 1 else worst <= 1 + 1e-9


def person_counts(table, keys):
    noise = Scripted(words=keys)
    counts = source_of(table, noise, PEOPLE).count(COLOURS, ONE, by_class=False).value.ravel()
    return [int(n) for n in counts[:3]], [float(rate) for rate, size in noise.asked for _ in range(size - 1)]


def test_an_empty_table_and_its_parts_can_be_asked_anything():
    source = source_of(EMPTY, Scripted())
    parts = source.split(COLOURS)
    assert len(parts) == 4 and all(isinstance(part._table, Table) for part in parts)
    assert source.count_sparse(COLOURS, ONE, threshold=1).value.codes.size <= COLOURS.size * 2
