"""Opening a stranger's file: memory follows from its unpacked size, whatever it claims, and is checked before use."""

import json
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from containers import rewrite
from veil import (
    BadInput,
    DecisionTreeClassifier,
    LogisticRegressionClassifier,
    NaiveBayesClassifier,
    Schema,
    load_model,
)
from veil.files import parts
from veil.files.artefacts import _npy
from veil.files.parts import read_array, read_json
from veil.schema import Text

TIMES, BESIDE = 24, 40 << 20  # memory is at most so many times the unpacked size, and so much more
Parts = dict[str, bytes]


@pytest.fixture
def model(rows: Any, schema: Schema, tmp_path: Path) -> Path:
    path = tmp_path / "model.veil"
    NaiveBayesClassifier(schema=schema, random_state=1).fit(rows).save(path)
    return path


def peak(work: Callable[[], Any]) -> int:
    """The most memory that the work has at once; a refusal is an end like another."""
    tracemalloc.start()
    try:
        work()
    except BadInput:
        pass
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return most


def with_settings(text: str) -> Callable[[Parts], None]:
    """A change that puts a long text into the settings of a model."""

    def change(held: Parts) -> None:
        body = json.loads(held["model.json"])
        held["model.json"] = json.dumps({**body, "settings": {"x": "TEXT"}}).encode().replace(b'"TEXT"', text.encode())

    return change


def instead(name: str, content: bytes) -> Callable[[Parts], None]:
    return lambda held: held.update({name: content})


N = 100_000
LONG = {
    "lists of nothing": with_settings("[" + "[]," * N + "[]]"),
    "numbers": with_settings("[" + "300," * N + "1]"),
    "zeros": with_settings("[" + "0," * N + "1]"),
    "short texts": with_settings("[" + '"ab",' * N + "1]"),
    "maps": with_settings("[" + '{"ab":12}   ,' * N + "1]"),
    "maps that are packed": with_settings("[" + '{"ab":12},' * N + "1]"),
    "lists in the place of all": instead("model.json", b"[" + b"[]," * N + b"[]]"),
    "lists in lists": instead("model.json", b"[" * N + b"]" * N),
    "text beyond ASCII": with_settings('"' + "\U0001f600" * N + '"'),
    "receipts": instead("receipts.json", b"[" + b'{"epsilon": "1"},' * N + b"{}]"),
    "an array of other shape": instead("arrays/0.npy", _npy(np.zeros(N, np.uint8))),
}


@pytest.mark.parametrize("change", LONG.values(), ids=LONG)
def test_a_model_takes_memory_in_proportion_to_its_unpacked_size(model: Path, change: Callable[[Parts], None]) -> None:
    rewrite(model, change)
    unpacked = sum(part.file_size for part in zipfile.ZipFile(model).infolist())
    assert peak(lambda: load_model(model)) < TIMES * unpacked + BESIDE // 20


def columns(number: int, fields: str) -> str:
    return 'name = "t"\n' + "".join(f'[[column]]\nname = "{i}"\n{fields}\n' for i in range(number))


SCHEMAS = {
    "buckets": columns(200, 'kind = "text"\nbuckets = 1048576'),
    "kept buckets": columns(50, 'kind = "text"\nbuckets = 1048576\nkept = [7]'),
    "bins": columns(200, 'kind = "numeric"\nbounds = [0, 1]\nbins = 65534'),
    "bins of integers": columns(200, 'kind = "numeric"\nbounds = [0, 100000]\ninteger = true\nbins = 65534'),
    "some bins": columns(1, 'kind = "numeric"\nbounds = [0, 1]\nbins = 65534'),
    "columns": columns(5_000, 'kind = "?"'),
    "names in names": 'name = "t"\n' + "a." * 20_000 + "b = 1",
    "tables in tables": "[" + "a." * 20_000 + "b]",
    "names in names in a table": 'x = { y = 1, "a"' + '."a"' * 20_000 + " = 1 }",
    "lists in lists": "x = " + "[" * 20_000,
}


@pytest.mark.parametrize("text", SCHEMAS.values(), ids=SCHEMAS)
def test_a_schema_takes_memory_in_proportion_to_its_text(text: str) -> None:
    def work() -> None:
        found = Schema.loads(text)
        assert found.texts is not None and repr(found) and found.to_toml()

    assert peak(work) < 100 * len(text) + 3 * BESIDE


def test_a_schema_has_so_many_columns_and_bins_at_most() -> None:
    for text in (SCHEMAS["bins"], 'name = "t"\n' + "[[column]]\n" * (1 << 17)):
        with pytest.raises(BadInput, match="a schema has at most 65,536 columns, and 1,048,576 bins in all"):
            Schema.loads(text)
    with pytest.raises(BadInput, match="not a schema: it is too long"):
        Schema.loads(" " * (1 << 24) + " ")


def test_the_names_of_buckets_are_made_as_they_are_asked_for() -> None:
    column = Text(name="t", buckets=2**20)
    assert column.size == len(column.names) == 2**20 and column.names[-1] == "bucket 1048575"
    assert column.names[1:3] == ("bucket 1", "bucket 2")
    some = column.only([5, 7])
    assert list(some.names) == ["bucket 5", "bucket 7"] and some.size == 2
    assert len(column.encode(["some words", ""]).words) == 2


