"""The laws of the samplers, and the promises of the noise sources.

Every law is tested with seeded noise, so the tests always give the same answer. A test of a law is worth something only
if it rejects a wrong one: the same chi-square must reject a scale that is wrong by one percent.
"""

import copy
import os
import pickle
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import numpy as np
import opendp.prelude as dp
import pytest
from scipy import stats

from veil.errors import BadInput
from veil.kernel import SMALLEST_EPSILON, OpenDPNoise, SeededNoise, SystemNoise, make_noise
from veil.kernel.noise import Noise
from veil.kernel.verbs.sparse import gaps as gaps_of

pytestmark = pytest.mark.system_noise
LEAST = 1e-4  # the smallest p-value that passes; the draws are seeded, so this is not a rate of failure
EPSILONS = [Fraction(1, 1000), Fraction(37, 100), Fraction(1, 3), Fraction(1), Fraction(5, 2)]


class Scripted(Noise):
    """Hands out the given words and no others."""

    name, private = "scripted", False

    def __init__(self, *script: int) -> None:
        self.left = list(script)

    def words(self, size: int) -> np.ndarray:
        assert size <= len(self.left)
        taken, self.left = self.left[:size], self.left[size:]
        return np.array(taken, np.uint64)


def laplace_tail(z: np.ndarray, epsilon: float) -> np.ndarray:
    """P(Z >= z) of the discrete Laplace law."""
    above = np.exp(-epsilon * np.abs(np.where(z > 0, z, 1 - z))) / (1 + np.exp(-epsilon))
    return np.where(z > 0, above, 1 - above)


