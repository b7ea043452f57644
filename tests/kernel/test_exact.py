"""The bounds and the samplers against long arithmetic, at the places where a rounding error would show.

Most draws are decided in double precision and never see the integer arithmetic. Here the random words are placed next
to the boundaries between two answers, so that it is the integer arithmetic, and further words, that must decide.
"""

import sys
from collections.abc import Callable, Iterator
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veil.kernel import SMALLEST_EPSILON
from veil.kernel import noise as noise_module
from veil.kernel.bounds import Uniform, count_below, exp_bounds
from veil.kernel.noise import BLOCK, Noise
from veil.kernel.verbs import sparse
from veil.kernel.verbs.sparse import gap_bounds, gap_guess, gaps

LONG = Context(prec=350, Emin=MIN_EMIN, Emax=MAX_EMAX)
EPSILONS = [
    SMALLEST_EPSILON,
    Fraction(1, 10**6),
    Fraction(1, 1000),
    Fraction(37, 100),
    Fraction(1, 3),
    Fraction(1),
    Fraction(7, 2),
    Fraction(20),
]
SPECIAL_WORDS = [0, 1, 2, 2**63, 2**64 - 1024, 2**64 - 1]
OFFSETS = range(-3, 4)
# (epsilon, threshold): the first five draw int64, the others Python integers; -1 lets more than half of the cells pass
INT64_GAPS = [
    (Fraction(1), 0),
    (Fraction(1, 2), 4),
    (Fraction(1, 3), 10),
    (Fraction(37, 100), 30),
    (Fraction(1), 25),
]
OBJECT_GAPS = [
    (Fraction(1), 30),
    (Fraction(37, 100), 400),
    (Fraction(1, 10), -1),
    (Fraction(12), -1),
    (Fraction(60), -1),
]


@cache
def long_exp(x: Fraction) -> Decimal:
    """exp(-x) to 350 digits."""
    return LONG.exp(LONG.divide(Decimal(-x.numerator), Decimal(x.denominator)))


@cache
def long_stay(epsilon: Fraction, threshold: int, gap: int) -> Decimal:
    """(1 - p)^gap to 350 digits, p = P(discrete Laplace > threshold)."""
    p = LONG.divide(long_exp(epsilon * (threshold + 1)), LONG.add(1, long_exp(epsilon)))
    return LONG.power(LONG.subtract(1, p), Decimal(gap))


def scaled(value: Decimal, bits: int) -> Decimal:
    return LONG.multiply(value, Decimal(1 << bits))


class Scripted(Noise):
    """Hands out the given words, then seeded ones, and remembers what it handed out."""

    name, private = "scripted", False

    def __init__(self, *script: int) -> None:
        self._script, self._rest, self.taken = list(script), np.random.default_rng(0), []

    def words(self, size: int) -> np.ndarray:
        given_words, self._script = self._script[:size], self._script[size:]
        rest = self._rest.integers(0, 2**64, size - len(given_words), np.uint64).tolist()
        self.taken += given_words + rest
        return np.array(given_words + rest, np.uint64)

    def known(self) -> tuple[int, int]:
        """All words handed out, as one integer, and its bits: U of the only draw is in [top, top + 1) / 2^bits."""
        return int.from_bytes(np.array(self.taken, ">u8").tobytes(), "big"), 64 * len(self.taken)


def placed(boundary: Decimal, parts: int, offset: int) -> list[int] | None:
    """Words of the number that is `offset` units of 2^-(64 parts) away from the boundary; None outside [0, 1)."""
    top = int(scaled(boundary, 64 * parts)) + offset
    if not 0 <= top < 1 << 64 * parts:
        return None
    return np.frombuffer(top.to_bytes(8 * parts, "big"), ">u8").tolist()


def assert_exactly(value: int, source: Scripted, power: Callable[[int], Decimal]) -> None:
    """Whatever the bits of U that are still unknown: U < power(value), and U >= power(value + 1)."""
    top, bits = source.known()
    assert value >= 0
    assert top + 1 <= scaled(power(value), bits)
    assert top >= scaled(power(value + 1), bits)


def geometric_ks(epsilon: Fraction) -> Iterator[int]:
    """Steps k >= 1 where exp(-k epsilon) is near 1, in the middle, and next to 2^-64."""
    yield from sorted({int(x / epsilon) + 1 for x in (0, 1e-6, 1e-3, 0.01, 0.1, 0.3, 0.5, *range(1, 45, 2))})


