"""Schemas: what they accept, what they say about mistakes, the codes they give, and their way to TOML and back."""

import re
from itertools import pairwise
from math import inf, isfinite, nextafter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from veil import BadInput, Categorical, Numeric, Schema, Text
from veil.schema.columns import MISSING

WORDS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.sampled_from(['"', "'''", "\\", "\x00", "\x7f", "\x85", "\r\n", "a.b", "[x]", "# no", "\u2028", "\ufeff", "=1"]),
)


@st.composite
def taxonomies(draw: Any, values: list[str], depth: int = 3) -> Any:
    """Nested groups of some of the values."""
    if depth == 0 or draw(st.booleans()):
        return values
    cut = draw(st.integers(0, len(values)))
    names = draw(st.lists(WORDS, min_size=2, max_size=2, unique=True))
    halves = (values[:cut], values[cut:])
    return {name: draw(taxonomies(half, depth - 1)) for name, half in zip(names, halves, strict=True)}


@st.composite
def categoricals(draw: Any, name: str) -> Categorical:
    values = draw(st.lists(WORDS, min_size=1, max_size=6, unique=True))
    missing = draw(st.sampled_from([None, *values]))
    assume(missing is not None or MISSING not in values)
    pools = draw(st.none() | st.just({draw(WORDS.filter(lambda word: word not in [*values, MISSING])): values[2:]}))
    alone, pools = ([*values[:2], *pools], pools) if pools and values[2:] else (values, None)
    groups = draw(st.none() | st.fixed_dictionaries({draw(WORDS): taxonomies(alone)}))
    return Categorical(name=name, values=values, groups=groups, pools=pools, missing=missing)


@st.composite
def numerics(draw: Any, name: str = "x") -> Numeric:
    low, width = draw(st.integers(-1000, 1000)), draw(st.integers(1, 10**6))
    fields: dict[str, Any] = {"name": name, "integer": draw(st.booleans())}
    if not fields["integer"]:
        low, width = low + draw(st.floats(0, 1)), width * draw(st.floats(1e-3, 1))
    if draw(st.booleans()):
        fields["edges"] = draw(st.lists(st.integers(-1000, 1000), min_size=2, unique=True).map(sorted))
        low, width = fields["edges"][0], fields["edges"][-1] - fields["edges"][0]
    else:
        low = abs(low) + 1 if draw(st.booleans()) else low
        fields |= {"bins": draw(st.none() | st.integers(1, 40)), "bounds": (low, low + width)}
        fields["scale"] = draw(st.sampled_from(["linear", "log"])) if low > 0 else "linear"
    fields["missing"] = draw(st.none() | st.floats(low, low + width))
    return Numeric(**fields)


@st.composite
def schemas(draw: Any) -> Schema:
    names = draw(st.lists(WORDS, min_size=1, max_size=4, unique=True))
    columns = [draw(categoricals(n) | numerics(n) | st.builds(Text, name=st.just(n))) for n in names]
    labels = [column.name for column in columns if isinstance(column, Categorical) and not column.pools]
    person = draw(st.none() | WORDS.filter(lambda word: word not in names))
    return Schema(
        name=draw(WORDS),
        label=draw(st.sampled_from([None, *labels])),
        person=person,
        rows_per_person=draw(st.integers(1, 9)) if person else 1,
        rows=draw(st.none() | st.integers(0, 2**70)),
        source=draw(st.none() | st.text(st.characters(exclude_categories=["Cs"]))),
        column=columns,
    )


@given(schemas())
def test_a_schema_survives_toml(schema: Schema) -> None:
    assert Schema.loads(schema.to_toml()) == schema


@given(schemas())
def test_a_schema_survives_a_file(tmp_path_factory: pytest.TempPathFactory, schema: Schema) -> None:
    path = tmp_path_factory.mktemp("schemas") / "schema.toml"
    path.write_text(schema.to_toml(), encoding="utf-8", newline="")
    assert Schema.read(path) == schema


