"""Model files: whole or absent, the same model after a trip, nothing in them but what was released."""

import json
import os
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from containers import rewrite, swap
from veil import BadInput, Budget, DecisionTreeClassifier, Ledger, NaiveBayesClassifier, load_model
from veil.files import artefacts
from veil.files.artefacts import make_parts, write_parts
from veil.files.tables import new_file
from veil.kernel import Owner, Receipt, SystemNoise
from veil.kernel.verbs import count
from veil.questions import Grid


@pytest.fixture
def model(rows, schema):
    return NaiveBayesClassifier(epsilon="1/3", schema=schema, smoothing=0.5, random_state=1).fit(rows)


@pytest.fixture
def path(model, tmp_path):
    model.save(tmp_path / "model.veil")
    return tmp_path / "model.veil"


def test_a_model_comes_back_as_it_was(model, path, rows):
    back = load_model(path)
    assert type(back) is NaiveBayesClassifier and back.smoothing == 0.5 and back.epsilon == "1/3"
    assert np.array_equal(back.predict_proba(rows), model.predict_proba(rows))
    assert (back.predict(rows) == model.predict(rows)).all() and back.classes_.tolist() == model.classes_.tolist()
    assert back.receipts_ == model.receipts_ and back.schema_ == model.schema_ and back.private_ is False
    assert [r.scale for r in back.releases_] == [r.scale for r in model.releases_]
    assert all(np.array_equal(a.value, b.value) for a, b in zip(back.releases_, model.releases_, strict=True))
    *asked, sums = [r.question for r in model.releases_]
    *again, same = [r.question for r in back.releases_]
    codes = model.schema_.encode(rows, label=False)
    assert again == asked and same.describe() == sums.describe()
    assert np.array_equal(same.cells(codes), sums.cells(codes))
    assert "rate" not in repr(back) and back._repr_html_()


@pytest.mark.parametrize("epsilon", [1, 3, 0.5, 0.1, 1e-3, "1/3", 10**30, f"{10**400}/7"])
def test_epsilon_comes_back_as_the_number_it_was(rows, schema, tmp_path, epsilon):
    NaiveBayesClassifier(epsilon=epsilon, schema=schema).fit(rows).save(tmp_path / "model.veil")
    back = load_model(tmp_path / "model.veil")
    assert back.epsilon == epsilon and Budget(back.epsilon) == Budget(epsilon)


def test_the_same_model_is_the_same_bytes(model, path, tmp_path):
    load_model(path).save(tmp_path / "again.veil")
    assert (tmp_path / "again.veil").read_bytes() == path.read_bytes()


def test_an_existing_file_is_kept(model, path):
    before = path.read_bytes()
    with pytest.raises(BadInput, match="exists already"):
        model.save(path)
    assert path.read_bytes() == before
    model.save(path, force=True)


def test_a_folder_that_cannot_be_written(model, tmp_path):
    with pytest.raises(BadInput, match="cannot be written"):
        model.save(tmp_path / "no" / "model.veil")
    assert not list(tmp_path.iterdir())


def test_a_model_is_a_witness_of_its_ledger(rows, schema, tmp_path):
    ledger = Ledger.create(tmp_path / "l.ledger", 1, schema.name)
    NaiveBayesClassifier(epsilon=1, schema=schema, ledger=ledger).fit(rows).save(tmp_path / "m.veil")
    receipts = json.loads(zipfile.ZipFile(tmp_path / "m.veil").read("receipts.json"))
    assert ledger.verify(receipts) == 3 and all(receipt["private"] is True for receipt in receipts)
    assert [receipt["epsilon"] for receipt in receipts] == ["49/50", "1/50"]


