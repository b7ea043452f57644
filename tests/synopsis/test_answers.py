"""A synopsis answers from its release alone: marginals and boxes add up, and their errors are what the noise does."""

from fractions import Fraction
from math import exp

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil import (
    BadInput,
    Budget,
    Categorical,
    Gini,
    Ledger,
    Numeric,
    Schema,
    Synopsis,
    axis,
    datasets,
    grid,
    open_source,
)
from veil.plans.outcome import Outcome
from veil.synopsis.answers import _ends
from veil.synopsis.cells import digits, noise_alone, sizes, sum_error, sums, variance

HUGE = 10**9  # an epsilon that leaves no noise


def made(rows, schema, ask, epsilon=HUGE, **more):
    """The synopsis that one question gives."""
    source = open_source(rows, schema, Ledger(epsilon, schema.name), **more)
    release = ask(source, Budget(epsilon))
    return Synopsis(Outcome(release, "one question", {"epsilon": str(epsilon)}, schema, *map(tuple, source.record)))


def dense(source, budget):
    towns, ages = axis(source.schema.get("town"), 1), axis(source.schema.get("age"), 2)
    return source.count(ages & towns & axis(source.schema.get("income")), budget)


def sparse(source, budget):
    return source.count_sparse(dense_grid(source.schema), budget, threshold=0)


def dense_grid(schema):
    return axis(schema.get("age"), 2) & axis(schema.get("town"), 1) & axis(schema.get("income"))


@pytest.fixture(params=[dense, sparse])
def synopsis(request, rows, schema):
    return made(rows, schema, request.param)


def test_what_a_synopsis_says_about_itself(synopsis, schema):
    assert synopsis.columns == ("age", "town", "income", "party") and synopsis.grid == dense_grid(schema)
    assert list(synopsis.classes_) == ["left", "right", "other"] and synopsis.epsilon == HUGE
    assert synopsis.private_ and synopsis.schema_ is schema and len(synopsis.receipts_) == 1
    for text in (repr(synopsis), synopsis._repr_html_()):
        assert "ten" in text and "Rhine" in text and "NOT private" not in text


def test_without_noise_a_marginal_is_the_count(synopsis, rows):
    marginal = synopsis.marginal(["party", "town"])
    found = pd.DataFrame(marginal.columns()).set_index(["party", "town"])["count"]
    region = rows["town"].map({"Bonn": "Rhine", "Köln": "Rhine", "Lyon": "France", "Nice": "France"})
    expected = rows.assign(town=region.fillna("Oslo")).groupby(["party", "town"]).size()
    assert found[found > 0].sort_index().to_dict() == expected.to_dict()
    assert marginal.counts.shape == (3, 4) and found.sum() == 10
    assert "Rhine" in repr(marginal) and "<td>Rhine</td>" in marginal._repr_html_()


def test_marginals_of_every_order_add_up_to_each_other(synopsis):
    whole = synopsis.marginal(synopsis.columns).counts
    assert np.array_equal(synopsis.marginal(["income", "age"]).counts, whole.sum(axis=(1, 3)).T)
    assert np.array_equal(synopsis.marginal(["party", "age", "town"]).counts, whole.sum(axis=2).transpose(2, 0, 1))
    assert np.array_equal(synopsis.marginal("town").counts, whole.sum(axis=(0, 2, 3)))
    assert synopsis.marginal().counts == whole.sum() == 10


def test_a_marginal_can_have_a_column_that_is_called_count():
    schema = Schema(name="c", label="count", column=[Categorical(name="count", values=["a", "b"])])
    synopsis = made({"count": ["a", "a", "b"]}, schema, lambda source, budget: source.count(grid(schema), budget))
    assert synopsis.marginal(["count"]).columns() == {
        "count": ["a", "b"],
        "count_": [2, 1],
        "standard_error": [0.0, 0.0],
    }