def test_numbers_and_groups_survive_toml_exactly() -> None:
    columns = [
        Numeric(name="tiny", bounds=(5e-324, 0.1 + 0.2), scale="log"),
        Numeric(name="huge", bounds=(-1e22, 1e300)),
        Categorical(name="codes", values=[1, 2.0, 2.5, True], groups={"low": {"lowest": (1, 2)}, "none": []}),
    ]
    schema = Schema(name="exact", column=columns)
    assert Schema.loads(schema.to_toml()) == schema
    assert schema.get("codes").names == ("1", "2", "2.5", "True", MISSING)


def test_a_schema_file_may_start_with_a_byte_order_mark(tmp_path: Path, schema: Schema) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(schema.to_toml(), encoding="utf-8-sig")
    assert Schema.read(path) == schema


CATEGORICAL = 'name = "odd one"\nkind = "categorical"\n'
NUMERIC = 'name = "odd one"\nkind = "numeric"\n'
COLUMN_MISTAKES = {
    "repeated values": (CATEGORICAL + 'values = ["a", "a"]', "distinct"),
    "values that are the same text": (CATEGORICAL + "values = [1, 1.0]", "distinct"),
    "no values": (CATEGORICAL + "values = []", "values must not be empty"),
    "values that are no list": (CATEGORICAL + 'values = "abc"', "values must be a list"),
    "a value that is no text": (CATEGORICAL + "values = [nan]", "a category must be text or a finite number"),
    "a misspelt key": (CATEGORICAL + 'value = ["a"]', "value is not a known key"),
    "a key of another kind": (CATEGORICAL + 'values = ["a"]\nbins = 3', "bins is not a known key"),
    "missing not a value": (CATEGORICAL + 'values = ["a"]\nmissing = "b"', "missing must be one of the values"),
    "the name of missing": (CATEGORICAL + 'values = ["(missing)"]', "declared as missing"),
    "groups of strangers": (CATEGORICAL + 'values = ["a"]\ngroups = { g = ["b"] }', "declared values"),
    "groups that overlap": (CATEGORICAL + 'values = ["a"]\ngroups = { g = ["a"], h = ["a"] }', "at most once"),
    "groups that are text": (CATEGORICAL + 'values = ["a"]\ngroups = { g = "a" }', "groups must be lists"),
    "groups that are a list": (CATEGORICAL + 'values = ["a"]\ngroups = ["a"]', "groups must be a table"),
    "pools of strangers": (CATEGORICAL + 'values = ["a"]\npools = { p = ["b"] }', "pools must hold declared values"),
    "pools that overlap": (CATEGORICAL + 'values = ["a"]\npools = { p = ["a"], q = ["a"] }', "at most once"),
    "a pool with the name of a value": (CATEGORICAL + 'values = ["a"]\npools = { a = ["a"] }', "name of a value"),
    "a pool of nothing": (CATEGORICAL + 'values = ["a"]\npools = { p = [] }', "pools must not be empty"),
    "pools that are text": (CATEGORICAL + 'values = ["a"]\npools = { p = "a" }', "pools must be a list"),
    "groups of what is pooled": (
        CATEGORICAL + 'groups = { g = ["a"] }\nvalues = ["a", "b"]\npools = { p = ["a"] }',
        "not those in pools",
    ),
    "levels that fall": (CATEGORICAL + 'values = ["a"]\nlevels = [3, 1]', "levels must be numbers of characters"),
    "levels and groups": (CATEGORICAL + 'values = ["a"]\nlevels = [1]\ngroups = { g = ["a"] }', "one of them"),
    "levels of no values": (CATEGORICAL + "levels = [1]", "values is required"),
    "bounds reversed": (NUMERIC + "bounds = [2, 1]", "the lower one first"),
    "bounds equal": (NUMERIC + "bounds = [1, 1]", "the lower one first"),
    "bounds not a number": (NUMERIC + "bounds = [nan, 1]", "finite"),
    "bounds infinite": (NUMERIC + "bounds = [0, inf]", "finite"),
    "bounds too far apart": (NUMERIC + "bounds = [-1e308, 1e308]", "finite"),
    "one bound": (NUMERIC + "bounds = [1]", "bounds is too short"),
    "three bounds": (NUMERIC + "bounds = [1, 2, 3]", "bounds is too long"),
    "no bounds": (NUMERIC, "bounds is required"),
    "bounds of 400 digits": (NUMERIC + f"bounds = [0, 1{'0' * 400}]", "bounds should be a valid number"),
    "overlapping bins": (NUMERIC + "bounds = [0, 9]\nedges = [0, 5, 3, 9]", "overlap"),
    "empty bins": (NUMERIC + "bounds = [0, 9]\nedges = [0, 3, 3, 9]", "empty"),
    "an edge that is not a number": (NUMERIC + "edges = [0, nan, 9]", "edges must increase"),
    "no edges": (NUMERIC + "bounds = [0, 9]\nedges = []", "edges must not be empty"),
    "edges that are a number": (NUMERIC + "bounds = [0, 9]\nedges = 5", "edges must be a list"),
    "edges off the bounds": (NUMERIC + "bounds = [0, 9]\nedges = [0, 3]", "must be the bounds"),
    "edges and bins": (NUMERIC + "bounds = [0, 9]\nedges = [0, 9]\nbins = 3", "either edges, or bins"),
    "bins too narrow for a double": (NUMERIC + "bounds = [1, 1.0000000000000004]", "edges must increase"),
    "logarithm of zero": (NUMERIC + 'bounds = [0, 9]\nscale = "log"', "above zero"),
    "logarithm of less": (NUMERIC + 'bounds = [-1, 9]\nscale = "log"', "above zero"),
    "an unknown scale": (NUMERIC + 'bounds = [1, 9]\nscale = "cube"', "'linear' or 'log'"),
    "no bins at all": (NUMERIC + "bounds = [1, 9]\nbins = 0", "bins should be greater"),
    "too many bins": (NUMERIC + "bounds = [1, 9]\nbins = 99999", "bins should be less"),
    "missing out of bounds": (NUMERIC + "bounds = [1, 9]\nmissing = 10", "within the bounds"),
    "integers with broken bounds": (NUMERIC + "bounds = [0.5, 9]\ninteger = true", "whole bounds"),
    "integers with broken edges": (NUMERIC + "edges = [0, 0.5, 9]\ninteger = true", "whole bounds and edges"),
    "no kind": ('name = "odd one"', "needs a kind"),
    "an unknown kind": ('name = "odd one"\nkind = "colour"', "needs a kind"),
}


