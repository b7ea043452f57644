"""What a question must be before it is charged: of a known kind, about declared columns, of the right sizes.

Everything here is public. A question that passes cannot fail on a row afterwards, so no error depends on one.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from ..questions import Axis, Bag, Binned, CellScores, Drawn, Grid, Linear, Odds, PathScores, Predicted, Sum, Tree
from ..questions.drawn import WIDEST
from ..schema import Categorical, Numeric, Schema, Text
from .budget import exact
from .losses import LOSSES, MOST_CLASSES
from .scores import Correct, Difference, Discernibility, Entropy, ExpectedCorrect, Gini, Majority, Purity, Rows
from .shaped import LARGEST_COLUMN

DEEPEST = 60
MOST_CURVATURE = 25_000_000  # numbers in the square of the weights of one minimisation, for each class
DENSE_LIMIT = 200_000_000  # counts in one dense answer
SCORES = (Correct, Difference, Entropy, ExpectedCorrect, Gini, Majority, Purity, Rows)
OF_WORDS = (Difference, Entropy, ExpectedCorrect, Gini, Majority, Purity, Rows)
CELLWISE = (Entropy, ExpectedCorrect, Gini, Majority)
MOST_WITHIN = 1 << 24  # counts, or scores, of all cells in which something is chosen
MOST_WORDS = 1 << 13  # with a weight each
MOST_SUMMED = 1000  # scores of 50 bits each: their sum cannot overflow
NUMBERED = (Correct, Difference, Rows)  # go by the number of a cell; to the others an empty cell adds nothing


HAS_WORD = Grid((Axis("", (0, 1), ("with the word", "without")),))  # the two cells of every word


def check_partition(
    partition: Any, schema: Schema, *, dense: bool = True, depth: int = 0, seen: set[int] | None = None
) -> None:
    """Refuse a partition that is not one of the five kinds or does not fit the schema; grids, axes in `seen` do."""
    if depth > DEEPEST:
        raise BadInput(f"a question can be nested {DEEPEST} deep at most: use a shallower tree")
    seen = set() if seen is None else seen
    if type(partition) is Grid and type(partition.axes) is tuple:
        _check_grid(partition, schema, seen)
    elif type(partition) is Tree and type(partition.branches) is tuple:
        _forget(partition)
        for part in (partition.cut, *partition.branches):  # none of them has more cells than the tree
            check_partition(part, schema, dense=False, depth=depth + 1, seen=seen)
        if partition.cut.size != len(partition.branches):  # edges or scores of the cut may have changed since
            raise BadInput("a tree needs one branch for every cell of its cut: make it anew")
    elif type(partition) is Drawn:
        _check_drawn(partition, schema)
    elif type(partition) in (Binned, Predicted):
        _forget(partition)
        _check_scorer(partition.scorer, schema, depth)
        if type(partition) is Binned:
            whole(partition.label, "the binned label", -partition.scorer.classes, partition.scorer.classes - 1)
    else:
        raise BadInput("a partition must be a Grid (veil.grid(schema, 'age')), Tree, Drawn, Binned or Predicted")
    if dense and partition.size * len(schema.classes) > DENSE_LIMIT:
        raise BadInput(
            f"{partition.describe()} has too many cells to count one by one: use count_sparse or fewer columns"
        )
    if depth == 0 and type(partition) is not Grid:  # a trial without rows: what fails must fail before the charge
        partition.cells({"": np.zeros(0, np.uint8), **{name: np.zeros(0, np.uint8) for name in partition.columns}})


def _check_grid(grid: Grid, schema: Schema, seen: set[int]) -> None:
    if id(grid) in seen:
        return
    for axis in grid.axes:
        if id(axis) not in seen:
            _check_axis(axis, schema)
    seen.update(map(id, (grid, *grid.axes)))  # whoever asks holds them, so no number is used again
    _forget(grid)
    if len({*grid.columns}) < len(grid.axes):
        raise BadInput("a grid can hold a column only once")


def _forget(question: Any) -> None:
    """Drop what a question has kept of its own answers, such as its size, or was given in place of its methods: whoever
    made it may have changed that."""
    held, fields = vars(question), question.__dataclass_fields__
    for name in [name for name in held if name not in fields]:
        held.pop(name, None)


def _column(name: str, schema: Schema) -> Categorical | Numeric:
    column = schema.get(name)
    if not isinstance(column, (Categorical, Numeric)):
        raise BadInput(f"column {name!r} is free text: no partition can use it")
    return column


def _weighed(name: str, schema: Schema) -> Categorical | Numeric | Text:
    """A column whose codes can have weights: words can, though a row has many."""
    column = schema.get(name)
    return column if isinstance(column, Text) and column.size else _column(name, schema)


def check_bag(bag: Any, schema: Schema) -> None:
    """Refuse words that are not of a text column, or not in one order; their number is what a row's reach goes by."""
    kinds = (type(bag.column), type(bag.size), type(bag.most)) if type(bag) is Bag else ()
    if kinds != (str, int, int) or type(bag.words) not in (tuple, type(None)):
        raise BadInput("words must be a Bag, as bag(schema) makes it")
    column = schema.get(bag.column)
    if not isinstance(column, Text) or not column.size:
        raise BadInput(f"column {bag.column!r} has no words: declare it as text, with words or buckets")
    whole(bag.most, "most, the words of a row that count,", 1, 2**12)
    codes = range(column.size) if bag.words is None else bag.words
    if bag.words is not None and ({*map(type, codes)} != {int} or not all(a < b for a, b in pairwise(codes))):
        raise BadInput("a bag must have one word at least, and each of them once, in the order of the vocabulary")
    if bag.size != len(codes) or not 0 <= codes[0] <= codes[-1] < column.size:
        raise BadInput("a bag must have the size of its words, and these must be in the vocabulary: make it anew")
    if 2 * bag.size * len(schema.classes) > MOST_WITHIN:
        raise BadInput("there are too many words and classes to count: use fewer words or buckets")


