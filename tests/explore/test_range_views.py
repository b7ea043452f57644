"""Range queries: true beside noisy counts of public rows, kept by a command, read from anybody's file, shown."""

import csv
import json
import re
import shlex
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.explore.conftest import made_up_results, opened
from tests.explore.test_commands import to_copy
from tests.explore.test_views import Page, shown
from tests.shell import output
from veil import BadInput
from veil.explore.asking import Asking
from veil.explore.export import MOST_BYTES, export
from veil.explore.given import RANGES, Given
from veil.explore.ranges import asked
from veil.files.kept_ranges import Axis, Draw, Ranged, read_ranges, width_words, write_ranges

SHIPPED = 60_000  # bytes


def made_up(axes: int = 1, size: int = 20, **changes: Any) -> Ranged:
    """Made-up results over a table of as many cells on every axis."""
    chance = np.random.default_rng(axes)
    names = ("east", "north", "up")[:axes]
    declared = tuple(Axis(name, size, tuple(np.linspace(0, 2 * size, size + 1).tolist())) for name in names)
    truth = chance.integers(0, 90, (size,) * axes).astype(float) if axes < 3 else None
    draws = tuple(
        Draw(
            method,
            epsilon,
            None if truth is None else truth + chance.normal(size=truth.shape) / epsilon,
            tuple((width / epsilon, 0.5) for width in range(1, 3)),
            4,
            0.1,
        )
        for method in ("tree", "<b>grid</b>")
        for epsilon in (0.1, 1.0)
    )
    rows = 0 if truth is None else int(truth.sum())
    made = Ranged(
        "made <i>up</i>", "nobody & all", declared, rows, truth, (4, size**axes), draws, "2026-11-02", "veil 9"
    )
    return replace(made, **changes)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A file with tables of one, two and three columns."""
    write_ranges(tmp_path / "ranges.zip", [made_up(axes) for axes in (1, 2, 3)])
    return tmp_path / "ranges.zip"


@pytest.fixture
def page(kept: Path) -> TestClient:
    return opened(Given((kept,)))


def numbers_of(text: str) -> list[str]:
    return re.findall(r"<div><b>([^<]+)</b>", text)


def test_what_comes_with_veil_is_small_public_and_says_whose_it_is() -> None:
    tables = read_ranges(RANGES)
    assert RANGES.stat().st_size < SHIPPED
    assert {len(table.axes) for table in tables} == {1, 2} and all(256 <= t.shape[0] <= 512 for t in tables[:3])
    assert any(table.shape == (64, 64) for table in tables)
    for table in tables:
        assert re.search("CC BY 4.0|Open Government Licence", table.source) and table.truth is not None
        assert len(table.methods) >= 4 and len(table.epsilons) == 3 and table.truth.sum() == table.rows
        assert sum(draw.cells is not None for draw in table.draws) >= 9 and all(d.trials >= 5 for d in table.draws)


def test_errors_that_are_kept_are_those_of_many_draws_and_grow_with_less_epsilon() -> None:
    for table in read_ranges(RANGES):
        for method in table.methods:
            little, plenty = (table.draw(method, epsilon) for epsilon in (0.01, 1.0))
            assert little is not None and plenty is not None
            assert all(a[0] > b[0] for a, b in zip(little.errors, plenty.errors, strict=True))


def test_a_file_holds_what_was_written_but_for_digits_far_below_the_noise(kept: Path) -> None:
    for read, made in zip(read_ranges(kept), (made_up(1), made_up(2), made_up(3)), strict=True):
        assert replace(read, truth=None, draws=()) == replace(made, truth=None, draws=())
        for one, other in zip(read.draws, made.draws, strict=True):
            assert replace(one, cells=None) == replace(other, cells=None)
            if other.cells is not None and one.cells is not None and made.truth is not None:
                error = np.abs(other.cells - made.truth).mean()
                assert np.abs(one.cells - other.cells).max() <= error / 12 + 1e-9
                assert np.array_equal(read.truth, made.truth)  # type: ignore[arg-type]


def test_many_small_cells_keep_their_sum(tmp_path: Path) -> None:
    truth, noisy = np.zeros(1000), np.full(1000, 0.37)
    noisy[0] = 500.0  # so that the mean error is larger than what stands in a cell
    flat = made_up(1, 1000, truth=truth, draws=(Draw("tree", 0.1, noisy, ((1.0, None), (1.0, None)), 1, 0.1),))
    write_ranges(tmp_path / "r.zip", [flat])
    (read,) = read_ranges(tmp_path / "r.zip")
    assert read.draws[0].cells is not None and abs(read.draws[0].cells.sum() - noisy.sum()) < 2


def test_the_page_counts_a_range_in_the_truth_and_in_the_noise(page: TestClient, kept: Path) -> None:
    table = read_ranges(kept)[0]
    text = shown(page, "compare/ranges?data=0&method=tree&epsilon=1&from=3&to=7")
    draw = table.draw("tree", 1.0)
    assert draw is not None and draw.cells is not None and table.truth is not None
    truth, noisy = table.truth[3:8].sum(), draw.cells[3:8].sum()
    assert numbers_of(text)[:2] == [f"{truth:,.0f}", f"{noisy:,.0f}"]
    assert numbers_of(text)[2].startswith(f"{noisy - truth:+,.0f}")
    assert "east 6.0 to 16.0" in text and "5 cells" in text and "2 ± 0.5 rows off" in text
    assert numbers_of(shown(page, "compare/ranges?data=0&method=tree&epsilon=1&from=7&to=3")) == numbers_of(text)
    beyond = shown(page, "compare/ranges?from=0&to=3000")
    assert numbers_of(beyond)[0] == f"{table.rows:,}"


def test_without_a_choice_a_range_holds_the_middle_half_of_the_rows() -> None:
    for place, table in enumerate(read_ranges(RANGES)):
        now = asked(list(read_ranges(RANGES)), Asking(data=str(place)))
        assert table.truth is not None
        for axis, (first, last) in enumerate(now.ends):
            counts = np.moveaxis(table.truth, axis, 0).reshape(table.shape[axis], -1).sum(axis=1)
            assert counts[first : last + 1].sum() >= table.rows / 2 >= counts[first + 1 : last].sum()


def test_a_map_has_four_sliders_and_the_same_shades_on_both_sides(page: TestClient, kept: Path) -> None:
    table = read_ranges(kept)[1]
    text = shown(page, "compare/ranges?data=1&from=2&to=5&up_from=0&up_to=9")
    assert text.count('<input type="range"') == 4 and 'name="up_to"' in text and text.count('class="heat"') == 2
    assert table.truth is not None and numbers_of(text)[0] == f"{table.truth[2:6, :10].sum():,.0f}"
    assert text.count('class="chosen"') == 2 and "each shade is twice" in text
    assert shown(page, "compare/ranges").count('<input type="range"') == 2


def test_of_more_columns_errors_alone_are_shown(page: TestClient) -> None:
    text = shown(page, "compare/ranges?data=2")
    assert "Of more than two columns no counts are kept" in text and "Mean error in rows" in text
    assert '<input type="range"' not in text
    assert page.get("compare/ranges.csv?data=2").status_code == 400


def test_an_epsilon_of_many_digits_finds_its_draw(tmp_path: Path) -> None:
    one = made_up(1)
    write_ranges(tmp_path / "r.zip", [replace(one, draws=(replace(one.draws[0], epsilon=1 / 3),))])
    text = shown(opened(Given((tmp_path / "r.zip",))), "compare/ranges?epsilon=0.333333")
    assert len(numbers_of(text)) == 3 and "1-4" in text


def test_every_method_is_in_the_figure_of_widths_and_in_its_table(page: TestClient) -> None:
    text = shown(page, "compare/ranges?epsilon=0.1")
    assert "5-20" in text and "10 ± 0.5" in text and "20 ± 0.5" in text
    figure = text[text.index("cells in the range") :]
    assert "tree" in figure and "&lt;b&gt;grid" in figure and "<b>grid" not in text and "<i>" not in text


def test_counts_and_errors_come_as_csv(page: TestClient, kept: Path) -> None:
    answer = page.get("compare/ranges.csv?data=1&method=tree&epsilon=1")
    lines = list(csv.reader(answer.text.splitlines()))
    assert lines[0] == ["east", "north", "true", "noisy"] and len(lines) == 401
    assert 'filename="ranges.csv"' in answer.headers["content-disposition"]
    table = read_ranges(kept)[1]
    assert table.truth is not None and sum(float(line[2]) for line in lines[1:]) == table.truth.sum()
    errors = list(csv.reader(page.get("compare/widths.csv?data=0").text.splitlines()))
    assert len(errors) == 1 + 4 * 2 and errors[1][:4] == ["tree", "0.1", "1-4", "10"]


@pytest.mark.parametrize(
    "asked", ["data=9", "method=magic", "epsilon=7", "from=-1", "to=x", "to=99999999", "colour=red", "from=1&from=2"]
)
def test_what_is_not_on_a_list_is_refused(page: TestClient, asked: str) -> None:
    text = shown(page, f"compare/ranges?{asked}", 404)
    assert 'role="alert"' in text and "unforeseen" not in text


def test_compare_and_ranges_link_to_each_other_and_each_keeps_to_its_files(kept: Path, tmp_path: Path) -> None:
    own = opened(Given((kept,)))
    assert 'compare/ranges">Range queries' in shown(own, "compare") and "fair" in shown(own, "compare")
    assert (
        "made &lt;i&gt;up" in shown(own, "compare/ranges")
        and "places of the world" not in own.get("compare/ranges").text
    )
    results = made_up_results(tmp_path / "r.parquet")
    both = opened(Given((results, kept)))
    assert "logistic" in shown(both, "compare") and "made &lt;i&gt;up" in shown(both, "compare/ranges")
    assert "places of the world" in shown(opened(Given((results,))), "compare/ranges")


def test_a_file_has_the_first_range_of_every_table(kept: Path) -> None:
    text = export(Given((kept,)))
    page = Page(text)
    assert page.styled == page.handled == 0 and '<article id="ranges">' in text and '<article id="compare">' not in text
    assert "<form" not in text and "<script" not in text and 'href="/' not in text
    assert text.count('class="heat"') == 2 and "true count" in text
    shipped = export(Given())
    assert '<article id="ranges">' in shipped and "road accidents by longitude" in shipped
    assert len(shipped.encode()) < MOST_BYTES


def test_the_copied_command_keeps_ranges_and_draws_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = to_copy(shown(opened(Given()), "compare/ranges"))[0].replace("--seeds 5", "--seeds 2")
    said = output(*shlex.split(command)[1:])
    assert "Ranges of age in fair" in said and "true count" in Path("ranges.html").read_text(encoding="utf-8")
    text = shown(opened(Given((Path("ranges.zip"),))), "compare/ranges")
    assert "fair by age" in text and "6,366" in text
    again = to_copy(text)[0]
    assert "--data fair --ranges age" in again and "adaptive-grid" in again


def test_what_is_kept_of_public_rows_is_what_the_kernel_said(tmp_path: Path, start: Any) -> None:
    asked = [
        "compare",
        "--data",
        "fair",
        "--ranges",
        "age,children",
        "--methods",
        "uniform,identity",
        "--epsilons",
        "1,1000",
    ]
    output(*asked, "--seeds", "3", "--out", tmp_path / "r.zip")
    (table,) = read_ranges(tmp_path / "r.zip")
    exact = table.draw("identity", 1000.0)
    assert exact is not None and exact.cells is not None and table.truth is not None
    assert np.abs(exact.cells - table.truth).max() < 1 and table.rows == table.truth.sum() == 6366
    assert table.version.startswith("veil ") and exact.trials == 3
    code, _, said = start(*asked, "--seeds", "1", "--out", tmp_path / "r.zip")
    assert code == 2 and "exists already" in said


def test_widths_are_in_words() -> None:
    assert width_words((4, 16, 5000)) == ["1-4", "5-16", "17-5,000"]


def rewritten(path: Path, change: Any) -> None:
    """The file with its JSON changed."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    body = json.loads(parts["ranges.json"])
    change(body)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in {**parts, "ranges.json": json.dumps(body).encode()}.items():
            file.writestr(name, content)


