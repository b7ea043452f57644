"""Addresses of ledgers in a database: what they say, and that their passwords are never shown. No server is needed."""

import copy
import os
import pickle
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from experiments.postgres import free_port
from shell import run
from veil import BadInput, Budget, Ledger, LedgerProblem, NaiveBayesClassifier, PrivatePipeline, PrivateSelectKBest
from veil.addresses import HIDDEN, Address, is_address, parts, shown, without_passwords
from veil.kernel import Entries

SECRET = "hunter2"
HERE = f"postgresql://ann:{SECRET}@127.0.0.1:1/clinic?ledger=survey"
ASK = {"verb": "count", "question": "age by income", "noise": "operating system", "private": True}


@pytest.mark.parametrize(
    ("address", "database", "ledger", "seen"),
    [
        ("postgresql://h/d", "postgresql://h/d", "veil", "postgresql://h/d"),
        ("postgres://h/d?ledger=a", "postgresql://h/d", "a", "postgresql://h/d?ledger=a"),
        ("postgresql://u:p@h:5/d?ledger=a%20b", "postgresql://u:p@h:5/d", "a b", "postgresql://u@h:5/d?ledger=a%20b"),
        ("postgresql://:p@h/d", "postgresql://:p@h/d", "veil", "postgresql://h/d"),
        ("postgresql://u@h1,h2:3/d", "postgresql://u@h1,h2:3/d", "veil", "postgresql://u@h1,h2:3/d"),
        (
            "postgresql:///d?host=/run&ledger=a&password=p&sslmode=require",
            "postgresql:///d?host=/run&password=p&sslmode=require",
            "a",
            "postgresql:///d?host=/run&ledger=a&sslmode=require",
        ),
        ("postgresql://h/d?PassW%6Frd=p", "postgresql://h/d?PassW%6Frd=p", "veil", "postgresql://h/d"),
        ("postgresql://h/d?pwd=p&pass=p", "postgresql://h/d?pwd=p&pass=p", "veil", "postgresql://h/d"),
        ("postgresql://u@[::1]:5,h:6/d", "postgresql://u@[::1]:5,h:6/d", "veil", "postgresql://u@[::1]:5,h:6/d"),
    ],
)
def test_an_address_names_a_database_and_a_ledger_in_it(address, database, ledger, seen):
    assert parts(address) == (database, ledger, seen) and shown(address) == seen and is_address(address)
    assert parts(seen)[1:] == (ledger, seen)  # what is shown can be used, without the password


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:{SECRET}@x@host/d",
        f"postgresql://ann:{SECRET}/x@host/d",
        f"postgresql://ann:{SECRET}?x@host/d",
        f"postgresql://ann:{SECRET}#x@host/d",
        f"postgresql+psycopg://ann:{SECRET}@host/d",
        f"POSTGRESQL://ann:{SECRET}@host/d",
        f"mysql://ann:{SECRET}@host/d",
        Path(f"postgresql://ann:{SECRET}@host/d"),
        f"postgresql://ann:{SECRET}@host/d?ledger=",
        f"postgresql://ann:{SECRET}@host/d?ledger=a%00b",
        f"postgresql://ann:{SECRET}@host/d?ledger=" + "a" * 101,
        f"postgresql://ann:{SECRET}/d",  # the host was forgotten
        f"postgresql://ann:{SECRET}",
        f"postgresql://ann%3A{SECRET}@host/d",
        f"postgresql://host/d;password={SECRET}",
        f"postgresql://host/d?sslmode=require;password={SECRET}",
        f"postgresql://ann:{SECRET}\udcff@host/d",
        f" postgresql://ann:{SECRET}@host/d",
        f"'postgresql://ann:{SECRET}@host/d'",
        f"jdbc:postgresql://ann:{SECRET}@host/d",
        f"./postgresql://ann:{SECRET}@host/d",
        f"postgresql:ann:{SECRET}@host/d",
        f"host=h user=ann password={SECRET} dbname=d",
    ],
)
def test_what_is_no_address_is_refused_without_being_repeated(address):
    assert is_address(address) and shown(address) == HIDDEN
    for use in (Ledger.open, lambda place: Ledger.create(place, 1, "survey")):
        with pytest.raises(LedgerProblem, match="is not the address of a ledger: write it as") as error:
            use(address)
        assert SECRET not in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("place", ["a.ledger", "/tmp/a:b/c", "c:/a", "a b?c#d", "", "//host/share", ":/x"])
def test_a_path_is_no_address(place):
    assert not is_address(place) and shown(place) == place