def check_selection(candidates: Any, score: Any, schema: Schema, kinds: tuple[type, ...] = SCORES) -> Any:
    """The score, if it and all candidates, partitions or the words of a bag, fit the schema."""
    if type(candidates) is not Bag:
        check_score(score, schema, kinds)
        return check_candidates(candidates, score, schema)
    check_bag(candidates, schema)
    score = check_score(score, schema, OF_WORDS)
    check_cell(score, HAS_WORD, schema)
    return score


def _check_axis(axis: Axis, schema: Schema) -> None:
    fixed = type(axis) is Axis and (type(axis.column), type(axis.groups), type(axis.names)) == (str, tuple, tuple)
    if not fixed or {*map(type, axis.groups)} != {int}:
        raise BadInput("a grid must be made of axes, as axis(column) makes them")
    _forget(axis)
    if len(axis.groups) != _column(axis.column, schema).size:
        raise BadInput(f"the axis of column {axis.column!r} must give a group to each of its codes")
    if set(axis.groups) != set(range(len(axis.names))):
        raise BadInput(f"the axis of column {axis.column!r} must number its groups from 0 and name each")


def _check_drawn(tree: Drawn, schema: Schema) -> None:
    """Refuse a drawn tree whose columns are not as they should be, or whose leaves cannot be numbered."""
    numbers = (tree.depth, tree.seed, tree.most, tree.first)
    fixed = (type(tree.axes), type(tree.halved)) == (tuple, tuple) and {*map(type, tree.halved)} == {bool}
    if not fixed or len(tree.axes) != len(tree.halved) or {*map(type, numbers)} != {int}:
        raise BadInput("a drawn tree needs axes, for each of them whether it is halved, and whole numbers")
    for axis in tree.axes:
        _check_axis(axis, schema)
    for number, least, most in zip(numbers, (1, 0, 1, -1), (DEEPEST, WIDEST, WIDEST, len(tree.axes) - 1), strict=True):
        whole(number, "a number of a drawn tree", least, most)
    kept = replace(tree)
    if len({*kept.columns}) < len(kept.columns) or (tree.width, tree.columns) != (kept.width, kept.columns):
        raise BadInput("a drawn tree must have every column once, and the size of its axes: make it anew")
    if tree.size != kept.size or tree.size * len(schema.classes) >= WIDEST:
        raise BadInput("the leaves of a drawn tree cannot be numbered: use a smaller depth")
    _forget(tree)


