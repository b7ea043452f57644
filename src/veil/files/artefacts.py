"""Files of what was published: a zip of JSON and arrays, data only, so that a stranger's file can be opened safely.

manifest.json   the format, the version that wrote it, and the SHA-256 of every other part
KIND.json       the method, its settings, the releases and what was made of them; an array is named by its place
receipts.json   what it cost: a witness for `veil ledger verify --against`
schema.toml     what was public about the rows
arrays/N.npy    the arrays

A grid is written where it first comes, and is named by its place among all of them from then on: trees cut by the same
few grids again and again.
"""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from ..kernel import PATH, VERSION, Budget, Owner, Receipt, Release, SparseCounts
from ..plans.outcome import Outcome
from ..plans.ranges.spread import Spread
from ..plans.synthesis.network import Network
from ..plans.until import checked_until
from ..questions import (
    Axis,
    Bag,
    Binned,
    CellScores,
    Drawn,
    Grid,
    Grouped,
    Linear,
    Odds,
    PathScores,
    Predicted,
    Sum,
    Tree,
)
from ..schema import Schema
from ..schema.encoding import quiet
from ..views import COUNTS
from .parts import MOST, MOST_JSON, MOST_NAMED, Arrays, codes_of, insist, open_parts, read_json

FORMAT = 2  # in the first, every grid was written wherever it came
SCORERS = (CellScores, Linear, Odds, PathScores, Sum)
KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (Axis, Bag, Binned, Drawn, Grid, Network, Predicted, SparseCounts, Spread, Tree, *SCORERS)
}
RELEASED = ("value", "scale", "question", "classes")
DEEPEST = 100  # most splits within splits
STAMP = (1980, 1, 1, 0, 0, 0)  # the same content is the same bytes
WIDE = 2**62  # cells and classes of a sparse release from which its codes are Python's integers
OPENED = {
    "synopsis": "veil.load_synopsis opens it in Python; a model is made by `veil train`",
    "histogram": "veil.load_synopsis opens it in Python; a model is made by `veil train`",
    "synthetic": "veil.load_synopsis opens it in Python; a model is made by `veil train`",
    "model": "veil.load_model opens it in Python; a synopsis is made by `veil publish`",
}
MADE = {
    "synopsis": "table",
    "histogram": "spread",
    "synthetic": "network",
    "model": "scorer",
}  # what the part is called that was made of the releases
Held = TypeVar("Held")


@dataclass
class Written:
    """What is in a file so far: the arrays, the places of grids by what they hold, how many grids were written, and how
    many codes those have that were named again."""

    arrays: list[Any] = field(default_factory=list)
    grids: dict[Any, int] = field(default_factory=dict)
    places: int = 0
    named: int = 0


def make_parts(kind: str, outcome: Outcome[Any]) -> dict[str, bytes]:
    """All parts of a file as {name: bytes}: what was made, the releases, the receipts, and the schema."""
    written = Written()
    body = {
        "method": outcome.method,
        "settings": dict(outcome.settings),
        "private": outcome.private,
        MADE[kind]: _pack(outcome.made, written),
        "releases": [_pack_release(release, written) for release in outcome.releases],
        "searched": [_pack_release(release, written) for release in outcome.searched],
    }  # read in this order too, by which grids have their places
    body |= {} if outcome.trace is None else {"trace": outcome.trace}
    body |= {} if outcome.until is None else {"until": dict(outcome.until)}
    receipts = [receipt.to_dict() for receipt in outcome.receipts]
    texts = [_json(body, None), _json(receipts), outcome.schema.to_toml().encode()]
    named = dict(zip(_texts(kind), texts, strict=True))
    parts = {**named, **{f"arrays/{i}.npy": _npy(array) for i, array in enumerate(written.arrays)}}
    if max(map(len, named.values())) > MOST_JSON or sum(map(len, parts.values())) > MOST - MOST_JSON:
        raise BadInput("this is too large for a file: use fewer or coarser columns, or fewer answers")
    return parts


