"""python -m experiments.choice.judge: how far choosers stay behind the best method, on families left out.

Every chooser is trained on databases made from all other families (`collect train`), and judged on the tables of its
family as they are (`collect judge` and `more`), over five epsilons and several seeds, of which small tables have more.
Regret is the best single method in hindsight, by its mean over the seeds, less the chosen one. The best of nine means
is partly luck, so it is also found on every second seed and taken from the others ("fair").
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from veil.choice.classifiers import OPTIONS, SETTINGS, rising
from veil.choice.nearby import Nearby
from veil.choice.rising import Rising
from veil.choice.traces import Traces

from .ship import collected, shipped, traces_of

GOALS = {"both": (1.0, 1.0), "auc": (1.0, 0.0), "accuracy": (0.0, 1.0)}
MEASURES = ("auc", "accuracy")
FIRST = 1000  # seed of the judged splits, which follow each other
SPLITS = 5  # that every table has at least
MISSED = 0.035  # beyond each end of an interval on families that margins are found on; 0.05 would be missed of others
Numbers = np.ndarray[Any, np.dtype[np.float64]]
Chooser = Callable[[Traces, dict[str, float]], str]  # from what it was trained on and the facts, an option


class Cell(NamedTuple):
    """A table at an epsilon: the places of its seeds among the judged traces."""

    table: str
    family: str
    epsilon: float
    places: tuple[int, ...]


def cells(frame: pd.DataFrame) -> Iterator[Cell]:
    """The cells of judged runs, in the order of the traces made from the same frame."""
    from .collect import KEY

    firsts = frame.pivot_table(index=KEY, columns="method", values="auc").reset_index()
    families = frame.drop_duplicates("database").set_index("database").family
    for (table, epsilon), group in firsts.groupby(["database", "epsilon"]):
        yield Cell(table, families[table], epsilon, tuple(group.index))


def with_few(places: Sequence[Cell], splits: int = SPLITS) -> list[Cell]:
    """The same cells with their first splits alone, as many of each."""
    return [cell._replace(places=cell.places[:splits]) for cell in places]


def facts_at(traces: Traces, place: int) -> dict[str, float]:
    return dict(zip(traces.fact_names, traces.facts[place].tolist(), strict=True))


def by_nearby(options: Sequence[str] = OPTIONS, goal: str = "both", **settings: Any) -> Chooser:
    """The chooser that Veil uses, or one with other settings."""
    settings = {**SETTINGS, **settings}
    made: dict[int, Nearby] = {}

    def choose(trained: Traces, facts: dict[str, float]) -> str:
        nearby = made.setdefault(id(trained), Nearby(trained, **settings))
        tables = nearby.predict(facts)
        worth = sum(weight * tables[measure][:, 0] for measure, weight in zip(MEASURES, GOALS[goal], strict=True))
        found = {option: worth[trained.options.index(option)] for option in options}
        return max(found, key=lambda option: -np.inf if np.isnan(found[option]) else found[option])

    return choose


def always(option: str) -> Chooser:
    """The same option for every table."""
    return lambda trained, facts: option


def two_lines(threshold: float) -> Chooser:
    """Logistic regression for two classes and enough rows for each weight, else PrivPfC."""

    def choose(trained: Traces, facts: dict[str, float]) -> str:
        enough = facts["signal"] - facts["weights"] >= np.log(threshold)
        return "logistic" if enough and facts["classes"] < np.log(2.5) else "privpfc"

    return choose


def regrets(chooser: Chooser, trained: Traces, judged: Traces, places: Sequence[Cell]) -> pd.DataFrame:
    """For every cell what the chosen options did on average, and by how much the best single one was better."""
    others = {family: trained.without(family) for family in dict.fromkeys(cell.family for cell in places)}
    lines = []
    for cell in places:
        chosen = [chooser(others[cell.family], facts_at(judged, place)) for place in cell.places]
        columns = [judged.options.index(option) for option in chosen]
        line: dict[str, Any] = {"table": cell.table, "family": cell.family, "epsilon": cell.epsilon}
        for measure in MEASURES:
            values = judged.quality[measure][list(cell.places)]
            own = np.array([values[row, column] for row, column in enumerate(columns)])
            line |= {measure: own.mean(), f"{measure} regret": np.nanmax(values.mean(axis=0)) - own.mean()}
            line |= {f"{measure} fair": _fair(values) - own.mean(), f"{measure} error": _error(own)}
        lines.append({**line, "chosen": pd.Series(chosen).mode()[0]})
    return pd.DataFrame(lines)


def _error(values: Numbers) -> float:
    """The standard error of a mean; 0 of a single value."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _fair(values: Numbers) -> float:
    """The best method by every second seed, as it did on the others, and the other way round."""
    if len(values) < 2:
        return float("nan")
    halves = values[::2], values[1::2]
    found = [np.nanmean(other[:, np.nanargmax(half.mean(axis=0))]) for half, other in (halves, halves[::-1])]
    return float(np.mean(found))


