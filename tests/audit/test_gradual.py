"""count_gradually: the exact law of every level and of two together, what it costs, and what is refused."""

from fractions import Fraction
from itertools import product
from math import exp
from pathlib import Path

import numpy as np
import pytest
from exact_laws import Scripted, loss, pmf
from hypothesis import given
from hypothesis import strategies as st

from veil import BadInput, Budget, BudgetRefused, Ledger, SeededNoise, open_source
from veil.audit.gradual import continuous_keeping
from veil.audit.tables import COLOURS, LONE, PEOPLE, RED, SCHEMA, people, rows
from veil.kernel.verbs.gradual import kept, noise_path

LEVELS = [Budget("3/10"), Budget("1/2"), Budget(1)]
NEAR = range(-60, 61)  # noise that is summed over


def chance_of_keeping(coarse, fine, reach=400):
    """The probability that the code under test keeps the finer noise, over all of its draws that matter."""
    part = (coarse / fine).denominator
    step = float(fine) / part
    low = sum(
        exp(-step * g) * (1 - exp(-step))
        for g in range(reach * part)
        if kept(coarse, fine, 1, Scripted(geometric=[g, 0], stops=[True]))[0]
    )
    return exp(float(coarse - fine)) * low**2


def formula(x, y):
    a, b = exp(-x), exp(-y)
    return b * (1 - a) ** 2 / (a * (1 - b) ** 2)


def joint_law(exact, coarse, fine, keep):
    """The law of the answers at two levels, for noise that is kept with this probability."""
    law = {}
    for v, fresh in product(NEAR, repeat=2):
        law[exact + v + fresh, exact + v] = law.get((exact + v + fresh, exact + v), 0) + pmf(fine, v) * (
            (1 - keep) * pmf(coarse, fresh) + keep * (fresh == 0)
        )
    return law


def coarse_law(exact, coarse, fine, keep):
    """The law of the coarser answer alone."""
    law = {}
    for (first, _), chance in joint_law(exact, coarse, fine, keep).items():
        law[first] = law.get(first, 0) + chance
    return {value: chance for value, chance in law.items() if abs(value) < 15}  # beyond, the sum is cut off


@pytest.mark.parametrize(("coarse", "fine"), [("3/10", "1"), ("1/2", "1"), ("5/7", "1"), ("1", "3")])
def test_noise_is_kept_with_exactly_the_probability_for_whole_numbers(coarse, fine):
    x, y = Fraction(coarse), Fraction(fine)
    assert chance_of_keeping(x, y) == pytest.approx(formula(float(x), float(y)), abs=1e-12)


def test_the_keeping_probability_is_not_that_of_continuous_noise():
    assert formula(0.3, 1) == pytest.approx(0.0835, abs=5e-5)
    assert (0.3 / 1) ** 2 == pytest.approx(0.09)


@pytest.mark.parametrize(("coarse", "fine"), [(0.8, 1.0), (1.0, 2.0), (0.9, 3.0)])
def test_a_coarser_level_has_exactly_the_noise_of_its_epsilon(coarse, fine):
    law = coarse_law(0, coarse, fine, formula(coarse, fine))
    for value, chance in law.items():
        assert chance == pytest.approx(pmf(coarse, value), abs=1e-13)


@pytest.mark.parametrize(("coarse", "fine"), [(0.8, 1.0), (1.0, 2.0)])
def test_two_levels_together_lose_exactly_the_epsilon_of_the_finer(coarse, fine):
    laws = [joint_law(exact, coarse, fine, formula(coarse, fine)) for exact in (0, 1)]
    seen = [{pair: law[pair] for pair in law if max(map(abs, pair)) < 20} for law in laws]
    assert loss(*seen) == pytest.approx(fine, abs=1e-9)


