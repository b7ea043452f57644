"""What people look at in a fitted model: a tree with counts in its nodes, and the weights of a linear model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..choice.trees import jostle
from ..display import COLOURS, number, readable
from ..errors import BadInput
from ..plans.outcome import Outcome
from ..plans.replay import Replay
from ..plans.trees.branches import Node
from ..plans.trees.jostle import grow_jostle
from ..plans.trees.learner import Decision
from ..plans.trees.pruning import class_shares
from ..plans.trees.together import finished
from ..plans.trees.trees import grow_tree
from ..questions import Linear

JOSTLE = "jostle"
PALEST = 0.15  # strength of the colour of a node with equal class shares
LETTERS = 24  # most letters of a name in a node
WIDTH, HEIGHT = 2.4, 1.9  # inches of a leaf and of a level
SCREEN, LARGEST = 16, 60  # inches of a drawing at most: of one that fits a screen, and of one whose depth was asked for
FONT, READABLE, SMALLEST = 8, 5, 3  # points of text
LETTER, LINE = 0.62, 1.3  # width of a letter and height of a line, relative to the font size
APART = 2  # standard errors above which a node is taken to have rows
NOISE = "no more rows\nthan noise"


def tree_nodes(model: Any) -> tuple[Node, Any]:
    """The root of a fitted tree, rebuilt from the saved releases, with noisy counts and their deviation in every node;
    and the class shares over all rows."""
    check_is_fitted(model)
    if model.method != "tree":
        raise BadInput("only a DecisionTreeClassifier is a single tree")
    root, prior = _kept(model.outcome_)
    if root.partition().describe() != model.scorer_.partition.describe():
        raise BadInput("the model was made by another version of Veil: fit it again to draw it")
    return root, prior


def tree_decisions(model: Any) -> list[Decision]:
    """What was decided about each node of a fitted tree of preset "jostle", in the order of deciding."""
    check_is_fitted(model)
    noted = list[Decision]()
    _grown(model.outcome_, noted)
    return noted


@lru_cache(1)  # a report needs it several times, and a tree of 37,000 leaves takes seconds to grow
def _kept(outcome: Outcome[Any]) -> tuple[Node, Any]:
    """What `_grown` gives, the last one kept: only to be looked at."""
    return _grown(outcome, [])


def _grown(outcome: Outcome[Any], noted: list[Decision]) -> tuple[Node, Any]:
    """The tree grown again from the saved releases, and the class shares over all rows."""
    preset, depth = outcome.settings["preset"], outcome.settings["depth"]
    if type(depth) not in (int, type(None)):
        raise BadInput("the file says no depth of its tree, so it cannot be drawn")
    source: Any = Replay(outcome.schema, outcome.releases[len(outcome.known) :])
    totals = next(iter(outcome.known), None)
    if preset != JOSTLE:
        more = {name: outcome.settings.get(name) for name in ("criterion", "shares")}  # earlier versions had none
        return grow_tree(source, outcome.left, preset=preset, depth=depth, totals=totals, **more)
    learner = jostle(depth)
    (root,) = grow_jostle(source, outcome.left, learner, totals=totals, noted=noted)
    return root, finished([root], learner.prune)


@dataclass(eq=False)
class _Shown:
    """A node as it is drawn: its class shares, and its branches with the names of the values that lead there. Without a
    node it stands for several branches that are nothing but noise."""

    node: Node | None
    shares: Any
    branches: "list[tuple[str, _Shown]]"


def _shown(node: Node, around: Any, levels: int, folded: bool) -> _Shown:
    """A node with `levels` levels below it (all if negative); with `folded`, none below a node that may be empty."""
    (shares,) = class_shares(Node(node.reach, counts=node.counts, deviation=node.deviation), around)
    if node.cut is None or levels == 0 or folded and _is_noise(node):
        return _Shown(node, shares, [])
    names = node.cut.axes[0].names
    below = [_shown(branch, shares, levels - 1, folded) for branch in node.branches]
    return _Shown(node, shares, list(zip(names, below, strict=True)))


def _is_noise(node: Node) -> bool:
    """Whether a node's noisy number of rows is within APART standard errors of zero."""
    return bool(node.counts.sum() <= APART * node.deviation * len(node.counts) ** 0.5)


def export_text(model: Any, *, folded: bool = True) -> str:
    """A fitted tree as text, a line for each branch: the values that lead there, its rows and, for a leaf, its class,
    the share of that class, and the rows of each class; all counts are noisy, with the standard error of their noise
    behind them.

    A node that may be empty ends in dots instead of the branches below it, unless `folded` is False.
    """
    root, prior = tree_nodes(model)
    found, classes = _shown(root, prior, -1, folded), model.schema_.classes
    return "\n".join(_lines(found, classes) if found.branches else [f"all rows{_said(found, classes)}"])