def test_two_tables_with_the_same_release_have_the_same_file(rows, schema, monkeypatch):
    """The artefact scan: whatever is in the file follows from the release, the schema and the receipts."""
    real = count.counts_of_each
    monkeypatch.setattr(count, "counts_of_each", lambda *asked: [np.full_like(found, 5) for found in real(*asked)])
    none = lambda self, epsilons, sizes: [np.zeros(size, np.int64) for size in sizes]  # noqa: E731
    monkeypatch.setattr(SystemNoise, "discrete_laplace_each", none)
    known = {name: "x" for name in ("ledger", "hash", "time", "run")}
    files = []
    for table in (rows, rows.head(0), rows.sample(40, replace=True, random_state=1)):
        model = NaiveBayesClassifier(epsilon=1, schema=schema).fit(table)
        receipts = tuple(Receipt(**{**vars(receipt), **known}) for receipt in model.receipts_)
        files.append(make_parts("model", replace(model.outcome_, receipts=receipts)))
    assert files[0] == files[1] == files[2]


def test_a_file_and_a_model_hold_only_what_is_on_the_list(model, path, rows):
    kept = {"outcome_", "classes_", "_order", "n_features_in_", "feature_names_in_"}
    assert set(vars(model)) - set(model.get_params()) == kept
    parts = {"made", "method", "settings", "schema", "releases", "receipts", "searched", "trace", "until"}
    assert set(vars(model.outcome_)) == parts and model.outcome_.trace is None is model.outcome_.until
    names = set(zipfile.ZipFile(path).namelist())
    arrays = {f"arrays/{i}.npy" for i in range(3 * len(model.schema_.features) + 3)}
    assert names == {"manifest.json", "model.json", "receipts.json", "schema.toml"} | arrays
    body = json.loads(zipfile.ZipFile(path).read("model.json"))
    assert set(body) == {"method", "settings", "private", "scorer", "releases", "searched"}
    released = np.concatenate([release.value.ravel() for release in model.releases_])
    kept = [np.load(zipfile.ZipFile(path).open(f"arrays/{i}.npy")) for i in range(len(arrays))]
    assert np.array_equal(np.concatenate([a.ravel() for a in kept if a.dtype.kind == "i"]), released)


@pytest.fixture
def tree(rows, schema, tmp_path):
    DecisionTreeClassifier(epsilon=100, schema=schema, depth=3, random_state=1).fit(rows).save(tmp_path / "tree.veil")
    return tmp_path / "tree.veil"


def written_out(value, grids):
    """JSON with every grid where it comes, as in files of the first format."""
    if isinstance(value, dict) and "grid" in value:
        return grids[value["grid"]]
    if isinstance(value, dict):
        found = {key: written_out(inside, grids) for key, inside in value.items()}
        grids.extend([found] if found.get("kind") == "Grid" else [])
        return found
    return [written_out(inside, grids) for inside in value] if isinstance(value, list) else value


def test_a_file_holds_every_grid_once_and_is_the_same_as_one_that_repeats_them(tree, rows):
    body, grids = json.loads(zipfile.ZipFile(tree).read("model.json")), []
    apart = json.dumps(written_out(body, grids))
    assert len({json.dumps(grid) for grid in grids}) == len(grids) < apart.count('"kind": "Grid"')
    said, text = load_model(tree).predict_proba(rows), load_model(tree).export_text()
    first = json.dumps({"format": 1, "parts": {}}).encode()
    rewrite(tree, lambda parts: parts.update({"model.json": apart.encode(), "manifest.json": first}))
    assert np.array_equal(load_model(tree).predict_proba(rows), said) and load_model(tree).export_text() == text


@pytest.mark.parametrize("place", [b"-1", b"1000000000", b'"1"', b"true", b"null", b"[1]", b'{"grid": 1}'])
def test_a_grid_that_is_not_in_the_file_is_refused(tree, place):
    rewrite(tree, swap("model.json", b'{"grid": 0}', b'{"grid": ' + place + b"}"))
    with pytest.raises(BadInput, match="damaged or changed"):
        load_model(tree)


