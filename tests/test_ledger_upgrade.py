"""Ledgers of earlier versions, which were SQLite databases, become files of lines; nothing of them is lost."""

import hashlib
import json
import os
import sqlite3
from contextlib import closing
from fractions import Fraction

import pytest

from shell import output, run
from veil import Budget, Ledger, LedgerProblem
from veil.cli.upgrade import upgrade

LAYOUT = """
PRAGMA journal_mode = WAL;
PRAGMA application_id = 1449486668;
CREATE TABLE entries (number INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE accounts (path TEXT PRIMARY KEY, spent TEXT NOT NULL) WITHOUT ROWID;
"""
FIRST = {"kind": "create", "format": 1, "id": "ab" * 16, "name": "l'année\n\ud800", "limit": "1"}
ASK = {"verb": "count", "question": "age", "noise": "operating system", "private": True, "protects": "one row"}
MORE = {"kind": "charge", "version": "0.1.0", "time": "2026-03-02T10:15:00+00:00"}
CHARGES = [{**ASK, **MORE, "account": path, "epsilon": "1/10"} for path in ("/", "/3.0", "/3.1")]
BODIES = [FIRST, CHARGES[0], {"kind": "split", "account": "/", "question": "sex", "parts": 2}, *CHARGES[1:]]


def entries():
    """Rows of an old ledger, chained."""
    before = ""
    for number, fields in enumerate(BODIES, 1):
        body = json.dumps(fields, sort_keys=True)
        before = hashlib.sha256(f"{before}\n{number}\n{body}".encode()).hexdigest()
        yield number, body, before


@pytest.fixture
def old(tmp_path):
    """An old ledger that somebody has open: its last entries are in the journal beside it."""
    path = tmp_path / "old.ledger"
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.executescript(LAYOUT)
        raw.executemany("INSERT INTO entries VALUES (?, ?, ?)", entries())
        os.chmod(path, 0o600)
        assert (tmp_path / "old.ledger-wal").stat().st_size > 0
        yield path


def test_an_old_ledger_says_how_to_go_on(old):
    for use in (Ledger.open, lambda path: run("ledger", "show", path)):
        with pytest.raises(LedgerProblem, match="is of an earlier version: run `veil ledger upgrade .*old.ledger`"):
            use(old)


def test_an_upgrade_keeps_every_entry_and_every_receipt_valid(old):
    place = old.stat().st_ino
    assert "5 entries" in output("ledger", "upgrade", old)
    assert [entry.name for entry in old.parent.iterdir()] == ["old.ledger"]
    assert old.stat().st_ino != place and old.stat().st_mode & 0o777 == 0o600  # whoever has it open will notice
    ledger = Ledger.open(old)
    assert ledger.name == FIRST["name"] and ledger.spent == Fraction(2, 10)
    witnesses = [{"ledger": FIRST["id"], "number": number, "hash": hash} for number, _, hash in entries()]
    assert ledger.verify(witnesses) == 5 and [receipt.run for receipt in ledger.receipts()] == [""] * 3
    assert [(run.answers, run.total) for run in ledger.runs()] == [(3, Fraction(2, 10))]
    ledger.account.charge(Budget("0.8"), **ASK)
    assert Ledger.open(old).left == 0


def test_an_upgrade_waits_for_no_one_and_leaves_what_is_in_use_or_unsound_alone(old, monkeypatch):
    monkeypatch.setenv("VEIL_STATE", str(old.parent / "state"))  # other tests have ledgers of this id
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **more: connect(*given, **more, timeout=0.1))
    with closing(connect(old, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerProblem, match="close all that use it"):
            run("ledger", "upgrade", old)
        other.execute("UPDATE entries SET body = replace(body, '1/10', '1/99') WHERE number = 4")
        other.execute("COMMIT")
        with pytest.raises(LedgerProblem, match="entry 4 does not match"):
            run("ledger", "upgrade", old)
        other.execute("DELETE FROM entries")
        with pytest.raises(LedgerProblem, match="lost its first entry"):
            run("ledger", "upgrade", old)
    assert old.read_bytes().startswith(b"SQLite format 3")


def test_only_an_old_ledger_can_be_upgraded(tmp_path):
    path = tmp_path / "new.ledger"
    Ledger.create(path, 1, "survey")
    with pytest.raises(LedgerProblem, match="nothing to upgrade"):
        run("ledger", "upgrade", path)
    with pytest.raises(LedgerProblem, match="cannot be read"):
        run("ledger", "upgrade", tmp_path / "none.ledger")
    (tmp_path / "half.ledger").write_bytes(b"SQLite format 3\0" * 9)
    with pytest.raises(LedgerProblem, match="cannot be read"):
        run("ledger", "upgrade", tmp_path / "half.ledger")


def test_an_upgrade_that_comes_second_leaves_alone_what_was_charged_since(old, monkeypatch):
    """Both have read that the ledger is of an earlier version; one is quicker, and its ledger is charged."""
    monkeypatch.setenv("VEIL_STATE", str(old.parent / "state"))  # other tests have ledgers of this id
    connect = sqlite3.connect

    def late(*given, **options):
        connection = connect(*given, **options)
        connection.execute("SELECT count(*) FROM entries").fetchone()
        monkeypatch.setattr(sqlite3, "connect", connect)
        upgrade(old)
        Ledger.open(old).account.charge(Budget("1/10"), **ASK)
        return connection

    monkeypatch.setattr(sqlite3, "connect", late)
    with pytest.raises(LedgerProblem, match="was replaced meanwhile"):
        upgrade(old)
    assert len(Ledger.open(old).receipts()) == 4


def test_a_ledger_of_two_names_is_not_upgraded_under_one_of_them(old):
    os.link(old, old.parent / "other")
    with pytest.raises(LedgerProblem, match="has a second name"):
        upgrade(old)
    assert old.read_bytes().startswith(b"SQLite")
