"""The report of a synopsis says what was kept, how the budget was spent, and what the noise leaves open."""

import json
import re

import numpy as np
import pytest
from matplotlib.figure import Figure
from test_answers import dense_grid, made, wide_synopsis
from test_synopsis_files import ask

from test_report import HOSTILE, Page, make
from veil import BadInput, Categorical, Ledger, datasets, grid, load_synopsis, publish
from veil.display import large
from veil.report import CountsDisplay, report


@pytest.fixture(scope="module")
def fair():
    return publish(*datasets.load("fair"), epsilon=1, ledger=Ledger(4, "fair"))


@pytest.fixture(scope="module")
def page(fair):
    return report(fair, left=3, limit=4)


def test_a_page_stands_by_itself_and_says_what_it_cost(page, fair):
    parsed = Page(page)
    text = " ".join(parsed.text)
    assert parsed.tags.count("script") == 1 and not parsed.handlers and len(set(parsed.ids)) == len(parsed.ids)
    for said in ("A table of “fair”, published privately", "left to spend of 4", "Choose one of many grids", "2.72"):
        assert said in text
    assert f"{len(fair.grid.columns)} of 8" in text and "NOT" not in text
    block = re.search(r'<script type="application/json" id="receipts">(.*?)</script>', page, re.DOTALL)
    assert json.loads(block[1]) == [receipt.to_dict() for receipt in fair.receipts_]


def test_a_page_says_what_was_kept_and_how_the_budget_was_spent(page, fair):
    text = " ".join(Page(page).text)
    for name in fair.grid.columns:
        assert f"<figcaption>{name}" in page
    dropped = [column.name for column in fair.schema_.features if column.name not in fair.grid.columns]
    assert f"Left out: {', '.join(dropped)}." in text and f"{fair.grid.size:,} cells" in text
    for share in ("3 %", "24 %", "73 %", fair.grid.describe(), "95 % of counts within"):
        assert share in text


def test_every_kept_column_has_its_group_names(rows, schema):
    synopsis = made(rows, schema, ask, epsilon=2)
    text = report(synopsis)
    axis = synopsis.grid.axes[1]
    assert ", ".join(axis.names) in text and "two classes" not in text and "3 classes" in text


def test_the_same_synopsis_is_the_same_page_also_from_a_file(fair, tmp_path):
    fair.save(tmp_path / "s.veil")
    assert report(load_synopsis(tmp_path / "s.veil")) == report(fair)


def test_a_thresholded_table_claims_no_shares(rows, schema):
    text = report(made(rows, schema, lambda s, b: ask(s, b, True)))
    assert "Noisy counts up to 1 were not" in " ".join(text.split()) and "A dot is the share" not in text
    assert "passed the threshold" in text and Page(text)


@pytest.mark.parametrize(
    "ask_for", [lambda s, b: s.count(grid(s.schema), b), lambda s, b: s.count_sparse(grid(s.schema), b)]
)
def test_a_table_without_columns_has_a_page(rows, schema, ask_for):
    synopsis = made(rows, schema, ask_for, epsilon=1)
    assert "0 of 3" in report(synopsis) and list(synopsis.to_frame(5).columns) == ["party"]
    assert synopsis.marginal(["party"]).counts.shape == (3,)


def test_more_cells_than_a_machine_number_holds_have_a_page():
    assert "about 10^25 noisy counts" in report(wide_synopsis()[0])
    assert [large(n) for n in (180, 8_067_360, 3 * 10**12, 10**9999)] == [
        "180",
        "8.1 million",
        "3.0 trillion",
        "about 10^9999",
    ]


def test_hostile_names_stay_text():
    columns = [Categorical(name=name, values=HOSTILE) for name in HOSTILE[:3]]
    rows, schema = make(columns, HOSTILE[:3], source=HOSTILE[0], person='<i>"')
    names = [column.name for column in columns]
    synopsis = made(rows, schema, lambda s, b: s.count(grid(schema, *names), b))
    parsed = Page(report(synopsis))
    assert parsed.tags.count("script") == 1 and not parsed.handlers
    assert "<script" not in synopsis._repr_html_() and "\x00" not in repr(synopsis)
    assert len(synopsis.to_frame()) == synopsis.query().count


def test_seeded_noise_is_loudly_not_private(rows, schema):
    text = report(made(rows, schema, ask, epsilon=2, noise=1))
    assert 'class="banner"' in text and "published NOT privately" in text and text.count("<s>") == 3


def test_a_display_draws_one_column_of_a_synopsis(fair):
    ax = Figure().subplots()
    name = fair.grid.columns[0]
    display = CountsDisplay.from_synopsis(fair, name).plot(ax)
    assert display.ax_ is ax and ax.get_ylabel() == name and display.as_shares
    assert np.array_equal(display.counts, fair.marginal([name, "affair"]).counts)
    assert (display.error > fair.release_.error()).all() or len(fair.grid.axes) == 1
    with pytest.raises(BadInput, match="it can: "):
        CountsDisplay.from_synopsis(fair, "affair")


def test_counts_without_classes_are_a_heat_map(rows, schema):
    synopsis = made(rows, schema, lambda s, b: s.count(dense_grid(s.schema), b, by_class=False))
    assert not CountsDisplay.from_synopsis(synopsis, "age").as_shares and Page(report(synopsis))
