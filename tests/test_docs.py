"""README and docs are true: examples run and print what is shown, commands exist, links lead somewhere."""

import io
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.parquet
import pytest
from typer.main import get_command

import veil
from veil import Schema, datasets
from veil.cli import app, main

ROOT = Path(__file__).parent.parent
DOCS, RESULTS = ROOT / "docs", ROOT / "experiments" / "results"
TOP = ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY")
PAGES = [ROOT / f"{name}.md" for name in TOP] + sorted(DOCS.rglob("*.md"))
TUTORIAL, EPSILON = DOCS / "guide" / "tutorial.md", DOCS / "guide" / "epsilon.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^):\s]+)\)")
IMAGE = re.compile(r"!\[(.*?)\]\(([^)]+)\)", re.S)
NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
TIME = re.compile(r"\d{4}-\d\d-\d\d(T[\d:]+[+-][\d:]+| \d\d:\d\d)")
RANGE = r"{} about ([\d.]+) \(95 of 100 runs: ([\d.]+) to ([\d.]+)\)"
WIDER = 3  # times the stated range, which is 1.96 standard deviations to each side: no run in 10,000 falls outside
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def text_of(page):
    return page.read_text(encoding="utf-8")


def script(name):
    return import_module(f"experiments.pages.{name}")


def anchor(heading):
    """What the end of a link to a heading is called on GitHub."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def commands(command=None, path=()):
    command = command or get_command(app)
    yield " ".join(("veil", *path)), command
    for name, inside in getattr(command, "commands", {}).items():
        yield from commands(inside, (*path, name))


@pytest.fixture
def follow(tmp_path, monkeypatch):
    """Does all that a page says, from top to bottom in an empty folder; gives the names that its Python leaves.

    Python runs, TOML that starts with the name of a file is written to it, and on consoles every `veil` runs. Output
    that is shown must come: on a console as it is but for times, below Python but for numbers, which are noisy. A
    shown line "..." stands for anything.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("veil.cli.output.console._width", 100)

    def to_the_end(page: Path) -> dict[str, Any]:
        names: dict[str, Any] = {}
        text, printed, end = text_of(page), None, 0
        for block in BLOCK.finditer(text):
            kind, inside = block.groups()
            if kind == "text" and printed is not None and not text[end : block.start()].strip():
                check_shown(inside, printed, NUMBER)
            printed, end = None, block.end()
            if kind == "python":
                printed = run_python(inside, page.name, names)
            elif kind == "console":
                run_console(inside, monkeypatch)
            elif kind == "toml" and (first := re.match(r"# (\w+\.toml)\n", inside)):
                Path(first[1]).write_text(inside, encoding="utf-8")
        return names

    return to_the_end


def run_python(code, name, names):
    with redirect_stdout(io.StringIO()) as said:
        exec(compile(code, name, "exec"), names)
    return said.getvalue()


def run_console(text, monkeypatch):
    """Run every `veil` of a console; it must succeed, unless `echo $?` below it shows another exit code."""
    steps = [step.partition("\n")[::2] for step in re.split(r"^\$ ", text, flags=re.M)[1:]]
    for (command, shown), (following, code) in zip(steps, [*steps[1:], ("", "")], strict=True):
        if command.startswith("veil "):
            monkeypatch.setattr(sys, "argv", shlex.split(command))
            with pytest.raises(SystemExit) as end, redirect_stdout(io.StringIO()) as said, redirect_stderr(said):
                main()
            assert int(end.value.code or 0) == (int(code) if following == "echo $?" else 0), said.getvalue()
            check_shown(shown, said.getvalue(), TIME)


def check_shown(shown, said, differs):
    """What is shown is what was said, but for what differs each time and for white space; nothing shown is no claim."""
    parts = [re.escape(plain(part, differs)) for part in re.split(r"^ *\.\.\. *$", shown, flags=re.M)]
    assert not shown or re.fullmatch(".*".join(parts), plain(said, differs)), f"shown:\n{shown}\nbut said:\n{said}"


def plain(text, differs):
    return differs.sub("0", " ".join(text.split()))


