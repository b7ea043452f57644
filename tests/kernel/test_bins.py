"""choose_bins and recode: the law of the choice on small tables, what a row can change, and what is refused."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil.errors import BadInput
from veil.kernel import Budget, Ledger, open_source
from veil.kernel.verbs.bins import capped_rows
from veil.questions import axis
from veil.schema import Categorical, Numeric, Schema
from veil.schema.codes import FEW_CUTS, encode_column
from veil.schema.encoding import quiet
from veil.schema.fine import finest

WAYS = np.array([[0, 1, 2, 3, 4], [0, 2, 2, 4, 4], [1, 1, 3, 3, 4], [0, 0, 0, 0, 1]])
HUGE = Budget(10**6)
SCHEMA = Schema(
    name="numbers",
    label="y",
    column=[
        Numeric(name="x", bounds=(0, 1000)),
        Numeric(name="z", bounds=(0, 1000)),
        Numeric(name="k", bounds=(-(10**6), 10**6), integer=True),
        Numeric(name="cut", bounds=(0, 9), edges=(0, 3, 9)),
        Numeric(name="filled", bounds=(0, 1000), missing=0),
        Categorical(name="colour", values=("red", "green", "blue")),
        Categorical(name="y", values=("a", "b")),
    ],
)


def source_of(**columns):
    rows = max(map(len, columns.values()))
    filled = {column.name: [None] * rows for column in SCHEMA.column} | {"y": ["a"] * rows}
    return open_source({**filled, **columns}, SCHEMA, Ledger(10**9, "numbers"), 1)


def law(scores, rate):
    """The law of permute-and-flip, over all orders."""
    stops, chances = np.exp(rate * (scores - scores.max())), np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for place in order:
            chances[place] += left * stops[place] / len(orders)
            left *= 1 - stops[place]
    return chances


@pytest.mark.parametrize("cap", [1, 2])
def test_the_exact_law_loses_no_more_than_epsilon(cap):
    worst = 0.0
    for cells in product(range(3), repeat=4):
        before = law(capped_rows(np.array(cells), WAYS, cap), 1.0)
        for more in np.eye(4, dtype=np.int64):
            after = law(capped_rows(np.array(cells) + more, WAYS, cap), 1.0)
            worst = max(worst, np.abs(np.log(after / before)).max())
    assert 0.9 < worst <= 1 + 1e-9


def test_the_exact_law_of_two_columns_loses_no_more_than_epsilon():
    """A row may raise the scores of both columns: at half the rate it costs as much."""
    worst = 0.0
    for cells in product(range(2), repeat=8):
        one, other = np.array(cells[:4]), np.array(cells[4:])
        before = law(capped_rows(one, WAYS, 1) + capped_rows(other, WAYS, 1), 0.5)
        for row, column in product(np.eye(4, dtype=np.int64), repeat=2):
            after = law(capped_rows(one + row, WAYS, 1) + capped_rows(other + column, WAYS, 1), 0.5)
            worst = max(worst, np.abs(np.log(after / before)).max())
    assert 0.9 < worst <= 1 + 1e-9


def test_a_cap_that_counts_rows_would_lose_more():
    """A cap of all rows' share moves with a row: scores may then change by more than one, and choices lose more."""
    worst = 0.0
    for cells in product(range(4), repeat=4):
        before = law(capped_rows(np.array(cells), WAYS, max(sum(cells) // 2, 1)), 1.0)
        for more in np.eye(4, dtype=np.int64):
            table = np.array(cells) + more
            after = law(capped_rows(table, WAYS, max(int(table.sum()) // 2, 1)), 1.0)
            worst = max(worst, np.abs(np.log(after / before)).max())
    assert worst > 1.5


@pytest.mark.parametrize("columns", [("x",), ("x", "z")])
def test_the_answers_have_that_law(columns):
    fine, values = finest(SCHEMA.get("x")), [100, 100, 100, 400, 700]
    places = fine.steps[np.array([0, 4096, 8192, 12288, 16384])]
    source, runs = source_of(**dict.fromkeys(columns, values)), 1000
    seen = np.bincount(
        [source.choose_bins(columns, places[WAYS], 2, Budget("0.7")).value for _ in range(runs)], minlength=4
    )
    scores = len(columns) * capped_rows(np.array([3, 1, 1, 0]), WAYS, 2)
    chances = law(scores, 0.7 / len(columns))
    assert np.all(np.abs(seen / runs - chances) <= 5 * np.sqrt(chances / runs) + 1e-3)


def test_handicaps_are_subtracted_and_missing_rows_are_in_no_bin():
    places = finest(SCHEMA.get("x")).steps[np.array([[0, 8192, 16384], [0, 0, 16384]])]
    source = source_of(x=[100.0, 900.0, None, "none"] * 50)
    for handicap, winner in ((0, 0), (49, 0), (51, 1)):  # 100 rows are left in two bins, 50 in one
        assert source.choose_bins(["x"], places, 50, HUGE, handicaps=[handicap, 0]).value == winner


@given(st.lists(st.integers(0, 4), min_size=8, max_size=8), st.integers(0, 7), st.integers(1, 6), st.randoms())
def test_a_row_raises_every_score_by_nothing_or_one(cells, row, cap, chance):
    ways = np.sort([[chance.randint(0, 8) for _ in range(5)] for _ in range(9)], axis=1)
    before, table = np.array(cells), np.array(cells)
    table[row] += 1
    change = capped_rows(table, ways, cap) - capped_rows(before, ways, cap)
    assert set(change.tolist()) <= {0, 1}


def test_it_is_charged_exactly_and_before_the_answer():
    source = source_of(x=[1.0] * 9, z=[2.0] * 9)
    release = source.choose_bins(["x", "z"], [[0, 5], [5, 9]], 1, Budget("1/3"))
    (receipt,) = source.record.receipts
    assert release.receipt is receipt and receipt.epsilon == Fraction(1, 3) and release.scale == 6.0


@pytest.mark.parametrize(
    ("columns", "ways", "cap"),
    [
        (["cut"], [[0, 2]], 1),
        (["colour"], [[0, 2]], 1),
        (["y"], [[0, 2]], 1),
        (["nowhere"], [[0, 2]], 1),
        (["x", "x"], [[0, 2]], 1),
        (["x", "k"], [[0, 2]], 1),
        ([], [[0, 2]], 1),
        (["x"], [[2, 0]], 1),
        (["x"], [[-1, 2]], 1),
        (["x"], [[0, 10**6]], 1),
        (["x"], [[0.5, 2]], 1),
        (["x"], [[True, True]], 1),
        (["x"], [0, 2], 1),
        (["x"], [[0]], 1),
        (["x"], [], 1),
        (["x"], [["0", "2"]], 1),
        (["x"], [[0, 2]], 0),
        (["x"], [[0, 2]], 1.5),
        (["x"], np.zeros((2**20, 17), np.int8), 1),
    ],
)
def test_what_does_not_fit_is_refused_before_the_charge(columns, ways, cap):
    source = source_of(x=[1.0])
    with pytest.raises(BadInput):
        source.choose_bins(columns, ways, cap, Budget(1))
    assert not source.record.receipts


def test_ways_that_change_after_the_check_change_nothing():
    ways = np.array([[0, 10], [0, 20]])

    class Sly(np.ndarray):
        def astype(self, *given, **more):
            return np.array([[9, 1]])

    assert source_of(x=[1.0]).choose_bins(["x"], ways.view(Sly), 1, HUGE).value in (0, 1)


VALUES = st.floats(-(10.0**9), 10.0**9) | st.sampled_from([0.0, -0.0, 1e-300, 1000.0, 999.9999999, float("inf")])


@given(st.lists(VALUES, min_size=1, max_size=30), st.sampled_from(["x", "k", "filled"]))
def test_codes_from_fine_cuts_are_those_of_the_declared_bins(values, name):
    column, fine = SCHEMA.get(name), finest(SCHEMA.get(name))
    source = source_of(**{name: [*values, None, float("nan"), "text"]})
    assert np.array_equal(source._table.column(name), encode_column([*values, None, float("nan"), "text"], column))
    inner = np.unique(fine.cuts[:: len(fine.cuts) // 7][1:-1])
    other = Numeric(**{**column.model_dump(), "edges": (column.bounds[0], *inner, column.bounds[1])})
    recoded = source.recode(other)._table.column(name)
    assert np.array_equal(recoded, encode_column([*values, None, float("nan"), "text"], other))


@given(st.lists(st.floats(allow_nan=True), max_size=40), st.lists(st.floats(-1e300, 1e300), min_size=70, unique=True))
def test_many_cuts_are_counted_as_by_a_search(values, cuts):
    cuts = tuple(sorted(cuts))
    assert len(cuts) > FEW_CUTS
    column = Numeric.model_construct(name="x", missing=None)
    column.__dict__.update({"cuts": cuts, "names": range(len(cuts))})
    expected = np.searchsorted(cuts[1:-1], np.array(values, float), "right")
    assert np.array_equal(encode_column(values, column), np.where(np.isnan(values), len(cuts) - 1, expected))


def test_recoded_rows_are_counted_in_their_new_bins_and_pay_into_the_same_ledger():
    source = source_of(x=np.arange(1000.0))
    halves = Numeric(name="x", bounds=(0, 1000), edges=(0, 500, 1000))
    recoded = source.recode(halves)
    assert recoded.count(axis(halves), HUGE, by_class=False).value.ravel().tolist() == [500, 500, 0]
    assert source.count(axis(SCHEMA.get("x")), HUGE, by_class=False).value.sum() == 1000
    assert [*recoded.record.receipts] == [*source.record.receipts] and len(source.record.receipts) == 2
    assert recoded.schema.get("x") is halves and source.schema is SCHEMA
    again = recoded.recode(Numeric(name="x", bounds=(0, 1000), edges=(0, 250, 1000)))
    assert again.count(axis(again.schema.get("x")), HUGE, by_class=False).value.ravel().tolist() == [250, 750, 0]


def test_a_part_of_the_rows_can_be_recoded():
    source = source_of(x=np.arange(1000.0), colour=["red", "blue"] * 500)
    parts = source.split(axis(SCHEMA.get("colour")))
    halves = Numeric(name="x", bounds=(0, 1000), edges=(0, 125, 1000))
    counts = [part.recode(halves).count(axis(halves), HUGE).value[:2, 0].tolist() for part in parts]
    assert counts == [[63, 437], [0, 0], [62, 438], [0, 0]]


@pytest.mark.parametrize(
    "column",
    [
        Numeric(name="cut", bounds=(0, 9), edges=(0, 5, 9)),
        Numeric(name="colour", bounds=(0, 9)),
        Numeric(name="x", bounds=(0, 1000), edges=(0, 100, 1000)),
        Categorical(name="x", values=("a",)),
        Categorical(name="y", values=("a",)),
        Numeric(name="other", bounds=(0, 9)),
        "x",
    ],
)
def test_what_cannot_be_recoded_is_refused(column):
    with pytest.raises(BadInput):
        source_of(x=[1.0]).recode(column)


def test_a_column_changed_after_it_was_recoded_changes_no_answer():
    source, halves = source_of(x=np.arange(1000.0)), Numeric(name="x", bounds=(0, 1000), edges=(0, 500, 1000))
    recoded = source.recode(halves)
    asked = axis(halves)
    halves.__dict__["cuts"] = (0.0, 1.0, 1000.0)
    assert recoded.count(asked, HUGE, by_class=False).value.ravel().tolist() == [500, 500, 0]


class Turning(str):
    """A name that is another one at every look."""

    looks = iter("xz" * 1000)

    def __eq__(self, other):
        return next(Turning.looks) == other

    def __hash__(self):
        return hash(next(Turning.looks))


class Shrinking(tuple):
    """A tuple that is shorter at every look, and copies as itself."""

    lengths = iter(range(500, 1, -1))

    def __len__(self):
        return next(Shrinking.lengths)

    def __deepcopy__(self, memo):
        return self


class Cheaper(str):
    """A budget that costs less when it is charged than when noise was drawn for it."""

    given = iter(["100", "1/100"] * 10)

    def __str__(self):
        return next(Cheaper.given)


def test_a_budget_is_looked_at_once():
    release = source_of(x=[1.0]).choose_bins(["x"], WAYS, 1, Cheaper("1"))
    assert release.noise_scale == float(1 / release.receipt.epsilon)


def test_names_that_change_are_refused_before_the_charge():
    source = source_of(x=[1.0])
    with pytest.raises(BadInput, match="named once"):
        source.choose_bins([Turning("x")], WAYS, 1, HUGE)
    assert not source.record.receipts


@pytest.mark.parametrize("handed", ["ways", "handicaps"])
def test_what_an_array_of_ones_own_is_after_the_check_changes_nothing(handed):
    class Kept:
        def __init__(self, array):
            self.array = array

        def __array__(self, dtype=None, copy=None):
            return self.array

    given = {"ways": Kept(WAYS.copy()), "handicaps": Kept(np.zeros(len(WAYS), np.int64))}
    source = source_of(x=[1.0])
    charge = source._charge

    def charged(*asked):
        given[handed].array[:] = -(2**62)
        return charge(*asked)

    source._charge = charged
    source.choose_bins(["x"], given["ways"], 1, HUGE, handicaps=given["handicaps"])


@pytest.mark.parametrize("value", [1.0, 999.0])
def test_fine_cuts_that_somebody_has_changed_change_no_answer(value):
    source, shared = source_of(x=[value] * 3), finest(SCHEMA.get("x"))
    kept = shared.cuts
    try:
        object.__setattr__(shared, "cuts", kept[:10])
        counts = source.count(axis(SCHEMA.get("x")), HUGE).value
        source.choose_bins(["x"], WAYS, 1, HUGE)
    finally:
        object.__setattr__(shared, "cuts", kept)
    assert counts.sum() == 3


@pytest.mark.parametrize("part", ["names", "cuts"])
def test_what_somebody_put_in_place_of_names_or_cuts_is_not_used(part):
    column = Numeric(name="x", bounds=(0, 1000), bins="public")
    expected = column.size
    column.__dict__[part] = Shrinking(range(500))
    recoded = source_of(x=[999.0]).recode(column)
    anew = Numeric(name="x", bounds=(0, 1000), bins="public")
    assert recoded.count(axis(anew), HUGE).value.shape[0] == expected


@pytest.mark.parametrize("field", ["names", "cuts", "bounds"])
def test_a_schema_is_read_by_its_declarations_alone(field):
    column = Numeric(name="x", bounds=(0, 1000), bins=4)
    column.__dict__[field] = Shrinking((0.0, 1000.0))
    schema = Schema.model_construct(name="numbers", column=(column,))
    if field == "bounds":
        with pytest.raises(BadInput, match="as Schema"):
            open_source({"x": [999.0]}, schema, Ledger(9, "numbers"), 1)
    else:
        source = open_source({"x": [999.0]}, schema, Ledger(10**9, "numbers"), 1)
        assert source.count(axis(Numeric(name="x", bounds=(0, 1000), bins=4)), HUGE).value.shape[0] == 5


@pytest.mark.parametrize("odd", [0.5, np.nan, np.inf])
@pytest.mark.parametrize("seed", range(5))
def test_cuts_in_no_order_give_no_code_beyond_the_size(seed, odd):
    chance = np.random.default_rng(seed)
    cuts, values = chance.normal(size=(2, 2560)) * 10.0 ** chance.integers(-3, 3, size=(2, 2560))
    cuts[100] = odd
    column = Numeric(name="x", bounds=(0, 1000), bins=4)
    column.__dict__.update(cuts=(0.0, *cuts, 1000.0), names=("",) * (len(cuts) + 2))
    with quiet():
        assert np.all(encode_column(values, column) < column.size)


def test_more_cuts_than_a_short_number_holds_are_counted_too():
    crowded = np.linspace(40_000, 40_000.3, 50_100)
    edges = np.unique([*np.arange(0, 32_768, 2.0), *crowded, 65_536.0])
    column = Numeric(name="x", bounds=(0, 65_536), edges=tuple(edges.tolist()))
    codes = encode_column(np.append(edges, np.nan), column)
    assert codes.tolist() == [*range(len(edges) - 1), len(edges) - 2, len(edges) - 1]


def test_declared_pools_are_not_recoded_for_nothing_finer_is_known_of_their_rows():
    column = Categorical(name="c", values=("a", "b", "d"), pools={"p": ("a", "b")})
    source = open_source({"c": ["a", "d"]}, Schema(name="t", column=[column]), Ledger(9, "t"), 1)
    with pytest.raises(BadInput, match="declared"):
        source.recode(Categorical(name="c", values=("a", "b", "d")))