def _lines(shown: _Shown, classes: Sequence[str], indent: str = "") -> Iterator[str]:
    column = readable(shown.node.cut.columns[0]) if shown.node and shown.node.cut else ""
    for name, branch in shown.branches:
        start = f"{indent}{column} is {readable(name)}"
        if branch.branches:
            yield f"{start} ({_rows(branch.node)} rows)"
            yield from _lines(branch, classes, indent + "    ")
        else:
            yield start + _said(branch, classes)


def _said(leaf: _Shown, classes: Sequence[str]) -> str:
    counts, best = ", ".join(_by_class(leaf.node, classes)), int(leaf.shares.argmax())
    dots = " ..." if leaf.node is not None and leaf.node.branches else ""
    return f": {readable(classes[best])} ({leaf.shares[best]:.2f}; {counts}){dots}"


def _rows(node: Any) -> str:
    return f"{node.counts.sum():,.0f} ± {number(node.deviation * len(node.counts) ** 0.5)}"


def _by_class(node: Any, classes: Sequence[str]) -> list[str]:
    return [
        f"{readable(name, LETTERS)} {count:,.0f} ± {number(node.deviation)}"
        for name, count in zip(classes, node.counts, strict=True)
    ]


def plot_tree(
    model: Any,
    *,
    max_depth: int | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    filled: bool = False,
    folded: bool = True,
    ax: Any = None,
    fontsize: float | None = None,
) -> Any:
    """Draw a fitted DecisionTreeClassifier with matplotlib, and give the Axes back.

    A node shows the column that divides it, its noisy number of rows, the noisy count of each class with the standard
    error of its noise, and the class that it predicts; above it are the values that lead there. With `filled` a node
    has the colour of its class, stronger for a larger share. Branches of a node that may be empty are drawn as one box,
    without what is below them, unless `folded` is False. Names are for columns and classes in the schema's order.
    Without a `fontsize`, text is as large as fits; without `max_depth` too, there are as many levels as can be read on
    a screen, and dots where there are more: `max_depth` makes room for them.

    >>> from veil import DecisionTreeClassifier, datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = DecisionTreeClassifier(epsilon=5, schema=schema).fit(rows)
    >>> axes = plot_tree(model, filled=True, max_depth=2)
    """
    root, prior = tree_nodes(model)
    columns = _names(feature_names, [column.name for column in model.schema_.features], "feature_names")
    classes = _names(class_names, model.schema_.classes, "class_names")
    most, least = (LARGEST, SMALLEST) if max_depth is not None or ax is not None else (SCREEN, READABLE)
    for levels in [max_depth] if max_depth is not None else range(_height(root), -1, -1):
        found = _shown(root, prior, levels, folded)
        places = _places(_gathered(found) if folded else found)
        texts = {shown: _box_text(shown, columns, list(classes.values())) for shown in places}
        wide, deep = (max(spot[side] for spot in places.values()) + 1 for side in (0, 1))
        axes = _new_axes(wide, deep, most) if ax is None else ax
        size = fontsize or _largest_font(axes, wide, deep, texts)
        if fontsize or size >= least:
            break
    axes.set(xlim=(-0.5, wide - 0.5), ylim=(0.5 - deep, 0.5))
    axes.set_axis_off()
    for shown in places:
        _draw_branches(axes, shown, places, texts, size)
        face = _face(shown, len(classes)) if filled else "white"
        _draw_text(axes, places[shown], texts[shown], size, face)
    return axes


def _height(node: Node) -> int:
    """The number of cuts on the longest path to a leaf."""
    return max((1 + _height(branch) for branch in node.branches), default=0)


def _names(given: Sequence[str] | None, own: Sequence[str], what: str) -> dict[str, str]:
    if given is not None and len(given) != len(own):
        raise BadInput(f"{what} must be {len(own)} names, in the order of the schema")
    names = given if given is not None else own
    return dict(zip(own, [readable(name, LETTERS) for name in names], strict=True))


def _gathered(shown: _Shown) -> _Shown:
    """The same tree, with two or more empty-looking branches of a node merged into one."""
    noise = [branch for _, branch in shown.branches if branch.node is not None and _is_noise(branch.node)]
    kept = [(name, _gathered(branch)) for name, branch in shown.branches if len(noise) < 2 or branch not in noise]
    more = [(f"{len(noise)} others", _Shown(None, None, []))] if len(noise) > 1 else []
    return _Shown(shown.node, shown.shares, [*kept, *more])


def _places(shown: _Shown, depth: int = 0, left: float = 0.0) -> dict[_Shown, tuple[float, int]]:
    """{node: (x, depth)} for every drawn node: leaves side by side, other nodes centred above their branches."""
    below: dict[_Shown, tuple[float, int]] = {}
    for _, branch in shown.branches:
        found = _places(branch, depth + 1, left)
        left = max(x for x, _ in found.values()) + 1
        below |= found
    ends = [below[branch][0] for _, branch in shown.branches] or [left]
    return {shown: ((ends[0] + ends[-1]) / 2, depth), **below}