@pages
def test_what_a_page_does_works_and_prints_what_it_shows(page, follow):
    follow(page)
    known = re.findall(r"^```(?:python|console|toml|text|sh)\n", text_of(page), re.M)
    assert len(known) == len(BLOCK.findall(text_of(page))) == text_of(page).count("\n```") / 2


def test_the_tutorial_measures_what_it_says(follow):
    names = follow(TUTORIAL)
    for name in ("accuracy", "AUC"):
        middle, low, high = map(float, re.search(RANGE.format(name), " ".join(text_of(TUTORIAL).split())).groups())
        assert low < middle < high
        centre, wide = (low + high) / 2, WIDER * (high - low) / 2
        assert centre - wide <= names[name.lower()] <= centre + wide


def test_the_schema_of_the_tutorial_has_the_columns_and_classes_of_the_survey(follow):
    follow(TUTORIAL)
    made, (rows, declared) = Schema.read("fair.toml"), datasets.load("fair")
    assert [column.name for column in made.column] == [*rows] and made.classes == declared.classes
    assert made.label == declared.label


def test_the_tutorial_takes_at_most_five_commands_of_veil_which_it_lists_first():
    first = next(inside for kind, inside in BLOCK.findall(text_of(TUTORIAL)) if kind == "sh").splitlines()
    assert len(first) <= 5 and all(line.startswith("veil ") for line in first)
    assert all(f"$ {line}\n" in text_of(TUTORIAL) for line in first)


def test_the_guide_shows_the_results_that_are_kept():
    assert script("figures").results_table() in text_of(EPSILON)


def test_the_guide_to_large_tables_shows_what_was_measured():
    page = text_of(DOCS / "guide" / "large.md")
    assert script("scale").filled(page) == page and "| 10,000,000 rows |" in page


def test_the_cards_of_algorithms_show_what_was_measured():
    page = text_of(DOCS / "algorithms.md")
    assert script("cards").filled(page) == page, "run `make docs`"
    assert page.count("<!-- measured: ") == page.count("<!-- end -->") == 4


def test_the_guide_to_evaluation_shows_how_often_intervals_held_and_they_held_about_as_often_as_they_say():
    assert script("auc_coverage").page() in text_of(DOCS / "guide" / "evaluation.md")
    kept = pyarrow.parquet.read_table(RESULTS / "auc-coverage.parquet").to_pylist()
    assert len(kept) == 30 and all(row["runs"] == 1000 for row in kept)
    assert all(0.93 <= row[how] <= 0.98 for row in kept for how in ("curve", "alone"))


def test_the_figures_of_the_guide_can_be_drawn_again(tmp_path):
    script("figures").draw(tmp_path)
    drawn = sorted(path.name for path in tmp_path.iterdir())
    assert drawn == sorted(path.name for path in (DOCS / "figures").glob("epsilon-*"))


def test_the_figures_of_the_reproduction_can_be_drawn_again(tmp_path):
    script("reproduced").draw(tmp_path)
    script("reproduction_roc").draw(tmp_path / "reproduction-roc.svg")
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert drawn == {path.name: path.read_bytes() for path in (DOCS / "figures").glob("reproduction-*")}


def test_the_figure_of_the_trees_can_be_drawn_again(tmp_path):
    script("trees").draw(tmp_path)
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert drawn == {path.name: path.read_bytes() for path in (DOCS / "figures").glob("trees-*")} and drawn


@pytest.mark.parametrize("figure", sorted((DOCS / "figures").iterdir()), ids=lambda path: path.name)
def test_a_figure_is_small_and_shown_somewhere(figure):
    shown = {(page.parent / file).resolve() for page in PAGES for _, file in IMAGE.findall(text_of(page))}
    assert figure.resolve() in shown
    assert figure.stat().st_size < 500_000
    assert figure.suffix != ".svg" or ElementTree.parse(figure).getroot().tag.endswith("svg")


@pages
def test_links_lead_to_files_and_headings(page):
    for link in LINK.findall(BLOCK.sub("", text_of(page))):
        file, _, place = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", text_of(target)), re.M) if place else []
        assert not place or place in map(anchor, headings), link


@pages
def test_images_exist_and_say_what_they_show(page):
    for words, file in IMAGE.findall(BLOCK.sub("", text_of(page))):
        assert len(words) > 20 and (page.parent / file).is_file(), file


