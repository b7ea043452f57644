"""Imports point one way, only the kernel touches rows and noise, and the trusted part stays small."""

import ast
from pathlib import Path

import pytest

import veil

SOURCE = Path(veil.__file__).parent
# a module imports only from its left, or from its own folder
PUBLIC_ROOMS = "errors display encoding bags columns schema questions"
PRIVATE_ROOMS = "kernel plans files artefacts synopsis owner datasets models evaluate report compare audit cli"
ORDER = f"{PUBLIC_ROOMS} {PRIVATE_ROOMS}".split()
PUBLIC = [SOURCE / f"{name}.py" for name in ("encoding", "bags", "columns", "schema", "questions")]
TRUSTED = [*PUBLIC, *(SOURCE / "kernel").glob("*.py")]
MODULES = [path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py"]


def room(path):
    """The folder or file, right below the package, that a module belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path):
    """The rooms a module imports from, and the full names."""
    package = ["veil", *path.relative_to(SOURCE).with_suffix("").parts][:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            prefix = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{prefix}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.startswith("veil."))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    own = ORDER.index(room(path))
    assert all(ORDER.index(name.split(".")[1]) <= own for name in imported(path))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_the_kernel_and_its_audit_touch_rows_and_mechanisms(path):
    inside = ("veil.kernel.table", "veil.kernel.mechanisms", "veil.kernel.exact", "veil.kernel.store")
    if room(path) not in ("kernel", "audit"):
        assert not [name for name in imported(path) if name.startswith(inside)]


def test_no_module_outside_the_trusted_part_reads_a_source_from_within():
    for path in MODULES:
        if room(path) not in ("kernel", "audit"):
            text = path.read_text(encoding="utf-8")
            assert "._table" not in text and "._noise" not in text, path


def written(paths):
    """The lines somebody has to read: all but blank ones and imports."""
    lines = [line.strip() for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line and not line.startswith(("import ", "from "))]


def test_the_trusted_part_does_not_grow_unnoticed():
    """Arguments included. What touches rows or noise is about half of it; the ledger and its file are a quarter."""
    counting = "noise exact mechanisms order scores checks coins table tally asking selecting source"
    proof = [SOURCE / "kernel" / f"{name}.py" for name in f"{counting} losses minimise shaped bag_minimise".split()]
    assert len(written(proof)) < 2283
    assert len(written(TRUSTED)) < 3768


def test_no_source_file_is_longer_than_four_hundred_lines():
    assert not [path for path in MODULES if len(path.read_text(encoding="utf-8").splitlines()) > 400]


def test_nothing_is_ever_pickled_printed_or_logged_by_the_trusted_part():
    for path in TRUSTED:
        calls = {
            n.func.id
            for n in ast.walk(ast.parse(path.read_text()))
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        }
        assert not calls & {"print", "eval", "exec"}, path
        text = path.read_text(encoding="utf-8")
        assert "import pickle" not in text and "import logging" not in text, path