def write_parts(path: str | os.PathLike[str], parts: Mapping[str, bytes]) -> None:
    """Write these parts, and a manifest with their digests."""
    manifest = _json({"format": FORMAT, "version": VERSION, "parts": _digests(parts)})
    with zipfile.ZipFile(path, "w") as file:
        for name, content in {"manifest.json": manifest, **parts}.items():
            file.writestr(zipfile.ZipInfo(name, STAMP), content, zipfile.ZIP_DEFLATED)


def read(path: str | os.PathLike[str], kind: str, check: Callable[[Outcome[Any]], Held]) -> Held:
    """Read a file and return `check(outcome)`.

    Any error in the file, or raised by `check`, becomes one BadInput about the file.
    """
    try:
        with quiet():
            return check(_content(_read_parts(path, kind), kind))
    except _Newer:
        raise BadInput(f"{path} was made by a newer version of Veil: upgrade with `pip install -U veil`") from None
    except FileNotFoundError:
        raise BadInput(f"there is no file {path}: check the path") from None
    except Exception:  # a file from a stranger can be wrong in any way
        if (other := other_kind(path, kind)) is not None:
            raise BadInput(f"{path} holds a {other}, not a {kind}: {OPENED[other]}") from None
        complaint = f"is not a {kind}, or was damaged or changed: get it again from whoever made it"
        raise BadInput(f"{path} {complaint}") from None


def other_kind(path: str | os.PathLike[str], kind: str) -> str | None:
    """What one of our files holds, judged by the names of its parts, if it is not of this kind; else None."""
    try:
        with zipfile.ZipFile(path) as file:
            return next((other for other in OPENED if other != kind and f"{other}.json" in file.NameToInfo), None)
    except Exception:
        return None


def plain_settings(given: Mapping[str, Any], epsilon: Any) -> dict[str, Any]:
    """Settings as plain values that a file can hold, with epsilon as exact text."""
    settings = {name: _plain(value) for name, value in given.items()}
    try:
        json.dumps(settings)
    except (TypeError, ValueError):
        raise BadInput("settings must be numbers, text or lists of them") from None
    return {**settings, "epsilon": str(Budget(epsilon).epsilon)}


def _plain(value: Any) -> Any:
    """A NumPy value as a Python value; collections as lists."""
    if isinstance(value, (np.generic, Fraction, Budget)):
        return value.item() if isinstance(value, np.generic) else str(value)
    return value if isinstance(value, str) or not isinstance(value, Collection) else [_plain(v) for v in value]


def _texts(kind: str) -> list[str]:
    return [f"{kind}.json", "receipts.json", "schema.toml"]


def _digests(parts: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}


def _pack_release(release: Release[Any], written: Written) -> dict[str, Any]:
    """A release as JSON can hold it; groups of cells follow from the answers before, and are left out."""
    release = replace(release, question=None) if type(release.question) is Grouped else release
    packed = {name: _pack(getattr(release, name), written) for name in RELEASED}
    return {**packed, "receipt": release.receipt.number}


def _pack(value: Any, written: Written) -> Any:
    """A value as JSON can hold it; arrays are added to `written` and replaced by their index."""
    if type(value) is Grid:
        return _pack_grid(value, written)
    if type(value).__name__ in KINDS:
        return _pack_fields(value, written)
    if isinstance(value, np.ndarray):
        wide = value.dtype == object
        written.arrays.append(_bytes_of(value) if wide else value)
        return {"integers" if wide else "array": len(written.arrays) - 1}
    if isinstance(value, Mapping):
        return {"map": {str(key): _pack(inside, written) for key, inside in value.items()}}
    return [_pack(inside, written) for inside in value] if isinstance(value, (list, tuple)) else value


def _pack_grid(grid: Grid, written: Written) -> dict[str, Any]:
    """The grid, or its place if the file has one with the same groups and names. So many codes may be named again."""
    key = tuple([(axis.column, axis.groups, axis.names) for axis in grid.axes])
    if key in written.grids and written.named + codes_of(grid) <= MOST_NAMED:
        written.named += codes_of(grid)
        return {"grid": written.grids[key]}
    written.grids[key], written.places = written.places, written.places + 1
    return _pack_fields(grid, written)