@pages
def test_commands_on_a_page_exist(page):
    known = [name.split()[1:] for name, _ in commands()]
    for words in re.findall(r"(?:`|^|\$ )veil ([a-z ]+)", text_of(page), re.M):
        assert any(words.split()[: len(name)] == name for name in known if name), words
    for target in re.findall(r"(?:`|^|\$ )make ([a-z-]+)", text_of(page), re.M):
        assert f"\n{target}:" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_command_has_help_an_example_and_a_place_in_the_docs(name):
    reference = text_of(DOCS / "cli.md")
    command = dict(commands())[name]
    assert command.help and f"\n## {name}\n" in reference
    assert getattr(command, "commands", None) or command.epilog.startswith(f"Example: {name}")


@pytest.mark.parametrize(
    ("page", "module", "make"),
    [
        ("cli", "build", "command_line"),
        ("choice", "choice", "page"),
        ("choice-ranges", "choice_ranges", "page"),
        ("claims", "claims", "page"),
        ("comparison", "comparison", "page"),
        ("more-tables", "more", "page"),
        ("synthetic", "synthetic", "page"),
        ("ranges", "ranges", "page"),
        ("reproduction", "reproduction", "page"),
        ("trees", "trees", "page"),
        ("reproduction-roc", "reproduction_roc", "page"),
        ("selection", "selected", "page"),
    ],
)
def test_generated_pages_are_up_to_date(page, module, make):
    program = f"from experiments.pages import {module}; import sys; sys.stdout.write({module}.{make}())"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == text_of(DOCS / f"{page}.md"), "run `make docs`"


def test_every_claim_of_the_papers_has_one_of_three_verdicts_and_a_number_or_a_link():
    listed = [line.split(" | ") for line in text_of(DOCS / "claims.md").splitlines() if line.startswith("| ")]
    lines = [line for line in listed if line[0] not in ("| claim", "| ---")]
    assert {verdict for _, verdict, *_ in lines} == {f"**{word}**" for word in script("findings").VERDICTS}
    assert len(lines) > 40 and all(len(line) == 4 and LINK.search(line[3]) for line in lines)
    assert all(NUMBER.search(measured) or LINK.search(measured) or "traces" in claim for claim, _, measured, _ in lines)
    headings = re.findall(r"^## (.*)$", text_of(DOCS / "claims.md"), re.M)
    assert len(headings) == len({*headings}) == 6


def test_a_verdict_is_in_part_only_if_more_cases_agree_than_disagree():
    judged = script("findings").judged
    assert [judged(*case) for case in ((4, 4), (3, 4), (2, 4), (0, 4))] == ["holds", "in part", *["does not hold"] * 2]
    assert [judged(2, 4, 0), judged(0, 4, 0), judged(1, 4, 1)] == ["in part", *["does not hold"] * 2]


def test_every_page_has_a_place_in_the_contents_of_the_site():
    site = script("site")
    assert {*site.pages()} - {page for group in site.NAV.values() for page in group} == {"index"}


def test_every_public_name_is_in_the_reference():
    reference = script("site").reference()
    assert [name for name in veil.__all__ if f"### {name}\n" not in reference] == []


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("sphinx", reason="the documentation's tools are not installed: pip install veil[docs]")
    build = [sys.executable, "-m", "experiments.pages.site", str(tmp_path / "site")]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "AUC" in text_of(tmp_path / "site" / "gallery" / "private_roc_curve.html")


def test_the_two_commands_are_in_the_readme():
    text = text_of(ROOT / "README.md")
    assert "make demo" in text and "make test" in text


def test_the_guide_to_verdicts_shows_the_calibration_that_is_kept():
    calibration = script("verdicts")
    page = text_of(DOCS / "guide" / "verdicts.md")
    assert calibration.page() in page and calibration.checks() in page
    kept = pyarrow.parquet.read_table(calibration.KEPT).to_pylist()
    unseen = [row for row in kept if row["table"] in calibration.JUDGED and not row["shuffled"]]
    good = [calibration.worth(row) for row in unseen if row["level"] == "good"]
    assert len(good) > 80 and min(good) > 0.4 and sum(worth > 0.7 for worth in good) > 0.9 * len(good)