def _box_text(shown: _Shown, columns: dict[str, str], classes: Sequence[str]) -> str:
    node = shown.node
    if node is None:
        return NOISE
    best, dots = int(np.argmax(shown.shares)), "" if shown.branches else " ..."
    lines = [f"by {columns[node.cut.columns[0]]}{dots}"] if node.cut is not None else []
    lines += [f"{_rows(node)} rows", *_by_class(node, classes), f"says {classes[best]} ({shown.shares[best]:.2f})"]
    return "\n".join(lines)


def _new_axes(wide: float, deep: float, most: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(min(WIDTH * wide, most), min(HEIGHT * deep, most))).add_axes((0, 0, 1, 1))


def _largest_font(ax: Any, wide: float, deep: float, texts: dict[_Shown, str]) -> float:
    """The largest font size, in points, with which every box, and the name above it, fits its place."""
    box, points = ax.get_window_extent(), 72 / ax.figure.dpi
    names = [readable(name, LETTERS) for shown in texts for name, _ in shown.branches]
    letters = max(map(len, [*names, *(line for text in texts.values() for line in text.split("\n"))]))
    lines = max(text.count("\n") + 1 for text in texts.values())
    across = box.width * points / wide / (LETTER * letters + 2)
    return float(min(FONT, across, box.height * points / deep / (LINE * (lines + 3))))


def _draw_branches(ax: Any, shown: _Shown, places: dict[_Shown, Any], texts: dict[_Shown, str], size: float) -> None:
    x, y = places[shown]
    for name, branch in shown.branches:
        right, low = places[branch]
        ax.plot([x, right], [-y, -low], color="#888888", linewidth=size / FONT, zorder=1)
        above = LINE * size * (texts[branch].count("\n") + 2) / 2
        style = {"fontsize": 0.9 * size, "color": "#555555", "bbox": {"facecolor": "white", "lw": 0, "pad": 0.5}}
        spot = {"xytext": (0, above), "textcoords": "offset points", "ha": "center", "va": "bottom"}
        ax.annotate(readable(name, LETTERS), (right, -low), **spot, **style, zorder=2)


def _draw_text(ax: Any, place: tuple[float, int], text: str, size: float, face: Any) -> None:
    box = {"boxstyle": "round", "facecolor": face, "edgecolor": "#555555", "linewidth": size / FONT}
    ax.text(place[0], -place[1], text, ha="center", va="center", fontsize=size, bbox=box, zorder=3)


def _face(shown: _Shown, classes: int) -> Any:
    if shown.node is None:
        return "white"
    best = int(np.argmax(shown.shares))
    return _colour(best, float(shown.shares[best]), classes)


def _colour(best: int, share: float, classes: int) -> tuple[float, ...]:
    """The colour of a class: pale for a share of 1 / classes, up to half strength for a share of 1."""
    from matplotlib.colors import to_rgb

    sure = PALEST + (0.6 - PALEST) * max(share * classes - 1, 0) / max(classes - 1, 1)
    return tuple(1 - sure * (1 - part) for part in to_rgb(COLOURS[best % len(COLOURS)]))


def coefficients(model: Any) -> dict[str, list[Any]]:
    """The weights of a linear model by column and values, as named columns: `pandas.DataFrame(coefficients(model))`.

    With two classes, for the second against the first; with more, for each against their average. Values of a
    column that have the same weights are one row. All weights hold noise.

    >>> from veil import LogisticRegressionClassifier, datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = LogisticRegressionClassifier(epsilon=1, schema=schema).fit(rows)
    >>> list(coefficients(model))
    ['column', 'values', 'setosa', 'versicolor', 'virginica']
    """
    check_is_fitted(model)
    if not isinstance(model.scorer_, Linear):
        raise BadInput(f"a model of method {model.method!r} has no coefficients: it is not linear")
    classes = model.schema_.classes
    shown = classes[1:] if len(classes) == 2 else classes
    rows = [
        (name, group, *_against(weights))
        for name, table in model.scorer_.weights.items()
        for group, weights in _groups(model.schema_.get(name), np.asarray(table, np.float64))
    ]
    header = ["column", "values", *shown]
    return {title: [row[place] for row in rows] for place, title in enumerate(header)}


def _against(weights: Any) -> list[float]:
    return [float(weights[1] - weights[0])] if len(weights) == 2 else [float(w) for w in weights - weights.mean()]


def _groups(column: Any, table: Any) -> list[tuple[str, Any]]:
    """Codes of a column that have the same weights: a list of (their name, their weights)."""
    found: dict[Any, list[int]] = {}
    for code, weights in enumerate(table):
        found.setdefault(tuple(weights), []).append(code)
    return [(column.group_name(codes), table[codes[0]]) for codes in found.values()]