def test_the_standard_error_is_that_of_a_sum_of_noise(rows, schema):
    source = open_source(rows, schema, Ledger(10**6, schema.name), noise=3)
    sizes_of, totals = dense_grid(schema).size * 3, []
    for _ in range(400):
        release = dense(source, Budget("0.7"))
        synopsis = Synopsis(Outcome(release, "m", {}, schema, (release,), (release.receipt,)))
        totals.append(int(synopsis.marginal().counts))
    expected = synopsis.marginal().standard_errors
    a = exp(-0.7)
    assert expected == pytest.approx(np.sqrt(sizes_of * 2 * a / (1 - a) ** 2))
    assert np.std(totals) == pytest.approx(float(expected), rel=0.15) and abs(np.mean(totals) - 10) < expected / 4


@pytest.mark.parametrize("scale", [0.3, 1.0, 20.0])
@pytest.mark.parametrize("terms", [1, 2, 5, 100])
@pytest.mark.parametrize("confidence", [0.95, 0.999])
def test_the_error_of_a_sum_covers_what_it_says_and_little_more(rows, schema, scale, terms, confidence):
    """Against the exact law of the sum, from its characteristic function."""
    release = open_source(rows, schema, Ledger(100, schema.name)).count(grid(schema), Budget(Fraction(1 / scale)))
    a, size = exp(-1 / scale), 1 << 14
    law = (1 - a) ** 2 / (1 - 2 * a * np.cos(2 * np.pi * np.arange(size) / size) + a * a)
    chance = np.fft.ifft(law**terms).real
    error = int(sum_error(release, terms, confidence))
    covered = chance[np.minimum(np.arange(size), size - np.arange(size)) <= error].sum()
    assert covered >= confidence - 0.004 * (terms > 1) - 1e-9
    assert error <= 1.35 * scale * (2 * terms) ** 0.5 * -np.log(1 - confidence) + 3


def test_a_thresholded_marginal_says_so(rows, schema):
    synopsis = made(rows, schema, lambda s, b: s.count_sparse(dense_grid(s.schema), b, threshold=7), epsilon=1)
    marginal = synopsis.marginal(["town"])
    assert marginal.threshold == 7 == synopsis.threshold and "counts up to 7 were not released" in repr(marginal)
    kept = np.sqrt(sums(synopsis.release_, [1])[1] * variance(1.0))
    assert np.array_equal(marginal.standard_errors, kept)
    assert "counts up to 7" in str(synopsis.query())


def test_what_noise_alone_lifts_above_the_threshold_is_foretold(rows, schema):
    cells = grid(schema, "town", "age", "income")
    source = open_source(rows.head(0), schema, Ledger(10**4, schema.name), noise=2)
    releases = [source.count_sparse(cells, Budget("1/3"), threshold=4) for _ in range(100)]
    counts, sums_of = zip(*[(len(r.value.counts), r.value.counts.sum()) for r in releases], strict=True)
    assert noise_alone(releases[0]) == pytest.approx((np.mean(counts), np.mean(sums_of)), rel=0.03)
    assert noise_alone(wide_synopsis()[0].release_) == (0, 0)


def test_a_box_counts_the_rows_in_it(synopsis):
    assert synopsis.query().count == 10
    assert synopsis.query(party="left").count == 4 and synopsis.query(party=["left", "other"]).count == 6
    assert synopsis.query(age=(17, 90), town=["Bonn", "Köln"]).count == pytest.approx(5)
    assert synopsis.query(age=(None, 200)).count == synopsis.query({"income": (1, None)}).count == pytest.approx(10)
    assert synopsis.query(town=None).count == 0 and synopsis.query(age=None, party="right").count == 0
    assert synopsis.query(town="Oslo", party="right").count == pytest.approx(1)