def test_the_twin_with_the_continuous_probability_loses_more_than_its_first_level():
    """NOT PRIVATE: (eps1/eps2)^2 on whole numbers. The first level then has too little noise for what it costs."""
    coarse, fine = 0.3, 1.0
    right, wrong = [
        loss(coarse_law(0, coarse, fine, keep), coarse_law(1, coarse, fine, keep)) for keep in (formula(0.3, 1), 0.09)
    ]
    assert right == pytest.approx(coarse, abs=1e-6)
    assert wrong > coarse + 0.005


def test_the_twin_of_the_audit_loses_what_its_docstring_says():
    """NOT PRIVATE: at levels (2, 4) the loss is large enough to be seen in as many runs as an audit makes."""
    laws = [coarse_law(exact, 2.0, 4.0, 0.25) for exact in (0, 1)]
    assert f"loses {loss(*laws):.3f}, not 2" in (continuous_keeping.__doc__ or "")
    page = (Path(__file__).parents[2] / "docs" / "kernel.md").read_text(encoding="utf-8")
    assert f"at 2 before 4 it loses {loss(*laws):.3f} (the audit's twin `continuous\nkeeping`)" in page


def walk_law(exact, coarse, fine, goal):
    """The law of what a walk shows: the coarser answer where it reaches the goal, else both."""
    law = {}
    for (first, second), chance in joint_law(exact, coarse, fine, formula(coarse, fine)).items():
        shown = (first,) if first >= goal else (first, second)
        law[shown] = law.get(shown, 0) + chance
    return {shown: chance for shown, chance in law.items() if max(map(abs, shown)) < 20}


def test_the_twin_that_reserves_its_first_level_alone_loses_more_than_its_ledger_allows():
    """NOT PRIVATE: pay for the first level before, and for the next one when it was looked at. By then nothing can be
    refused: with a limit of the first level, a walk loses what the second costs. Ours is refused before it starts."""
    coarse, fine = 0.5, 1.0
    assert loss(*(walk_law(exact, coarse, fine, goal=3) for exact in (0, 1))) == pytest.approx(fine, abs=1e-9)
    source = open_source(LONE, SCHEMA, Ledger("1/2", "audit"), noise=1)
    with pytest.raises(BudgetRefused):
        source.count_gradually([RED], [Budget("1/2"), Budget(1)])
    assert not source.record.receipts


def test_sampled_levels_have_their_variances_and_are_correlated():
    path = noise_path([level.epsilon for level in LEVELS], 200_000, SeededNoise(1))
    for values, level in zip(path, LEVELS, strict=True):
        a = exp(-float(level.epsilon))
        assert np.var(values) == pytest.approx(2 * a / (1 - a) ** 2, rel=0.03)
        assert np.mean(values == 0) == pytest.approx((1 - a) / (1 + a), abs=0.005)
    assert np.mean(path[1] == path[2]) > 0.2  # some of it is kept


def test_it_charges_the_last_level_when_opened_and_hands_out_one_level_at_a_time():
    ledger = Ledger(1, "audit")
    source = open_source(LONE, SCHEMA, ledger, noise=1)
    steps = source.count_gradually([COLOURS, RED], LEVELS, shares=[3, 1])
    assert ledger.spent == 1 and not source.record.releases
    first = next(steps)
    assert [release.noise_scale for release in first] == pytest.approx([1 / (0.3 * 0.75), 1 / (0.3 * 0.25)])
    assert len(source.record.releases) == 2 and len(list(steps)) == 2
    assert ledger.spent == 1 and len(source.record.receipts) == 1


def test_nothing_is_returned_to_the_ledger_when_finer_levels_are_never_looked_at():
    ledger = Ledger(1, "audit")
    steps = open_source(LONE, SCHEMA, ledger, noise=1).count_gradually([RED], LEVELS)
    next(steps)
    del steps
    assert ledger.spent == 1
    with pytest.raises(BudgetRefused):
        open_source(LONE, SCHEMA, ledger, noise=1).count(RED, Budget("1/100"))


