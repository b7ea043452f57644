"""All methods in one line each: what is promised, whose idea it is, when it is good. It loads nothing."""

from dataclasses import dataclass

PURE = "pure epsilon"


@dataclass(frozen=True)
class Card:
    """A method by its name, or one of its presets."""

    method: str
    paper: str
    good_for: str
    preset: str | None = None
    guarantee: str = PURE


CARDS = (
    Card(
        "naive-bayes",
        "Vaidya, Shafiq, Basu, Hong 2013",
        "tables with up to some dozens of columns; a first model for any table",
    ),
    Card(
        "logistic",
        "Chaudhuri, Monteleoni, Sarwate 2011",
        "two classes or more and a few rows for each value, over epsilon and the columns; correlated columns",
    ),
    Card("svm", "Chaudhuri, Monteleoni, Sarwate 2011", "two classes, if only the predicted class counts"),
    Card(
        "tree",
        "after Friedman, Schuster 2010",
        "rules that people can read; numbers with thresholds, interactions",
        preset="veil",
    ),
    Card(
        "tree",
        "Friedman, Schuster 2010",
        "many rows and few values a column; where rows are too few to divide, it says the largest class",
        preset="friedman-schuster",
    ),
    Card(
        "tree",
        "Mohammed, Barouti, Alhadidi, Chen 2015",
        "many rows and few values a column; it grows every level, and sparse tables drown in noise",
        preset="mohammed",
    ),
    Card(
        "forest",
        "Veil's own: naive Bayes and a tree",
        "tables with many rows, where columns count one by one and together",
        preset="veil",
    ),
    Card(
        "forest",
        "Jagannathan, Pillaipakkamnatt, Wright 2009",
        "an epsilon of 0.5 or more; its shape is public and costs nothing",
        preset="jagannathan",
    ),
    Card(
        "forest",
        "Patil, Singh 2014",
        "many rows and a large epsilon; else its ten trees mostly say the largest class",
        preset="patil-singh",
    ),
    Card(
        "forest",
        "Fletcher, Islam 2015",
        "many rows; the number of its trees and their depth follow from them",
        preset="fletcher-islam",
    ),
    Card(
        "privpfc",
        "Su, Cao, Li, Lyu 2018",
        "a small table to keep and to train anything on; few rows, few columns that matter, interactions",
    ),
    Card("projected", "Vinterbo 2012", "histograms over a domain of any size; the paper's experiments"),
    Card("sparse-naive-bayes", "Vaidya, Shafiq, Basu, Hong 2013", "texts, rows of a sparse matrix"),
    Card("sparse-logistic", "Chaudhuri, Monteleoni, Sarwate 2011", "texts after a selection; larger epsilons"),
)
NAMES = tuple(dict.fromkeys(card.method for card in CARDS))


def presets(method: str) -> tuple[str, ...]:
    """The presets of a method; none if it has no variants."""
    return tuple(card.preset for card in CARDS if card.method == method and card.preset is not None)