def complaint(text: str) -> str:
    """What is said about a schema, a line for each mistake and about the schema alone."""
    with pytest.raises(BadInput) as caught:
        Schema.loads(text)
    said = str(caught.value)
    first, *lines = said.splitlines()
    assert not lines or first == f"{len(lines)} problems:" or lines[-1].startswith("  and ")
    assert all(len(line) < 200 for line in [first, *lines])
    assert not re.search("pydantic|Traceback|http|Input|validation", said)
    return said


@pytest.mark.parametrize("column, reason", COLUMN_MISTAKES.values(), ids=COLUMN_MISTAKES)
def test_a_mistake_in_a_column_is_one_sentence_that_names_it(column: str, reason: str) -> None:
    fine = '[[column]]\nname = "fine"\nkind = "text"\n'
    said = complaint(f'name = "t"\n{fine}[[column]]\n{column}\n')
    assert re.match("line [4-9]: column 'odd one'", said) and reason in said and "\n" not in said


GOOD = '[[column]]\nname = "x"\nkind = "categorical"\nvalues = ["a", "b"]\n'
SCHEMA_MISTAKES = {
    "nothing": ("", "name is required"),
    "no name": (GOOD, "name is required"),
    "an empty name": ('name = ""\n' + GOOD, "name must not be empty"),
    "no columns": ('name = "t"\n', "column is required"),
    "empty columns": ('name = "t"\ncolumn = []\n', "column must not be empty"),
    "one column, not a list of them": ('name = "t"\n[column]\nname = "x"\n', "column must be a list"),
    "a column that is a number": ('name = "t"\ncolumn = [5]\n', "a column must be a table"),
    "a column without a name": ('name = "t"\n[[column]]\nkind = "text"\n', "name is required"),
    "an unknown key": ('name = "t"\ncolour = 1\n' + GOOD, "colour is not a known key"),
    "a label that is not there": ('name = "t"\nlabel = "y"\n' + GOOD, "no column 'y'"),
    "a numeric label": ('name = "t"\nlabel = "odd one"\n[[column]]\n' + NUMERIC + "bounds = [0, 1]", "is not one"),
    "a label with pools": ('name = "t"\nlabel = "x"\n' + GOOD + 'pools = { p = ["a"] }', "without pools"),
    "two columns of one name": ('name = "t"\n' + GOOD + GOOD, "two columns have the name 'x'"),
    "rows per person without person": ('name = "t"\nrows_per_person = 2\n' + GOOD, "rows_per_person needs person"),
    "no rows per person": ('name = "t"\nperson = "id"\nrows_per_person = 0\n' + GOOD, "rows_per_person should be"),
    "an empty person": ('name = "t"\nperson = ""\n' + GOOD, "person must not be empty"),
    "the person among the columns": ('name = "t"\nperson = "x"\n' + GOOD, "'x' is an identifier"),
    "a negative number of rows": ('name = "t"\nrows = -1\n' + GOOD, "rows should be"),
    "not TOML": ('name = "t', "not valid TOML"),
    "too deep": ("a = " + "[" * 10_000, "not a schema"),
    "groups too deep": (GOOD + "groups" + ".g" * 5_000 + ' = ["a"]', "not a schema"),
    "a number of 5,000 digits": ("rows = " + "1" * 5_000, "not a schema"),
    "a key that Python keeps for itself": ("self = 1", "not a schema"),
}  # fmt: skip