def summary(found: pd.DataFrame) -> dict[str, float]:
    """Mean and 95th percentile of the regrets, over cells."""
    line = {}
    for measure in MEASURES:
        line |= {
            f"{measure} mean": found[f"{measure} regret"].mean(),
            f"{measure} fair": found[f"{measure} fair"].mean(),
        }
        line |= {f"{measure} p95": found[f"{measure} regret"].quantile(0.95)}
    return line


def beside_real(
    real: pd.DataFrame, trained: Traces, judged: Traces, places: Sequence[Cell], chooser: Chooser | None = None
) -> pd.DataFrame:
    """For every fit of the real `AutoClassifier` on a judged split, what the chooser chose and did there as judged."""
    choose, others, lines = chooser or by_nearby(), dict[str, Traces](), []
    fits = real.set_index(["database", "epsilon", "seed"])
    for cell in places:
        for number, place in enumerate(cell.places):
            key = (cell.table, cell.epsilon, FIRST + number)
            if key not in fits.index:
                continue
            known = others.setdefault(cell.family, trained.without(cell.family))
            chosen = choose(known, facts_at(judged, place))
            line = {"table": cell.table, "chosen": fits.loc[key, "chosen"], "as judged": chosen}
            for measure in MEASURES:
                line |= {measure: fits.loc[key, measure]}
                line |= {f"{measure} judged": judged.quality[measure][place, judged.options.index(chosen)]}
            lines.append(line)
    return pd.DataFrame(lines)


def hindsight_luck(judged: Traces, places: Sequence[Cell]) -> dict[str, float]:
    """By how much the best method in hindsight is better than the best of half of the seeds is on the others."""
    found = {}
    for measure in MEASURES:
        tables = [judged.quality[measure][list(cell.places)] for cell in places]
        found[measure] = float(np.mean([np.nanmax(values.mean(axis=0)) - _fair(values) for values in tables]))
    return found


def below_majority(places: Sequence[Cell], found: pd.DataFrame) -> pd.DataFrame:
    """The cells whose accuracy is below the share of the largest class by more than two standard errors over seeds."""
    runs = collected("judge")
    facts = runs.drop_duplicates("database").set_index("database")
    majority = runs.drop_duplicates(["database", "seed"]).groupby("database").majority.mean()
    found = found.assign(majority=[majority[cell.table] for cell in places])
    found["signal"] = [facts.rows[cell.table] * cell.epsilon for cell in places]
    return found[found.accuracy < found.majority - 2 * found["accuracy error"].fillna(0)]


def predictions(trained: Traces, judged: Traces) -> dict[str, Numbers]:
    """For each measure what was predicted without the family, lines x options x (mean, low, high), no margin added."""
    made: dict[str, Nearby] = {}
    said = []
    for place, family in enumerate(judged.families):
        nearby = made.setdefault(family, Nearby(trained.without(family), **SETTINGS))
        said.append(nearby.predict(facts_at(judged, place)))
    return {measure: np.array([one[measure] for one in said]) for measure in MEASURES}


def plans(trained: Traces, judged: Traces, places: Sequence[Cell]) -> dict[str, Numbers]:
    """The same as a plan predicts it: from what is declared, with the number of rows, for all splits alike."""
    declared = collected("judge").drop_duplicates("database").set_index("database")
    made: dict[str, Rising] = {}
    found = {measure: np.full((*judged.quality[measure].shape, 3), np.nan) for measure in MEASURES}
    for cell in places:
        one = declared.loc[cell.table]
        if cell.table not in made:
            nearby = Nearby(trained.without(cell.family), **SETTINGS)
            shape = (int(one[name]) for name in ("codes", "columns", "numbers", "classes"))
            made[cell.table] = rising(nearby, *shape)
        said = made[cell.table].predict({"signal": float(np.log(one.rows * cell.epsilon))})
        for measure in MEASURES:
            found[measure][list(cell.places)] = said[measure]
    return found


