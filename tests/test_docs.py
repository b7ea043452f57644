"""README and docs are true: Python blocks run, commands exist, the reference is up to date, links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from veil.cli import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def commands(command=None, path=()):
    command = command or get_command(app)
    yield " ".join(("veil", *path)), command
    for name, inside in getattr(command, "commands", {}).items():
        yield from commands(inside, (*path, name))


@pages
def test_the_python_on_a_page_runs_from_top_to_bottom(page, capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    names = {}
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)
    assert len(blocks) == page.read_text(encoding="utf-8").count("```python")


def test_the_readme_shows_what_its_program_prints(capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    exec(re.search(r"^```python\n(.*?)^```", text, re.M | re.S)[1], {})
    printed, shown = capsys.readouterr().out, re.search(r"^```text\n(.*?)^```", text, re.M | re.S)[1]
    for line in shown.splitlines():
        if line.strip() != "...":  # counts are noisy: everything but the numbers at the end must agree
            assert re.sub(r"-?\d+\s*$", "", line).rstrip() in printed


@pages
def test_links_lead_to_files(page):
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


@pages
def test_commands_on_a_page_exist(page):
    known = [name.split()[1:] for name, _ in commands()]
    for words in re.findall(r"`veil ([a-z ]+)", page.read_text(encoding="utf-8")):
        assert any(words.split()[: len(name)] == name for name in known if name), words
    for target in re.findall(r"`make ([a-z]+)", page.read_text(encoding="utf-8")):
        assert f"\n{target}:" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_command_has_help_an_example_and_a_place_in_the_docs(name):
    reference = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    command = dict(commands())[name]
    assert command.help and f"\n## {name}\n" in reference
    assert getattr(command, "commands", None) or command.epilog.startswith(f"Example: {name}")


def test_the_command_line_reference_is_up_to_date():
    done = subprocess.run(
        [sys.executable, "-c", "import build, sys; sys.stdout.write(build.command_line())"],
        cwd=ROOT / "docs", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == (ROOT / "docs" / "cli.md").read_text(encoding="utf-8"), "run `make docs`"


def test_the_site_builds_with_its_links(tmp_path):
    code = "import build, pathlib, sys; build.render(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "site")], cwd=ROOT / "docs", check=True)
    home = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert 'href="promise.html"' in home and ".md" not in re.findall(r'href="([^"]*)"', home)


def test_the_two_commands_are_in_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text and "make test" in text