@pytest.fixture
def refined(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The results of the draws that double precision could not decide."""
    results = []

    def spy(*args: object) -> int:
        results.append(count_below(*args))
        return results[-1]

    monkeypatch.setattr(noise_module, "count_below", spy)
    monkeypatch.setattr(sparse, "count_below", spy)
    return results


# --- bounds -----------------------------------------------------------------------------------------------------------


def assert_brackets(bounds: tuple[int, int], truth: Decimal, bits: int) -> None:
    low, high = bounds
    assert low <= scaled(truth, bits) <= high
    assert high - low <= 2


@pytest.mark.parametrize(
    "x",
    [
        *(Fraction(1, 2**k) for k in (1, 8, 9, 31, 32, 63, 64, 65, 200, 1100)),
        *(Fraction(10) ** k for k in (-300, -20, -6, -3, 0, 1, 2, 3, 6, 12)),
        *(Fraction(n, d) for n, d in ((1, 3), (37, 100), (255, 256), (256, 255), (44, 1), (2**64 - 1, 2**64))),
    ],
    ids=lambda x: f"{float(x):.3g}",
)
def test_exp_bounds_bracket_the_truth_within_two_units(x: Fraction) -> None:
    for bits in (1, 64, 128, 192, 1024):
        assert_brackets(exp_bounds(x, bits), long_exp(x), bits)


@given(st.fractions(0, 2000, max_denominator=10**30), st.integers(1, 700))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_exp_bounds_bracket_the_truth_for_any_fraction_and_precision(x: Fraction, bits: int) -> None:
    assert_brackets(exp_bounds(x, bits), long_exp(x), bits)


def test_exp_bounds_of_zero_are_exactly_one() -> None:
    assert exp_bounds(Fraction(0), 64) == (2**64, 2**64)


@pytest.mark.parametrize(
    "epsilon, threshold", INT64_GAPS + OBJECT_GAPS + [(Fraction(1, 2**32), 0), (Fraction(1000), 3)]
)
def test_gap_bounds_bracket_the_truth_within_two_units(epsilon: Fraction, threshold: int) -> None:
    gaps = [0, 1, 2, 3, 10**3, 2**20 + 1, 2**38 - 1, 10**13, 2**64, 3**60, 10**40, 2**300]
    for gap, bits in product(gaps, (64, 128, 256)):
        assert_brackets(gap_bounds(epsilon, threshold, gap, bits), long_stay(epsilon, threshold, gap), bits)


@given(st.fractions(Fraction(1, 1000), 20), st.integers(-1, 30), st.integers(0, 10**30), st.integers(1, 300))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_gap_bounds_bracket_the_truth_for_any_parameters(e: Fraction, threshold: int, gap: int, bits: int) -> None:
    assert_brackets(gap_bounds(e, threshold, gap, bits), long_stay(e, threshold, gap), bits)


def test_an_undecided_comparison_appends_words_to_the_same_draw() -> None:
    third = int(Decimal(2**64) / 3)  # the words of 1/3 are all the same
    extra = iter([third, third, third + 1])
    uniform = Uniform(third, lambda: next(extra))
    assert not uniform.below(lambda bits: (2**bits // 3, 2**bits // 3 + 1))
    assert next(extra, None) is None
    assert (uniform.top, uniform.bits) == (((third << 64 | third) << 64 | third) << 64 | third + 1, 256)


@pytest.mark.parametrize("guess", [-(2**63), 0, 1, 2, 1000, 1386, 1387, 5000, 10**9])
@pytest.mark.parametrize("limit", [None, 0, 1, 1385, 1386, 1387, 10**6])
def test_counting_finds_the_same_answer_from_any_guess_up_to_the_limit(guess: int, limit: int | None) -> None:
    def power(k: int, bits: int) -> tuple[int, int]:
        return exp_bounds(Fraction(k, 1000), bits)

    count = count_below(Uniform(2**62, lambda: 0), power, guess, limit)  # log(4) = 1.38629...
    assert count == (1386 if limit is None else min(limit, 1386))


@pytest.mark.parametrize("epsilon, threshold", [(Fraction(1), 27), (Fraction(1), 140), (Fraction(37, 100), 400)])
def test_a_guess_is_right_to_the_unit_however_large_the_gap(epsilon: Fraction, threshold: int) -> None:
    source = Scripted(2**62, 12345)
    uniform = source.uniform(source.words(1)[0])
    guess = gap_guess(uniform, epsilon, threshold, None)
    assert guess.bit_length() > 38
    assert abs(count_below(uniform, lambda g, bits: gap_bounds(epsilon, threshold, g, bits), guess) - guess) <= 2


# --- samplers at the boundaries ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_geometric_draws_next_to_a_boundary_are_refined_and_right(epsilon: Fraction, refined: list[int]) -> None:
    draws = 0
    for k, parts, offset in product(geometric_ks(epsilon), (1, 2, 3), OFFSETS):
        script = placed(long_exp(k * epsilon), parts, offset)
        if script is None:
            continue
        source = Scripted(*script)
        value = int(source.geometric(epsilon, 1)[0])
        assert_exactly(value, source, lambda j: long_exp(j * epsilon))
        assert len(source.taken) > parts or offset != 0  # the boundary is inside the last word: one more is needed
        draws += 1
    assert len(refined) > 0.8 * draws > 40


@pytest.mark.parametrize("epsilon", [*EPSILONS, Fraction(10**6), Fraction(10**400)], ids=lambda e: str(e)[:10])
@pytest.mark.parametrize("word", SPECIAL_WORDS)
def test_geometric_draws_of_extreme_words_are_right(epsilon: Fraction, word: int) -> None:
    source = Scripted(word)
    value = int(source.geometric(epsilon, 1)[0])
    if epsilon <= 1000:
        assert_exactly(value, source, lambda j: long_exp(j * epsilon))
    assert value == 0 or epsilon <= 20


def test_a_very_large_epsilon_still_gives_one_at_its_own_tiny_chance() -> None:
    boundary = long_exp(Fraction(1000))  # 2^-1442.7: more than 22 words of zeros
    for offset, expected in ((-2, 1), (2, 0)):
        source = Scripted(*placed(boundary, 24, offset))
        assert source.geometric(Fraction(1000), 1).tolist() == [expected]
        assert len(source.taken) == 24


def test_every_block_of_a_long_draw_refines_its_own_words(refined: list[int]) -> None:
    epsilon, k = Fraction(1, 3), 7
    near = int(scaled(long_exp(k * epsilon), 64))
    words = np.full(2 * BLOCK + 10, 2**63, np.uint64)
    spots = [0, BLOCK - 1, BLOCK, 2 * BLOCK - 1, 2 * BLOCK, 2 * BLOCK + 9]
    words[spots] = [near - 3, near + 3, near - 2, near + 2, near - 3, near + 3]
    values = Scripted(*words.tolist()).geometric(epsilon, words.size)
    assert values[spots].tolist() == [k, k - 1] * 3
    assert np.delete(values, spots).tolist() == [2] * (words.size - 6)  # 3 log(2) = 2.07...
    assert refined == [k, k - 1] * 3


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_discrete_laplace_is_the_difference_of_two_exact_draws(epsilon: Fraction) -> None:
    k, j = max(int(5 / epsilon), 1), max(int(2 / epsilon), 2)
    for first, second in product((-3, -2, 2, 3), repeat=2):
        pair = placed(long_exp(k * epsilon), 2, first), placed(long_exp(j * epsilon), 2, second)
        script = [word for words in zip(*pair, strict=True) for word in words]  # both first words, then both second
        source = Scripted(*script)
        assert source.discrete_laplace(epsilon, 1).tolist() == [k - (first > 0) - (j - (second > 0))]
        assert source.taken == script  # both draws needed their second word


@pytest.mark.parametrize("rate", [*EPSILONS, Fraction(123456789, 2**70)], ids=str)
def test_coins_next_to_the_boundary_are_refined_and_right(rate: Fraction) -> None:
    for gap, parts, offset in product(geometric_ks(rate), (1, 2, 3), OFFSETS):
        script = placed(long_exp(gap * rate), parts, offset) if gap < 2**63 else None
        if script is None:
            continue
        source = Scripted(*script)
        heads = bool(source.flips(np.array([gap]), rate)[0])
        top, bits = source.known()
        boundary = scaled(long_exp(gap * rate), bits)
        assert top + 1 <= boundary if heads else top >= boundary
        assert heads == (offset < 0) or offset == 0
        assert len(source.taken) > parts or offset != 0


@pytest.mark.parametrize("word", SPECIAL_WORDS)
@pytest.mark.parametrize("gap", [0, 1, 2, 44, 45, 700, 1000, 2**40, 2**63 - 1])
def test_coins_of_extreme_words_are_right(word: int, gap: int) -> None:
    source = Scripted(word)
    heads = bool(source.flips(np.array([gap]), Fraction(1))[0])
    top, bits = source.known()
    assert heads == (top < scaled(long_exp(Fraction(gap)), bits))


def test_coins_of_a_whole_vector_use_one_word_each() -> None:
    gaps, words = np.arange(6), [2**64 - 1, *(int(scaled(long_exp(Fraction(k)), 64)) + 3 - k for k in range(1, 6))]
    source = Scripted(*words)
    # word - boundary is 2, 1, 0 (undecided: refined), -1, -2
    assert source.flips(gaps, Fraction(1))[[0, 1, 2, 4, 5]].tolist() == [True, False, False, True, True]
    assert len(source.taken) == 7


def gap_steps(epsilon: Fraction, threshold: int) -> list[int]:
    """Gaps g >= 1 where (1-p)^g is near 1, in the middle, and small but above 2^-64."""
    rate = -long_stay(epsilon, threshold, 1).ln(LONG)
    return sorted({int(LONG.divide(Decimal(x), rate)) + 1 for x in ("0", "1e-6", "0.01", "0.3", "1", "3", "20", "40")})


@pytest.mark.parametrize("epsilon, threshold", INT64_GAPS + OBJECT_GAPS)
def test_gaps_next_to_a_boundary_are_refined_and_right(epsilon: Fraction, threshold: int, refined: list[int]) -> None:
    draws = 0
    for g, parts, offset in product(gap_steps(epsilon, threshold), (1, 2), OFFSETS):
        script = placed(long_stay(epsilon, threshold, g), parts, offset)
        if script is None:
            continue
        source = Scripted(*script)
        found = gaps(source, epsilon, threshold, 1)
        assert found.dtype == (np.int64 if (epsilon, threshold) in INT64_GAPS else object)
        assert_exactly(int(found[0]), source, lambda j: long_stay(epsilon, threshold, j))
        assert len(source.taken) > parts or offset != 0
        draws += 1
    assert len(refined) > 0.9 * draws > 5


@pytest.mark.parametrize("epsilon, threshold", INT64_GAPS + OBJECT_GAPS)
@pytest.mark.parametrize("word", SPECIAL_WORDS)
def test_gaps_of_extreme_words_are_right(epsilon: Fraction, threshold: int, word: int) -> None:
    source = Scripted(word)
    value = int(gaps(source, epsilon, threshold, 1)[0])
    assert_exactly(value, source, lambda j: long_stay(epsilon, threshold, j))


@pytest.mark.parametrize("epsilon, threshold", [(Fraction(1, 2), 4), (Fraction(1), 30), (Fraction(2), -1)])
def test_a_limit_cuts_a_gap_and_changes_nothing_else(epsilon: Fraction, threshold: int) -> None:
    word = int(scaled(long_stay(epsilon, threshold, 5), 64)) - 5 if threshold < 30 else 2**63
    gap = int(gaps(Scripted(word, 7, 7), epsilon, threshold, 1)[0])
    for limit in (0, 1, gap - 1, gap, gap + 1, 10 * gap, 2**70):
        assert gaps(Scripted(word, 7, 7), epsilon, threshold, 1, limit).tolist() == [min(gap, limit)]


@pytest.mark.parametrize("epsilon, threshold", [(Fraction(1000), 0), (Fraction(10**6), 10**6)])
def test_a_limit_makes_gaps_of_astronomic_size_quick(epsilon: Fraction, threshold: int) -> None:
    assert gaps(Scripted(0, 1), epsilon, threshold, 3, 2**70).tolist() == [2**70] * 3


def test_a_limit_may_have_more_digits_than_python_prints() -> None:
    printable = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert gap_guess(Uniform(2**63, lambda: 0), Fraction(10**5), 0, 2**2500) == 2**2500
    finally:
        sys.set_int_max_str_digits(printable)


def test_a_threshold_that_most_empty_cells_pass_is_refused() -> None:
    with pytest.raises(ValueError, match="below -1"):
        gaps(Scripted(), Fraction(1), -2, 1)


@pytest.mark.parametrize("word", [*SPECIAL_WORDS, 3, 2**10, 2**11 + 1, 2**53 + 1, 2**64 - 2**11])
def test_no_word_makes_numpy_complain(word: int) -> None:
    with np.errstate(all="raise"):
        for epsilon in (SMALLEST_EPSILON, Fraction(1, 3), Fraction(10**6)):
            assert Scripted(word).geometric(epsilon, 1).dtype == np.int64
            assert Scripted(word, 1, word).discrete_laplace(epsilon, 1).dtype == np.int64
            assert Scripted(word).flips(np.array([2**40]), epsilon).dtype == np.bool_
        for epsilon, threshold in INT64_GAPS + OBJECT_GAPS:
            assert gaps(Scripted(word), epsilon, threshold, 1)[0] >= 0
        assert 0 <= Scripted(word).below(10, 1)[0] < 10
        assert Scripted(word).permutation(1).tolist() == [0]
