"""A ledger that is copied, tidied up, cut, restored, linked and removed while others charge it."""

import os
import shutil
import socket

import pytest

from experiments.bench import ledger_attack
from veil.errors import BudgetRefused, LedgerProblem
from veil.kernel import Budget, Ledger, store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
ASK = {"verb": "count", "question": "age by income", "noise": "operating system", "private": True}


class Spender:
    """Another process, started before anybody has the ledger open, as by a user in another window."""

    def __init__(self, path):
        mine, its = socket.socketpair()
        self.child, self.line = os.fork(), mine
        if not self.child:
            try:
                self._serve(path, its)
            finally:
                os._exit(0)
        its.close()

    def _serve(self, path, line):
        ledger, answers = None, 0
        while (times := line.recv(20)) != b"end":
            ledger = ledger or Ledger.open(path)
            answers += spend(ledger, int(times))
            line.send(str(answers).encode())

    def spend(self, times):
        """Open the ledger if it is not open yet, and charge so many times; how many answers there were in all."""
        self.line.send(str(times).encode())
        return int(self.line.recv(20))

    def end(self):
        self.line.send(b"end")
        self.line.close()
        os.waitpid(self.child, 0)


def spend(ledger, times):
    """How many charges of a tenth are answered before the ledger refuses."""
    for answers in range(times):
        try:
            ledger.account.charge(Budget("0.1"), **ASK)
        except (BudgetRefused, LedgerProblem):
            return answers
    return times


def test_a_copy_made_by_a_process_that_charges_does_not_let_others_spend_beside_it(tmp_path):
    """A has the ledger open and copies it; B opens and ends, as `veil ledger show` does; then A and C spend.

    Closing a file drops the POSIX locks that its process has on it, whoever took them: B took itself for the last user
    of an SQLite ledger and removed its journal, to which A went on writing unseen: nineteen answers, not ten.
    """
    path = tmp_path / "a.ledger"
    reader, other = Spender(path), Spender(path)
    mine = Ledger.create(path, 1, "survey")
    answers = spend(mine, 1)
    shutil.copy(path, tmp_path / "backup")
    reader.spend(0)
    reader.end()
    other.spend(0)
    answers += spend(mine, 8)
    answers += other.spend(100)
    answers += spend(mine, 100)
    other.end()
    assert answers == 10 and Ledger.open(path).spent == 1


def test_files_removed_from_beside_a_ledger_do_not_let_three_processes_spend_apart(tmp_path):
    """All that lies beside the ledger is removed before each of three processes opens it. Thirty answers, once."""
    path = tmp_path / "a.ledger"
    spenders = [Spender(path) for _ in range(3)]
    Ledger.create(path, 1, "survey")
    for spender in spenders:
        for beside in tmp_path.glob("a.ledger-*"):
            beside.unlink()
        spender.spend(1)
    answers = sum(spender.spend(100) for spender in spenders)
    for spender in spenders:
        spender.end()
    assert answers == 10 and Ledger.open(path).spent == 1


# A short run of the attack that `make audit-ledger` makes


@pytest.fixture
def attack(tmp_path, monkeypatch):
    """One round of it in an empty folder; gives what it came to."""
    monkeypatch.setenv("VEIL_STATE", "")  # the attack sets it; this puts it back
    monkeypatch.setattr(ledger_attack, "PAUSE", 0.001)
    return lambda seed, kills: ledger_attack.one_round(kills, seed, tmp_path)


@pytest.mark.parametrize("seed", [0, 1])
def test_kills_and_disturbances_neither_overspend_a_ledger_nor_go_unseen(attack, seed):
    found = attack(seed, 24)
    assert not [kind for kind in ("overspent", "undercounted", "unseen", "unforeseen") if found[kind]], found
    assert found["answers"] > 0 and found["kills"] > 16


def test_the_attack_finds_a_ledger_without_locks_and_checks(attack, monkeypatch):
    def append(turn, line, place):
        turn._file.seek(0, os.SEEK_END)
        turn._file.write(line)

    monkeypatch.setattr(store.Store, "_wait_for_lock", lambda *_: None)
    monkeypatch.setattr(store.Turn, "append", append)
    assert attack(0, 5)["undercounted"] > 0
