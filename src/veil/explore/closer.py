"""A closer look at one table: over epsilon, over rows, seed by seed, and what methods take."""

from collections.abc import Sequence
from math import isfinite, isnan

from ..drawing import Picture
from ..markup import escaped
from ..plans.catalogue import NAMES
from ..results import LESS_IS_BETTER
from .page import Safe, figure, paragraph, section, table
from .picking import Picked, is_known
from .words import MEASURES, digits_of, duration, short, size_words

Sizes = dict[int | None, tuple[float, float | None]]  # a mean and its margin for each number of rows
LAST = 3  # times the largest number of rows that was tried: where all rows are drawn


def near(now: Picked) -> Safe:
    """One table: over epsilon, over rows, seed by seed, and what it takes."""
    best = now.best(now.table)
    loud = loud_methods(now, best)
    parts = [over_epsilon(now, loud), seeds(now, loud), costs(now)]
    parts += [over_rows(now, loud)] if len(now.results.sizes) > 1 else []
    return section(f"On {now.table}", Safe(f'<div class="pair">{"".join(parts)}</div>'))


def loud_methods(now: Picked, best: str) -> dict[str, str]:
    """The methods to draw loudly, each with the name of its colour: the chosen one, the best, and the best of others
    than Veil."""
    peers = [name for name in now.methods if name not in NAMES and now.results.private(name)]
    peer = now.results.best(now.table, peers, now.epsilon, now.measure, now.rows) if peers else ""
    wanted = dict.fromkeys([now.method, best, peer])
    return dict(zip([name for name in wanted if name], ("main", "second", "third"), strict=False))


def curve(now: Picked, method: str) -> list[tuple[float, float, float | None]]:
    """The mean and margin of a private method at each epsilon."""
    found = list[tuple[float, float, float | None]]()
    for epsilon in now.results.epsilons:
        group = now.results.groups.get((now.table, method, epsilon, now.rows))
        mean, margin = group.summary(now.measure) if group else (None, None)
        found += [] if mean is None or isnan(mean) else [(epsilon, mean, margin)]
    return found


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis that hold these values."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    room = max(0.06 * (high - low), 0.005)
    return low - room, high + room


def over_epsilon(now: Picked, loud: dict[str, str]) -> Safe:
    """Lines over epsilon, a few loud among grey ones."""
    curves = {name: found for name in now.methods if now.results.private(name) and (found := curve(now, name))}
    ceiling = {name: now.group(now.table, name) for name in now.methods if not now.results.private(name)}
    levels = {name: group.summary(now.measure)[0] for name, group in ceiling.items() if group}
    values = [mean for found in curves.values() for _, mean, _ in found] + [v for v in levels.values() if v is not None]
    words = f"{MEASURES[now.measure]} over epsilon"
    stops = now.results.epsilons or (0.1, 1.0)
    ends = (min(stops), max(stops)) if len(stops) > 1 else (stops[0] / 2, stops[0] * 2)
    drawn = Picture(
        f"{words} on {now.table}",
        ends,
        _ends(values),
        logs=True,
        below="epsilon",
        beside=MEASURES[now.measure],
        along=[(stop, f"{stop:g}") for stop in stops],
    )
    for name, found in curves.items():
        if name not in loud:
            drawn.line([point[:2] for point in found], "pale")
    for name, level in levels.items():
        if level is not None and name == "ceiling":
            drawn.rule(level, "ceiling, NOT private", "open")
    for name, colour in loud.items():
        points = curves.get(name, [])
        drawn.band([(at, mean - (margin or 0), mean + (margin or 0)) for at, mean, margin in points], colour)
        drawn.line([point[:2] for point in points], colour)
        drawn.dots([point[:2] for point in points], colour)
    drawn.post(now.epsilon, "", "here")
    header = ["method", *(f"{stop:g}" for stop in now.results.epsilons)]
    rows = [[name, *_along(found, now.results.epsilons)] for name, found in curves.items()]
    return figure(
        words,
        f"public table {now.table}; bands are 95 % over seeds",
        drawn.svg(),
        legend(loud) + table(f"{words} on {now.table}", header, rows, fold=True),
    )


def _along(found: list[tuple[float, float, float | None]], stops: Sequence[float]) -> list[str]:
    known = {epsilon: short(mean) for epsilon, mean, _ in found}
    return [known.get(stop, "-") for stop in stops]


def legend(loud: dict[str, str], rest: str = "others, grey") -> Safe:
    """Which colour is which method."""
    chips = "".join(f'<span class="chip c-{colour}"></span>{escaped(name)}' for name, colour in loud.items() if name)
    return Safe(f'<p class="legend">{chips}<span class="chip c-pale"></span>{escaped(rest)}</p>')