def test_a_box_takes_its_share_of_a_bin():
    column = Numeric(name="x", bounds=(0, 8), edges=(0, 2, 8), missing=0)
    whole = Numeric(name="n", bounds=(1, 6), integer=True, edges=(1, 4, 6))
    label = Categorical(name="y", values=["a", "b"])
    schema = Schema(name="s", label="y", column=[column, whole, label])
    rows = {"x": [1.0] * 4 + [5.0] * 6, "n": [2] * 4 + [5] * 6, "y": ["a"] * 10}
    synopsis = made(rows, schema, lambda source, budget: source.count(grid(schema, "x", "n"), budget))
    assert synopsis.query(x=(0, 1)).count == 2 and synopsis.query(x=(1, 5)).count == 2 + 3
    assert synopsis.query(n=1).count == pytest.approx(4 / 3) and synopsis.query(n=6).count == pytest.approx(2)
    assert synopsis.query(n=(3, 4)).count == pytest.approx(4 / 3 + 2) and synopsis.query(n=(1.5, 1.7)).count == 0


def test_the_standard_error_of_a_box_is_that_of_its_weights(rows, schema):
    synopsis = made(rows, schema, dense, epsilon=1)
    box = synopsis.query(town="Bonn", party=["left", "right"])  # half of the Rhine, in 5 x 6 x 2 cells
    assert box.standard_error == pytest.approx(np.sqrt(variance(1.0) * 0.25 * 5 * 6 * 2))


@pytest.mark.parametrize(
    ("box", "words"),
    [
        ({"weight": 3}, "does not hold column 'weight'; it holds: age, town, income, party"),
        ({"town": "Rome"}, "column 'town' has no value 'Rome': choose among Bonn"),
        ({"party": ["left", None]}, "column 'party' has no value"),
        ({"town": object()}, "column 'town' has no value"),
        ({"age": (91, 99)}, "declared from 17 to 90"),
        ({"age": (float("nan"), 30)}, "declared from 17 to 90"),
        ({"age": "old"}, "needs a range"),
        ({"age": (50, 30)}, "lower end of a range first: 50 is above 30$"),
        ({"age": (1, 2, 3)}, "needs a range"),
        ({"income": 50}, "not of integers"),
    ],
)
def test_what_cannot_be_asked_is_refused(synopsis, box, words):
    with pytest.raises(BadInput, match=words):
        synopsis.query(box)


def test_marginals_that_cannot_be_made_are_refused(synopsis, monkeypatch):
    with pytest.raises(BadInput, match="it holds: age, town"):
        synopsis.marginal(["weight"])
    with pytest.raises(BadInput, match="only once"):
        synopsis.marginal(["age", "age"])
    monkeypatch.setattr("veil.synopsis.cells.MOST_CELLS", 10)
    with pytest.raises(BadInput, match="too many cells"):
        synopsis.marginal(["age", "town"])


def test_a_synopsis_is_made_of_counts_over_a_grid_of_features(rows, schema):
    ledger = Ledger(10, schema.name)
    source = open_source(rows, schema, ledger)
    chosen = source.choose([axis(schema.get("town"))], Gini(), Budget(1))
    for release, words in (
        (chosen, "must end with count"),
        (source.count(grid(schema, "party"), Budget(1)), "leave it out"),
    ):
        with pytest.raises(BadInput, match=words):
            Synopsis(Outcome(release, "m", {}, schema, (release,), (release.receipt,)))
    with pytest.raises(BadInput, match="among its releases"):
        Synopsis(Outcome(source.count(grid(schema, "age"), Budget(1)), "m", {}, schema, (chosen,), (chosen.receipt,)))


def test_counts_that_are_not_by_class_have_no_label(rows, schema):
    synopsis = made(rows, schema, lambda s, b: s.count(grid(s.schema, "town"), b, by_class=False))
    assert synopsis.columns == ("town",) and synopsis.marginal(["town"]).counts.sum() == 10
    assert list(synopsis.to_frame().columns) == ["town"] and synopsis.query(town="Bonn").count == 3
    with pytest.raises(BadInput, match="does not hold column 'party'"):
        synopsis.query(party="left")


def many_columns(count=30, values=6):
    columns = [Categorical(name=f"c{i}", values=[str(v) for v in range(values)]) for i in range(count)]
    return Schema(name="wide", label="y", column=[*columns, Categorical(name="y", values=["a", "b"])])