def _check_scorer(scorer: Any, schema: Schema, depth: int) -> None:
    if type(scorer) in (CellScores, PathScores, Sum, Linear, Odds):
        _forget(scorer)
    if type(scorer) is CellScores:
        check_partition(scorer.partition, schema, depth=depth + 1)
        scorer.table  # noqa: B018 - raises if its shape does not fit the partition
    elif type(scorer) is PathScores:
        if type(scorer.tree) is not Drawn:
            raise BadInput("path scores need a drawn tree")
        check_partition(scorer.tree, schema, dense=False, depth=depth + 1)
        scorer.table  # noqa: B018 - raises if its shape does not fit
    elif type(scorer) is Sum:
        kinds = {*map(type, scorer.parts)} if type(scorer.parts) is tuple else set()
        if not kinds or not kinds <= {CellScores, PathScores}:
            raise BadInput("a sum needs a tuple of cell scores")
        for part in scorer.parts:
            _check_scorer(part, schema, depth)
        if len(scorer.parts) > MOST_SUMMED or len({part.classes for part in scorer.parts}) > 1:
            raise BadInput(f"a sum needs at most {MOST_SUMMED} cell scores, all of the same classes")
    elif type(scorer) is Linear:
        scorer.start  # noqa: B018 - raises if it is not one number for each class
        for name, table in scorer.tables.items():
            if table.shape != (_weighed(name, schema).size, scorer.classes):
                raise BadInput(f"the weights of column {name!r} must be a table of its codes by the classes")
    elif type(scorer) is Odds and type(scorer.scorer) is not Odds:
        _check_scorer(scorer.scorer, schema, depth)
        whole(scorer.scorer.classes, "the number of classes that have odds", 2, WIDEST)
        whole(scorer.label, "the class of the odds", 0, scorer.scorer.classes - 1)
    else:
        raise BadInput("a scorer must be CellScores, PathScores, Linear, Sum or the Odds of one of these")


def check_score(score: Any, schema: Schema, kinds: tuple[type, ...] = SCORES) -> Any:
    """The score, made anew so that its range is its own; only one on the closed list, which weighs these classes."""
    if type(score) not in kinds:
        raise BadInput(f"a score must be one of {', '.join(kind.__name__ for kind in kinds)}")
    if type(score) is ExpectedCorrect and len(score.weights) not in (0, len(schema.classes)):
        raise BadInput("give one weight for each class, or none")
    return replace(score)


def check_candidates(candidates: tuple[Any, ...], score: Any, schema: Schema, seen: set[int] | None = None) -> Any:
    """The score, if it and all candidates fit the schema; an axis that many grids share is looked at once."""
    if not len(candidates):
        raise BadInput("there is nothing to choose from")
    score = check_score(score, schema, (*SCORES, Discernibility))
    seen = set() if seen is None else seen
    dense = not together(candidates, score)
    for candidate in candidates:
        check_partition(candidate, schema, dense=dense, seen=seen)
        check_cell(score, candidate, schema)
    return score


def check_divisions(
    partition: Any, candidates: Any, score: Any, allowed: Any, schema: Schema
) -> tuple[npt.NDArray[np.bool_], Any]:
    """Which candidates are allowed in which cell, and the score made anew.

    Refuses what is not one axis each, or leaves a cell without any.
    """
    seen: set[int] = set()
    check_partition(partition, schema, seen=seen)
    score = check_score(score, schema, CELLWISE)
    check_candidates(candidates, score, schema, seen)
    if not all(type(candidate) is Grid and len(candidate.axes) == 1 for candidate in candidates):
        raise BadInput("a cell can be divided by grids of one axis each")
    widest = max(len(candidate.axes[0].groups) for candidate in candidates) * len(schema.classes)
    if partition.size * max(widest, len(candidates)) > MOST_WITHIN:
        raise BadInput(f"{partition.describe()} has too many cells to choose in each: use fewer cells or candidates")
    shape = (partition.size, len(candidates))
    mask = np.ones(shape, np.bool_) if allowed is None else allowed
    if type(mask) is not np.ndarray or mask.dtype != np.bool_ or mask.shape != shape or not mask.any(axis=1).all():
        raise BadInput("allowed must be an array of truth values, cells by candidates, with a true one for each cell")
    return np.array(mask), score


def together(candidates: Any, score: Any) -> bool:
    """Whether candidates can be counted together, without their empty cells: grids, by a score to which these add
    nothing."""
    return type(score) not in NUMBERED and all(type(candidate) is Grid for candidate in candidates)


def check_handicaps(handicaps: Any, count: int) -> npt.NDArray[np.int64]:
    """One whole number for each candidate, none of them so large that scores could overflow."""
    marks = [whole(mark, "a handicap", -(2**30), 2**30) for mark in handicaps] if handicaps is not None else [0] * count
    if len(marks) != count:
        raise BadInput("give one handicap for each candidate")
    return np.array(marks, np.int64)


