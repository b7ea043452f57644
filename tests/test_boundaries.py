"""Imports point one way, only the kernel touches rows and noise, and the trusted part stays small."""

import ast
from pathlib import Path

import pytest

import veil
import veil.wording
from veil import kernel, trusted

SOURCE = Path(veil.__file__).parent
# a module imports only from its left, or from its own folder
ORDER = """errors wording addresses display markup drawing results progress threads solver schema questions views kernel
trusted plans verdicts files pages choice forecast synopsis owner drafts datasets models evaluate report compare explore
audit cli""".split()
DECLARING = [
    SOURCE / "schema" / f"{name}.py"
    for name in ("alike", "calendars", "columns", "dates", "fine", "forms", "mistakes", "schema")
]
NO_ROWS = tuple(f"questions/{name}" for name in ("bundling", "covering", "flattening", "kinds", "making"))
NO_ROWS += ("kernel/settings",)
UNPROMISED = ("kernel/seeded",)  # its answers are marked as not private
UNTRUSTED = [*DECLARING, *(SOURCE / f"{name}.py" for name in (*NO_ROWS, *UNPROMISED))]
ROOMS = [path for name in ("schema", "questions", "kernel") for path in (SOURCE / name).rglob("*.py")]
TRUSTED = [path for path in ROOMS if path not in UNTRUSTED]
MODULES = [path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py"]


# whoever audits the promise reads these beside the trusted part: they look into rows
LOOKING = {
    "evaluate/handing.py": "rebuilds rows as a model that is not Veil's is handed them",
    "evaluate/scores.py": "has a model judge test rows, whose scores go to the kernel",
    "files/tables.py": "writes values as texts where the files of a folder differ in type",
    "models/base.py": "encodes rows to predict; predictions are the caller's to keep",
    "models/rows.py": "takes tables apart into the columns that go to the kernel",
    "models/selectors.py": "encodes rows to keep the columns that were selected",
    "owner.py": "shows exact numbers to the owner, under a banner that says so",
}
# these hold rows and pass them on as they are
HOLDING = """
    choice/training.py cli/charge.py cli/predict.py cli/schema.py cli/select.py evaluate/labels.py
    evaluate/result.py evaluate/roc.py
    evaluate/together.py files/spark.py models/pipeline.py plans/run.py synopsis/publish.py
""".split()
NO_SECRET = ("audit", "compare")  # their tables are made up, or public
READING = tuple(f"veil.schema.{name}" for name in ("codes", "encoding", "moments"))
HARMLESS = {f"veil.schema.encoding.{name}" for name in ("BLOCK", "Codes", "quiet")}
HARMLESS |= {"veil.schema.moments.DAY"}
DOORS = ("kernel.open_source", "plans.run.opened", "files.tables.read_rows", "files.tables.RowFile",
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
    reading = [name for name in imported(path, text) if name.startswith(READING) and name not in HARMLESS]
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
    """The modules to which a rule applies, but for the trusted part, the rooms without secrets and declarations."""
    outside = [path for path in MODULES if path not in (*TRUSTED, *DECLARING) and room(path) not in NO_SECRET]
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
        ("from ..schema.codes import encode_rows", True),
        ("from ..schema.moments import seconds", True),
        ("from ..schema.columns import text_of", False),
        ("from ..schema.encoding import BLOCK, quiet", False),
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


# what declarations may import from the rest of the schema's room: types, names, what reads a single declared value ...
ASKED = {"bags.Bags", "encoding.Codes", "encoding.text_or_none", "spelling.spelling"}
ASKED |= {f"moments.{name}" for name in ("DAY", "second_of")}
# ... and what takes rows, if they are handed on as they come, in a method that does nothing else
HANDED_ON = {
    "encode_column": "encode_column(values, self)",
    "encode_rows": "encode_rows(rows, self, label=label)",
    "reader_of": "reader_of(self)(block)",
}


def could_see_rows(path, text=None):
    """Whether a module of declarations imports what reads rows, or does more with them than hand them on."""
    tree = ast.parse(text or path.read_text(encoding="utf-8"))
    own = {f"veil.schema.{declaring.stem}" for declaring in DECLARING}
    inside = [name for name in imported(path, text) if name.startswith("veil.schema")]
    others = [name for name in inside if not any(name.startswith(f"{module}.") for module in own)]
    asked = {f"veil.schema.{name}" for name in (*ASKED, *(f"codes.{name}" for name in HANDED_ON))}
    nodes = [*ast.walk(tree)]
    foreign = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    foreign += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    libraries = {name.split(".")[0] for name in foreign} & {"narwhals", "pandas", "polars", "pyarrow", "scipy"}
    mentioned = [node.id for node in nodes if isinstance(node, ast.Name) and node.id in HANDED_ON]
    handed_on = [node for node in nodes if isinstance(node, ast.FunctionDef) and _only_hands_on(node)]
    return bool({*others} - asked or libraries or len(mentioned) != len(handed_on) or looks_by_name(nodes))


def _only_hands_on(function):
    """Whether a method has a docstring and one statement, which hands rows on."""
    last = function.body[-1]
    return len(function.body) == 2 and isinstance(last, ast.Return) and ast.unparse(last.value) in HANDED_ON.values()


def looks_by_name(nodes):
    """Whether something is encoded or read by a method, which may be a column's own."""
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return any(
        call.func.attr == "encode" and not _constant(call) or ast.unparse(call.func) == "self.read" for call in calls
    )


@pytest.mark.parametrize("path", DECLARING, ids=lambda path: path.stem)
def test_no_row_comes_to_declarations(path):
    assert not could_see_rows(path)


HANDING = 'from .codes import encode_column\ndef encode(self, values):\n    "The codes."\n    '


@pytest.mark.parametrize(
    ("text", "sees"),
    [
        ("from .encoding import numbers", True),
        ("from .encoding import text_or_none", False),
        ("from . import encoding", True),
        ("from .bags import text_bags", True),
        ("from .moments import seconds", True),
        ("from .columns import Numeric", False),
        ("import pyarrow as pa", True),
        ("from pandas import Series", True),
        ("first = column.encode(values)", True),
        (f"{HANDING}return encode_column(values, self)", False),
        (f"{HANDING}return encode_column(self._cleaned(values), self)", True),
        (f"{HANDING}self._look(values)\n    return encode_column(values, self)", True),
        ("from .codes import encode_column\nlater = encode_column", True),
    ],
)
def test_a_declaration_that_could_see_rows_is_recognised(text, sees):
    assert could_see_rows(SOURCE / "schema" / "columns.py", text) == sees


HOLDING_ROWS = ("asking", "gradients", "people", "reading", "source", "table", "tally", "verbs", "words")


@pytest.mark.parametrize("name", [*NO_ROWS, *UNPROMISED])
def test_what_sees_no_row_imports_nothing_that_holds_rows(name):
    path = SOURCE / f"{name}.py"
    assert not looks_into_rows(path) and "._table" not in path.read_text(encoding="utf-8")
    assert not [one for one in imported(path) if one.startswith(tuple(f"veil.kernel.{part}" for part in HOLDING_ROWS))]


@pytest.mark.parametrize(
    "name", [f"schema/{name}.py" for name in ("codes", "moments", "bags", "spark")] + ["kernel/reading.py"]
)
def test_what_reads_rows_calls_nothing_that_is_declared(name):
    """It takes numbers and texts from declarations: no method of theirs could be given a value."""
    nodes = ast.walk(ast.parse((SOURCE / name).read_text(encoding="utf-8")))
    called = [ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)]
    assert not [function for function in called if function.startswith(("column.", "schema."))]


def named(names):
    return {SOURCE / f"{name}.py" for name in names}


def test_every_trusted_file_is_in_the_list_of_some_result():
    verbs = [name for names in (*trusted.VERBS.values(), *trusted.QUESTIONS.values()) for name in names]
    listed = named(
        [*trusted.CORE, *verbs, *trusted.WORDS, *trusted.DATES, *trusted.PEOPLE, *trusted.OPENDP, *trusted.SHARED]
    )
    listed |= named(trusted.SPARK)
    assert listed == {path for path in TRUSTED if path.name != "__init__.py"}


def test_the_trusted_part_does_not_grow():
    """Arguments included. The bounds go down with every step, and rise with a capability alone that rows or charges
    pass through: when bins came to be found, rows to be read in batches, ledgers to be shared, counts to be given out
    in levels, tables to be compared with what is expected, rows to be encoded by Spark, and millions of people to be
    numbered by long texts."""
    assert sum(map(trusted.lines_of, trusted.CORE)) <= 1504
    assert max(trusted.lines_of(f"kernel/verbs/{path.stem}") for path in (SOURCE / "kernel/verbs").glob("*.py")) <= 162
    assert sum(len(trusted.written(path.read_text(encoding="utf-8"))) for path in TRUSTED) <= 3940


def test_the_solver_which_no_answer_rests_on_neither_prints_nor_raises():
    guessing = [SOURCE / "questions" / f"{name}.py" for name in ("bundling", "covering", "flattening")]
    for path in [*(SOURCE / "solver").glob("*.py"), *guessing]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert not names & {"print", "open", "warnings", "logging", "os", "sys", "exec", "eval", "setattr", "globals"}
        assert not [
            node for node in ast.walk(tree) if isinstance(node, (ast.Raise, ast.Assert, ast.Global, ast.Nonlocal))
        ]
        assert {name.split(".")[1] for name in imported(path)} <= {room(path)}
        plain = [node.names[0].name for node in ast.walk(tree) if isinstance(node, ast.Import)]
        plain += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
        assert {name.split(".")[0] for name in plain} <= {
            "bisect",
            "collections",
            "decimal",
            "functools",
            "itertools",
            "math",
            "numpy",
            "typing",
        }


@pytest.mark.parametrize(
    ("most", "names"),
    [
        (420, ["schema/encoding.py", "schema/spelling.py", "schema/codes.py", "kernel/reading.py"]),
        (129, ["schema/streams.py", "kernel/shelf.py"]),  # for rows that come in batches
        (159, ["schema/spark.py"]),  # for rows that Spark's workers encode
        (133, ["schema/moments.py"]),  # for schemas with dates
        (92, ["schema/bags.py"]),  # with text
        (64, ["kernel/people.py"]),  # with a person; of these, 25 for millions of them
    ],
)
def test_what_rows_pass_through_is_short(most, names):
    assert sum(trusted.lines_of(name.removesuffix(".py")) for name in names) <= most


def test_wording_which_no_check_rests_on_is_nothing_but_texts():
    tree = ast.parse((SOURCE / "wording.py").read_text(encoding="utf-8"))
    kinds = {type(node) for node in tree.body[1:]}
    assert kinds == {ast.Import, ast.Assign}
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert called <= {"dict.fromkeys"} and [*imported(SOURCE / "wording.py")] == []
    texts = [text for name, text in vars(veil.wording).items() if name.isupper() and name != "DISK"]
    assert {*map(type, texts)} == {str}


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
