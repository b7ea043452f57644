"""Files of a synopsis: the same after a trip, whole or absent, and safe whoever made them."""

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_answers import dense_grid, made, wide_synopsis

from containers import rewrite, swap
from veil import BadInput, Budget, Gini, Ledger, Synopsis, axis, load_model, load_synopsis, open_source
from veil.kernel import Receipt, SystemNoise
from veil.kernel.verbs import count
from veil.plans.outcome import Outcome
from veil.synopsis.table import synopsis_parts


def ask(source, budget, sparse=False):
    """A plan in two steps: choose a column, then count it with others."""
    candidates = [axis(source.schema.get(name), level) for name in ("town", "age") for level in (1, 2)]
    first, second = budget.split(1, 3)
    chosen = source.choose(candidates, Gini(), first).value
    cells = chosen & axis(source.schema.get("income"))
    return source.count_sparse(cells, second, threshold=1) if sparse else source.count(cells, second)


@pytest.fixture(params=[False, True], ids=["dense", "sparse"])
def synopsis(request, rows, schema):
    return made(rows, schema, lambda source, budget: ask(source, budget, request.param), epsilon=2, noise=1)


@pytest.fixture
def path(synopsis, tmp_path):
    synopsis.save(tmp_path / "synopsis.veil")
    return tmp_path / "synopsis.veil"


def test_a_synopsis_comes_back_as_it_was(synopsis, path):
    back = load_synopsis(path)
    assert isinstance(back, Synopsis) and repr(back) == repr(synopsis) and back.private_ is False
    assert back.receipts_ == synopsis.receipts_ and back.schema_ == synopsis.schema_
    assert back.settings_ == synopsis.settings_ and back.method == synopsis.method and back.epsilon == 2
    assert back.grid == synopsis.grid and back.releases_[0].value == synopsis.releases_[0].value
    assert back.marginal(back.columns).columns() == synopsis.marginal(back.columns).columns()
    assert back.query(income=(10, 1000)) == synopsis.query(income=(10, 1000))
    assert back.to_frame(100, 0).equals(synopsis.to_frame(100, 0))


def test_the_same_synopsis_is_the_same_bytes(path, tmp_path):
    load_synopsis(path).save(tmp_path / "again.veil")
    assert (tmp_path / "again.veil").read_bytes() == path.read_bytes()


def test_codes_that_no_machine_number_holds_come_back(tmp_path):
    synopsis, _ = wide_synopsis()
    synopsis.save(tmp_path / "wide.veil")
    back = load_synopsis(tmp_path / "wide.veil")
    assert back.release_.value.codes.dtype == object and {*map(type, back.release_.value.codes)} == {int}
    assert back.release_.value.codes.tolist() == synopsis.release_.value.codes.tolist()
    back.save(tmp_path / "again.veil")
    assert (tmp_path / "again.veil").read_bytes() == (tmp_path / "wide.veil").read_bytes()


def test_no_code_at_all_comes_back(tmp_path):
    synopsis, _ = wide_synopsis(rows=0, threshold=10**6)
    synopsis.save(tmp_path / "none.veil")
    back = load_synopsis(tmp_path / "none.veil").release_.value
    assert back.codes.dtype == object and back.codes.shape == back.counts.shape == (0,)


def test_existing_files_are_kept(synopsis, path):
    before = path.read_bytes()
    with pytest.raises(BadInput, match="exists already"):
        synopsis.save(path)
    assert path.read_bytes() == before
    synopsis.save(path, force=True)


def test_a_synopsis_is_a_witness_of_its_ledger(rows, schema, tmp_path):
    ledger = Ledger.create(tmp_path / "l.ledger", 2, schema.name)
    source = open_source(rows, schema, ledger)
    release = ask(source, Budget(1))
    Synopsis(Outcome(release, "m", {}, schema, *map(tuple, source.record))).save(tmp_path / "s.veil")
    receipts = json.loads(zipfile.ZipFile(tmp_path / "s.veil").read("receipts.json"))
    assert ledger.verify(receipts) == 3 and len(receipts) == 2


def test_two_tables_with_the_same_release_have_the_same_file(rows, schema, monkeypatch):
    """The artefact scan: whatever is in the file follows from the release, the schema and the receipts."""
    real = count.counts_of_each
    monkeypatch.setattr(count, "counts_of_each", lambda *asked: [np.full_like(found, 5) for found in real(*asked)])
    none = lambda self, epsilons, sizes: [np.zeros(size, np.int64) for size in sizes]  # noqa: E731
    monkeypatch.setattr(SystemNoise, "discrete_laplace_each", none)
    files = []
    for table in (rows, rows.head(0), rows.sample(40, replace=True, random_state=1)):
        synopsis = made(table, schema, lambda s, b: s.count(dense_grid(s.schema), b), epsilon=1)
        known = {name: "x" for name in ("ledger", "hash", "time", "run")}
        receipts = tuple(Receipt(**{**vars(receipt), **known}) for receipt in synopsis.receipts_)
        synopsis = Synopsis(replace(synopsis.outcome_, receipts=receipts))
        files.append((synopsis_parts(synopsis.outcome_), repr(synopsis), synopsis.to_frame(random_state=0).to_csv()))
    assert files[0] == files[1] == files[2]


def test_a_synopsis_holds_only_what_is_on_the_list(synopsis, path):
    assert set(vars(synopsis)) == {"outcome_"}
    assert set(vars(synopsis.outcome_)) == {
        "made",
        "method",
        "settings",
        "schema",
        "releases",
        "receipts",
        "searched",
        "trace",
        "until",
    }
    assert synopsis.outcome_.until is None  # a walk to a goal makes models alone
    body = json.loads(zipfile.ZipFile(path).read("synopsis.json"))
    assert set(body) == {"method", "settings", "private", "table", "releases", "searched"}


