"""Model files: a zip of JSON and arrays, data only, so that a stranger's file can be opened safely.

manifest.json   the format, the version that wrote it, and the SHA-256 of every other part
model.json      the method, its settings, the scorer and the releases; an array is named by its place
schema.toml     what was public about the rows
receipts.json   what the model cost: a witness for `veil ledger verify --against`
arrays/N.npy    the arrays
"""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..encoding import quiet
from ..errors import BadInput
from ..kernel.budget import Budget
from ..kernel.checks import check_partition
from ..kernel.ledger import VERSION, Receipt
from ..kernel.release import Release, SparseCounts
from ..questions import Axis, Binned, CellScores, Grid, Linear, Predicted, Tree
from ..schema import Schema

FORMAT = 1
KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (Axis, Binned, CellScores, Grid, Linear, Predicted, SparseCounts, Tree)
}
TEXTS = ["model.json", "receipts.json", "schema.toml"]
MOST = 1 << 30  # bytes of all parts, unpacked
STAMP = (1980, 1, 1, 0, 0, 0)  # the same model is the same bytes


def write_model(path: str | os.PathLike[str], model: Any) -> None:
    """Write a fitted model."""
    parts = model_parts(model)
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}
    manifest = _json({"format": FORMAT, "version": VERSION, "parts": digests})
    with zipfile.ZipFile(path, "w") as file:
        for name, content in {"manifest.json": manifest, **parts}.items():
            file.writestr(zipfile.ZipInfo(name, STAMP), content, zipfile.ZIP_DEFLATED)


def model_parts(model: Any) -> dict[str, bytes]:
    """Everything a model file holds, by name: what was released, what it cost, and what was public before."""
    arrays: list[Any] = []
    body = {
        "method": model.method,
        "settings": model.settings_,
        "private": model.private_,
        "scorer": _pack(model.scorer_, arrays),
        "releases": [_pack_release(release, arrays) for release in model.releases_],
    }
    receipts = [receipt.to_dict() for receipt in model.receipts_]
    texts = {
        "model.json": _json(body),
        "receipts.json": _json(receipts),
        "schema.toml": model.schema_.to_toml().encode(),
    }
    return {**texts, **{f"arrays/{i}.npy": _npy(array) for i, array in enumerate(arrays)}}


def _pack_release(release: Release[Any], arrays: list[Any]) -> dict[str, Any]:
    packed = {name: _pack(getattr(release, name), arrays) for name in ("value", "scale", "question", "classes")}
    return {**packed, "receipt": release.receipt.number}


def _pack(value: Any, arrays: list[Any]) -> Any:
    """A value as JSON can hold it; arrays go to the list and leave their place."""
    if type(value).__name__ in KINDS:
        inside = {name: _pack(getattr(value, name), arrays) for name in value.__dataclass_fields__}
        return {"kind": type(value).__name__, **inside}
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, Mapping):
        return {"map": {str(key): _pack(inside, arrays) for key, inside in value.items()}}
    return [_pack(inside, arrays) for inside in value] if isinstance(value, (list, tuple)) else value


def _unpack(value: Any, arrays: list[Any]) -> Any:
    if isinstance(value, list):
        return tuple(_unpack(inside, arrays) for inside in value)
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "map" in value:
        return {key: _unpack(inside, arrays) for key, inside in value["map"].items()}
    inside = {name: _unpack(part, arrays) for name, part in value.items() if name != "kind"}
    return KINDS[value["kind"]](**inside)


def read_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file holds: method, settings, schema, scorer, releases and receipts; checked part by part."""
    try:
        with quiet():
            return _read(_parts(path))
    except _Newer:
        raise BadInput(f"{path} was made by a newer version of Veil: upgrade with `pip install -U veil`") from None
    except FileNotFoundError:
        raise BadInput(f"there is no file {path}: check the path") from None
    except Exception:  # a file from a stranger can be wrong in any way
        raise BadInput(f"{path} is not a model, or was damaged or changed: get it again from whoever made it") from None


def _read(parts: Mapping[str, bytes]) -> dict[str, Any]:
    arrays = [np.load(io.BytesIO(parts[name]), allow_pickle=False) for name in parts if name.startswith("arrays/")]
    body, schema = json.loads(parts["model.json"]), Schema.loads(parts["schema.toml"].decode())
    receipts = {receipt.number: receipt for receipt in map(_receipt, json.loads(parts["receipts.json"]))}
    releases = tuple(_unpack_release(packed, receipts, arrays) for packed in body["releases"])
    scorer = _unpack(body["scorer"], arrays)
    check_partition(Predicted(scorer), schema)
    features = {column.name for column in schema.features}
    _insist(scorer.classes == len(schema.classes) and features.issuperset(scorer.columns) and bool(receipts))
    _insist(isinstance(body["method"], str) and isinstance(body["settings"], dict))
    for release in releases:
        _check_release(release, schema)
    known = {"method": body["method"], "settings": body["settings"], "schema": schema, "scorer": scorer}
    return {**known, "releases": releases, "receipts": tuple(receipts.values())}


def _insist(right: bool) -> None:
    if not right:
        raise ValueError


def _check_release(release: Release[Any], schema: Schema) -> None:
    """A release of counts must have the numbers and the shape that its question asks for."""
    _insist(release.scale is None or (isinstance(release.scale, float) and 0 <= release.scale < 2**40))
    if release.question is not None:
        check_partition(release.question, schema, dense=False)
    if release.receipt.verb == "count":
        shape = (release.question.size, len(release.classes))
        _insist(release.classes in (schema.classes, ("",)))
        _insist(release.value.dtype == np.int64 and release.value.shape == shape and release.scale is not None)


class _Newer(Exception):
    """The format is one that this version does not know."""


def _parts(path: str | os.PathLike[str]) -> dict[str, bytes]:
    """The parts of a model file, each of them as the manifest says."""
    with zipfile.ZipFile(path) as file:
        _insist(sum(part.file_size for part in file.infolist()) <= MOST)
        manifest = json.loads(file.read("manifest.json"))
        if manifest["format"] > FORMAT:
            raise _Newer
        names = [name for name in file.namelist() if name != "manifest.json"]
        arrays = [f"arrays/{i}.npy" for i in range(len(names) - len(TEXTS))]
        _insist(names == [*TEXTS, *arrays])
        parts = {name: file.read(name) for name in names}
    _insist({name: hashlib.sha256(content).hexdigest() for name, content in parts.items()} == manifest["parts"])
    return parts


def _receipt(fields: dict[str, Any]) -> Receipt:
    receipt = Receipt(**{**fields, "epsilon": Budget(fields["epsilon"]).epsilon})
    whole, marked = isinstance(receipt.number, int), isinstance(receipt.private, bool)
    texts = (value for name, value in fields.items() if name not in ("number", "private"))
    _insist(whole and marked and all(isinstance(text, str) for text in texts))
    return receipt


def _unpack_release(packed: dict[str, Any], receipts: Mapping[int, Receipt], arrays: list[Any]) -> Release[Any]:
    inside = {name: _unpack(packed[name], arrays) for name in ("value", "scale", "question", "classes")}
    return Release(receipt=receipts[packed["receipt"]], **inside)


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()


def _npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()