BROKEN: dict[str, Any] = {
    "short": lambda body: body["tables"].pop(0),
    "sizes": lambda body: body["tables"][0]["axes"][0].update(size=1 << 60),
    "negative": lambda body: body["tables"][0]["axes"][0].update(size=-1),
    "text": lambda body: body["tables"][0].update(rows="many"),
    "long": lambda body: body["tables"][0].update(data="x" * 1000),
    "widths": lambda body: body["tables"][0].update(widths=[20, 4]),
    "errors": lambda body: body["tables"][0]["draws"][0].update(errors=[]),
    "twice": lambda body: body["tables"][0]["draws"].append(dict(body["tables"][0]["draws"][0], cells=False)),
    "nothing": lambda body: body["tables"][2].update(draws=[]),
    "infinite": lambda body: body["tables"][0]["draws"][0].update(epsilon=float("inf")),
    "format": lambda body: body.update(format="1"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_does_not_make_sense_is_a_sentence(kept: Path, name: str) -> None:
    rewritten(kept, BROKEN[name])
    with pytest.raises(BadInput, match="no results about ranges"):
        read_ranges(kept)
    assert "holds no results about ranges" in shown(opened(Given((kept,))), "compare/ranges")


def test_a_file_of_a_newer_version_says_so_and_one_that_vanished_too(kept: Path) -> None:
    client = opened(Given((kept,)))
    assert "true count" in shown(client, "compare/ranges")
    rewritten(kept, lambda body: body.update(format=2))
    assert "newer version" in shown(client, "compare/ranges")
    kept.unlink()
    assert "not there any more" in shown(client, "compare")


def test_a_small_file_that_would_take_much_memory_is_refused(kept: Path) -> None:
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("ranges.json", b'{"format":1,"tables":[]}')
        file.writestr("counts.npy", b"0" * (1 << 25))
    tracemalloc.start()
    with pytest.raises(BadInput):
        read_ranges(kept)
    assert tracemalloc.get_traced_memory()[1] < 1 << 22
    tracemalloc.stop()
