"""Imports point one way, only the kernel touches rows and noise, and the trusted part stays small."""

import ast
from pathlib import Path

import pytest

import veil
from veil import kernel

SOURCE = Path(veil.__file__).parent
# a module imports only from its left, or from its own folder
ORDER = """errors display progress schema questions kernel plans verdicts files pages synopsis owner drafts datasets
models evaluate report compare audit cli""".split()
UNTRUSTED = [SOURCE / "schema" / "mistakes.py", SOURCE / "questions" / "making.py"]  # no row comes there
ROOMS = [path for name in ("schema", "questions", "kernel") for path in (SOURCE / name).rglob("*.py")]
TRUSTED = [path for path in ROOMS if path not in UNTRUSTED]
MODULES = [path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py"]


# whoever audits the promise reads these beside the trusted part: they look into rows
LOOKING = {
    "evaluate/handing.py": "rebuilds rows as a model that is not Veil's is handed them",
    "evaluate/scores.py": "has a model judge test rows, whose scores go to the kernel",
    "models/base.py": "encodes rows to predict; predictions are the caller's to keep",
    "models/rows.py": "takes tables apart into the columns that go to the kernel",
    "models/selectors.py": "encodes rows to keep the columns that were selected",
    "owner.py": "shows exact numbers to the owner, under a banner that says so",
}
# these hold rows and pass them on as they are
HOLDING = """
    cli/charge.py cli/predict.py cli/schema.py cli/select.py evaluate/labels.py evaluate/result.py evaluate/roc.py
    evaluate/together.py models/pipeline.py plans/run.py synopsis/publish.py
""".split()
NO_SECRET = ("audit", "compare")  # their tables are made up, or public
HARMLESS = {f"veil.schema.encoding.{name}" for name in ("BLOCK", "Codes", "quiet", "text_of")}
DOORS = ("kernel.open_source", "plans.run.run", "plans.run.opened", "files.tables.read_rows", "files.tables.RowFile",
         "models.rows", "evaluate.scores.score_table", "evaluate.scores.prediction_table")  # fmt: skip


def room(path):
    """The folder or file, right below the package, that a module belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path, text=None):
    """The full names of what a module, or this text in its place, imports from the package."""
    package = ["veil", *path.relative_to(SOURCE).with_suffix("").parts][:-1]
    for node in ast.walk(ast.parse(text or path.read_text(encoding="utf-8"))):
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
def test_the_kernel_is_entered_through_its_door_alone(path):
    if room(path) not in ("kernel", "audit"):
        inside = [name for name in imported(path) if name.startswith("veil.kernel.")]
        assert {name.removeprefix("veil.kernel.") for name in inside} <= {*kernel.__all__}


def test_no_module_outside_the_trusted_part_reads_a_source_from_within():
    for path in MODULES:
        if room(path) not in ("kernel", "audit"):
            text = path.read_text(encoding="utf-8")
            assert "._table" not in text and "._noise" not in text, path


def looks_into_rows(path, text=None):
    """Whether a module imports what reads values, encodes more than a constant, or picks single rows out of a frame."""
    tree = ast.parse(text or path.read_text(encoding="utf-8"))
    reading = [
        name for name in imported(path, text) if name.startswith("veil.schema.encoding") and name not in HARMLESS
    ]
    frames = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    picking = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in ("iloc", "loc")]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    encoding = [call for call in calls if call.func.attr == "encode" and not _constant(call)]
    return bool(reading or "narwhals" in frames or picking or encoding)


def _constant(call):
    """Whether text is encoded: without an argument, or as a constant says."""
    return all(isinstance(argument, ast.Constant) for argument in [*call.args, *(k.value for k in call.keywords)])


def holds_rows(path, text=None):
    """Whether a module imports a function that takes rows or gives them back."""
    return any(name.startswith(tuple(f"veil.{door}" for door in DOORS)) for name in imported(path, text))


def found_by(rule):
    """The modules outside the trusted part and the rooms without secrets to which a rule applies."""
    outside = [path for path in MODULES if path not in TRUSTED and room(path) not in NO_SECRET]
    return {str(path.relative_to(SOURCE)) for path in outside if rule(path)}


def test_only_the_modules_named_here_look_into_rows():
    assert found_by(looks_into_rows) == {*LOOKING}


def test_only_the_modules_named_here_hold_rows():
    assert found_by(holds_rows) - {*LOOKING} == {*HOLDING}


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("from ..schema.encoding import columns_of", True),
        ("from veil.schema.encoding import numbers", True),
        ("from ..schema import encoding", True),
        ("from ..schema.encoding import quiet, text_of", False),
        ("import narwhals as nw", True),
        ("codes = schema.encode(rows)", True),
        ("codes = schema.encode(rows=rows)", True),
        ("data = 'a'.encode() + 'b'.encode('utf-8')", False),
        ("first = rows.iloc[0]", True),
        ("from ..kernel import open_source", False),
    ],
)
def test_a_look_into_rows_is_recognised(text, looks):
    assert looks_into_rows(SOURCE / "plans" / "new.py", text) == looks


def written(paths):
    """The lines somebody has to read: all but blank ones, imports, and lists of what a room offers."""
    return [line for path in paths for line in _written(path.read_text(encoding="utf-8"))]


def _written(text):
    tree, lines = ast.parse(text), text.splitlines()
    offered = [node for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    for node in [*offered, *(node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))]:
        lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return [line for line in lines if line.strip() and not line.startswith("# fmt")]


def test_the_trusted_part_does_not_grow_unnoticed():
    """Arguments included."""
    assert len(written(TRUSTED)) < 4444


def test_no_source_file_is_longer_than_four_hundred_lines():
    assert not [path for path in MODULES if len(path.read_text(encoding="utf-8").splitlines()) > 400]


def test_commands_print_through_what_escapes_names():
    for path in {*(SOURCE / "cli").glob("*.py")} - {SOURCE / "cli" / "output.py"}:
        text = path.read_text(encoding="utf-8").replace("console.print(", "")
        assert "typer.echo(" not in text and " print(" not in text, path


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