def header(shape: str, kind: str = "<i8") -> bytes:
    """A .npy file that claims this shape, and has eight bytes."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-len(text) - 11 % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + bytes(8)


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        (f"({2**60},)", "<i8"),
        (f"({2**60}, 0)", "<i8"),
        ("(-1,)", "<i8"),
        ("(2,)", "<i8"),
        ("(0,)", "<i8"),
        ("(1,)", "|O"),
        ("(1,)", ">i8"),
        ("(1,)", "<U2"),
        ("(1,)", "<c8"),
    ],
)
def test_an_array_is_as_long_as_it_says_and_of_numbers(shape: str, kind: str) -> None:
    with pytest.raises(ValueError):
        read_array(header(shape, kind))
    assert read_array(header("(1,)")).tolist() == [0]


def test_an_array_comes_back_as_it_was() -> None:
    square = np.arange(6).reshape(2, 3)
    for array in (square, square.T, np.zeros((0, 3), np.int64), np.array(5), np.ones(3, bool)):
        back = read_array(_npy(array))
        assert np.array_equal(back, array) and back.dtype == array.dtype and back.shape == array.shape


def test_an_array_is_named_once(model: Path) -> None:
    def change(held: Parts) -> None:
        held["model.json"] = held["model.json"].replace(b'{"array": 1}', b'{"array": 0}')

    load_model(model)
    rewrite(model, change)
    with pytest.raises(BadInput, match="is not a model, or was damaged"):
        load_model(model)


def test_json_of_any_depth_and_density_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_json(b"[" * 900 + b"]" * 900)
    for text in (b"[" + b"[]," * 10_000 + b"[]]", b"[" * 100_000, b'{"a":' * 10_000):
        with pytest.raises(ValueError):
            read_json(text)
    monkeypatch.setattr(parts, "MOST_JSON", 10)
    with pytest.raises(ValueError):
        read_json(b"[" + b" " * 10 + b"]")


def zipped(path: Path, how: Callable[[zipfile.ZipFile], None], **more: Any) -> Path:
    with zipfile.ZipFile(path, "w", **more) as file:
        how(file)
    return path


def many(file: zipfile.ZipFile) -> None:
    for number in range(70_000):
        file.writestr(f"arrays/{number}.npy", b"")


def twice(file: zipfile.ZipFile) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        for _ in range(2):
            file.writestr("manifest.json", b"{}")


ZIPS: dict[str, tuple[Callable[[zipfile.ZipFile], None], dict[str, Any]]] = {
    "many parts": (many, {}),
    "a part twice": (twice, {}),
    "a comment": (lambda file: setattr(file, "comment", b"x" * 99), {}),
    "another packing": (lambda file: file.writestr("manifest.json", b"{}"), {"compression": zipfile.ZIP_LZMA}),
    "long JSON": (lambda file: file.writestr("manifest.json", bytes((1 << 27) + 1)), {"compression": 8}),
}


@pytest.mark.parametrize(("how", "more"), ZIPS.values(), ids=ZIPS)
def test_a_zip_that_is_not_as_ours_are_is_refused_before_it_is_unpacked(
    tmp_path: Path, how: Callable[[zipfile.ZipFile], None], more: dict[str, Any]
) -> None:
    path = zipped(tmp_path / "model.veil", how, **more)
    with pytest.raises(ValueError):
        parts.open_parts(path)
    assert peak(lambda: load_model(path)) < BESIDE


def test_a_part_that_is_longer_than_it_says_is_refused(model: Path) -> None:
    content = model.read_bytes()
    for place in (content.rfind(b"PK\1\2") + 24, content.find(b"PK\1\2") + 24):
        size = struct.unpack("<L", content[place : place + 4])[0]
        for lie in (size - 1, 1, 0):
            model.write_bytes(content[:place] + struct.pack("<L", lie) + content[place + 4 :])
            with pytest.raises(BadInput, match="is not a model, or was damaged"):
                load_model(model)


def of_receipts(**fields: str) -> Callable[[Parts], None]:
    """A change of every receipt."""

    def change(parts: Parts) -> None:
        changed = [{**receipt, **fields} for receipt in json.loads(parts["receipts.json"])]
        parts["receipts.json"] = json.dumps(changed).encode()

    return change


def of_counts(number: int) -> Callable[[Parts], None]:
    """A change of every released whole number."""

    def change(parts: Parts) -> None:
        for name in [name for name in parts if name.endswith(".npy")]:
            array = read_array(parts[name])
            parts[name] = _npy(np.full_like(array, number)) if array.dtype == np.int64 else parts[name]

    return change


def in_schema(line: str) -> Callable[[Parts], None]:
    return lambda parts: parts.update({"schema.toml": f"{line}\n".encode() + parts["schema.toml"]})


ABSURD = {
    "an epsilon of next to nothing": of_receipts(epsilon="1/" + "9" * 3000),
    "an epsilon beyond all floats": of_receipts(epsilon="9" * 3000),
    "words without end": of_receipts(question="Logistic of [x, 999999999 a row]"),
    "no words": of_receipts(question="Logistic of [x, 0 a row]"),
    "a number of words of many digits": of_receipts(question=f"Logistic of [x, {'9' * 5000} a row]"),
    "counts that overflow": of_counts(2**63 - 1),
    "counts far below zero": of_counts(-(2**63)),
    "more rows than there are atoms": in_schema("rows = 1" + "0" * 4000),
    "a person of many rows": in_schema('person = "p"\nrows_per_person = 1' + "0" * 4000),
}


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, LogisticRegressionClassifier])
@pytest.mark.parametrize("change", ABSURD.values(), ids=ABSURD)
def test_a_model_of_absurd_numbers_is_refused_or_judged_and_shown(
    kind: Any, change: Callable[[Parts], None], rows: Any, schema: Schema, tmp_path: Path
) -> None:
    path = tmp_path / "model.veil"
    kind(schema=schema, random_state=1).fit(rows).save(path)
    rewrite(path, change)

    def look() -> None:
        found = load_model(path)
        assert str(found.verdict_) and repr(found) and found._repr_html_() and repr(found.receipts_)

    assert peak(look) < BESIDE
    with suppress(BadInput):
        load_model(path).report(tmp_path / "page.html")
