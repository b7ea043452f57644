"""Changes to the content of files, drawn from a seeded source of chance: of bytes, and of what a zip of JSON holds."""

import hashlib
import io
import json
import zipfile
from random import Random
from typing import Any

TOKENS = [b'"', b",", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"'", b"[", b"]", b"{", b"}", b"=", b"."]
TOKENS += [
    b"#",
    b"nan",
    b"inf",
    b"-1",
    b"0",
    b"1e999",
    b"9" * 30,
    b"9" * 5000,
    b"true",
    b"null",
    b"\\u0000",
    b"\xed\xa0",
]
ODD: list[Any] = [None, True, [], {}, -1, 0, 1, 2**31, 2**63, 2**64, 10**400, 0.5, -0.0, float("nan"), float("inf"), ""]
ODD += ["a", "\0", "\x1b[31m", "=1", "x" * 10_000, [0] * 1000, [[]] * 50, {"array": 0}, {"array": -1}, {"integers": 0}]
ODD += [{"map": {}}, {"kind": "Grid", "axes": []}, {"kind": "Tree", "cut": {}, "branches": []}, {"kind": "Release"}]


def changed_bytes(content: bytes, chance: Random) -> bytes:
    """The content with a few changes: letters, runs and tokens put in, left out, doubled, moved or overwritten."""
    for _ in range(1 + int(chance.expovariate(0.5))):
        content = _changed_once(content, chance)
    return content


def _changed_once(content: bytes, chance: Random) -> bytes:
    start, other = (chance.randrange(len(content) + 1) for _ in range(2))
    end = min(len(content), start + chance.choice([1, 1, 4, 30, 1000]))
    before, run, after = content[:start], content[start:end], content[end:]
    token = chance.choice(TOKENS)
    ways = [
        before + bytes(byte ^ 1 << chance.randrange(8) for byte in run) + after,
        before + chance.randbytes(len(run)) + after,
        before + after,
        before + run * chance.choice([2, 3, 50]) + after,
        before + token * chance.choice([1, 1, 2, 40]) + after,
        before + token + run + after,
        content[:other] + run + content[other:],
        before if chance.random() < 0.2 else content,
    ]
    return chance.choice(ways)


def changed_json(content: bytes, chance: Random) -> bytes:
    """JSON with odd values in a few places."""
    body = json.loads(content)
    for _ in range(1 + int(chance.expovariate(0.7))):
        holder, key = chance.choice(list(_places(body)) or [(None, None)])
        if holder is None:
            return json.dumps(chance.choice(ODD)).encode()
        near = [one[place] for one, place in list(_places(body))[:200]]
        holder[key] = json.loads(json.dumps(chance.choice([*ODD, *near])))  # a copy: no value is in two places
        if chance.random() < 0.2:
            del holder[key]
    return json.dumps(body).encode()


def _places(value: Any) -> Any:
    """Every holder and key of a value within a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in list(inside):
        yield value, key
        yield from _places(one)


def changed_ledger(content: bytes, chance: Random) -> bytes:
    """A ledger with a few changes of bytes; or one whose entries say odd things, under hashes that hold."""
    lines = content.splitlines()
    if chance.random() < 0.3 or not lines:
        return changed_bytes(content, chance)
    bodies, before, found = [json.loads(line)["body"] for line in lines], "", []
    place = chance.randrange(len(bodies))
    bodies[place] = json.loads(changed_json(json.dumps(bodies[place]).encode(), chance))
    for number, body in enumerate(bodies, 1):
        text = json.dumps(body, sort_keys=True)
        before = hashlib.sha256(f"{before}\n{number}\n{text}".encode()).hexdigest()
        found.append(f'{{"number": {number}, "hash": "{before}", "body": {text}}}\n')
    return "".join(found).encode()


def changed_zip(content: bytes, chance: Random) -> bytes:
    """A published file one of whose parts is changed, its manifest made to fit; or any bytes of it."""
    if chance.random() < 0.2:
        return changed_bytes(content, chance)
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    name = chance.choice([*parts, *(name for name in parts if name.endswith(".json"))])
    deep = name.endswith(".json") and chance.random() < 0.8
    parts[name] = (changed_json if deep else changed_bytes)(parts[name], chance)
    if name != "manifest.json" and "manifest.json" in parts:
        digests = {one: hashlib.sha256(part).hexdigest() for one, part in parts.items() if one != "manifest.json"}
        parts["manifest.json"] = json.dumps({**json.loads(parts["manifest.json"]), "parts": digests}).encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for one, part in parts.items():
            file.writestr(zipfile.ZipInfo(one), part, zipfile.ZIP_DEFLATED)
    return stream.getvalue()