def seeds(now: Picked, loud: dict[str, str]) -> Safe:
    """A dot for each seed."""
    groups = {name: group for name in now.methods if (group := now.group(now.table, name)) and group.seeds}
    groups = {name: group for name, group in groups.items() if is_known(group, now.measure)}
    sign = 1 if now.measure in LESS_IS_BETTER else -1
    names = sorted(groups, key=lambda name: sign * (groups[name].summary(now.measure)[0] or 0))[:20]
    values = [value for name in names for value in groups[name].values[now.measure]]
    words = f"{MEASURES[now.measure]} of every seed at epsilon {now.epsilon:g}"
    drawn = Picture(
        f"{words} on {now.table}",
        _ends(values),
        (max(len(names) - 0.5, 0.5), -0.5),
        height=44 + 17 * max(len(names), 1),
        below=MEASURES[now.measure],
        names=names,
    )
    for place, name in enumerate(names):
        kind = loud.get(name, "pale" if groups[name].private else "open")
        drawn.dots([(value, place) for value in groups[name].values[now.measure]], kind, 2.6)
    found = {name: groups[name].summary(now.measure) for name in names}
    rows = [
        (name, *(short(one, digits_of(pair[1])) for one in pair), len(groups[name].seeds))
        for name, pair in found.items()
    ]
    header = ["method", "mean", "± 95 %", "runs"]
    return figure(
        words,
        f"public table {now.table}; each dot is a split and its noise",
        drawn.svg(),
        table(words, header, rows, fold=True),
    )


def costs(now: Picked) -> Safe:
    """Seconds and memory of every method."""
    groups = {name: group for name in now.methods if (group := now.group(now.table, name)) and group.seeds}
    taken = {name: group.summary("seconds")[0] for name, group in groups.items()}
    taken = {name: value for name, value in taken.items() if value is not None and not isnan(value) and value > 0}
    if not taken:
        return Safe("")
    names = sorted(taken, key=lambda name: taken[name] or 0)[:20]
    lows, highs = min(filter(None, taken.values())), max(filter(None, taken.values()))
    drawn = Picture(
        f"seconds to learn from {now.table}",
        (lows / 1.5, highs * 1.2),
        (len(names) - 0.5, -0.5),
        logs=True,
        height=44 + 17 * len(names),
        below="seconds of one core, log scale",
        names=names,
    )
    for place, name in enumerate(names):
        drawn.dots([(taken[name] or lows, place)], "pale" if name not in NAMES else "main", 4)
    rows = [(name, duration(taken[name]), short(groups[name].summary("peak_memory")[0], 0)) for name in names]
    return figure(
        "What it takes",
        f"public table {now.table}; one core, MB with all libraries",
        drawn.svg(),
        table("Seconds and MB", ["method", "seconds", "MB"], rows, fold=True),
    )


def over_rows(now: Picked, loud: dict[str, str]) -> Safe:
    """Lines over the number of rows that were learned from; all rows of the table come last, where they are known."""
    words = f"{MEASURES[now.measure]} over rows"
    places = {size: float(size or LAST * max(filter(None, now.results.sizes))) for size in now.results.sizes}
    curves = {name: found for name in now.methods if len(found := _over_sizes(now, name)) > 1}
    if not any(map(now.results.private, curves)):
        return _elsewhere(now)
    loud = {name: kind for name, kind in loud.items() if name in curves} or {_last_best(now, curves): "main"}
    levels = [mean for found in curves.values() for mean, _ in found.values()]
    drawn = Picture(
        f"{words} on {now.table}",
        (min(places.values()), max(places.values())),
        _ends(levels),
        logs=True,
        below="rows learned from",
        beside=MEASURES[now.measure],
        along=[(place, size_words(size)) for size, place in places.items()],
    )
    for name, found in sorted(curves.items(), key=lambda pair: pair[0] in loud):
        kind = loud.get(name, "pale" if now.results.private(name) else "open")
        points = [(places[size], *pair) for size, pair in found.items()]
        if name in loud:
            drawn.band([(at, mean - (margin or 0), mean + (margin or 0)) for at, mean, margin in points], kind)
            drawn.dots([point[:2] for point in points], kind)
        drawn.line([point[:2] for point in points], kind)
    rows = [
        (name, *(short(found[size][0] if size in found else None) for size in places)) for name, found in curves.items()
    ]
    return figure(
        f"{words}, at epsilon {now.epsilon:g}",
        f"public table {now.table}, parts of it drawn at random; bands are 95 % over seeds",
        drawn.svg(),
        legend(loud, "others, grey; dashed: NOT private")
        + table(words, ["method", *map(size_words, places)], rows, fold=True),
    )


def _elsewhere(now: Picked) -> Safe:
    """At which epsilons this table was measured over rows; "" if at none."""
    sized = {epsilon for name, _, epsilon, rows in now.results.groups if name == now.table and rows is not None}
    stops = ", ".join(f"{epsilon:g}" for epsilon in sorted(sized) if isfinite(epsilon))
    return paragraph(f"Over rows, {now.table} was measured at epsilon {stops}.", "quiet") if stops else Safe("")


def _last_best(now: Picked, curves: dict[str, Sizes]) -> str:
    """The private method with the best mean at the largest number of rows of its curve; "" if there is none."""
    sign = -1 if now.measure in LESS_IS_BETTER else 1
    lasts = {name: sign * [*found.values()][-1][0] for name, found in curves.items() if now.results.private(name)}
    return max(lasts, key=lambda name: lasts[name], default="")


def _over_sizes(now: Picked, method: str) -> Sizes:
    """The mean and margin of a method for each number of rows that it learned from."""
    found: Sizes = {}
    for size in now.results.sizes:
        group = now.results.group(now.table, method, now.epsilon, size)
        mean, margin = group.summary(now.measure) if group else (None, None)
        found |= {} if mean is None or isnan(mean) else {size: (mean, margin)}
    return found
