"""A report stands by itself, says what holds and what does not, and holds nothing but released and public values."""

import json
import re
import sys
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from time import process_time

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from veil import (
    BadInput,
    Budget,
    Categorical,
    DecisionTreeClassifier,
    Gini,
    Ledger,
    LinearSVMClassifier,
    LogisticRegressionClassifier,
    NaiveBayesClassifier,
    Numeric,
    Schema,
    axis,
    datasets,
    grid,
    load_model,
    open_source,
)
from veil.plans.outcome import total
from veil.plans.trees.trees import TREES
from veil.report import CountsDisplay, report, sections
from veil.report.counts import MOST_CODES, share_intervals
from veil.verdicts.tables import noise_of

VOID = {"meta", "br", "hr", "img", "input", "link"}
HOSTILE = [
    *(
        "<script>alert(1)</script>",
        "$x_",
        "_hidden",
        "😀👩‍👩‍👧",
        "日本",
        "x" * 3000,
        "a\nb\x00\u202e",
        "--></svg></script>",
    ),
    *('" onload="alert(1)', "<!--<script>", "\\frac{$", "{0} %s"),
]


class Page(HTMLParser):
    """Parses a page; what it holds, and whether all its tags are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.handlers, self.text = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            self.ids += [value] if name == "id" else []
            self.links += [value] if name in ("src", "href", "xlink:href", "action", "data") else []
            self.handlers += [name] if name.startswith("on") else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def make(columns, classes=("no", "yes"), rows=2000, seed=0, **more):
    """A schema of these columns and a label, and random rows."""
    label = Categorical(name="label", values=classes)
    schema = Schema(name="made", label="label", column=[*columns, label], **more)
    chance = np.random.default_rng(seed)
    domains = {column.name: column.names for column in columns} | {"label": classes}
    table = {name: chance.choice(np.array(domain, object), rows) for name, domain in domains.items()}
    return {**table, **({schema.person: np.arange(rows) // 2} if schema.person else {})}, schema


SEED = 4  # of noise that drowns everything: one field in twenty would stand out by chance


def fit(rows, schema, epsilon=1, **more):
    return NaiveBayesClassifier(epsilon=epsilon, schema=schema, **more).fit(rows)


def kept(schema, releases, like):
    """A model that was made from these releases."""
    receipts = {release.receipt.number: release.receipt for release in releases}
    answers = {"schema": schema, "releases": tuple(releases), "receipts": tuple(receipts.values())}
    return NaiveBayesClassifier(schema=schema).hold(replace(like.outcome_, **answers))


@pytest.fixture(scope="module")
def small():
    return fit(*make([Categorical(name="a", values=["x", "y"]), Numeric(name="b", bounds=(0, 8), bins=4)]))


@pytest.fixture(scope="module")
def fair():
    return fit(*datasets.load("fair"))


@pytest.fixture(scope="module")
def page(fair):
    quality = [("private", 0.71, 0.73), ("<u>ceiling $x_", 0.73, float("nan"))]
    return report(fair, left=Fraction(5, 2), limit=4, quality=quality)


def test_a_page_stands_by_itself_and_runs_nothing(page):
    parsed = Page(page)
    assert all(link.startswith(("#", "data:image/png;")) for link in parsed.links)
    assert not parsed.handlers and parsed.tags.count("script") == 1
    assert not {"link", "iframe", "object", "embed", "form"} & set(parsed.tags)
    assert not re.search(r"https?://", re.sub(r'xmlns(:\w+)?="[^"]*"', "", page))
    assert "@import" not in page and all(place.startswith("#") for place in re.findall(r"url\(([^)]*)", page))


def test_names_in_a_page_are_unique(page):
    ids = Page(page).ids
    assert len(ids) == len(set(ids))


def test_a_page_says_what_it_cost_and_what_is_left(page, fair):
    text = " ".join(Page(page).text)
    receipt = fair.receipts_[0]
    for said in ("2.5", "left to spend of 4", "other answers 0.5", "2.72", receipt.hash[:12], receipt.time, "one row"):
        assert said in text
    assert "NOT" not in text and "<s>" not in page


def test_the_receipts_can_be_read_from_the_page(page, fair):
    block = re.search(r'<script type="application/json" id="receipts">(.*?)</script>', page, re.DOTALL)
    assert json.loads(block[1]) == [receipt.to_dict() for receipt in fair.receipts_]


def test_quality_is_shown_as_handed_over(page, small):
    assert "0.710" in page and "–" in page and "&lt;u&gt;ceiling $x_" in page and "did not measure" in page
    assert "did not measure" not in report(small)
    assert "nan" not in report(small, quality=[("unknown", float("nan"), float("nan"))])


@pytest.mark.parametrize("classes", [3, len(HOSTILE)])
def test_hostile_names_stay_text(classes):
    columns = [Categorical(name=name, values=HOSTILE) for name in HOSTILE]
    rows, schema = make(columns, HOSTILE[:classes], source=HOSTILE[0], person='<i>"')
    text = report(fit(rows, schema, 300), quality=[(name, 0.5, 0.5) for name in HOSTILE])
    parsed = Page(text)
    assert parsed.tags.count("script") == 1 and not parsed.handlers and len(set(parsed.ids)) == len(parsed.ids)
    assert "\x00" not in text and "\u202e" not in text and "x" * 200 not in text.partition("application/json")[0]
    assert {"$x_", "_hidden", "日本"} <= set(parsed.text)
    text.encode("utf-8")


def test_seeded_noise_and_public_rows_are_loudly_not_private():
    rows, schema = make([Categorical(name="a", values=["x", "y"])])
    seeded, public = report(fit(rows, schema, random_state=1)), report(_public(rows))
    for text, reason in ((seeded, "noise was seeded"), (public, "declared public")):
        assert 'class="banner"' in text and reason in text and "NOT privately" in text
        assert "does not hold for this run" in text and text.count("<s>") == 3
    assert "declared public" not in seeded and "noise was seeded" not in public


def _public(rows):
    return NaiveBayesClassifier(epsilon=1, schema="public").fit((rows["a"] == "x").reshape(-1, 1), rows["label"])


def test_persons_are_the_unit_where_the_schema_names_them():
    rows, schema = make([Categorical(name="a", values=["x", "y"])], person="who", rows_per_person=2)
    text = report(fit(rows, schema))
    assert "one person with at most 2 rows, told apart by who" in text
    assert "One person with at most 2 rows more or less" in text and "one row" not in text


def test_the_same_model_is_the_same_text_also_from_a_file_and_under_other_settings(small, tmp_path):
    small.save(tmp_path / "model.veil")
    with matplotlib.rc_context({"font.size": 20, "axes.grid": True, "svg.fonttype": "path", "lines.linewidth": 9}):
        assert report(load_model(tmp_path / "model.veil")) == report(small)


def test_tables_with_the_same_releases_have_the_same_report():
    rows, schema = make([Categorical(name=name, values=["x", "y", "z"]) for name in "ab"])
    order = np.lexsort((rows["a"], rows["label"]))  # other rows, but as many of each value and class
    other = {"a": rows["a"][order], "label": rows["label"][order], "b": rows["b"][::-1]}  # which is not counted
    models = [fit(table, schema, random_state=7, columns=["a"]) for table in (rows, other)]
    receipts = [release.receipt for release in models[0].releases_]
    pairs = zip(models[1].releases_, receipts, strict=True)
    same = kept(schema, [replace(release, receipt=receipt) for release, receipt in pairs], models[1])
    assert not all((rows[name] == other[name]).all() for name in rows)
    assert report(same) == report(models[0])


@given(st.data())
def test_a_share_lies_in_its_interval_if_the_counts_are_within_the_error(data):
    shape, error = (data.draw(st.integers(1, 4)), data.draw(st.integers(2, 6))), data.draw(st.integers(0, 30))
    cells = shape[0] * shape[1]
    true = np.array(data.draw(st.lists(st.integers(0, 100), min_size=cells, max_size=cells))).reshape(shape)
    shift = np.array(data.draw(st.lists(st.integers(-error, error), min_size=cells, max_size=cells))).reshape(shape)
    released, low, high = share_intervals(true + shift, error)
    rows = true.sum(axis=1) > 0
    share = true[rows] / true[rows].sum(axis=1, keepdims=True)
    assert (low[rows] <= share + 1e-12).all() and (share <= high[rows] + 1e-12).all()
    known = ~np.isnan(released)
    assert (low[known] <= released[known] + 1e-12).all() and (released[known] <= high[known] + 1e-12).all()


@pytest.mark.parametrize("classes", [2, 5])
def test_ninety_five_percent_of_codes_have_the_true_shares_in_their_intervals(classes):
    column = Categorical(name="a", values=[str(i) for i in range(20)])
    rows, schema = make([column], [f"c{i}" for i in range(classes)], rows=3000)
    codes, true = schema.encode(rows), np.zeros((column.size, classes))
    np.add.at(true, (codes["a"], codes["label"]), 1)
    share = true / true.sum(axis=1, keepdims=True)
    source, inside, width = open_source(rows, schema, Ledger(10**6, "made"), noise=5), [], []
    for _ in range(150):
        display = CountsDisplay.from_release(source.count(axis(column), Budget("0.3")))
        _, low, high = share_intervals(display.counts, display.error)
        inside.append(((low <= share) & (share <= high)).all(axis=1))
        width.append(high - low)
    assert np.mean(inside) >= 0.95 and np.mean(width) < 0.7


def test_few_classes_are_shares_and_many_or_one_are_a_heat_map():
    column = Categorical(name="a", values=["x", "y"])
    for classes, shares in ((2, True), (6, True), (7, False)):
        model = fit(*make([column], [f"c{i}" for i in range(classes)]), 50)
        assert CountsDisplay.from_model(model, "a").as_shares == shares
        assert ("<image" in report(model)) == (not shares) and ("A dot is the share" in report(model)) == shares
    rows, schema = make([column])
    counts = open_source(rows, schema, Ledger(9, "made")).count(axis(column), Budget(9), by_class=False)
    assert (
        "strongest: 1," not in report(kept(schema, [counts], model))
        and not CountsDisplay.from_release(counts).as_shares
    )


def test_columns_that_are_only_noise_are_named_not_drawn():
    rows, schema = make([Categorical(name="a", values=["x"]), Categorical(name="b", values=["x"])], rows=20)
    text = report(fit(rows, schema, "0.001", random_state=SEED))
    assert (
        "Only noise, so not drawn: 2 columns (a, b)" in text and "In every table" in text and "<figcaption>" not in text
    )


def test_many_columns_and_codes_are_cut_with_a_sentence(monkeypatch):
    monkeypatch.setattr(sections, "MOST_COLUMNS", 2)
    columns = [Categorical(name=f"column {i}", values=[str(v) for v in range(60)]) for i in range(5)]
    text = report(fit(*make(columns), 20_000))
    assert text.count("<figcaption>") == 2 and "3 more tables are not drawn" in text
    assert f"the {MOST_CODES} of 61 codes with the most rows" in text and "<details>" in text


def test_twenty_columns_weigh_less_than_a_megabyte():
    columns = [Numeric(name=f"column {i}", bounds=(0, 1)) for i in range(20)]
    rows, schema = make(columns)
    rows |= {column.name: np.random.default_rng(i).random(2000) for i, column in enumerate(columns)}
    assert len(report(fit(rows, schema, 100)).encode()) < 1_000_000


def test_a_report_takes_less_than_three_seconds(fair):
    start = process_time()
    report(fair)
    assert process_time() - start < 3


def test_answers_that_are_no_table_of_one_column_are_listed(small):
    columns = [Categorical(name="a", values=["x", "y"]), Numeric(name="b", bounds=(0, 8), bins=4)]
    rows, schema = make(columns)
    source = open_source(rows, schema, Ledger(9, "made"))
    source.choose([axis(column) for column in columns], Gini(), Budget(1))
    source.quantile("b", "1/2", Budget(1))
    source.count(grid(schema, "a", "b"), Budget(1))
    source.count_sparse(grid(schema, "a", "b"), Budget(1), threshold=10**6)
    text = report(kept(schema, source.record.releases, small))
    assert "Other answers" in text and "a x b" in text and "2 more tables are not about one column" in text
    only = report(kept(schema, source.record.releases[:2], small))
    Page(only)
    assert "0 of 0" not in only


def test_counts_drown_where_a_typical_row_is_hidden_not_where_codes_are_empty():
    columns = [Categorical(name=name, values=[str(i) for i in range(50)]) for name in ("one code", "all codes")]
    rows, schema = make(columns)
    model = fit(rows | {"one code": ["7"] * 2000}, schema, "0.05", random_state=1)
    drowned = {row.name: row.drowned for row in noise_of(model.releases_)}
    sums = "6 intervals of the score of class 1 by weights on one code, all codes"  # for 2 % of the budget
    assert drowned == {"one code": False, "all codes": True, sums: True}


def test_a_column_that_was_counted_twice_is_drawn_twice():
    rows, schema = make([Categorical(name="a", values=["x", "y"])])
    model = fit(rows, schema)
    parsed = Page(report(kept(schema, model.releases_ * 2, model)))
    assert parsed.tags.count("figcaption") == 2 and len(set(parsed.ids)) == len(parsed.ids)


def test_parts_of_a_split_cost_what_the_dearest_costs():
    rows, schema = make([Categorical(name="a", values=["x", "y"])])
    ledger = Ledger(100, "made")
    source = open_source(rows, schema, ledger)
    source.count(grid(schema), Budget(1))
    for cost, part in enumerate(source.split(grid(schema, "a")), 1):
        part.count(grid(schema), Budget(cost))
        for more, inside in enumerate(part.split_at_random(1, 1), 1):
            inside.count(grid(schema), Budget(more))
    assert total(ledger.receipts()) == ledger.spent == 1 + 3 + 2


@pytest.mark.parametrize("wrong", [{"left": 4, "limit": 4}, {"limit": "0.5"}, {"left": -1}, {"left": "?"}])
def test_what_is_left_must_agree_with_the_receipts(fair, wrong):
    with pytest.raises(BadInput):
        report(fair, **wrong)


def test_a_huge_budget_is_called_what_it_is():
    text = report(fit(*make([Categorical(name="a", values=["x", "y"])]), 1000))
    assert "about 10^434" in text and "hides little" in text and "hides whether" not in text


def test_a_display_draws_on_given_or_new_axes(fair):
    ax = Figure().subplots()
    display = CountsDisplay.from_model(fair, "age").plot(ax)
    assert display.ax_ is ax and display.figure_ is ax.figure and ax.get_ylabel() == "age"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["no", "yes"]
    with matplotlib.rc_context({"backend": "agg"}):
        display.plot()
        display.figure_.savefig("/dev/null", format="png")
        from matplotlib import pyplot

        pyplot.close(display.figure_)


def test_a_display_refuses_what_it_cannot_draw(fair, source, schema):
    with pytest.raises(BadInput, match="it has those of: rate_marriage"):
        CountsDisplay.from_model(fair, "affair")
    for release in (source.count(grid(schema, "town", "age"), Budget(1)), source.quantile("age", "0.5", Budget(1))):
        with pytest.raises(BadInput, match="over one column"):
            CountsDisplay.from_release(release)


def test_a_report_opens_no_window_system(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # an import of it fails
    assert report(small)


@pytest.mark.parametrize("kind", [LogisticRegressionClassifier, LinearSVMClassifier])
@pytest.mark.parametrize("name", ["fair", "iris"])
def test_a_linear_model_shows_its_weights_by_the_names_of_values(kind, name):
    rows, schema = datasets.load(name)
    page = report(kind(epsilon=1, schema=schema).fit(rows))
    assert "<caption>Weights</caption>" in page and re.search(r"[\d,]+ weights from -[\d.]+ to [\d.]+", page)
    for column in schema.features:
        assert f"<td>{column.name}</td>" in page
    shown = schema.classes[1:] if len(schema.classes) == 2 else schema.classes
    assert f"<th>values</th>{''.join(f'<th>{name}</th>' for name in shown)}" in page


@pytest.mark.parametrize("preset", [*TREES, "jostle"])
def test_the_page_of_a_tree_shows_the_tree_and_takes_no_choice_for_a_weight(preset):
    rows, schema = make([Categorical(name="a<b", values=["x&y", "y"]), Numeric(name="b", bounds=(0, 8), bins=4)])
    model = DecisionTreeClassifier(epsilon=8, schema=schema, preset=preset, random_state=0).fit(rows)
    text = report(model)
    assert "weights from" not in text and "".join(Page(text).text).count(model.export_text()) == 1
    other = DecisionTreeClassifier(epsilon=1, schema=schema, preset=preset, depth=1).fit(rows).scorer_
    model.hold(replace(model.outcome_, made=other))
    report(model)  # of another version: without the tree