def margins(said: Numbers, truth: Numbers, many: Numbers) -> dict[float, tuple[float, float]]:
    """How far the ends of intervals have to be moved down and up for MISSED of what methods did to lie beyond each of
    them, by whether there are more than two classes."""
    found = {}
    for group in (0.0, 1.0):
        some, true = said[many == group], truth[many == group]
        below, above = some[..., 1] - true, true - some[..., 2]
        found[group] = (float(np.nanquantile(below, 1 - MISSED)), float(np.nanquantile(above, 1 - MISSED)))
    return found


def coverage(trained: Traces, judged: Traces, places: Sequence[Cell]) -> pd.DataFrame:
    """A line for everything that was predicted of a family left out: the facts, measure and family, whether the 90 %
    interval held it, whether it lay above, and how wide the interval was. Margins are from the other families."""
    judged, places = _with_few(judged, places)
    lines = []
    for facts, said in _by_facts(trained, judged, places).items():
        for measure in MEASURES:
            truth, many = _to_hold(judged, measure), judged.facts[:, judged.fact_names.index("many")]
            for family in dict.fromkeys(judged.families):
                own = np.array(judged.families) == family
                moved = margins(said[measure][~own], truth[~own], many[~own])
                below, above = np.array([moved[group] for group in many[own]]).T[..., None]
                low, high = said[measure][own][..., 1] - below, said[measure][own][..., 2] + above
                sure = ~np.isnan(truth[own])
                held = (low <= truth[own]) & (truth[own] <= high)
                width = np.minimum(high, 1) - np.maximum(low, 0)
                line = {"facts": facts, "measure": measure, "family": family, "held": held[sure]}
                lines.append(pd.DataFrame({**line, "over": (truth[own] > high)[sure], "width": width[sure]}))
    return pd.concat(lines, ignore_index=True)


def shipped_margins(trained: Traces, judged: Traces, places: Sequence[Cell]) -> dict[str, dict[str, Any]]:
    """The margins that Veil has, from all families: those of `auto` and those of a plan, by measure."""
    judged, places = _with_few(judged, places)
    many = judged.facts[:, judged.fact_names.index("many")]
    return {
        facts: {measure: margins(said[measure], _to_hold(judged, measure), many) for measure in MEASURES}
        for facts, said in _by_facts(trained, judged, places).items()
    }


def _by_facts(trained: Traces, judged: Traces, places: Sequence[Cell]) -> dict[str, dict[str, Numbers]]:
    return {"of auto": predictions(trained, judged), "of veil plan": plans(trained, judged, places)}


def _with_few(judged: Traces, places: Sequence[Cell]) -> tuple[Traces, list[Cell]]:
    """As many splits of every table, and its cells with their new places."""
    few = with_few(places)
    starts = np.cumsum([0, *(len(cell.places) for cell in few)])
    moved = [
        cell._replace(places=tuple(range(start, start + len(cell.places))))
        for cell, start in zip(few, starts, strict=False)
    ]
    return judged.only([place for cell in few for place in cell.places]), moved


def _to_hold(judged: Traces, measure: str) -> Numbers:
    """What intervals are to hold: what methods did, but not where it is certain."""
    truth = judged.quality[measure].copy()
    truth[:, [judged.options.index(option) for option, of in SETTINGS["certain"] if of == measure]] = np.nan
    return truth


def read() -> tuple[Traces, Traces, list[Cell]]:
    """What choosers are trained on, what they are judged on, and its cells."""
    judged = collected("judge")
    return shipped(), traces_of(judged), list(cells(judged))


def main() -> None:
    trained, judged, places = read()
    choosers = {"nearby": by_nearby(), **{option: always(option) for option in judged.options}}
    choosers |= {f"two lines, {threshold}": two_lines(threshold) for threshold in (1, 2, 4)}
    found = {name: summary(regrets(one, trained, judged, places)) for name, one in choosers.items()}
    print(pd.DataFrame(found).T.round(4).to_string())
    held = coverage(trained, judged, places)
    print(held.groupby(["facts", "measure"])[["held", "width"]].mean().round(3).to_string())
    print(held.pivot_table("held", ["facts", "measure"], "family").round(3).to_string())
    print(shipped_margins(trained, judged, places))


if __name__ == "__main__":
    main()
