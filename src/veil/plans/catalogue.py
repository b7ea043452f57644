"""The catalogue of methods: for each, what it is, what it is good for, how long it takes, and whose paper it is from.
Importing it loads no method."""

from dataclasses import dataclass

from .effort import CHOOSING, EFFORTS, READING, grids, run_megabytes, run_seconds, to_choose

PURE = "pure epsilon"


@dataclass(frozen=True)
class Card:
    """A method by its name, or one of its presets."""

    method: str
    what: str
    good_for: str
    seconds: float  # of one core, to train on 100,000 rows of ten columns, or of ten words each; measured, about
    paper: str
    preset: str | None = None
    guarantee: str = PURE


CARDS = (
    Card(
        "naive-bayes",
        "each column by itself, multiplied",
        "tables with up to some dozens of columns; a first model for any table",
        0.1,
        "Vaidya, Shafiq, Basu, Hong 2013",
    ),
    Card(
        "auto",
        "the method that is expected to be the best",
        "any table: it chooses by the number of rows, at no cost of its own",
        1,
        "Imola, Yang 2018",
    ),
    Card(
        "logistic",
        "a weighted sum of all columns",
        "columns that say the same thing twice, and many rows: more than naive Bayes needs",
        0.4,
        "Chaudhuri, Monteleoni, Sarwate 2011",
    ),
    Card(
        "svm",
        "a weighted sum, for the class alone",
        "two classes, if only the predicted class counts",
        0.6,
        "Chaudhuri, Monteleoni, Sarwate 2011",
    ),
    Card(
        "tree",
        "one tree of questions",
        "rules that people can read; numbers with thresholds, interactions",
        0.2,
        "after Friedman, Schuster 2010",
        preset="veil",
    ),
    Card(
        "tree",
        "one tree, as in the paper",
        "many rows and few values a column; where rows are too few to divide, it says the largest class",
        0.1,
        "Friedman, Schuster 2010",
        preset="friedman-schuster",
    ),
    Card(
        "tree",
        "one tree, as in the paper",
        "many rows and few values a column; it grows every level, and sparse tables drown in noise",
        0.1,
        "Mohammed, Barouti, Alhadidi, Chen 2015",
        preset="mohammed",
    ),
    Card(
        "tree",
        "one tree, as in the paper",
        "comparison with the paper alone: counts of all columns at every level cost more than choices",
        0.6,
        "Blum, Dwork, McSherry, Nissim 2005",
        preset="sulq",
    ),
    Card(
        "tree",
        "one tree that decides at every node how to go on",
        "as preset veil; better where no class is much larger than the others",
        0.2,
        "Imola, Yang 2018",
        preset="jostle",
    ),
    Card(
        "forest",
        "each column by itself, and a tree",
        "tables with many rows, where columns count one by one and together",
        0.1,
        "Veil's own: naive Bayes and a tree",
        preset="veil",
    ),
    Card(
        "forest",
        "trees with random questions",
        "an epsilon of 0.5 or more; its shape is public and costs nothing",
        3,
        "Jagannathan, Pillaipakkamnatt, Wright 2009",
        preset="jagannathan",
    ),
    Card(
        "forest",
        "ten trees, each of its own rows",
        "many rows and a large epsilon; else its ten trees mostly say the largest class",
        0.7,
        "Patil, Singh 2014",
        preset="patil-singh",
    ),
    Card(
        "forest",
        "trees with random questions",
        "many rows; the number of its trees and their depth follow from them",
        5,
        "Fletcher, Islam 2015",
        preset="fletcher-islam",
    ),
    Card(
        "privpfc",
        "a small table of the best few columns",
        "a small table to keep and to train anything on; few rows, few columns that matter, interactions",
        2,
        "Su, Cao, Li, Lyu 2018",
    ),
    Card(
        "blend",
        "a weighted sum, and a small table",
        "many rows, where columns count one by one and together",
        2,
        "Veil's own: logistic regression and PrivPfC",
    ),
    Card(
        "shares",
        "the class shares, and nothing else",
        "so few rows times epsilon that all else is noise; what other methods must be better than",
        0.01,
        "a single count by class",
    ),
    Card(
        "projected",
        "a table of a few columns, however large",
        "histograms over a domain of any size; the paper's experiments",
        0.1,
        "Vinterbo 2012",
    ),
    Card(
        "diffgen",
        "a table refined step by step",
        "a table to keep, where columns have taxonomies; PrivPfC knows the noise before it chooses",
        0.4,
        "Mohammed, Chen, Fung, Yu 2011",
    ),
    Card(
        "privgene",
        "a weighted sum, bred by selection",
        "comparison with the paper alone: logistic regression learns more",
        3,
        "Zhang, Xiao, Yang, Zhang, Winslett 2013",
    ),
    Card(
        "sparse-naive-bayes",
        "each word by itself, multiplied",
        "texts, rows of a sparse matrix",
        0.9,
        "Vaidya, Shafiq, Basu, Hong 2013",
    ),
    Card(
        "sparse-logistic",
        "a weighted sum of words",
        "texts after a selection; larger epsilons",
        2,
        "Chaudhuri, Monteleoni, Sarwate 2011",
    ),
)
NAMES = tuple(dict.fromkeys(card.method for card in CARDS))


def presets(method: str) -> tuple[str, ...]:
    """The presets of a method; none if it has no variants."""
    return tuple(card.preset for card in CARDS if card.method == method and card.preset is not None)


def seconds(method: str, rows: int, columns: int) -> float:
    """About how long a run takes on one core, reading included; for a method with presets, that of the first. Of an
    unknown method, reading alone."""
    if method in CHOOSING:
        chosen = to_choose(grids(rows, columns), rows, columns)
        return chosen + run_seconds(EFFORTS[method], rows, columns)
    if method in EFFORTS:
        return run_seconds(EFFORTS[method], rows, columns)
    learning = next((card.seconds for card in CARDS if card.method == method), 0.0) * rows / 100_000
    return run_seconds(READING, rows, columns) + learning * max(columns, 1) / 10


def megabytes(method: str, rows: int) -> float:
    """About how much private memory a run takes, in MB."""
    return max(run_megabytes(EFFORTS.get(method, READING), rows), 1.0)