def test_models_and_synopses_are_told_apart(path):
    with pytest.raises(BadInput, match="not a model"):
        load_model(path)
    with pytest.raises(BadInput, match="there is no file"):
        load_synopsis(path.parent / "none.veil")


def test_a_newer_version_is_told_from_a_broken_file(path):
    rewrite(path, lambda parts: parts.update({"manifest.json": b'{"format": 99, "parts": {}}'}))
    with pytest.raises(BadInput, match="newer version of Veil"):
        load_synopsis(path)


EVIL = b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(128) + b"\n"


@pytest.mark.parametrize(
    "change",
    {
        "no manifest": lambda parts: parts.pop("manifest.json"),
        "no receipts": lambda parts: parts.pop("receipts.json"),
        "empty receipts": lambda parts: parts.update({"receipts.json": b"[]"}),
        "no array": lambda parts: parts.pop("arrays/0.npy"),
        "a pickle": lambda parts: parts.update({"arrays/0.npy": EVIL}),
        "one more part": lambda parts: parts.update({"more.txt": b"hello"}),
        "no schema": lambda parts: parts.update({"schema.toml": b""}),
        "not JSON": lambda parts: parts.update({"synopsis.json": b"\xff"}),
        "deep": lambda parts: parts.update({"synopsis.json": b"[" * 100_000}),
        "other classes": swap("schema.toml", b'"left",', b""),
        "another column": swap("synopsis.json", b'"income"', b'"party"'),
        "no such column": swap("synopsis.json", b'"income"', b'"outcome"'),
        "table elsewhere": swap("synopsis.json", b'"table": 1', b'"table": 7'),
        "table before the first": swap("synopsis.json", b'"table": 1', b'"table": -1'),
        "table is a choice": swap("synopsis.json", b'"table": 1', b'"table": 0'),
        "table is true": swap("synopsis.json", b'"table": 1', b'"table": true'),
        "names are no text": swap("synopsis.json", b'"(missing)"', b"7"),
        "unknown kind": swap("synopsis.json", b'"Grid"', b'"eval"'),
        "another kind": swap("synopsis.json", b'"Grid"', b'"Tree"'),
        "no method": swap("synopsis.json", b'"one question"', b"[]"),
        "a huge cost": swap("receipts.json", b'"1/2"', b'"1e300000000"'),
        "more": swap("synopsis.json", b'"table": 1', b'"table": 1, "random_state": 0'),
        "another schema": swap(
            "synopsis.json",
            b'"table": 1',
            b'"table": 1, "schema": {"kind": "Binned", "scorer": 1, "edges": [], "label": "x"}',
        ),
        "a choice with cells": swap("synopsis.json", b'"question": null', b'"question": {"kind": "Grid", "axes": []}'),
        "nested parts": swap("receipts.json", b'"account": "/"', b'"account": "' + b"/1.1" * 5000 + b'"'),
        "no account": swap("receipts.json", b'"account": "/"', b'"account": "\\u0000"'),
    }.values(),
)
def test_a_file_that_makes_no_sense_is_refused(path, change):
    rewrite(path, change)
    with pytest.raises(BadInput, match="not a synopsis, or was damaged or changed"):
        load_synopsis(path)


def npy(array):
    import io

    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("codes", "counts"),
    [
        ([0, 1, 2], [5, 5]),
        ([0, 0], [5, 5]),
        ([3, 1], [5, 5]),
        ([-1, 1], [5, 5]),
        ([1, 10**6], [5, 5]),
        ([1, 2], [5, 1]),
        ([1.0, 2.0], [5, 5]),
        ([[1, 2]], [[5, 5]]),
    ],
)
def test_sparse_counts_must_be_in_their_one_form(rows, schema, tmp_path, codes, counts):
    synopsis = made(rows, schema, lambda s, b: ask(s, b, True), epsilon=2, noise=1)
    synopsis.save(tmp_path / "s.veil")
    arrays = {"arrays/0.npy": npy(np.array(codes)), "arrays/1.npy": npy(np.array(counts))}
    rewrite(tmp_path / "s.veil", lambda parts: parts.update(arrays))
    with pytest.raises(BadInput, match="damaged or changed"):
        load_synopsis(tmp_path / "s.veil")
    rewrite(tmp_path / "s.veil", lambda parts: parts.update({name: npy(np.array([1, 2])) for name in arrays}))
    rewrite(tmp_path / "s.veil", lambda parts: parts.update({"arrays/1.npy": npy(np.array([2, 2]))}))
    assert load_synopsis(tmp_path / "s.veil").query().count == 4


def test_a_public_schema_is_never_private(path):
    rewrite(path, swap("receipts.json", b'"private": false', b'"private": true'))
    assert load_synopsis(path).private_
    rewrite(path, swap("schema.toml", b'name = "ten"', b'name = "ten"\npublic = true'))
    assert not load_synopsis(path).private_


@given(st.integers(0, 10_000), st.integers(1, 255), st.integers(0, 10_000))
def test_random_damage_is_refused_in_one_sentence_or_harmless(tmp_path_factory, place, flip, cut):
    folder = tmp_path_factory.getbasetemp() / "damaged synopsis"
    folder.mkdir(exist_ok=True)
    path = folder / "s.veil"
    if not path.exists():
        wide_synopsis()[0].save(path)
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= flip
    (folder / "damaged.veil").write_bytes(content[: max(len(content) - cut % 3 * cut, 0)])
    try:
        assert len(load_synopsis(folder / "damaged.veil").to_frame(7)) == 7
    except BadInput as problem:
        assert str(problem).count("\n") == 0
