"""A ledger that is copied, tidied up, cut, restored, linked and removed while others charge it."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction

import pytest

from experiments.bench import ledger_attack
from veil.errors import BudgetRefused, LedgerProblem
from veil.kernel.budget import Budget
from veil.kernel.ledger import Ledger
from veil.kernel.store import Store, Turn

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
ASK = {"verb": "count", "question": "age by income", "noise": "operating system", "private": True}
SPEND = """
import sys
from veil import BudgetRefused, LedgerProblem, Ledger
from veil.kernel.budget import Budget
ledger, answers = Ledger.open(sys.argv[1]), 0
print("open", flush=True)
for line in sys.stdin:
    try:
        for _ in range(int(line)):
            ledger.account.charge(Budget("0.1"), verb="count", question="", noise="operating system", private=True)
            answers += 1
    except (BudgetRefused, LedgerProblem):
        pass
    print(answers, flush=True)
"""


class Spender:
    """Another interpreter that has the ledger open, as a user in another window has; it charges when told to."""

    def __init__(self, path):
        command = [sys.executable, "-c", SPEND, str(path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "open\n"
        self.answers = 0

    def spend(self, times):
        self.process.stdin.write(f"{times}\n")
        self.process.stdin.flush()
        self.answers = int(self.process.stdout.readline())

    def end(self):
        self.process.communicate()


def spend(ledger, times=100):
    """How many charges of a tenth are answered before the ledger refuses."""
    answers = 0
    with suppress(BudgetRefused, LedgerProblem):
        for answers in range(times):  # noqa: B007
            ledger.account.charge(Budget("0.1"), **ASK)
        answers = times
    return answers


def test_a_copy_made_by_a_process_that_charges_does_not_let_others_spend_beside_it(tmp_path):
    """A has the ledger open and copies it; B opens and ends, as `veil ledger show` does; then A and C spend.

    Closing a file drops the POSIX locks that its process has on it, whoever took them: B took itself for the last user
    of an SQLite ledger and removed its journal, to which A went on writing unseen.
    """
    path = tmp_path / "a.ledger"
    mine = Ledger.create(path, 1, "survey")
    answers = spend(mine, 1)
    shutil.copy(path, tmp_path / "backup")
    reader = Spender(path)
    reader.end()
    other = Spender(path)
    answers += spend(mine, 8)
    other.spend(100)
    answers += other.answers + spend(mine)
    other.end()
    assert answers == 10 and Ledger.open(path).spent == 1


def test_files_removed_from_beside_a_ledger_do_not_let_three_processes_spend_apart(tmp_path):
    """All that lies beside the ledger is removed before each of three processes opens it: none may spend unseen."""
    path = tmp_path / "a.ledger"
    Ledger.create(path, 1, "survey")
    spenders = []
    for _ in range(3):
        for beside in tmp_path.glob("a.ledger-*"):
            beside.unlink()
        spenders.append(Spender(path))
        spenders[-1].spend(1)
    for spender in spenders:
        spender.spend(100)
    for spender in spenders:
        spender.end()
    assert sum(spender.answers for spender in spenders) == 10 and Ledger.open(path).spent == Fraction(1)


# A short run of the attack that `make audit-ledger` makes


@pytest.fixture
def attack(tmp_path, monkeypatch):
    """One round of it in an empty folder; gives what it came to."""
    monkeypatch.setenv("VEIL_STATE", "")  # the attack sets it; this puts it back
    monkeypatch.setattr(ledger_attack, "PAUSE", 0.001)
    return lambda seed, kills: ledger_attack.one_round(kills, seed, tmp_path)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_kills_and_disturbances_neither_overspend_a_ledger_nor_go_unseen(attack, seed):
    found = attack(seed, 40)
    assert not [kind for kind in ("overspent", "undercounted", "unseen", "unforeseen") if found[kind]], found
    assert found["answers"] > 0 and found["kills"] > 16


def test_the_attack_finds_a_ledger_without_locks_and_checks(attack, monkeypatch):
    def append(turn, line, place):
        turn._file.seek(0, os.SEEK_END)
        turn._file.write(line)

    monkeypatch.setattr(Store, "_wait_for_lock", lambda *_: None)
    monkeypatch.setattr(Turn, "append", append)
    assert attack(0, 40)["undercounted"] > 0
