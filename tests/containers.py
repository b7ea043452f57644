"""Files of what was published, changed by a stranger."""

import hashlib
import json
import zipfile


def rewrite(path, change):
    """The file with `change` made to the dict of its parts, the manifest made to fit."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    change(parts)
    digests = {name: hashlib.sha256(part).hexdigest() for name, part in parts.items() if name != "manifest.json"}
    if "manifest.json" in parts:
        parts["manifest.json"] = json.dumps({**json.loads(parts["manifest.json"]), "parts": digests}).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, part in parts.items():
            file.writestr(name, part)


def swap(name, old, new):
    """A change that replaces bytes in one part, which must be there."""

    def change(parts):
        assert old in parts[name]
        parts[name] = parts[name].replace(old, new)

    return change
