"""Witnesses: receipts that were kept elsewhere than in the ledger, in JSON or in a published file."""

import zipfile
from pathlib import Path
from typing import Any

from ..errors import BadInput
from .parts import MOST_JSON, open_parts, read_json


def read_witnesses(path: Path) -> list[dict[str, Any]]:
    """The receipts in a JSON file, or in the `receipts.json` of a published file."""
    try:
        if zipfile.is_zipfile(path):
            with open_parts(path) as file:
                found = read_json(file.read("receipts.json"))
        else:
            with open(path, "rb") as stream:
                found = read_json(stream.read(MOST_JSON + 1))
    except Exception:  # a zip can be broken in many ways
        found = []
    found = found.get("receipts", [found]) if isinstance(found, dict) else found
    if not isinstance(found, list) or not found or not all(isinstance(witness, dict) for witness in found):
        raise BadInput(f"{path} holds no receipts: give a receipt or an export in JSON, or a model or synopsis file")
    return found