@pytest.mark.parametrize("text, reason", SCHEMA_MISTAKES.values(), ids=SCHEMA_MISTAKES)
def test_a_mistake_in_a_schema_is_one_sentence(text: str, reason: str) -> None:
    assert reason in complaint(text)


MANY_MISTAKES = (
    """# a draft
name = "t"
label = "?"
rows_per_person = 3

[[column]]
name = "age"
kind = "numeric"
bounds = []

[[column]]
name = "town"
kind = "?"

[[column]]
name = "age"
kind = "categorical"
valeus = ["a"]
missing = 3
note = """
    + '"""\n[[column]]\n"""'
    + """

[[column]]
kind = "date"
unit = "moon"
"""
)


def test_all_mistakes_of_a_file_are_told_at_once_each_with_its_line_and_what_to_write() -> None:
    text = MANY_MISTAKES.replace('note = """\n[[column]]\n"""\n', "")
    assert complaint(text).splitlines() == [
        "9 problems:",
        "  line 3: fill in `label`: the categorical column to predict; or delete the line",
        "  line 4: rows_per_person needs person, the name of the identifier column",
        "  line 9: column 'age': bounds must not be empty: fill in bounds = [lowest, highest]",
        '  line 13: column \'town\': fill in `kind`: "categorical", "numeric", "date" or "text"',
        "  line 16: two columns have the name 'age': rename one, or leave it out",
        "  line 18: column 'age': valeus is not a known key: did you mean values?",
        "  line 21: column '?': name is required: write name = \"...\"",
        '  line 21: column \'?\': bounds is required: write bounds = ["2015-01-01", "2024-12-31"]',
        "  line 23: column '?': unit should be 'decade', 'year', 'quarter', 'month', 'week', 'day', 'hour', "
        "'month of year', 'weekday' or 'hour of day'",
    ]


def test_of_very_many_mistakes_the_first_are_told_and_no_key_is_shown_raw() -> None:
    said = complaint('name = "t"\n"\\u001b[31m" = 1\n' + '[[column]]\nkind = "text"\n' * 100)
    assert said.startswith("101 problems:\n   [31m is not a known key") and said.endswith("and 51 more")


def test_lines_that_cannot_be_known_are_not_told() -> None:
    said = complaint(MANY_MISTAKES)
    assert "line 3: fill in `label`" in said and "  column 'town': fill in `kind`" in said


