"""Numbers, budgets and questions that are not quite what they seem: what is compared is what is used."""

from fractions import Fraction

import pytest
from exact_laws import Scripted, source_of

from veil import Budget, Entropy, Gini, Grid, VeilError, grid
from veil.audit.tables import COLOURS, LONE, RED, SCHEMA, rows
from veil.kernel import ExpectedCorrect, Logistic, Rows, whole
from veil.kernel.owning import own_score
from veil.kernel.scores import SCORES
from veil.questions import Axis

TABLE = rows(("yes", "red", 1), ("no", "blue", 3), ("yes", "green", 2))
ONE = Budget(1)


class Pleasing(int):
    """A number that is larger and smaller than every other, and becomes another one when it is made plain."""

    __le__ = __lt__ = __ge__ = __gt__ = lambda *_: True

    def __int__(self):
        return 2**62


class Growing(int):
    """A number to which more is added every time."""

    times = 0
    __le__ = __lt__ = __ge__ = __gt__ = lambda *_: True

    def __hash__(self):
        return id(self)

    def __add__(self, other):
        self.times += 1
        return int(self) * 1000**self.times + other


class Rising(float):
    """A number that is within every range, and negative once it is made plain."""

    __le__ = __lt__ = __ge__ = __gt__ = lambda *_: True

    def __float__(self):
        return -30.0


class Shrinking(Fraction):
    """An amount of which every part is large."""

    def __truediv__(self, other):
        return Fraction(1000)


def test_a_number_in_range_is_in_range_when_it_is_plain():
    with pytest.raises(VeilError, match="must be a whole number"):
        whole(Pleasing(1), "a number", 0, 5)


def test_handicaps_cannot_make_scores_wrap_around():
    source = source_of(TABLE, Scripted())
    with pytest.raises(VeilError, match="a handicap"):
        source.choose([RED, COLOURS], Gini(), ONE, handicaps=[Pleasing(1), 0])
    assert not source.record.receipts


def test_the_range_of_a_score_is_that_of_the_table_it_is_read_from():
    score = own_score(Entropy(Growing(3)), SCHEMA, SCORES)
    assert type(score.most) is int and score.low == Entropy(3).low


def test_the_cell_of_a_score_is_a_plain_number():
    score = own_score(Rows(cell=Growing(1), label=Growing(0)), SCHEMA, SCORES)
    assert type(score.cell) is int and type(score.label) is int
    source = source_of(TABLE, Scripted())
    with pytest.raises(VeilError, match="the score's cell"):
        source.choose([RED, COLOURS], Rows(cell=Pleasing(1)), ONE)
    assert not source.record.receipts


def test_the_epsilon_of_a_score_is_checked_as_it_is_used():
    with pytest.raises(VeilError, match="epsilon of ExpectedCorrect"):
        ExpectedCorrect(Rising(1))


def test_a_budget_that_was_changed_is_charged_as_it_is_used():
    budget = Budget(1)
    object.__setattr__(budget, "epsilon", Shrinking(1, 100))
    source = source_of(LONE, Scripted())
    released = source.count(RED, budget)
    assert source._account.ledger.spent == Fraction(1, 100) and released.scale == pytest.approx(100)


def fleeting(names):
    """Grids that nobody holds on to: the next may be made where the last one was."""
    for name in names:
        column = SCHEMA.get(name)
        yield Grid((Axis(name, tuple(range(column.size)), column.names),))


@pytest.mark.parametrize("names", [["colour", "age"], ["age", "colour", "age", "colour", "age"]])
def test_questions_that_are_made_one_by_one_are_asked_as_they_are(names):
    released = source_of(TABLE, Scripted()).count_each(fleeting(names), ONE)
    assert [release.question.columns for release in released] == [(name,) for name in names]


def test_columns_that_are_made_one_by_one_are_minimised_over_as_they_are():
    source = source_of(TABLE, Scripted())
    source.minimise(Logistic(), fleeting(["colour", "age"]), ONE, label=0, penalty=8)
    assert source.record.receipts[-1].question.endswith(grid(SCHEMA, "age").describe())