def put_on_record(ex_post=LEVELS[0], *, within=False, beside=False):
    """A ledger, and the one run of it: a walk reserved 1, and said what was lost of it ex-post."""
    ledger = Ledger(9, "audit")
    whole = open_source(LONE, SCHEMA, ledger, noise=1)
    walked, other = whole.split_at_random(1, 1) if within else (whole, whole)
    next(walked.count_gradually([RED], LEVELS))
    walked.looked_at(ex_post, LEVELS[-1])
    if beside:
        other.count(RED, Budget(1))
    (run,) = ledger.runs()
    return ledger, run


@pytest.mark.parametrize("within", [False, True])
def test_what_was_lost_ex_post_is_on_the_ledger_and_nothing_is_returned(within):
    ledger, run = put_on_record(within=within)
    assert (run.epsilon, run.ex_post, ledger.spent) == (1, Fraction(3, 10), 1)
    assert run.to_dict()["ex_post"] == "3/10" and "ex-post" in str(ledger)


@pytest.mark.parametrize("within", [False, True])
def test_no_ex_post_amount_is_shown_of_a_run_that_asked_something_beside(within):
    ledger, run = put_on_record(within=within, beside=True)
    assert run.ex_post is None and "ex-post" not in str(ledger) and ledger.spent == 2 - within


def test_a_hostile_record_of_what_was_lost_is_not_read(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", 9, "audit")
    source = open_source(LONE, SCHEMA, ledger, noise=1)
    next(source.count_gradually([RED], LEVELS))
    (receipt,) = ledger.receipts()
    for said in ("1e300000000", "-1", "1/0", "", None, [1]):
        with ledger.turn(write=True) as (turn, known):
            forged = {"kind": "ex-post", "account": "/", "run": receipt.run, "reserved": "1", "ex_post": said}
            ledger.append(turn, known, forged)
        assert [run.ex_post for run in Ledger.open(tmp_path / "a.ledger").runs()] == [None]


def test_with_a_huge_budget_the_last_level_is_exact():
    levels = [Budget(1), Budget(10**6), Budget(10**9)]
    source = open_source(LONE, SCHEMA, Ledger(10**9, "audit"), noise=1)
    assert [*source.count_gradually([RED], levels)][-1][0].value.tolist() == [[1, 0], [0, 0]]


def test_people_share_their_epsilon_among_their_rows():
    source = open_source(people(("yes", "red", 1, "ann")), PEOPLE, Ledger(1, "audit"), noise=1)
    levels = [*source.count_gradually([RED], [Budget("1/2"), Budget(1)])]
    assert [level[0].noise_scale for level in levels] == [4, 2]


@pytest.mark.parametrize("levels", [[], [1, 1], [2, 1], [1] * 65])
def test_levels_that_do_not_rise_are_refused_before_any_charge(levels):
    ledger = Ledger(9, "audit")
    with pytest.raises(BadInput, match="levels"):
        open_source(LONE, SCHEMA, ledger, noise=1).count_gradually([RED], [Budget(level) for level in levels])
    assert ledger.spent == 0


def test_levels_whose_coins_cannot_be_drawn_are_refused_before_any_charge():
    ledger = Ledger(9, "audit")
    with pytest.raises(BadInput, match="simple fraction"):
        open_source(LONE, SCHEMA, ledger, noise=1).count_gradually([RED], [Budget("0.12345678901234567"), Budget(1)])
    assert ledger.spent == 0


@given(
    st.lists(st.tuples(*map(st.sampled_from, (("yes", "no"), ("red", "blue"), (1, 3)))), max_size=5),
    st.sampled_from([("yes", "red", 1), ("no", "blue", 3)]),
    st.integers(0, 99),
)
def test_one_row_moves_one_count_of_every_level_by_one(listed, row, seed):
    """With the same draws, so that the noise is the same on both tables."""
    levels = [
        [*open_source(rows(*table), SCHEMA, Ledger(9, "audit"), noise=seed).count_gradually([COLOURS], LEVELS)]
        for table in (listed, [*listed, row])
    ]
    for without, having in zip(*levels, strict=True):
        change = having[0].value - without[0].value
        assert change.sum() == 1 and np.abs(change).sum() == 1