def cuts_and_masses(epsilon: float, cells: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Integer cuts that split the discrete Laplace law into at most `cells` cells, and the mass of every cell."""
    shares = np.linspace(0, 1, cells + 1)[1:-1]
    cuts = np.unique(np.ceil(stats.laplace.ppf(shares, scale=1 / epsilon)).astype(np.int64))
    return cuts, -np.diff(laplace_tail(cuts, epsilon), prepend=1, append=0)


def tally(draws: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """How many draws lie below the first cut, between two cuts, and from the last cut up."""
    return np.bincount(np.searchsorted(cuts, draws, side="right"), minlength=cuts.size + 1)


def laplace_fit(draws: np.ndarray, epsilon: Fraction) -> float:
    """The p-value of a chi-square test that the draws are discrete Laplace."""
    cuts, masses = cuts_and_masses(float(epsilon))
    return float(stats.chisquare(tally(draws, cuts), masses * draws.size).pvalue)


def tail_fit(draws: np.ndarray, cuts: np.ndarray, tails: np.ndarray) -> float:
    """The p-value of a chi-square test that P(draw >= cut) is the tail at every cut."""
    return float(stats.chisquare(tally(draws, cuts), -np.diff(tails, prepend=1, append=0) * draws.size).pvalue)


def gap_chance(epsilon: Fraction, threshold: int) -> float:
    return float(np.exp(-float(epsilon * (threshold + 1))) / (1 + np.exp(-float(epsilon))))


# --- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [SMALLEST_EPSILON, Fraction(1, 10**6), *EPSILONS], ids=str)
def test_geometric_draws_have_their_law(epsilon: Fraction) -> None:
    draws = SeededNoise(1).geometric(epsilon, 500_000)
    cuts = np.unique(np.ceil(stats.expon.ppf(np.linspace(0, 0.98, 50)[1:], scale=float(1 / epsilon))).astype(np.int64))
    assert tail_fit(draws, cuts, np.exp(-cuts * float(epsilon))) > LEAST


@pytest.mark.parametrize("epsilon", [SMALLEST_EPSILON, Fraction(1, 10**6), *EPSILONS], ids=str)
def test_discrete_laplace_draws_have_their_law(epsilon: Fraction) -> None:
    assert laplace_fit(SeededNoise(2).discrete_laplace(epsilon, 500_000), epsilon) > LEAST


def test_draws_for_several_epsilons_are_those_for_each_of_them() -> None:
    sizes = [100_000, 1, 0, 70_000, 50_000]  # more than a block in all
    together, noise = SeededNoise(20).discrete_laplace_each(EPSILONS, sizes), SeededNoise(20)
    apart = [noise.discrete_laplace(epsilon, size) for epsilon, size in zip(EPSILONS, sizes, strict=True)]
    assert all(np.array_equal(one, other) for one, other in zip(together, apart, strict=True))


class LastWordIsUnclear(SeededNoise):
    """The last word is zero, of which a double knows too little: the draw is refined, by the last epsilon."""

    def words(self, size):  # type: ignore[no-untyped-def]
        words = super().words(size)
        words[-1] = 0 if size > 1 else words[-1]
        return words


def test_an_unclear_draw_is_refined_with_its_own_epsilon() -> None:
    draws = LastWordIsUnclear(21).geometric_each([Fraction(1), Fraction(1, 1000)], [3, 5])
    assert draws[-1] > 64 * np.log(2) * 1000 * 0.9 and draws[:3].max() < 50


@pytest.mark.parametrize("factor", [Fraction(99, 100), Fraction(101, 100)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(37, 100), Fraction(1)], ids=str)
def test_a_scale_wrong_by_one_percent_is_rejected(epsilon: Fraction, factor: Fraction) -> None:
    size = 4 * 10**6
    cuts, right = cuts_and_masses(float(epsilon))
    wrong = -np.diff(laplace_tail(cuts, float(epsilon * factor)), prepend=1, append=0)
    power = stats.ncx2.sf(stats.chi2.isf(LEAST, cuts.size), cuts.size, size * np.sum((wrong - right) ** 2 / right))
    assert power > 0.999
    noise = SeededNoise(3)
    assert laplace_fit(noise.discrete_laplace(epsilon * factor, size), epsilon) < LEAST
    assert laplace_fit(noise.discrete_laplace(epsilon, size), epsilon) > LEAST


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(1)], ids=str)
def test_the_far_tails_of_the_discrete_laplace_have_their_mass(epsilon: Fraction) -> None:
    draws, alpha = SeededNoise(4).discrete_laplace(epsilon, 4 * 10**6), float(np.exp(-float(epsilon)))
    for threshold in (int(x / epsilon) for x in (0, 2, 5, 8, 10, 12)):
        mass = alpha ** (threshold + 1) / (1 + alpha)
        assert stats.binomtest(int(np.sum(draws > threshold)), draws.size, mass).pvalue > LEAST
        assert stats.binomtest(int(np.sum(draws < -threshold)), draws.size, mass).pvalue > LEAST


def test_a_very_large_epsilon_gives_no_noise() -> None:
    assert not SeededNoise(5).discrete_laplace(Fraction(10**6), 10**5).any()


def test_draws_agree_with_opendp_and_would_not_at_another_scale() -> None:
    # OpenDP's draws cannot be seeded: pass unless an event of chance 10^-9 happens
    epsilon, size = Fraction(1, 3), 40_000
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    dp.enable_features("contrib")
    theirs = np.array(dp.m.make_laplace(*space, scale=3.0)([0] * size))
    cuts, _ = cuts_and_masses(float(epsilon), 40)
    for factor, same in ((Fraction(1), True), (Fraction(10, 9), False), (Fraction(10, 11), False)):
        ours = SeededNoise(6).discrete_laplace(epsilon * factor, 10**6)
        table = [tally(ours, cuts), tally(theirs, cuts)]
        assert (stats.chi2_contingency(table).pvalue > 1e-9) == same


def test_the_opendp_source_has_the_same_law() -> None:
    assert laplace_fit(OpenDPNoise().discrete_laplace(Fraction(37, 100), 40_000), Fraction(37, 100)) > 1e-9


@pytest.mark.parametrize("rate", [Fraction(1, 2**32), Fraction(1, 3), Fraction(37, 100), Fraction(10**6)], ids=str)
def test_coins_have_their_law(rate: Fraction) -> None:
    steps, draws = np.array([int(x / rate) + 1 for x in (0.01, 0.3, 1, 2, 4, 7)]), 200_000
    for gap, heads in zip(steps, SeededNoise(7).flips(np.repeat(steps, draws), rate).reshape(-1, draws), strict=True):
        chance = np.exp(-int(gap) * float(rate))
        assert stats.binomtest(int(heads.sum()), draws, chance).pvalue > LEAST


def test_a_coin_wrong_by_one_percent_is_rejected() -> None:
    heads = SeededNoise(8).flips(np.full(10**6, 1), Fraction(101, 100))
    assert stats.binomtest(int(heads.sum()), 10**6, np.exp(-1)).pvalue < LEAST


def test_a_coin_without_a_gap_is_always_true() -> None:
    assert SeededNoise(9).flips(np.zeros(10**5, np.int64), Fraction(1, 3)).all()


@pytest.mark.parametrize("bound", [2, 3, 10, 1000, 3 * 2**61, 2**63])
def test_integers_below_a_bound_are_uniform(bound: int) -> None:
    draws = SeededNoise(10).below(bound, 400_000)
    cells = min(bound, 48)
    assert 0 <= draws.min() and draws.max() < bound
    counts = np.bincount([int(draw) * cells // bound for draw in draws], minlength=cells)
    edges = [-(-cell * bound // cells) for cell in range(cells + 1)]
    assert stats.chisquare(counts, np.diff([edge / bound for edge in edges]) * draws.size).pvalue > LEAST


def test_words_above_the_last_whole_multiple_are_redrawn() -> None:
    # 2^64 is 1 mod 3, 0 mod 4 and a third more than 6 x 2^61: the words above the last multiple are unusable
    assert Scripted(2**64 - 1, 2**64 - 1, 5).below(3, 1).tolist() == [2]
    assert Scripted(2**64 - 2, 0).below(3, 2).tolist() == [2, 0]
    assert Scripted(2**64 - 1).below(4, 1).tolist() == [3]
    assert Scripted(6 * 2**61, 6 * 2**61 - 1, 7).below(3 * 2**61, 2).tolist() == [7, 3 * 2**61 - 1]
    assert Scripted(2**64 - 1).below(1, 1).tolist() == [0]


def test_words_of_the_system_can_be_redrawn() -> None:
    draws = SystemNoise().below(3 * 2**61, 1000)  # a quarter of the words is unusable
    assert 0 <= draws.min() and draws.max() < 3 * 2**61


def test_all_orders_are_equally_likely() -> None:
    noise, orders = SeededNoise(11), {order: i for i, order in enumerate(permutations(range(4)))}
    counts = np.bincount([orders[tuple(noise.permutation(4).tolist())] for _ in range(24_000)], minlength=24)
    assert stats.chisquare(counts).pvalue > LEAST


def test_equal_keys_make_the_whole_order_be_drawn_again() -> None:
    source = Scripted(5, 9, 5, 30, 10, 20)
    assert source.permutation(3).tolist() == [1, 2, 0]
    assert source.left == []


@pytest.mark.parametrize("size", [0, 1, 1000])
def test_an_order_holds_every_position_once(size: int) -> None:
    assert sorted(SystemNoise().permutation(size).tolist()) == list(range(size))


@pytest.mark.parametrize(
    "epsilon, threshold, size, kind",
    [
        (Fraction(1, 2), 4, 10**6, np.int64),
        (Fraction(37, 100), 0, 10**6, np.int64),
        (Fraction(1, 3), 60, 10**6, np.int64),
        (Fraction(1), 25, 10_000, np.int64),  # 1/p = 2^37.9: most draws are refined
        (Fraction(1), 30, 3_000, object),
        (Fraction(37, 100), 200, 3_000, object),
        (Fraction(1, 2), -1, 5_000, object),
    ],
)
def test_gaps_have_their_law(epsilon: Fraction, threshold: int, size: int, kind: type) -> None:
    gaps, p = gaps_of(SeededNoise(12), epsilon, threshold, size), gap_chance(epsilon, threshold)
    assert gaps.dtype == kind
    rate, shares = -np.log1p(-p), np.linspace(0, 0.96, 25)[1:]
    cuts = np.unique(np.ceil(stats.expon.ppf(shares, scale=1 / rate)))
    assert tail_fit(gaps.astype(float), cuts, np.exp(-cuts * rate)) > LEAST


def test_a_gap_chance_wrong_by_one_percent_is_rejected() -> None:
    gaps, rate = gaps_of(SeededNoise(13), Fraction(1, 2), 4, 10**6), -np.log1p(-1.01 * gap_chance(Fraction(1, 2), 4))
    cuts = np.unique(np.ceil(stats.expon.ppf(np.linspace(0, 0.96, 25)[1:], scale=1 / rate)))
    assert tail_fit(gaps, cuts, np.exp(-cuts * rate)) < LEAST


def test_gaps_agree_with_drawing_the_noise_of_every_empty_cell() -> None:
    epsilon, threshold = Fraction(1, 2), 4
    passing = np.flatnonzero(SeededNoise(14).discrete_laplace(epsilon, 4 * 10**6) > threshold)
    dense, sparse = np.diff(passing) - 1, gaps_of(SeededNoise(15), epsilon, threshold, passing.size)
    cuts = np.unique(np.ceil(np.quantile(dense, np.linspace(0.1, 0.98, 40))))
    assert stats.chi2_contingency([tally(dense, cuts), tally(sparse, cuts)]).pvalue > LEAST


def test_draws_of_one_call_are_independent() -> None:
    draws = SeededNoise(16).discrete_laplace(Fraction(1), 10**6)
    signs = np.sign(draws)
    assert stats.chi2_contingency(np.histogram2d(signs[:-1], signs[1:], 3)[0]).pvalue > LEAST


@pytest.mark.parametrize("source", [SystemNoise(), SeededNoise(0)], ids=repr)
def test_no_draws_are_drawn_for_size_zero(source: Noise) -> None:
    none = np.zeros(0, np.int64)
    draws = [source.geometric(Fraction(1), 0), source.discrete_laplace(Fraction(1), 0), source.below(3, 0)]
    draws += [gaps_of(source, Fraction(1), 3, 0), gaps_of(source, Fraction(1), 50, 0), source.flips(none, Fraction(1))]
    assert [draw.size for draw in draws] == [0] * 6


# --- sources ----------------------------------------------------------------------------------------------------------


def words_on_both_sides_of_a_fork(source: Noise) -> tuple[set[int], set[int]]:
    """A thousand words drawn by the parent and a thousand by the child, after a fork of a source already in use."""
    source.words(10)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # the child must not return into the test runner, whatever happens
        try:
            os.write(write, source.words(1000).tobytes())
        finally:
            os._exit(0)
    os.close(write)
    mine = source.words(1000)
    with os.fdopen(read, "rb") as pipe:
        theirs = np.frombuffer(pipe.read(), np.uint64)
    os.waitpid(child, 0)
    return set(mine.tolist()), set(theirs.tolist())


def forks(test: Callable[..., None]) -> Callable[..., None]:
    """Skip where there is no fork, and allow it where Python 3.12 and later sees threads: the child only writes."""
    allowed = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")(test)
    return pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")(allowed)


@forks
@pytest.mark.parametrize("kind", [SystemNoise, OpenDPNoise])
def test_parent_and_child_never_share_words_after_a_fork(kind: type[SystemNoise]) -> None:
    parent, child = words_on_both_sides_of_a_fork(kind())
    assert len(parent) == len(child) == 1000
    assert not parent & child


@forks
def test_a_source_that_keeps_a_state_over_a_fork_would_be_caught() -> None:
    parent, child = words_on_both_sides_of_a_fork(SeededNoise(1))
    assert parent == child


def test_two_calls_and_two_sources_of_the_system_never_share_words() -> None:
    first, second = SystemNoise(), SystemNoise()
    words = np.concatenate([first.words(1000), first.words(1000), second.words(1000)])
    assert np.unique(words).size == 3000


def test_words_of_the_system_use_all_64_bits() -> None:
    bits = np.unpackbits(SystemNoise().words(10_000).view(np.uint8)).reshape(-1, 64).sum(0, dtype=int)
    assert np.all(np.abs(bits - 5000) < 500)  # ten standard deviations


@pytest.mark.parametrize("source", [SystemNoise(), SeededNoise(0), OpenDPNoise()], ids=repr)
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_source_refuses_to_be_copied(source: Noise, duplicate: Callable[[object], object]) -> None:
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        duplicate(source)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickle.dumps])
def test_what_holds_a_source_cannot_be_duplicated_either(duplicate: Callable[[object], object]) -> None:
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        duplicate({"noise": [SystemNoise()]})


def test_every_pickle_protocol_is_refused() -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            pickle.dumps(SeededNoise(0), protocol)


@pytest.mark.parametrize(
    "source, private, text",
    [
        (SystemNoise(), True, "<operating system noise, private>"),
        (OpenDPNoise(), True, "<OpenDP noise, private>"),
        (SeededNoise(0), False, "<seeded noise, NOT private>"),
    ],
)
def test_a_source_says_whether_it_is_private(source: Noise, private: bool, text: str) -> None:
    assert source.private is private
    assert repr(source) == text


def test_the_same_seed_gives_the_same_draws_and_another_seed_others() -> None:
    def draws(seed: int | np.random.Generator) -> list[list[int]]:
        noise = SeededNoise(seed)
        laplace, order = noise.discrete_laplace(Fraction(1, 3), 50), noise.permutation(50)
        return [laplace.tolist(), order.tolist(), gaps_of(noise, Fraction(1), 40, 5).tolist()]

    assert draws(1) == draws(1) == draws(np.random.default_rng(1))
    assert draws(1) != draws(2)


def test_a_seeded_source_does_not_repeat_itself() -> None:
    noise = SeededNoise(1)
    assert np.unique([noise.words(1000), noise.words(1000)]).size == 2000


def test_make_noise_marks_a_seed_and_defaults_to_the_system() -> None:
    generator, source = np.random.default_rng(0), OpenDPNoise()
    assert type(make_noise()) is type(make_noise(None)) is SystemNoise
    assert [type(make_noise(seed)) for seed in (0, 1, np.int64(2), generator)] == [SeededNoise] * 4
    assert make_noise(source) is source
    assert make_noise(0).private is False


# --- OpenDP -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "epsilon",
    [
        SMALLEST_EPSILON,
        Fraction(1, 10**6),
        Fraction(1, 1000),
        Fraction(1, 10),
        Fraction(0.1),
        *(Fraction(k, 49) for k in (1, 3, 5, 17, 48, 50, 97)),
        Fraction(37, 100),
        Fraction(1, 3),
        Fraction(1),
        Fraction(10**6),
        Fraction(10**30, 10**30 + 1),
        Fraction(10**30 + 1, 10**30),
    ],
    ids=lambda e: str(e)[:20],
)
def test_opendp_is_given_a_scale_that_never_costs_more_than_epsilon(
    epsilon: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise, scales = OpenDPNoise(), []
    original = noise._dp.m.then_laplace
    monkeypatch.setattr(noise._dp.m, "then_laplace", lambda scale: scales.append(scale) or original(scale=scale))
    draws = noise.discrete_laplace(epsilon, 3)
    assert (draws.dtype, draws.size) == (np.int64, 3)
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    assert Fraction(dp.m.make_laplace(*space, scale=scales[-1]).map(d_in=1)) <= epsilon
    assert 1 <= Fraction(scales[-1]) * epsilon <= 1 + Fraction(1, 2**50)  # up, and by no more than it takes


def test_the_scale_is_rounded_up_even_if_opendp_charged_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lax:
        scale = 0.0

        def __init__(self, scale: float) -> None:
            Lax.scale = scale

        def __rrshift__(self, space: object) -> "Lax":
            return self

        def map(self, d_in: int) -> float:
            return 0.0

        def __call__(self, values: list[int]) -> list[int]:
            return values

    noise = OpenDPNoise()
    monkeypatch.setattr(noise._dp.m, "then_laplace", Lax)
    for epsilon in (Fraction(3), Fraction(1, 3), Fraction(37, 100), Fraction(10**20, 10**21 + 7)):
        noise.discrete_laplace(epsilon, 1)
        assert 1 <= Fraction(Lax.scale) * epsilon <= 1 + Fraction(1, 2**52)


def test_a_missing_opendp_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(BadInput, match="pip install"):
        OpenDPNoise()


def test_sparse_counts_never_mix_the_laws_of_two_samplers():
    """OpenDP's scale is a rounded float: occupied cells would not have quite the law of empty ones."""
    assert type(OpenDPNoise().own) is SystemNoise
    for source in (SystemNoise(), SeededNoise(1)):
        assert source.own is source