def _pack_fields(value: Any, written: Written) -> dict[str, Any]:
    inside = {name: _pack(getattr(value, name), written) for name in value.__dataclass_fields__}
    return {"kind": type(value).__name__, **inside}


def _unpack(value: Any, held: Arrays) -> Any:
    if isinstance(value, list):
        return tuple([_unpack(inside, held) for inside in value])
    if not isinstance(value, dict):
        return value
    if "grid" in value:
        return held.grid(value["grid"])
    if "array" in value:
        return held.take(value["array"])
    if "integers" in value:
        return held.integers(value["integers"])
    if "map" in value:
        return {key: _unpack(inside, held) for key, inside in value["map"].items()}
    found = KINDS[value["kind"]](**{name: _unpack(part, held) for name, part in value.items() if name != "kind"})
    held.grids += [found] if type(found) is Grid else []
    return found


def _bytes_of(integers: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Integers too large for NumPy as rows of bytes, the highest first, all as long as the largest needs."""
    width = max((int(value).bit_length() + 7) // 8 for value in [1, *integers])
    text = b"".join(int(value).to_bytes(width, "big") for value in integers)
    return np.frombuffer(text, np.uint8).reshape(len(integers), width)


def _content(parts: Mapping[str, bytes], kind: str) -> Outcome[Any]:
    """The outcome in a file, with releases, receipts and the kinds of all objects checked."""
    arrays = Arrays([parts[name] for name in parts if name.startswith("arrays/")])
    body, schema = read_json(parts[f"{kind}.json"]), Schema.loads(parts["schema.toml"].decode())
    receipts = {receipt.number: receipt for receipt in map(_receipt, read_json(parts["receipts.json"]))}
    made = _unpack(body.pop(MADE[kind]), arrays)  # in the order of writing: what comes later names grids in it
    releases, searched = (
        tuple(_unpack_release(packed, receipts, arrays) for packed in body.pop(name, ()))
        for name in ("releases", "searched")  # before 0.3 there was no search
    )
    owner = Owner(schema)  # one for all: a grid that is named again and again is checked once
    for release in releases:
        _check_release(release, owner)
    insist(all(map(_can_be_shown, searched)))
    method, settings, _ = body.pop("method"), body.pop("settings"), body.pop("private")  # receipts say that
    insist(bool(receipts) and isinstance(method, str) and isinstance(settings, dict))
    trace, until = body.pop("trace", None), body.pop("until", None)
    insist(not body and (until is None or checked_until(until, list(receipts.values()))))
    return Outcome(made, method, settings, schema, releases, tuple(receipts.values()), searched, trace, until)


def _can_be_shown(release: Release[Any]) -> bool:
    """Whether an answer of the search, for people to look at alone, looks like one: its schema was a finer one."""
    if release.receipt.verb == "choose_bins":
        return True
    shape = (release.question.size, len(release.classes))
    return release.receipt.verb == "count" and release.value.dtype == np.int64 and release.value.shape == shape


def _check_release(release: Release[Any], owner: Owner) -> None:
    """Raise unless a release of counts has the type and shape that its question asks for."""
    insist(release.scale is None or (isinstance(release.scale, float) and 0 <= release.scale < 2**40))
    insist(release.question is None or release.receipt.verb in COUNTS)
    if release.question is not None:
        _check_question(release.question, owner)
    if type(release.value).__name__ in KINDS and type(release.value) is not SparseCounts:
        _check_question(release.value, owner)  # that was chosen
    if release.receipt.verb in COUNTS:
        _check_counts(release, owner.schema)
    else:
        _check_choice(release.receipt.verb, release.value)


def _check_choice(verb: str, value: Any) -> None:
    """Raise unless the answer of a verb that does not count has the type and shape that it gives."""
    if verb == "choose_range":
        insist(type(value) is int and value >= 0)
    if verb == "occupied":
        insist(type(value) is int)
    if verb in ("choose_best", "choose_each", "segments", "sift"):
        insist(value.dtype == np.int64 and value.ndim == 1 and bool(np.all(value >= 0)))
    if verb == "choose_above":
        insist(value.dtype == np.int64 and value.ndim == 2 and value.shape[1] == 2)
    if verb in ("minimise", "minimise_words"):
        insist(value.dtype == np.int64 and value.ndim == 2 and value.size > 0)


def _check_counts(release: Release[Any], schema: Schema) -> None:
    """Raise unless counts have the classes, type and shape that their question asks for."""
    if release.receipt.verb == "count" and release.question is None:  # of groups of cells, as a histogram has them
        insist(release.classes == ("",) and release.scale is not None)
        insist(release.value.dtype == np.int64 and release.value.ndim == 2 and release.value.shape[1] == 1)
    elif release.receipt.verb in ("count", "count_words", "count_gradually"):
        shape = (release.question.size, len(release.classes))
        insist(release.classes in (schema.classes, ("",)) and release.scale is not None)
        insist(release.value.dtype == np.int64 and release.value.shape == shape)
    if release.receipt.verb in ("count_sparse", "count_words_sparse"):
        known = (schema.classes, ("",)) if type(release.question) is Bag else (schema.classes,)
        insist(release.classes in known and release.scale is not None)
        _check_sparse(release.value, release.question.size * len(release.classes), len(release.classes))


def _check_question(question: Any, owner: Owner) -> None:
    for axis in question.axes if type(question) is Grid and id(question) not in owner.known else ():
        insist(all(isinstance(name, str) for name in axis.names))
    owner(question, dense=False)


def _check_sparse(value: SparseCounts, cells: int, classes: int) -> None:
    """Raise unless the codes are sorted, distinct and within the grid, and all counts are above the threshold."""
    insist(type(value) is SparseCounts and type(value.threshold) is int and 0 <= value.threshold <= 2**60)
    codes, counts = value.codes, value.counts
    insist(value.classes == classes and codes.dtype == (object if cells >= WIDE else np.int64))
    insist(codes.ndim == counts.ndim == 1 and len(codes) == len(counts) and counts.dtype == np.int64)
    insist(bool(np.all(codes[1:] > codes[:-1]) and np.all(counts > value.threshold)))
    insist(not len(codes) or 0 <= codes[0] <= codes[-1] < cells)


class _Newer(Exception):
    """Raised for a format that only a newer version knows."""


def _read_parts(path: str | os.PathLike[str], kind: str) -> dict[str, bytes]:
    """The parts of a file as {name: bytes}, each checked against the manifest."""
    with open_parts(path) as file:
        manifest = read_json(file.read("manifest.json"))
        if manifest["format"] > FORMAT:
            raise _Newer
        names = [name for name in file.namelist() if name != "manifest.json"]
        arrays = [f"arrays/{i}.npy" for i in range(len(names) - len(_texts(kind)))]
        insist(names == [*_texts(kind), *arrays])
        parts = {name: file.read(name) for name in names}
    insist(_digests(parts) == manifest["parts"])
    return parts


def _receipt(fields: dict[str, Any]) -> Receipt:
    receipt = Receipt(**{**fields, "epsilon": Budget(fields["epsilon"]).epsilon})
    insist(isinstance(fields["epsilon"], str))
    insist(PATH.fullmatch(receipt.account) is not None and receipt.account.count("/") <= DEEPEST)
    return receipt


def _unpack_release(packed: dict[str, Any], receipts: Mapping[int, Receipt], arrays: Arrays) -> Release[Any]:
    inside = {name: _unpack(packed[name], arrays) for name in RELEASED}
    return Release(receipt=receipts[packed["receipt"]], **inside)


def _json(value: Any, indent: int | None = 1) -> bytes:
    return json.dumps(value, indent=indent).encode()


def _npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()