def test_mistakes_in_python_are_all_told_too() -> None:
    with pytest.raises(BadInput) as caught:
        Schema(name="t", label="y", column=[{"name": "x", "kind": "numeric"}, {"name": "x"}])
    assert str(caught.value).splitlines() == [
        "4 problems:",
        "  column 'x': bounds is required: write bounds = [lowest, highest]",
        '  column \'x\' needs a kind: "categorical", "numeric", "date" or "text"',
        "  two columns have the name 'x': rename one, or leave it out",
        "  the schema has no column 'y': label must name one of its columns",
    ]


def test_a_single_column_must_be_in_a_list() -> None:
    with pytest.raises(BadInput, match="^column must be a list: write column="):
        Schema(name="t", column=Numeric(name="age", bounds=(0, 9)))


def test_mistakes_in_python_are_told_like_those_in_files() -> None:
    with pytest.raises(BadInput, match="^column 'age': bounds must be two finite numbers, the lower one first$"):
        Numeric(name="age", bounds=(90, 17))
    with pytest.raises(BadInput, match="^a column must be a table$"):
        Schema(name="t", column=[5])


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"name = '\xe9'"], ids=["no file", "UTF-16", "Latin-1"])
def test_a_file_that_is_no_text_is_said_to_be_unreadable(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "schema.toml"
    if content is not None:
        path.write_bytes(content)
    for place in (path, tmp_path, f"{path}\0"):
        with pytest.raises(BadInput, match="cannot be read: .*check the path"):
            Schema.read(place)


def test_a_mistake_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text('name = "t"\n')
    with pytest.raises(BadInput, match=r"schema\.toml: column is required: write a \[\[column\]\] for every"):
        Schema.read(path)


def check_levels(levels: tuple[tuple[int, ...], ...], size: int) -> None:
    """One group, then ever finer ones, each inside one group of the level before, then every code by itself."""
    assert levels[0] == (0,) * size
    assert levels[-1] == tuple(range(size))
    for coarse, fine in pairwise(levels):
        assert len(set(zip(coarse, fine, strict=True))) == len(set(fine)) > len(set(coarse))
    for level in levels:
        assert list(dict.fromkeys(level)) == list(range(max(level) + 1))


@pytest.mark.parametrize("missing", [None, 1.0])
@pytest.mark.parametrize("bins", range(1, 41))
def test_numeric_levels_are_dyadic(bins: int, missing: float | None) -> None:
    column = Numeric(name="x", bounds=(0, 5), bins=bins, missing=missing)
    check_levels(column.levels, column.size)
    for level, groups in enumerate(column.levels[: -1 if bins > 1 else None]):
        sizes = np.bincount(groups[:bins])
        assert len(sizes) == min(2**level, bins) and max(sizes) - min(sizes) <= 1
        assert list(groups[:bins]) == sorted(groups[:bins])


@given(st.data())
def test_taxonomy_levels_are_nested(data: st.DataObject) -> None:
    column = data.draw(categoricals("x"))
    check_levels(column.levels, column.size)


def test_taxonomy_levels_follow_the_groups(schema: Schema) -> None:
    town = schema.get("town")
    assert town.names == ("Bonn", "Köln", "Lyon", "Nice", "Oslo", MISSING)
    assert town.levels == ((0,) * 6, (0, 0, 1, 1, 2, 3), (0, 0, 1, 2, 3, 4), (0, 1, 2, 3, 4, 5))


def test_a_value_does_not_join_the_group_of_the_same_name() -> None:
    column = Categorical(name="x", values=["red", "rose", "ruby"], groups={"red": ["rose", "ruby"]}, missing="red")
    assert column.levels == ((0, 0, 0), (0, 1, 1), (0, 1, 2))


def test_bins_with_missing_values_are_named_by_both() -> None:
    column = Numeric(name="x", bounds=(61, 68), integer=True, bins=4)
    assert [column.group_name(codes) for codes in ([0, 1], [0, 4], [1, 3, 4], [4], range(5))] == [
        "61 to 64", "61 to 62 or (missing)", "63 to 68 or (missing)", MISSING, "all"
    ]  # fmt: skip
    known = Numeric(name="x", bounds=(61, 68), integer=True, bins=4, missing=61)
    assert known.group_name([2, 3]) == "65 to 68"


def test_pooled_values_share_the_code_of_their_pool_after_those_that_stand_alone() -> None:
    column = Categorical(name="x", values=["a", "b", "c", 4], pools={"rare": ["a", 4]}, groups={"g": ["b", "rare"]})
    assert column.names == ("b", "c", "rare", MISSING)
    assert column.encode(np.array(["a", "b", "c", "4", "rare", None], object)).tolist() == [2, 0, 1, 2, 3, 3]
    assert column.levels == ((0, 0, 0, 0), (0, 1, 0, 2), (0, 1, 2, 3)) and column.group_name([0, 2]) == "g"


def test_missing_values_may_be_pooled() -> None:
    column = Categorical(name="x", values=["a", "b", "?"], pools={"rest": ["b", "?"]}, missing="?")
    assert column.names == ("a", "rest") and column.encode(np.array(["?", "z", "a"])).tolist() == [1, 1, 0]


def test_levels_group_values_by_how_they_begin() -> None:
    column = Categorical(name="x", values=["A01.1", "A01.2", "A1", "B"], levels=[1, 3])
    assert column.groups == {"A": {"A01": ("A01.1", "A01.2"), "A1": ("A1",)}, "B": {"B": ("B",)}}
    assert column.levels == ((0, 0, 0, 0, 0), (0, 0, 0, 1, 2), (0, 0, 1, 2, 3), (0, 1, 2, 3, 4))
    assert [column.group_name(codes) for codes in ([0, 1], [0, 1, 2], [2])] == ["A01", "A", "A1"]


def test_many_values_do_not_flood_what_is_shown() -> None:
    values = [f"D{code:04}" for code in range(5000)]
    column = Categorical(name="x", values=values, pools={"rare": values[9:]})
    shown = [repr(column), repr(Schema(name="t", column=[column])), column.group_name(range(1, 9))]
    assert all(len(text) < 300 for text in shown)
    assert len(Categorical(name="x", values=values).group_name(range(999))) < 300


@given(numerics())
def test_bins_have_different_names(column: Numeric) -> None:
    assert len(set(column.names)) == column.size


def test_narrow_bins_are_named_with_the_digits_it_takes() -> None:
    assert Numeric(name="x", bounds=(-74.3, -74.1), bins=2).names == ("-74.3 to -74.2", "-74.2 to -74.1", MISSING)
    assert Numeric(name="x", bounds=(1000.1, 1000.9), bins=2).names[0] == "1,000.1 to 1,000.5"


@given(numerics())
def test_a_bin_holds_its_lower_edge_and_the_last_also_the_upper_bound(column: Numeric) -> None:
    cuts, bins = column.cuts, len(column.cuts) - 1
    assert column.encode(np.array(cuts[:-1])).tolist() == list(range(bins))
    assert column.encode(np.array([nextafter(cut, -inf) for cut in cuts[1:-1]])).tolist() == list(range(bins - 1))
    low, high = column.bounds
    assert column.encode(np.array([low, nextafter(low, -inf), -inf])).tolist() == [0, 0, 0]
    assert column.encode(np.array([high, nextafter(high, inf), inf])).tolist() == [bins - 1] * 3


@given(numerics())
def test_a_missing_number_has_its_own_code_or_the_declared_one(column: Numeric) -> None:
    expected = column.size - 1 if column.missing is None else column.encode(np.array([column.missing]))[0]
    assert column.encode([None, float("nan"), "?"]).tolist() == [expected] * 3
    assert (column.names[-1] == MISSING) == (column.missing is None)


def test_bins_are_equal_or_logarithmic_or_as_declared() -> None:
    assert Numeric(name="x", bounds=(0, 8), bins=4).cuts == (0, 2, 4, 6, 8)
    assert np.allclose(Numeric(name="x", bounds=(1, 1000), bins=3, scale="log").cuts, (1, 10, 100, 1000))
    assert Numeric(name="x", edges=[0, 1, 5, 9]).cuts == (0, 1, 5, 9)
    assert Numeric(name="x", bounds=(0, 1)).size == 17


def test_an_integer_column_has_a_bin_for_each_of_few_values() -> None:
    column = Numeric(name="x", bounds=(-2, 3), integer=True)
    assert column.names == ("-2", "-1", "0", "1", "2", "3", MISSING)
    assert column.encode([-2, -1, 0, 1, 2, 3]).tolist() == [0, 1, 2, 3, 4, 5]
    assert Numeric(name="x", bounds=(0, 15), integer=True).size == 17
    assert Numeric(name="x", bounds=(0, 16), integer=True).size == 17


@given(numerics().filter(lambda column: column.integer), st.data())
def test_an_integer_lies_in_the_bin_that_is_named_after_it(column: Numeric, data: st.DataObject) -> None:
    value = data.draw(st.integers(int(column.bounds[0]), int(column.bounds[1])))
    first, _, last = column.names[column.encode([value])[0]].partition(" to ")
    assert int(first) <= value <= int(last or first)


def test_logarithmic_bins_of_integers_are_never_empty() -> None:
    column = Numeric(name="x", bounds=(1, 20), integer=True, scale="log", bins=16)
    assert set(column.encode(range(1, 21)).tolist()) == set(range(column.size - 1))
    assert column.names[:3] == ("1", "2", "3")


@given(numerics())
def test_cuts_are_finite_and_increase(column: Numeric) -> None:
    assert all(isfinite(cut) for cut in column.cuts)
    assert all(low < high for low, high in pairwise(column.cuts))
    assert column.cuts[0] == column.bounds[0] and column.cuts[-1] >= column.bounds[1]


def test_codes_are_as_narrow_as_the_column_allows() -> None:
    assert Categorical(name="x", values=range(255)).dtype == np.uint8
    assert Categorical(name="x", values=range(256)).dtype == np.uint16
    assert Numeric(name="x", bounds=(0, 1), bins=2**16 - 2).dtype == np.uint16


def test_a_schema_knows_its_columns(schema: Schema) -> None:
    assert schema.classes == ("left", "right", "other")
    assert [column.name for column in schema.features] == ["town", "age", "income"]
    assert Schema(name="t", column=[Text(name="x")]).classes == ("",)
    with pytest.raises(BadInput, match="the schema has no column 'height'"):
        schema.get("height")


def test_a_schema_cannot_be_changed(schema: Schema) -> None:
    with pytest.raises(ValueError, match="frozen"):
        schema.label = None  # type: ignore[misc]


def test_a_schema_is_shown_with_its_columns_and_codes(schema: Schema) -> None:
    shown = repr(schema)
    assert shown == str(schema)
    assert shown.splitlines()[0] == "Schema 'ten'"
    assert (
        "town" in shown
        and "categorical label" in shown
        and "Bonn, Köln, Lyon, ..., (missing)" in shown
        and "3 codes  left, right, other" in shown
    )
    assert len(shown.splitlines()) == 1 + len(schema.column)


def test_a_schema_is_escaped_in_html() -> None:
    evil = "<script>alert('&')</script>"
    shown = Schema(name=evil, column=[Categorical(name=evil, values=[evil])])._repr_html_()
    assert "<script>" not in shown and shown.count("&lt;script&gt;") == 3
    assert shown.startswith("<table>")


@pytest.mark.parametrize("integer", [True, False])
def test_wide_bounds_get_edges_of_equal_ratio_and_of_equal_width_unless_a_scale_is_declared(integer: bool) -> None:
    wide = Numeric(name="x", bounds=(0, 65_536), integer=integer, bins=16)
    cuts = np.array(wide.cuts)
    assert len(cuts) == 16 and (np.diff(cuts) >= 1).all()  # 16,384 is an edge of both kinds
    assert cuts[:6] == pytest.approx([0, 1, 4, 16, 64, 256], abs=1)
    assert {round(step, -2) for step in np.diff(cuts)[-3:]} == {8200.0}
    linear = Numeric(name="x", bounds=(0, 65_536), integer=integer, bins=16, scale="linear")
    assert np.diff(linear.cuts)[0] == pytest.approx(4096, abs=1)
    narrow = Numeric(name="x", bounds=(0, 900), integer=integer, bins=16)
    assert np.diff(narrow.cuts)[0] == pytest.approx(56.25, abs=1)
    for bounds in ((-1, 10**6), (2000, 10**6)):
        assert np.diff(Numeric(name="x", bounds=bounds).cuts).std() < 1