def check_cell(score: Any, partition: Any, schema: Schema) -> None:
    """Refuse a score about a cell or a class that the partition does not have."""
    if type(score) in (Difference, Rows):
        whole(score.cell, "the score's cell", 0, partition.size - 1)
    if type(score) is Rows:
        whole(0 if score.label is None else score.label, "the score's class", 0, len(schema.classes) - 1)


def check_minimise(loss: Any, axes: Any, label: Any, offsets: Any, schema: Schema) -> npt.NDArray[np.float64]:
    """Refuse a loss that is not on the closed list, blocks that are no single axes, a class that there is not.

    What comes back are the offsets of the scores, one above the other.
    """
    if type(loss) not in LOSSES:
        raise BadInput(f"a loss must be one of {', '.join(kind.__name__ for kind in LOSSES)}")
    for one in axes:
        check_partition(one, schema)
        if type(one) is not Grid or len(one.axes) != 1:
            raise BadInput("minimise takes grids of one axis each")
    if len({one.columns for one in axes}) < len(axes):
        raise BadInput("give every column once")
    classes = len(schema.classes) if loss.joint else 1
    if classes * sum(one.size for one in axes) ** 2 > MOST_CURVATURE:
        raise BadInput("minimise would take too much memory for so many weights: use coarser or fewer columns")
    if loss.joint and (label is not None or not 2 <= classes <= MOST_CLASSES):
        raise BadInput(f"this loss is of 2 to {MOST_CLASSES} classes at once, of no single one")
    if not loss.joint:
        whole(label, "the class", 0, len(schema.classes) - 1)
    return _check_offsets(offsets, classes)


def check_words_loss(loss: Any, bag: Bag, label: Any, offset: Any, schema: Schema) -> float:
    """The offset, if the loss is of one class against the others and there are not too many words."""
    if type(loss) not in LOSSES or loss.joint:
        raise BadInput("the loss of words must be Logistic or Hinge")
    whole(label, "the class", 0, len(schema.classes) - 1)
    if bag.size > MOST_WORDS:
        raise BadInput(f"weights of at most {MOST_WORDS} words can be learned: select words first")
    return float(_check_offsets([offset], 1)[0, 0])


def _check_offsets(offsets: Any, classes: int) -> npt.NDArray[np.float64]:
    found = [exact(offset, "an offset") for offset in offsets] or [Fraction(0)] * classes
    if len(found) != classes or max(map(abs, found)) > 100:
        raise BadInput(f"the offsets must be {classes} numbers between -100 and 100")
    return np.array(found, np.float64)[:, None]


def check_margin(margin: Any) -> float:
    """The margin as the arithmetic has it."""
    if not 0 <= (found := exact(margin, "the margin")) <= 100:
        raise BadInput("the margin must be a number between 0 and 100")
    return float(found)


def check_penalties(penalty: Any, columns: int) -> list[Fraction]:
    """One penalty for each column, as fractions that the arithmetic allows."""
    given = [penalty] * columns if np.ndim(penalty) == 0 else penalty
    ratios = [exact(one, "the penalty") for one in given]
    if len(ratios) != columns or not all(1 <= ratio <= 2**40 for ratio in ratios):
        raise BadInput("the penalty must be between 1 and 10^12: one for all columns, or one for each")
    return ratios


def check_groups(groups: list[Any], sizes: list[int], parts: int) -> list[list[int]]:
    """The sizes of the columns of each group, which is so many columns after each other."""
    counts = [whole(one, "a group", 1, len(sizes)) for one in groups]
    if sum(counts) != len(sizes) or len(counts) != parts:
        raise BadInput("give every column once, and one share for each group of columns")
    found = [sizes[end - count : end] for count, end in zip(counts, accumulate(counts), strict=True)]
    if any(len(group) > 1 and max(group) > LARGEST_COLUMN for group in found):
        raise BadInput(f"a column of more than {LARGEST_COLUMN} values must be a group by itself")
    return found


def whole(value: Any, what: str, low: int, high: int) -> int:
    """The number as a Python integer, if it is whole and in this range.

    A fraction could pass a comparison and fail on a row; a NumPy integer would wrap around in later arithmetic.
    """
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not low <= value <= high:
        raise BadInput(f"{what} must be a whole number from {low} to {high}")
    return int(value)
