"""What Stoddard, Chen, Machanavajjhala 2014 claim about selecting words, for docs/selection.md and docs/claims.md."""

from itertools import product

from veil.compare.summary import interval

from ..papers.words import BOUND, EPSILONS, SCORES, SHARE, SHARE_OF_CLUSTERS, TEXTS, WORDS
from ..papers.words_more import BUDGETS, LEARNERS, NOT_PRIVATE, SELECTED, TRUE
from .findings import Finding, judged
from .selected import Values, best, values, without
from .selected_more import means

POINTS = 10  # of accuracy, that selection gains at least by the paper
NEAR = 1.0  # point of accuracy
PRIVATE = ("perturb", "cluster", "sieve", "peel")


def findings() -> list[Finding]:
    """All claims about words, by experiment."""
    return [*gains(), *methods(), *thresholds(), *budgets()]


def gains() -> list[Finding]:
    """What selection gains at epsilon 1, by the naive Bayes of the paper."""
    apart = {data: 100 * _mean(_less(best(data, 1.0), without(data, 1.0, BOUND[data], "paper"))) for data in TEXTS}
    each = ", ".join(f"{data} {gain:+.1f}" for data, gain in apart.items())
    enough, losses = sum(gain >= POINTS for gain in apart.values()), sum(gain <= 0 for gain in apart.values())
    few = [_sign(best(data, 1.0), without(data, 1.0, WORDS, "paper")) for data in TEXTS]
    return [
        Finding(
            f"Selection improves accuracy by {POINTS} to 15 points at epsilon 1",
            judged(enough, len(apart), losses),
            f"Beside all words of a text: {each} points.",
        ),
        Finding(
            f"So it does beside no selection with as few words of a text ({WORDS}), which is not in the paper",
            judged(few.count(1), len(few), few.count(-1)),
            f"With the paper's naive Bayes: {_counted(few, 'texts')}",
        ),
    ]


def methods() -> list[Finding]:
    """Scores beside scores, and clusters beside noisy scores, at the shares of the paper."""
    count = []
    for data, epsilon in product(TEXTS, EPSILONS):
        others = [of_score("perturb", score, data, epsilon) for score in SCORES if score != "count"]
        count.append(_sign(of_score("perturb", "count", data, epsilon), max(others, key=_mean)))
    every = [
        _sign(of_score("cluster", score, data, epsilon), of_score("perturb", score, data, epsilon))
        for data, epsilon, score in product(TEXTS, EPSILONS, SCORES)
    ]
    return [
        Finding(
            "The total count is the best score, or equal",
            judged(len(count) - count.count(-1), len(count)),
            f"By noisy scores, beside the best other score: {_counted(count, 'cells')}",
        ),
        Finding(
            "Clusters are better than noisy scores",
            judged(every.count(1), len(every), every.count(-1)),
            f"With the same score: {_counted(every, 'cells')}",
        ),
    ]


def of_score(way: str, score: str, data: str, epsilon: float) -> Values:
    """The accuracy by fold of a way to select by a score."""
    share = SHARE_OF_CLUSTERS if way == "cluster" else SHARE
    return values(data, way, epsilon, score=score, rules="paper", share=share, words_per_row=WORDS)


def thresholds() -> list[Finding]:
    """Figure 3: F1 of what was selected, against how many words are truly above the threshold."""
    found = means("thresholds")
    testing, cut = NOT_PRIVATE
    rivals = [(way, place) for place in TRUE for way in PRIVATE]
    above = [found["", testing, place] > found["", way, place] for way, place in rivals]
    return [
        _wins("Threshold testing selects better than noise-cut (figure 3; neither is private)", testing, cut),
        Finding(
            "Threshold testing selects better than what is private (figure 3)",
            judged(sum(above), len(above)),
            f"A higher F1 in {sum(above)} of {len(above)} cells, which it owes to not being private.",
        ),
        _wins("Clusters select better than noisy counts (figure 3)", "cluster", "perturb"),
    ]


def _wins(claim: str, one: str, other: str) -> Finding:
    found = means("thresholds")
    pairs = [(found["", one, place], found["", other, place]) for place in TRUE]
    held, opposed = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    each = "; ".join(f"{place} words above: {a:.2f} and {b:.2f}" for place, (a, b) in zip(TRUE, pairs, strict=True))
    return Finding(
        claim, judged(held, len(pairs), opposed), f"A higher F1 at {held} of {len(pairs)} thresholds; {each}."
    )


def budgets() -> list[Finding]:
    """Figures 2 and 4: several budgets, regression, and rows divided instead of the budget."""
    return [
        *(_selected(learner) for learner in LEARNERS),
        _clusters(),
        _rows(),
    ]


def _selected(learner: str) -> Finding:
    """Whether either way to select is better than none, budget by budget."""
    claims = {
        "naive Bayes": "Selection improves naive Bayes over budgets (figure 4)",
        "ERM": "Selection improves regression too (figure 2)",
    }
    found = means("budgets")
    none = [found[learner, "none", epsilon] for epsilon in BUDGETS]
    won = {
        way: sum(found[learner, way, epsilon] > plain for epsilon, plain in zip(BUDGETS, none, strict=True))
        for way in SELECTED[1:]
    }
    words = {"perturb": "noisy counts", "cluster": "clusters"}
    each = " and ".join(f"with {words[way]} at {many}" for way, many in won.items())
    numbers = f"Better {each} of {len(BUDGETS)} budgets, on the SMS."
    return Finding(claims[learner], judged(max(won.values()), len(BUDGETS)), numbers)


def _clusters() -> Finding:
    found = means("budgets")
    apart = [found[learner, "cluster", e] - found[learner, "perturb", e] for learner in LEARNERS for e in BUDGETS]
    held = sum(one > 0 for one in apart)
    return Finding(
        "Clusters are better than noisy counts over budgets (figure 4)",
        judged(held, len(apart), sum(one < 0 for one in apart)),
        f"In {held} of {len(apart)} cells, by naive Bayes and regression on the SMS.",
    )


def _rows() -> Finding:
    """Whether dividing rows leaves no more than the accuracy of the larger class."""
    found, cells = means("budgets"), [(learner, epsilon) for learner in LEARNERS for epsilon in BUDGETS]
    rows, large, budget = (
        [100 * found[learner, way, epsilon] for learner, epsilon in cells]
        for way in ("rows divided", "majority", "perturb")
    )
    near = sum(abs(a - b) <= NEAR for a, b in zip(rows, large, strict=True))
    ahead = sum(a > b for a, b in zip(rows, budget, strict=True))
    return Finding(
        "Dividing the rows instead of the budget leaves accuracy near that of the larger class",
        judged(near, len(cells)),
        f"Within a point of it in {near} of {len(cells)} cells; better than dividing the budget in {ahead}.",
    )


def _less(one: Values, other: Values) -> Values:
    return {fold: one[fold] - other[fold] for fold in one}


def _mean(found: Values) -> float:
    return sum(found.values()) / len(found)


def _sign(one: Values, other: Values) -> int:
    """1 if one is higher fold by fold, by more than the interval, -1 if lower, 0 if they are not told apart."""
    middle, margin = interval([*_less(one, other).values()])
    assert middle is not None
    return 0 if abs(middle) <= (margin or 0) else 1 if middle > 0 else -1


def _counted(signs: list[int], what: str) -> str:
    """How often it is better, not told apart and worse."""
    better, even, worse = (signs.count(sign) for sign in (1, 0, -1))
    return f"better in {better}, not told apart in {even} and worse in {worse} of {len(signs)} {what}."