text = st.text(st.characters(codec="utf-8"), max_size=8)


@given(text, text, text)
def test_no_part_of_a_password_is_shown(user, before, after):
    address = f"postgresql://{user}:{before}{SECRET}{after}@host/d?ledger=x"
    if SECRET not in user:
        assert SECRET not in shown(address) and SECRET not in repr(Address(address))


def refused(place):
    """What is said about a place at which no ledger can be reached, in all that a person may see."""
    said = []
    for use in (Ledger.open, lambda place: Ledger.create(place, 1, "survey")):
        with pytest.raises(LedgerProblem) as error:
            use(place)
        said.append(str(error.value))
    return said


def test_a_server_that_is_not_there_is_one_sentence_without_the_password():
    for text in refused(f"postgresql://ann:{SECRET}@127.0.0.1:{free_port()}/clinic?ledger=survey"):
        assert re.fullmatch(r"ledger postgresql://ann@127.0.0.1:\d+/clinic\?ledger=survey cannot be reached: .*", text)
        assert SECRET not in text and "nothing was answered" in text


def test_an_option_that_postgresql_does_not_know_is_one_sentence():
    for text in refused(f"{HERE}&colour=blue"):
        assert "cannot be reached" in text and SECRET not in text and "\n" not in text


def test_a_missing_driver_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "veil.kernel.database", raising=False)
    for text in refused(HERE):
        assert text == "a ledger in PostgreSQL needs one more package: run `pip install 'veil[postgres]'`"


def test_no_command_repeats_a_password(files, start, monkeypatch):
    told = ["--schema", "fair.toml", "--epsilon", 1, "--ledger", HERE]
    asked = [
        *(["ledger", name, HERE] for name in ("show", "verify", "export", "upgrade")),
        ["ledger", "create", HERE, "--limit", 1, "--name", "fair"],
        ["ledger", "copy", HERE, HERE],
        ["train", "fair.csv", *told, "--out", "m.veil"],
        ["publish", "fair.csv", *told, "--out", "t.veil"],
        ["select", "fair.csv", *told, "--k", 1],
    ]
    for arguments in asked:
        code, out, err = start(*arguments)
        assert code == 2 and out == "" and SECRET not in err and err.count("\n") == 1, arguments
        assert "cannot be reached" in err or "needs no upgrade" in err
    assert sorted(os.listdir()) == ["fair.csv", "fair.toml"]


def test_an_address_in_the_place_of_a_file_is_not_repeated_with_its_password(files, start):
    asked = [
        *(["explore", f"--{name}", HERE, "--export", "e.html"] for name in ("ledger", "schema", "results", "watch")),
        ["train", HERE, "--schema", "fair.toml", "--epsilon", 1, "--out", "m.veil"],
        ["train", "fair.csv", "--schema", HERE, "--epsilon", 1, "--out", "m.veil"],
        ["train", "fair.csv", "--schema", "fair.toml", "--epsilon", 1, "--out", HERE],
    ]
    for arguments in asked:
        code, out, err = start(*arguments)
        assert code == 2 and out == "" and SECRET not in err and err.count("\n") == 1, arguments


TYPED = [
    HERE,
    f"postgresql://ann:{SECRET}",
    f"postgresql://ann:x {SECRET}@h/d",
    f"postgresql://ann:x/{SECRET}@h/d",
    f"postgresql://ann:my,{SECRET},x@h/d",
    f"postgresql://ann:é'{SECRET}@h/d",
    f"postgresql:ann:{SECRET}@h/d",
    f"postgresql://h/d?passw%6Frd={SECRET}",
    f"host=h user=ann password = '{SECRET}'",
]


@pytest.mark.parametrize("address", TYPED)
@pytest.mark.parametrize("columns", [80, 300])
def test_no_complaint_about_the_words_of_a_command_repeats_a_password(address, columns, files, start, monkeypatch):
    """Wherever the address was typed, and however lines are broken."""
    monkeypatch.setenv("COLUMNS", str(columns))
    asked = [
        [address],
        ["ledger", address],
        ["ledger", "show", "a.ledger", address],
        ["methods", f"--{address}"],
        ["methods", f"--ledger={address}"],
        ["explore", "--port", address],
        ["train", "fair.csv", "--schema", "fair.toml", "--epsilon", address, "--out", "m.veil"],
        ["train", "fair.csv", "--schema", "fair.toml", "--epsilon", 1, "--out", "m.veil", "--method", address],
        ["publish", "fair.csv", "--schema", "fair.toml", "--epsilon", 1, "--out", "t.veil", "--columns", address],
        ["compare", "--methods", address, "--out", "r.parquet"],
    ]
    for arguments in asked:
        code, out, err = start(*arguments)
        assert code == 2 and SECRET not in "".join(filter(str.isalnum, out + err)), arguments


