"""python -m experiments.choice.judge: how far choosers stay behind the best method, on families left out.

Every chooser is trained on databases made from all other families (`collect train`), and judged on the tables of its
family as they are (`collect judge`), over five epsilons and several seeds. Regret is the best single method in
hindsight, by its mean over the seeds, less the chosen one. The best of nine means is partly luck, so it is also found
on every second seed and taken from the others ("fair").
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from veil.choice.classifiers import OPTIONS, WIDTH
from veil.choice.nearby import Nearby
from veil.choice.traces import Traces

from .ship import collected, few, traces_of

GOALS = {"both": (1.0, 1.0), "auc": (1.0, 0.0), "accuracy": (0.0, 1.0)}
MEASURES = ("auc", "accuracy")
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


def facts_at(traces: Traces, place: int) -> dict[str, float]:
    return dict(zip(traces.fact_names, traces.facts[place].tolist(), strict=True))


def by_nearby(
    options: Sequence[str] = OPTIONS,
    goal: str = "both",
    width: float = WIDTH,
    importance: Mapping[str, float] | None = None,
) -> Chooser:
    """The chooser that Veil uses, with these settings."""
    made: dict[int, Nearby] = {}

    def choose(trained: Traces, facts: dict[str, float]) -> str:
        nearby = made.setdefault(id(trained), Nearby(trained, width=width, importance=importance))
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
            line |= {f"{measure} fair": _fair(values) - own.mean()}
        lines.append({**line, "chosen": pd.Series(chosen).mode()[0]})
    return pd.DataFrame(lines)


def _fair(values: Numbers) -> float:
    """The best method by every second seed, as it did on the others, and the other way round."""
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


def read() -> tuple[Traces, Traces, list[Cell]]:
    """What choosers are trained on, what they are judged on, and its cells."""
    judged = collected("judge")
    return traces_of(few(collected("train"))), traces_of(judged), list(cells(judged))


def main() -> None:
    trained, judged, places = read()
    choosers = {"nearby": by_nearby(), **{option: always(option) for option in judged.options}}
    choosers |= {f"two lines, {threshold}": two_lines(threshold) for threshold in (1.65, 7, 33)}
    print(
        pd.DataFrame({name: summary(regrets(one, trained, judged, places)) for name, one in choosers.items()}).T.round(
            4
        )
    )


if __name__ == "__main__":
    main()