def test_a_grid_that_answers_name_again_and_again_is_checked_once(model, path, rows, monkeypatch):
    """Each answer is a few letters in a file, whatever the grid: to check it each time could take hours."""
    checked, axis = [], Owner._axis
    monkeypatch.setattr(Owner, "_axis", lambda self, given: checked.append(given) or axis(self, given))
    grids = {release.question for release in model.releases_ if isinstance(release.question, Grid)}
    write_parts(path, make_parts("model", replace(model.outcome_, releases=model.releases_ * 5)))
    artefacts.read(path, "model", lambda outcome: outcome)
    assert len(checked) == sum(len(grid.axes) for grid in grids) > 0


def test_a_file_names_no_more_codes_again_than_may_be_read(tree, rows, monkeypatch):
    """Half a megabyte, a tree whose nodes all name one large grid, took all memory."""
    model = load_model(tree)
    said, named = model.predict_proba(rows), json.loads(zipfile.ZipFile(tree).read("model.json"))
    for most in (0, 5):
        monkeypatch.setattr(artefacts, "MOST_NAMED", most)
        monkeypatch.setattr("veil.files.parts.MOST_NAMED", most)
        with pytest.raises(BadInput, match="damaged or changed"):
            load_model(tree)
        model.save(again := tree.with_name(f"again{most}.veil"))  # what would be too much is written out
        assert np.array_equal(load_model(again).predict_proba(rows), said)
        assert len(zipfile.ZipFile(again).read("model.json")) > len(json.dumps(named))


def test_a_newer_version_is_told_from_a_broken_file(path):
    rewrite(path, lambda parts: parts.update({"manifest.json": b'{"format": 99, "parts": {}}'}))
    with pytest.raises(BadInput, match="newer version of Veil"):
        load_model(path)


@pytest.mark.parametrize(
    "change",
    {
        "no manifest": lambda parts: parts.pop("manifest.json"),
        "no receipts": lambda parts: parts.pop("receipts.json"),
        "an array too few": lambda parts: parts.pop("arrays/3.npy"),
        "wrong shape": lambda parts: parts.update({"arrays/0.npy": parts["arrays/3.npy"]}),
        "unknown kind": lambda parts: parts.update({"model.json": parts["model.json"].replace(b"Linear", b"eval")}),
        "no schema": lambda parts: parts.update({"schema.toml": b""}),
        "not JSON": lambda parts: parts.update({"model.json": b"\xff"}),
        "deep": lambda parts: parts.update({"model.json": b"[" * 100_000}),
        "more": swap("model.json", b'"releases"', b'"more": 1, "releases"'),
        "nested parts": swap("receipts.json", b'"account": "/"', b'"account": "' + b"/1.1" * 5000 + b'"'),
        "no account": swap("receipts.json", b'"account": "/"', b'"account": "\\u0000"'),
        "other classes": lambda parts: parts.update({"schema.toml": parts["schema.toml"].replace(b'"left",', b"")}),
    }.values(),
)
def test_a_file_that_makes_no_sense_is_refused(path, change):
    rewrite(path, change)
    with pytest.raises(BadInput, match="not a model, or was damaged or changed"):
        load_model(path)


@pytest.mark.parametrize(
    "change",
    [
        swap("receipts.json", b'"49/150"', b'"1e300000000"'),
        swap("receipts.json", b'"49/150"', b'"-5"'),
        swap("receipts.json", b'"number": 2', b'"number": "2"'),
        swap("receipts.json", b'"private": false', b'"private": "yes"'),
        swap("model.json", b'"naive-bayes"', b"[]"),
        swap("model.json", b'"settings"', b'"other"'),
        swap("model.json", b'"town": {', b'"party": {'),
        lambda parts: parts.update({"receipts.json": b"[]"}),
        lambda parts: parts.update({"arrays/4.npy": parts["arrays/3.npy"]}),
        lambda parts: parts.update({"more.txt": b"hello"}),
    ],
)
def test_content_that_would_break_later_is_refused_at_once(path, change):
    rewrite(path, change)
    with pytest.raises(BadInput, match="damaged or changed"):
        load_model(path)


