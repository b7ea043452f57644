"""What people look at in a fitted model: a tree with the counts in its nodes, the weights of a linear model."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..display import COLOURS, number, readable
from ..errors import BadInput
from ..kernel.budget import Budget
from ..plans.branches import Node
from ..plans.pruning import class_shares
from ..plans.replay import Replay
from ..plans.trees import grow_tree
from ..questions import Linear

PALEST = 0.15  # how strong the colour of a node is that is sure of nothing
LETTERS = 24  # of a name in a node
WIDTH, HEIGHT = 2.4, 1.9  # inches of a leaf and of a level


def tree_nodes(model: Any) -> tuple[Node, Any]:
    """The root of a fitted tree, every node with its noisy counts and the deviation of their noise, and the class
    shares of all rows: what the plan makes of the released answers."""
    check_is_fitted(model)
    if model.method != "tree":
        raise BadInput("only a DecisionTreeClassifier is a single tree")
    settings, answers = model.settings_, Replay(model.schema_, model.releases_)
    preset, depth = settings["preset"], settings["depth"]
    source: Any = answers
    root, prior = grow_tree(source, Budget(settings["epsilon"]), preset=preset, depth=depth)
    if root.partition().describe() != model.scorer_.partition.describe():
        raise BadInput("the model was made by another version of Veil: fit it again to draw it")
    return root, prior


def export_text(model: Any) -> str:
    """A fitted tree in words, a line for each branch: what leads there, its rows and, of a leaf, its class, how sure it
    is, and the rows of each class; all counts are noisy, and behind them is the standard error of their noise."""
    root, prior = tree_nodes(model)
    leaves = iter(zip(root.leaves(), class_shares(root, prior), strict=True))
    return "\n".join(_lines(root, model.schema_.classes, leaves))


def _lines(node: Node, classes: Sequence[str], leaves: Iterator[Any], indent: str = "") -> Iterator[str]:
    if node.cut is None:
        yield f"{indent}all rows{_said(*next(leaves), classes)}"
        return
    (one,) = node.cut.axes
    for name, branch in zip(one.names, node.branches, strict=True):
        start = f"{indent}{readable(one.column)} is {readable(name)}"
        if branch.branches:
            yield f"{start} ({_rows(branch)} rows)"
            yield from _lines(branch, classes, leaves, indent + "    ")
        else:
            yield start + _said(*next(leaves), classes)


def _said(leaf: Node, shares: Any, classes: Sequence[str]) -> str:
    return f": {readable(classes[shares.argmax()])} ({shares.max():.2f}; {', '.join(_by_class(leaf, classes))})"


def _rows(node: Node) -> str:
    return f"{node.counts.sum():,.0f} ± {number(node.deviation * len(node.counts) ** 0.5)}"


def _by_class(node: Node, classes: Sequence[str]) -> list[str]:
    return [
        f"{readable(name)} {count:,.0f} ± {number(node.deviation)}"
        for name, count in zip(classes, node.counts, strict=True)
    ]


def plot_tree(
    model: Any,
    *,
    max_depth: int | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    filled: bool = False,
    ax: Any = None,
    fontsize: float = 8,
) -> Any:
    """Draw a fitted DecisionTreeClassifier with matplotlib, and give the Axes back.

    A node shows the column that divides it, its noisy number of rows, the noisy count of each class with the standard
    error of its noise, and the class that it says; a branch, the values that lead there. With `filled` a node has the
    colour of its class, the stronger the surer. Names are for columns and classes in the schema's order.

    >>> from veil import DecisionTreeClassifier, datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = DecisionTreeClassifier(epsilon=5, schema=schema).fit(rows)
    >>> axes = plot_tree(model, filled=True, max_depth=2)
    """
    from matplotlib.figure import Figure

    root, prior = tree_nodes(model)
    columns = _names(feature_names, [column.name for column in model.schema_.features], "feature_names")
    classes = _names(class_names, model.schema_.classes, "class_names")
    placed = _placed(root, prior, -1 if max_depth is None else max_depth)
    deep, wide = max(y for _, _, y, _ in placed), max(x for _, x, _, _ in placed)
    if ax is None:
        ax = Figure(figsize=(WIDTH * (wide + 1), HEIGHT * (deep + 1))).add_axes((0, 0, 1, 1))
    ax.set(xlim=(-0.5, wide + 0.5), ylim=(-deep - 0.5, 0.5))
    ax.set_axis_off()
    spots = {id(node): (x, -y) for node, x, y, _ in placed}
    for node, _, _, shares in placed:
        _draw_node(ax, node, spots, shares, columns, list(classes.values()), filled, fontsize)
    return ax


def _names(given: Sequence[str] | None, own: Sequence[str], what: str) -> dict[str, str]:
    if given is not None and len(given) != len(own):
        raise BadInput(f"{what} must be {len(own)} names, in the order of the schema")
    return dict(zip(own, map(readable, given if given is not None else own), strict=True))


def _placed(
    node: Node, around: Any, levels: int, depth: int = 0, left: float = 0.0
) -> list[tuple[Node, float, int, Any]]:
    """Every node that is drawn, where it is, and its class shares: leaves side by side, others above their branches."""
    (shares,) = class_shares(Node(node.reach, counts=node.counts, deviation=node.deviation), around)
    if not node.branches or levels == 0:
        return [(node, left, depth, shares)]
    below: list[tuple[Node, float, int, Any]] = []
    places = []
    for branch in node.branches:
        found = _placed(branch, shares, levels - 1, depth + 1, left)
        places.append(found[0][1])
        left = max(x for _, x, _, _ in found) + 1
        below += found
    return [(node, (places[0] + places[-1]) / 2, depth, shares), *below]


def _draw_node(
    ax: Any,
    node: Node,
    spots: dict[int, tuple[float, float]],
    shares: Any,
    columns: dict[str, str],
    classes: Sequence[str],
    filled: bool,
    fontsize: float,
) -> None:
    x, y = spots[id(node)]
    drawn = [branch for branch in node.branches if id(branch) in spots]
    for name, branch in zip(node.cut.axes[0].names if node.cut else (), node.branches, strict=False):
        if drawn:
            end = spots[id(branch)]
            ax.annotate("", end, (x, y), arrowprops={"arrowstyle": "-", "color": "#888888"}, zorder=1)
            label = {"fontsize": fontsize - 1, "color": "#555555", "bbox": {"facecolor": "white", "lw": 0, "pad": 1}}
            middle = (x + end[0]) / 2, (y + end[1]) / 2
            ax.text(*middle, readable(name, LETTERS), ha="center", va="center", zorder=2, **label)
    best = int(np.argmax(shares))
    lines = [f"by {columns[node.cut.columns[0]]}" + ("" if drawn else " ...")] if node.cut is not None else []
    lines += [f"{_rows(node)} rows", *_by_class(node, classes), f"says {classes[best]} ({shares[best]:.2f})"]
    face = _colour(best, float(shares[best]), len(classes)) if filled else "white"
    box = {"boxstyle": "round", "facecolor": face, "edgecolor": "#555555"}
    ax.text(x, y, "\n".join(lines), ha="center", va="center", fontsize=fontsize, bbox=box, zorder=3)


def _colour(best: int, share: float, classes: int) -> tuple[float, ...]:
    """The colour of a class, from pale, for a share like all others, to half strength."""
    from matplotlib.colors import to_rgb

    sure = PALEST + (0.6 - PALEST) * max(share * classes - 1, 0) / max(classes - 1, 1)
    return tuple(1 - sure * (1 - part) for part in to_rgb(COLOURS[best % len(COLOURS)]))


def coefficients(model: Any) -> dict[str, list[Any]]:
    """The weights of a linear model by column and values, as named columns: `pandas.DataFrame(coefficients(model))`.

    Of two classes, what speaks for the second against the first; of more, for each of them against their average.
    Values of a column that share their weights are one row. All weights hold noise.

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
    """The codes that have a weight in common, by name, and their weights."""
    found: dict[Any, list[int]] = {}
    for code, weights in enumerate(table):
        found.setdefault(tuple(weights), []).append(code)
    return [(column.group_name(codes), table[codes[0]]) for codes in found.values()]