def test_a_note_in_the_ledger_has_no_password(files, start):
    start("ledger", "create", "a.ledger", "--limit", 1, "--name", "fair")
    asked = [
        "train",
        "fair.csv",
        "--schema",
        "fair.toml",
        "--epsilon",
        "0.1",
        "--ledger",
        "a.ledger",
        "--out",
        "m.veil",
    ]
    code, out, err = start(*asked, "--method", "shares", "--note", f"as in {HERE}")
    assert code == 0 and SECRET not in out + err
    for file in ("a.ledger", "m.veil", "m.html"):
        assert SECRET.encode() not in Path(file).read_bytes()
    assert "as in postgresql://ann@127.0.0.1:1/clinic" in Path("a.ledger").read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Open http://127.0.0.1:43210/key/", []),
        ("postgresql://h:5432, postgresql://[::1]:5/d and c:/a.csv, spark:/data/x:y", []),
        ("veil: ledger postgresql://veil@h/veil cannot be reached", ["postgresql://veil:veil@h/veil"]),
    ],
)
def test_what_is_no_password_is_left_as_it_is(text, words):
    assert without_passwords(text, words) == text


def test_an_empty_name_of_a_ledger_is_not_taken_for_none(files):
    with pytest.raises(LedgerProblem, match="there is no ledger"):
        run("train", "fair.csv", "--schema", "fair.toml", "--epsilon", 1, "--out", "m.veil", "--ledger", "")


def test_an_estimator_shows_the_address_of_its_ledger_without_the_password():
    selector, model = PrivateSelectKBest(ledger=HERE), NaiveBayesClassifier(ledger=HERE)
    for estimator in (selector, model, PrivatePipeline([selector, model], ledger=HERE)):
        for seen in (repr(estimator), estimator._repr_html_(), repr(estimator.get_params())):
            assert SECRET not in seen and "ann@127.0.0.1" in seen
        for same in (clone(estimator), copy.deepcopy(estimator), pickle.loads(pickle.dumps(estimator))):
            assert same.ledger == HERE and repr(same) == repr(estimator)


# Ledgers that are closed, which is what a copy leaves behind


@pytest.fixture
def closed(tmp_path):
    """A ledger file with a charge, that was closed, and that charge's receipt."""
    ledger = Ledger.create(tmp_path / "a.ledger", 1, "survey")
    receipt = ledger.account.charge(Budget("0.1"), **ASK)
    with ledger.turn(write=True) as (turn, known):
        ledger.append(turn, known, {"kind": "close", "to": "postgresql://h/d"})
    return ledger, receipt


def test_a_closed_ledger_takes_no_charge_and_says_where_it_went(closed):
    ledger, receipt = closed
    for opened in (ledger, Ledger.open(ledger.path)):
        for use in (
            lambda one: one.account.charge(Budget("0.1"), **ASK),
            lambda one: one.account.split(question="sex"),
        ):
            with pytest.raises(LedgerProblem, match="is closed, it went to postgresql://h/d: .*nothing was charged"):
                use(opened)
        assert opened.moved == "postgresql://h/d" and opened.receipts() == [receipt]
        assert opened.verify([receipt.to_dict()]) == 3
    assert "Closed: it went to postgresql://h/d" in run("ledger", "show", ledger.path).output


def test_an_entry_after_the_closing_one_is_damage(closed):
    ledger, _ = closed
    entries = Entries()
    for line in ledger.path.read_bytes().splitlines(keepends=True):
        entries.add(line)
    charge = {"kind": "charge", "account": "/", "epsilon": "1/10"}
    with open(ledger.path, "ab") as file:
        file.write(entries.next(charge)[0])
    with pytest.raises(LedgerProblem, match="follows the one that closed the ledger"):
        Ledger.open(ledger.path)


def test_a_copy_goes_to_a_database_alone(closed):
    with pytest.raises(BadInput, match="give an address"):
        run("ledger", "copy", closed[0].path, closed[0].path.parent / "b.ledger")


def test_a_copy_that_cannot_begin_leaves_the_old_ledger_open(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", 1, "survey")
    with pytest.raises(LedgerProblem, match="cannot be reached"):
        run("ledger", "copy", ledger.path, HERE)
    ledger.account.charge(Budget(1), **ASK)
    assert ledger.moved == "" and ledger.left == 0
