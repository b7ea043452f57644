"""Synthesis: traces propose a short `predict` over the metafeatures, and tell which of these earn their price.

Future work of Imola and Yang (2018). The space is small, so that what is found can be read and believed: one product of
powers of facts, such as rows * epsilon / classes, against a threshold, with one option above it and one below. All of
it is searched. Families of databases are left out in turn, so that a formula is judged where it was not found.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import exp, log

import numpy as np
import numpy.typing as npt

from ..display import number, text_table
from ..errors import BadInput
from .options import Predict
from .traces import Traces

Numbers = npt.NDArray[np.float64]
THRESHOLDS = 40  # for each product, at even quantiles
LEAST = 1e-9  # a fact below this counts as this in a product
DIGITS = 2  # of a threshold
Goal = Mapping[str, float] | None


@dataclass(frozen=True)
class Formula:
    """A product of facts and of one over facts, and a threshold. Called with facts, it gives the logarithm of how far
    the product is above the threshold; with `plain`, the difference of a single fact from it."""

    powers: tuple[tuple[str, int], ...]
    threshold: float = 1.0
    plain: bool = False  # for a fact that may be zero or less

    def product(self, facts: Mapping[str, float]) -> float:
        """The product on the scale on which it is compared."""
        if self.plain:
            return facts[self.powers[0][0]]
        return sum(power * log(max(facts[name], LEAST)) for name, power in self.powers)

    def __call__(self, facts: Mapping[str, float]) -> float:
        return self.product(facts) - (self.threshold if self.plain else log(self.threshold))

    def __str__(self) -> str:
        above = " * ".join(name for name, power in self.powers if power > 0) or "1"
        below = "".join(f" / {name}" for name, power in self.powers if power < 0)
        return f"{above}{below} >= {number(self.threshold)}"


@dataclass(frozen=True)
class Rule:
    """`above` where the formula is at least zero, `below` elsewhere; without a formula, `above` always."""

    above: str
    below: str = ""
    formula: Formula | None = None

    def __call__(self, facts: Mapping[str, float]) -> str:
        return self.above if self.formula is None or self.formula(facts) >= 0 else self.below

    def predict(self, option: str) -> Predict:
        """A `predict` for an Option of this name: together, those of all options choose as this rule does."""
        formula = self.formula
        if formula is None:
            return lambda facts: float(option == self.above)
        if option == self.above:
            return formula
        return (lambda facts: 0.0) if option == self.below else (lambda facts: -abs(formula(facts)) - 1.0)

    def __str__(self) -> str:
        return self.above if self.formula is None else f"{self.above} if {self.formula} else {self.below}"


@dataclass(frozen=True)
class Proposal:
    """A rule for a choice with its regret, and what it is worth beside others.

    All regrets are means over families, each left out in turn while the rule was searched for on the others: `regret`
    of rules like this one, `sizes` of the best rules of up to 0, 1, ... facts (0: one option for all), `without` of
    rules that may not use a fact, which earns its price only if its regret is larger by more than the price costs.
    `seen` is the regret of the rule on the traces that it was found on.
    """

    rule: Rule
    regret: float
    seen: float
    sizes: tuple[float, ...]
    without: Mapping[str, float]

    def __repr__(self) -> str:
        rows = [(f"rules of up to {size} facts", number(regret)) for size, regret in enumerate(self.sizes)]
        rows += [(f"without {name}", number(regret)) for name, regret in self.without.items()]
        return text_table(
            f"Proposed: {self.rule}; regret {number(self.regret)}", ["on families left out", "regret"], rows
        )


def propose(traces: Traces, *, goal: Goal = None, most: int = 3) -> Proposal:
    """The shortest rule that traces support, with its regret on families left out.

    `goal` weighs the measures (None: alike). Rules of up to `most` facts are searched; a longer one must be better than
    a shorter one by more than a standard error over families.
    """
    if len({*traces.families}) < 2:
        raise BadInput("a proposal is judged on families left out: give traces of two families or more")
    worth, names = _worth(traces, goal), traces.fact_names
    left_out = [_left_out(traces, worth, size, names) for size in range(most + 1)]
    size = _shortest(left_out)
    without = {
        name: float(np.mean(_left_out(traces, worth, size, [other for other in names if other != name])))
        for name in names
    }
    rule = _best(traces, worth, size, names)
    seen = float(_family_means(traces, _regrets(traces, worth, rule)).mean())
    return Proposal(rule, float(left_out[size].mean()), seen, tuple(float(each.mean()) for each in left_out), without)


def _worth(traces: Traces, goal: Goal) -> Numbers:
    """The weighted sum of the measures, databases x options; an option that refused is worth as much as the worst."""
    total = sum((goal or {}).get(m, 0.0 if goal else 1.0) * table for m, table in traces.quality.items())
    table = np.asarray(total, np.float64)
    worst = np.nanmin(np.where(np.isnan(table).all(axis=1, keepdims=True), 0.0, table), axis=1, keepdims=True)
    return np.where(np.isnan(table), worst, table)


def _shortest(left_out: Sequence[Numbers]) -> int:
    """The smallest size whose regret is within a standard error, over families, of the least one."""
    best = min(left_out, key=lambda each: float(each.mean()))
    for size, each in enumerate(left_out):
        apart = each - best
        if apart.mean() <= apart.std(ddof=1) / np.sqrt(len(apart)):
            return size
    return len(left_out) - 1


def _left_out(traces: Traces, worth: Numbers, size: int, names: Sequence[str]) -> Numbers:
    """The regret of each family under the rule that is best on the others."""
    families, found = np.array(traces.families), []
    for family in dict.fromkeys(traces.families):
        others, own = np.flatnonzero(families != family), np.flatnonzero(families == family)
        rule = _best(traces.only(others), worth[others], size, names)
        found.append(_regrets(traces.only(own), worth[own], rule).mean())
    return np.array(found)


def _regrets(traces: Traces, worth: Numbers, rule: Rule) -> Numbers:
    """The best option in hindsight less the one that the rule chooses, for each database."""
    facts = [dict(zip(traces.fact_names, row, strict=True)) for row in traces.facts.tolist()]
    chosen = [traces.options.index(rule(each)) for each in facts]
    return np.asarray(worth.max(axis=1) - worth[np.arange(len(worth)), chosen])


def _family_means(traces: Traces, values: Numbers) -> Numbers:
    families = np.array(traces.families)
    return np.array([values[families == family].mean() for family in dict.fromkeys(traces.families)])


def _best(traces: Traces, worth: Numbers, size: int, names: Sequence[str]) -> Rule:
    """The rule of up to `size` facts with the least regret, every family counting alike."""
    families = np.array(traces.families)
    weights = np.array([1 / (families == family).sum() for family in families]) / len({*traces.families})
    mass = worth * weights[:, None]
    totals = mass.sum(axis=0)
    found, rule = float(totals.max()), Rule(traces.options[int(totals.argmax())])
    for formula in _products(traces, size, names):
        values = _values(formula, traces)
        gain, threshold, above, below = _divided(values, mass)
        if gain > found + 1e-12 and above != below:
            least = _rounded(threshold if formula.plain else exp(threshold))
            found, rule = (
                gain,
                Rule(traces.options[above], traces.options[below], Formula(formula.powers, least, formula.plain)),
            )
    return rule


def _products(traces: Traces, size: int, names: Sequence[str]) -> Iterator[Formula]:
    """Every product of up to `size` facts or of one over them, short ones first; the first fact is never divided by."""
    positive = [n for n in names if (traces.facts[:, traces.fact_names.index(n)] > 0).all()]
    if size:
        yield from (Formula(((name, 1),), plain=True) for name in names if name not in positive)
    for count in range(1, size + 1):
        for chosen in combinations(positive, count):
            for powers in product((1, -1), repeat=count - 1):
                yield Formula(tuple(zip(chosen, (1, *powers), strict=True)))


def _values(formula: Formula, traces: Traces) -> Numbers:
    columns = [traces.facts[:, traces.fact_names.index(name)] for name, _ in formula.powers]
    if formula.plain:
        return columns[0]
    logs = [power * np.log(np.maximum(c, LEAST)) for c, (_, power) in zip(columns, formula.powers, strict=True)]
    return np.asarray(sum(logs))


def _divided(values: Numbers, mass: Numbers) -> tuple[float, float, int, int]:
    """The largest worth of one option from a threshold up and one below it; the threshold, and the two options."""
    order = values.argsort(kind="stable")
    steps = np.unique(np.linspace(0, len(values), THRESHOLDS + 2).astype(int)[1:-1])
    steps = np.array([s for s in steps if 0 < s < len(values) and values[order[s]] > values[order[s - 1]]], int)
    if not len(steps):
        return -np.inf, 0.0, 0, 0
    sums = np.cumsum(mass[order], axis=0)
    low, high = sums[steps - 1], sums[-1] - sums[steps - 1]
    place = int((low.max(axis=1) + high.max(axis=1)).argmax())
    middle = (values[order[steps[place]]] + values[order[steps[place] - 1]]) / 2
    gain = float(low[place].max() + high[place].max())
    return gain, float(middle), int(high[place].argmax()), int(low[place].argmax())


def _rounded(threshold: float) -> float:
    """A threshold with few digits, to be read and remembered."""
    return float(f"{threshold:.{DIGITS}g}")
