"""The audit catches every broken twin and none of ours, and its bounds are valid and close."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from veil.audit import audit, cases, look, table, trials_of
from veil.audit.harness import Case, examine, lower_bound, repeat
from veil.kernel import SeededNoise
from veil.synopsis import HISTOGRAMS

NAMES = [case.name for case in cases()]
BROKEN = {
    "threshold noise only",
    "no cap",
    "half the noise",
    "float Laplace",
    "charged afterwards",
    "forked parts",
    "split by position",
    "membership redrawn",
    "capped by subsampling",
    "occupied cells first",
    "smooth leaf",
    "noisy size",
    "bootstrap leaf",
    "fixed denominator",
    "undivided naive-bayes",
    "undivided privpfc",
    "undivided projected",
    "undivided diffgen",
    "undivided privgene",
    "undivided minimum",
    "centred minimum",
    "undivided logistic",
    "undivided svm",
    "undivided tree",
    "undivided forest",
    "undivided blend",
    "undivided shares",
    "undivided auto",
    "undivided jostle tree",
    "undivided SuLQ tree",
    "stop by exact counts",
    "float scores",
    "blank ids as one person",
    "ids decoded with losses",
    "metadata that shrinks the unit",
    "threshold testing of words",
    "noise-cut of words",
    "one word a row",
    "clusters of words by exact counts",
    "exact curve",
    "uncharged thresholds",
    "curve for twice its price",
    "auc for twice its price",
    "sparse-logistic for three times its price",
    "DAWA's scales",
    "DAWA's single cells",
    "rows known for free",
    "both levels at full epsilon",
    "free metafeatures",
    "fresh levels",
    "continuous keeping",
    "fixed number of tries",
    "undivided walk",
    "PrivBayes by mutual information",
    "undivided privbayes",
    "undivided marginals",
    "undivided quadtree",
}


# whole models and evaluations, many seconds each: `make slow` has them, and the short ones here are of the same kinds
LONG = ("curve", "auc", "thresholds", "private_accuracy", "minimum", "svm", "ogistic", "Hinge", "Softmax")
LONG += ("DAWA", "mwem", "undivided privpfc", "undivided projected", "undivided tree", "undivided forest")
LONG += ("undivided diffgen", "undivided privgene", "undivided SuLQ")
LONG += ("undivided blend", "undivided auto", "undivided jostle", "stop by exact counts")
LONG += ("undivided naive", "bootstrap leaf", "noisy size", "both levels", "undivided walk", "fixed number")
LONG += ("undivided marginals", "undivided privbayes", "adaptive-tree of a square")
EACH = [
    pytest.param(number, id=name, marks=[pytest.mark.slow] * any(word in name for word in LONG))
    for number, name in enumerate(NAMES)
]


@pytest.mark.parametrize("number", EACH)
def test_twins_are_caught_and_ours_are_not(number: int) -> None:
    finding = look(number)
    assert finding.caught == cases()[number].broken, finding
    assert finding.at_claim <= finding.claim < finding.ceiling - 1, "too few runs to catch anything"
    assert f"{finding.ceiling:.2f}" in finding.power
    assert 1 - finding.confidence == pytest.approx(0.001 / len(NAMES))


def test_every_twin_has_a_counterpart_with_the_same_tables_claim_views_and_runs() -> None:
    by_name = {case.name: case for case in cases()}
    assert {case.name for case in cases() if case.broken} >= BROKEN - {"float scores", "forked parts"}
    for name in BROKEN & by_name.keys():
        twin, ours = by_name[name], by_name[f"ours, not {name}"]
        assert not ours.broken
        assert (twin.tables, twin.claim, twin.quick, twin.deep) == (ours.tables, ours.claim, ours.quick, ours.deep)
        assert twin.views.keys() == ours.views.keys()


@pytest.mark.parametrize("method", HISTOGRAMS)
def test_every_method_for_histograms_is_audited_end_to_end(method: str) -> None:
    assert {f"{method} of a line", f"{method} of a square"} <= {*NAMES}


def test_twins_say_that_they_are_not_private() -> None:
    assert all("NOT PRIVATE" in (case.runs.__doc__ or "") for case in cases() if case.broken)


def test_audit_runs_the_cases_asked_for_and_tells_its_progress() -> None:
    told: list[tuple[str, int, int]] = []
    findings = audit(only="half the noise", progress=lambda *step: told.append(step))
    assert [finding.name for finding in findings] == ["half the noise", "ours, not half the noise"]
    assert [step[1:] for step in told] == [(0, 2), (1, 2), (2, 2)]
    header, rows = table(findings)
    assert all(len(row) == len(header) for row in rows)
    assert [row[header.index("caught")] for row in rows] == ["yes", "no"]


def test_an_audit_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    keep = tmp_path / "audit.jsonl"

    def stop_after_one(name: str, done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit(only="half the noise", keep=keep, progress=stop_after_one)
    (line,) = keep.read_text().splitlines()
    keep.write_text(f"{line}\n{line[:50]}")  # as if it was killed while it wrote
    told: list[tuple[str, int, int]] = []
    findings = audit(only="half the noise", keep=keep, progress=lambda *step: told.append(step))
    assert [done for _, done, _ in told] == [1, 2] and findings == audit(only="half the noise")
    assert not keep.exists()


def test_findings_of_other_code_are_not_taken_over(tmp_path: Path) -> None:
    keep = tmp_path / "audit.jsonl"
    (finding, _) = audit(only="half the noise")
    keep.write_text(json.dumps({"code": "other", **asdict(finding)}) + "\n")
    told: list[int] = []
    audit(only="half the noise", keep=keep, progress=lambda name, done, total: told.append(done))
    assert told == [0, 1, 2]


def test_cases_can_run_beside_each_other() -> None:
    assert audit(only="half the noise", jobs=2) == audit(only="half the noise")


def test_a_deep_audit_saves_runs_on_broken_twins_alone() -> None:
    for case in cases():
        assert trials_of(case, deep=True) == case.deep or case.broken and trials_of(case, deep=True) >= 3 * case.quick


def flip(truth: int, noise: SeededNoise, trials: int, epsilon: float) -> np.ndarray:
    """Randomised response: the truth with probability e / (1 + e), exactly epsilon private."""
    honest = noise.words(trials) * 2.0**-64 < 1 / (1 + np.exp(-epsilon))
    return np.where(honest, truth, 1 - truth)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_bound_is_below_the_known_loss_and_close_to_it(epsilon: float) -> None:
    case = Case("flip", epsilon, (0, 1), lambda truth, noise, trials: flip(truth, noise, trials, epsilon))
    finding = examine(case, SeededNoise(3), 400_000, 0.001)
    assert epsilon - 0.06 < finding.bound <= epsilon
    assert not finding.caught
    assert finding.bound == pytest.approx(finding.at_claim, abs=0.06)


def test_a_loss_slightly_above_the_claim_is_caught() -> None:
    case = Case("flip", 0.9, (0, 1), lambda truth, noise, trials: flip(truth, noise, trials, 1.0))
    assert examine(case, SeededNoise(4), 400_000, 0.001).caught


def test_bounds_are_wrong_no_more_often_than_stated() -> None:
    case = Case("flip", 1.0, (0, 1), lambda truth, noise, trials: flip(truth, noise, trials, 1.0))
    wrong = sum(examine(case, SeededNoise(seed), 400, 0.2).caught for seed in range(300))
    assert wrong / 300 <= 0.2


def test_bound_is_that_of_clopper_and_pearson() -> None:
    for hits, others, trials, error in [(30, 3, 100, 0.01), (1, 0, 5, 0.001), (500, 400, 1000, 0.05), (7, 7, 7, 0.1)]:
        low = binomtest(hits, trials).proportion_ci(1 - 2 * error, "exact").low
        high = binomtest(others, trials).proportion_ci(1 - 2 * error, "exact").high
        assert lower_bound(hits, others, trials, error) == pytest.approx(max(np.log(low / high), 0))
    assert lower_bound(0, 5, 10, 0.01) == 0


@pytest.mark.parametrize(("tables", "words"), [((0, 1), "with the row"), ((1, 0), "without the row")])
def test_a_violation_in_one_direction_is_found_either_way_round(tables: tuple[int, int], words: str) -> None:
    runs = repeat(lambda rare, noise: "rare" if rare and noise.below(10, 1)[0] == 0 else "common")
    finding = examine(Case("one-sided", 1, tables, runs), SeededNoise(5), 2_000, 0.001)
    assert finding.caught
    assert finding.event.startswith("rare") and words in finding.event


def test_unions_find_what_no_single_outcome_shows() -> None:
    def runs(parity: int, noise: SeededNoise, trials: int) -> np.ndarray:
        fair = noise.below(10, trials) == 0
        return 2 * noise.below(500, trials) + np.where(fair, noise.below(2, trials), parity)

    finding = examine(Case("parity", 1, (0, 1), runs), SeededNoise(6), 20_000, 0.001)
    assert finding.bound > 2
    assert finding.event.startswith("one of")


def test_thresholds_find_a_shift_of_numbers_that_never_repeat() -> None:
    def runs(shift: int, noise: SeededNoise, trials: int) -> np.ndarray:
        return shift + noise.words(trials) * 2.0**-64

    finding = examine(Case("shift", 1, (0, 1), runs), SeededNoise(7), 2_000, 0.001)
    assert finding.bound > 3
    assert "at least" in finding.event or "at most" in finding.event


def test_an_event_is_judged_on_runs_that_had_no_part_in_choosing_it() -> None:
    """The first half tells the tables apart perfectly, the second not at all: nothing is shown."""

    def runs(truth: int, noise: SeededNoise, trials: int) -> np.ndarray:
        return np.where(np.arange(trials) < trials // 2, truth, 0)

    assert examine(Case("half", 1, (0, 1), runs), SeededNoise(8), 2_000, 0.001).bound == 0


def test_the_ceiling_is_what_a_certain_event_gets() -> None:
    finding = examine(
        Case("leak", 1, (0, 1), lambda truth, noise, trials: np.full(trials, truth)), SeededNoise(9), 2_000
    )
    assert finding.bound == pytest.approx(finding.ceiling)
    assert finding.confidence == 0.999
