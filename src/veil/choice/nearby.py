"""Predictions from traces: a mean over public databases, weighted by how near their facts are (Nadaraya 1964, Watson
1964), with intervals that are calibrated on families left out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .traces import Traces

Numbers = npt.NDArray[np.float64]
WIDTH = 0.5  # of the kernel, in standard deviations of a fact
WIDEST = 1e6  # all databases alike
COVER = 0.9  # share of tables that an interval is to hold
LEAST = 8.0  # databases that the weights must amount to: a wider kernel is used where fewer are near
FAR = 2.0  # times the usual distance to the nearest database of another family, beyond which nothing is near
Formula = Callable[[Mapping[str, float]], float]
Margins = Mapping[str, Mapping[float, tuple[float, float]]]


@dataclass(frozen=True, eq=False)
class Nearby:
    """Traces, ready to predict: their facts on a common scale, and the margins by which intervals are widened.

    `importance` multiplies the standardised facts, so that some count more than others. The prediction for an option is
    what all options did on average, weighted by all facts, and by how much the option did better than that, weighted by
    the facts in `between` alone, if these are given: what sets options apart may be simpler than what makes a table
    easy. All options have the same weights, so that they are compared on the same databases. Formulas, by option, are
    corrected by what they miss on these databases.
    """

    traces: Traces
    importance: Mapping[str, float] | None = None
    width: float = WIDTH
    formulas: Mapping[str, Formula] | None = None
    kept: float = 1.0  # of how far the quantiles lie from the mean, in an interval; the margins are the rest of it
    margins: Margins | None = None  # by measure and the value of the fact `apart`: how far ends are moved down and up
    apart: str = ""  # a fact by whose values intervals have margins of their own; "" if they have none
    limits: tuple[float, float] = (-np.inf, np.inf)  # between which every measure lies
    certain: Mapping[tuple[str, str], float] | None = None  # what an option always is by some measure
    between: tuple[str, ...] = ()
    narrow: float = WIDTH  # of the kernel over the facts in `between`

    @cached_property
    def unit(self) -> Numbers:
        """One over the standard deviation of each fact; 0 for one that never differs."""
        spread = self.traces.facts.std(axis=0)
        return np.asarray(1 / np.where(spread > 0, spread, np.inf))

    @cached_property
    def scale(self) -> Numbers:
        """What each fact is multiplied with: its importance over its standard deviation."""
        return self.unit * [(self.importance or {}).get(name, 1.0) for name in self.traces.fact_names]

    @cached_property
    def residuals(self) -> dict[str, Numbers]:
        """What the options did, less what their formulas say; without formulas, what they did."""
        tables = {measure: table.copy() for measure, table in self.traces.quality.items()}
        for option, formula in (self.formulas or {}).items():
            said = [formula(_facts(self.traces, place)) for place in range(len(self.traces))]
            for table in tables.values():
                table[:, self.traces.options.index(option)] -= said
        return tables

    @cached_property
    def usual_distance(self) -> float:
        """The median distance, over a sample of databases, to the nearest one of another family."""
        families = np.array(self.traces.families)
        sample = range(0, len(families), max(1, len(families) // 200))
        nearest = [self.distances(_facts(self.traces, i))[families != families[i]].min(initial=np.inf) for i in sample]
        return float(np.median(nearest))

    def distances(self, facts: Mapping[str, float], among: Sequence[str] = ()) -> Numbers:
        """How far each database is, over the facts that are known here; or over those that are named, all alike."""
        names = [name for name in among or self.traces.fact_names if name in facts]
        known = [self.traces.fact_names.index(name) for name in names]
        here = np.array([facts[self.traces.fact_names[place]] for place in known])
        apart = (self.traces.facts[:, known] - here) * (self.unit if among else self.scale)[known]
        return np.asarray(np.sqrt((apart**2).sum(axis=1)))

    def weights(self, facts: Mapping[str, float], among: Sequence[str] = ()) -> Numbers:
        """The weight of each database: all add up to one, and they amount to LEAST databases or more, if there are."""
        apart, width = self.distances(facts, among), self.narrow if among else self.width
        found = _kernel(apart, width)
        while 1 / (found**2).sum() < min(LEAST, 0.5 * len(found)) and width < WIDEST:
            width *= 1.25
            found = _kernel(apart, width)
        return found

    def predict(self, facts: Mapping[str, float]) -> dict[str, Numbers]:
        """For each measure an array of options x (mean, low, high); NaN where no near database knows the option."""
        weights, narrow = self.weights(facts), self.weights(facts, self.between)
        said = np.array([(self.formulas or {}).get(option, _zero)(facts) for option in self.traces.options])
        found = {}
        for measure, table in self.residuals.items():
            columns = np.array([_summary(column, weights) for column in table.T])
            shift = self._means(table, weights, narrow) - columns[:, 0]
            columns[:, 1:] = columns[:, :1] + self.kept * (columns[:, 1:] - columns[:, :1])
            below, above = (self.margins or {}).get(measure, {}).get(facts.get(self.apart, 0.0), (0.0, 0.0))
            found[measure] = np.clip(columns + (shift + said)[:, None] + np.array([0, -below, above]), *self.limits)
        for (option, measure), value in (self.certain or {}).items():
            found[measure][self.traces.options.index(option)] = value
        return found

    def _means(self, table: Numbers, weights: Numbers, narrow: Numbers) -> Numbers:
        """What is expected of each option: the mean of all options, and how much better than it this one is."""
        level = np.nanmean(table, axis=1)
        ahead = np.array([_summary(column - level, narrow)[0] for column in table.T])
        return np.asarray(_summary(level, weights)[0] + ahead)

    def nearest(self, facts: Mapping[str, float], number: int = 3) -> tuple[str, ...]:
        """The names of the databases with the largest weights; one for each table that they were made from."""
        order = np.argsort(-self.weights(facts), kind="stable")
        names = dict.fromkeys(self.traces.databases[place].split(" ")[0] for place in order[: 20 * number])
        return tuple(names)[:number]

    def far(self, facts: Mapping[str, float]) -> bool:
        """Whether no database is near, as databases of different families are to each other."""
        return bool(self.distances(facts).min() > FAR * self.usual_distance)


def calibrated(nearby: Nearby) -> Nearby:
    """The same with intervals that hold 90 % of the databases of families left out in turn, on average over families
    and options (a conformal margin: the quantile of how far results lay outside)."""
    missed: dict[str, list[Numbers]] = {measure: [] for measure in nearby.traces.measures}
    for family in dict.fromkeys(nearby.traces.families):
        if len({*nearby.traces.families}) < 2:
            break
        others = replace(nearby, traces=nearby.traces.without(family), margins=None)
        for place in [i for i, one in enumerate(nearby.traces.families) if one == family]:
            said = others.predict(_facts(nearby.traces, place))
            for measure, table in nearby.traces.quality.items():
                low, high = said[measure][:, 1], said[measure][:, 2]
                missed[measure].append(np.maximum(low - table[place], table[place] - high))
    widths = {measure: _quantile(np.concatenate(all_of), COVER) for measure, all_of in missed.items() if all_of}
    return replace(nearby, margins={measure: {0.0: (width, width)} for measure, width in widths.items()})


def _facts(traces: Traces, place: int) -> dict[str, float]:
    return dict(zip(traces.fact_names, traces.facts[place].tolist(), strict=True))


def _zero(facts: Mapping[str, float]) -> float:
    return 0.0


def _kernel(apart: Numbers, width: float) -> Numbers:
    """Weights that fall with the distance as a normal density does, and add up to one."""
    logs = -0.5 * (apart / width) ** 2
    found = np.exp(logs - logs.max())
    return np.asarray(found / found.sum())


def _summary(values: Numbers, weights: Numbers) -> tuple[float, float, float]:
    """The weighted mean, and the weighted quantiles between which COVER of the values lie."""
    known = ~np.isnan(values)
    if not known.any() or weights[known].sum() <= 0:
        return (np.nan, np.nan, np.nan)
    values, weights = values[known], weights[known] / weights[known].sum()
    order = values.argsort()
    upto = weights[order].cumsum() - 0.5 * weights[order]
    low, high = np.interp([(1 - COVER) / 2, (1 + COVER) / 2], upto, values[order])
    return float(weights @ values), float(low), float(high)


def _quantile(values: Numbers, share: float) -> float:
    known = values[~np.isnan(values)]
    return float(np.quantile(known, share)) if len(known) else 0.0