def wide_synopsis(epsilon=HUGE, rows=200, threshold=0):
    """A sparse release over more cells than 2^63."""
    schema, chance = many_columns(), np.random.default_rng(0)
    table = {column.name: chance.choice(list("012"), rows) for column in schema.features}
    names = [column.name for column in schema.features]
    ask = lambda source, budget: source.count_sparse(grid(schema, *names), budget, threshold=threshold)  # noqa: E731
    table["y"] = chance.choice(["a", "b"], rows)
    return made(table, schema, ask), table


def test_more_cells_than_a_machine_number_holds():
    synopsis, table = wide_synopsis()
    assert synopsis.grid.size > 2**63 and synopsis.release_.value.codes.dtype == object
    found = synopsis.marginal(["c29", "y", "c0"]).counts
    expected = pd.crosstab(pd.DataFrame(table)["c29"], [table["y"], table["c0"]]).to_numpy().reshape(3, 2, 3)
    assert np.array_equal(found[:3, :, :3], expected) and found.sum() == 200
    assert synopsis.query(c5=["0", "1"], y="a").count == sum(
        c in "01" and y == "a" for c, y in zip(table["c5"], table["y"], strict=True)
    )
    with pytest.raises(BadInput, match="too many cells"):
        synopsis.marginal([f"c{i}" for i in range(30)])
    assert "10^" in repr(synopsis)


@given(st.lists(st.integers(2, 40), min_size=1, max_size=30), st.data())
def test_digits_are_those_of_the_code(radices, data):
    size = int(np.prod(np.array(radices, object)))
    codes = data.draw(st.lists(st.integers(0, size - 1), max_size=5))
    array = np.array(codes, object if size >= 2**62 else np.int64)
    for code, *found in zip(codes, *digits(array, radices), strict=True):
        back = 0
        for radix, digit in zip(radices, found, strict=True):
            back = back * radix + int(digit)
        assert back == code


def test_the_noise_of_real_rows_stays_within_its_error():
    rows, schema = datasets.load("iris")
    source = open_source(rows, schema, Ledger(10**6, schema.name), noise=1)
    name, inside = schema.features[0].name, []
    exact = source.count(grid(schema, name), Budget(HUGE // 10**5)).value
    for _ in range(200):
        release = source.count(grid(schema, name, schema.features[1].name), Budget(1))
        synopsis = Synopsis(Outcome(release, "m", {}, schema, (release,), (release.receipt,)))
        marginal = synopsis.marginal([name, schema.label])
        inside.append(np.abs(marginal.counts - exact) <= marginal.error())
    assert sizes(release)[-1] == 3 and 0.94 < np.mean(inside) < 0.985


def test_a_range_in_an_array_is_refused_in_words(rows, schema):
    synopsis = made(rows, schema, lambda source, budget: source.count(dense_grid(schema), budget))
    with pytest.raises(BadInput, match="needs a range"):
        synopsis.query(age=np.array([30, 50]))


def test_rows_of_a_pool_are_spread_over_its_values():
    town = Categorical(name="town", values=["A", "B", "C", "D"], pools={"small": ["B", "D"]})
    schema = Schema(name="t", column=[town])
    found = made({"town": ["A"] * 5 + ["B"] * 6 + ["C", None]}, schema, lambda s, b: s.count(axis(town), b))
    assert [found.query(town=value).count for value in ("A", "B", "D", "C", None)] == [5, 3, 3, 1, 1]
    drawn = found.to_frame(random_state=1, missing=True)["town"]
    assert set(drawn.dropna()) == {"A", "B", "C", "D"} and drawn.isin(["B", "D"]).sum() == 6


def test_a_range_across_the_180th_meridian_is_told_to_be_two_boxes():
    column = Numeric(name="lon", bounds=(-180, 180))
    with pytest.raises(BadInput, match="170 is above -170. A box across the 180th meridian is two boxes"):
        _ends(column, (170, -170))
    with pytest.raises(BadInput, match="above -5$"):
        _ends(Numeric(name="degrees", bounds=(-20, 45)), (5, -5))