def test_a_file_cannot_choose_a_ledger_or_a_seed(path):
    rewrite(path, swap("model.json", b'"smoothing": 0.5', b'"smoothing": 0.5, "random_state": 0, "ledger": "l"'))
    with pytest.raises(BadInput, match="upgrade"):
        load_model(path)


def test_a_public_schema_is_never_private(path):
    rewrite(path, swap("receipts.json", b'"private": false', b'"private": true'))
    assert load_model(path).private_
    rewrite(path, swap("schema.toml", b'name = "ten"', b'name = "ten"\npublic = true'))
    assert not load_model(path).private_


def test_settings_are_those_of_the_fit_in_plain_types(rows, schema, tmp_path):
    columns = np.array(["age", "town"])
    model = NaiveBayesClassifier(epsilon=Budget(1), schema=schema, smoothing=np.float32(0.5), columns=columns)
    model.fit(rows).set_params(epsilon=0.01, smoothing=7)
    model.save(tmp_path / "m.veil")
    back = load_model(tmp_path / "m.veil")
    assert back.get_params()["smoothing"] == 0.5 and back.epsilon == 1 and back.columns == ["age", "town"]
    back.fit(rows)


def test_a_draft_does_not_follow_a_link_that_somebody_laid(model, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for number in range(2):
        (tmp_path / f".m{number}.veil.{os.getpid()}.draft").symlink_to(victim)
        model.save(tmp_path / f"m{number}.veil")
    assert victim.read_text() == "mine" and all(draft.is_symlink() for draft in tmp_path.glob(".m*"))


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    with pytest.raises(BadInput, match="exists already"), new_file(tmp_path / "m.veil"):
        (tmp_path / "m.veil").write_text("theirs")
    assert (tmp_path / "m.veil").read_text() == "theirs" and len(list(tmp_path.iterdir())) == 1


def test_pickles_are_never_opened(path):
    evil = b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(128) + b"\n"
    rewrite(path, lambda parts: parts.update({"arrays/0.npy": evil}))
    with pytest.raises(BadInput):
        load_model(path)


def test_a_changed_part_is_noticed(path):
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    parts["receipts.json"] = parts["receipts.json"].replace(b'"49/150"', b'"1/9"')
    with zipfile.ZipFile(path, "w") as file:
        for name, part in parts.items():
            file.writestr(name, part)
    assert content != path.read_bytes()
    with pytest.raises(BadInput, match="damaged or changed"):
        load_model(path)


@given(st.integers(0, 10_000), st.integers(1, 255), st.integers(0, 10_000))
def test_random_damage_is_refused_in_one_sentence_or_harmless(tmp_path_factory, place, flip, cut):
    from veil import datasets

    rows, schema = datasets.load("iris")
    folder = tmp_path_factory.getbasetemp() / "damage"
    folder.mkdir(exist_ok=True)
    path = folder / "m.veil"
    NaiveBayesClassifier(epsilon=1, schema=schema, random_state=0).fit(rows).save(path, force=True)
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= flip
    path.write_bytes(content[: max(len(content) - cut % 3 * cut, 0)])
    try:
        assert load_model(path).predict(rows).shape == (150,)
    except BadInput as problem:
        assert str(problem).count("\n") == 0


def test_there_is_no_file(tmp_path):
    with pytest.raises(BadInput, match="there is no file"):
        load_model(tmp_path / "none.veil")
    (tmp_path / "text.veil").write_text("hello")
    with pytest.raises(BadInput, match="not a model"):
        load_model(tmp_path / "text.veil")


def test_a_method_that_this_version_does_not_have(path):
    rewrite(path, lambda p: p.update({"model.json": p["model.json"].replace(b"naive-bayes", b"oracle")}))
    with pytest.raises(BadInput, match="upgrade"):
        load_model(path)
    rewrite(path, lambda p: p.update({"model.json": p["model.json"].replace(b"oracle", b"naive-bayes")}))
    rewrite(path, lambda p: p.update({"model.json": p["model.json"].replace(b'"smoothing"', b'"magic"')}))
    with pytest.raises(BadInput, match="upgrade"):
        load_model(path)
