"""Charges, splits, refusals, crashes, forks and reopenings in any order; a file, memory and an oracle must agree."""

import os
import shutil
import signal
import tempfile
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from veil.errors import BudgetRefused, LedgerProblem
from veil.kernel import Budget, Ledger
from veil.kernel.entries import ROOT
from veil.kernel.ledger import Account

ASK = {"verb": "count", "question": "age by income", "noise": "operating system", "private": True}
amounts = st.fractions(min_value=Fraction(1, 20), max_value=3, max_denominator=20)
choices = st.integers(0, 10**6)


def price(charges, here=ROOT):
    """What charges cost, worked out afresh from all of them: own charges, plus the dearest part of every split."""
    splits, inside = defaultdict(set), here.rstrip("/") + "/"
    for place, _ in charges:
        if place.startswith(inside) and place != here:
            part = inside + place.removeprefix(inside).split("/")[0]
            splits[part.rpartition(".")[0]].add(part)
    own = sum((epsilon for place, epsilon in charges if place == here), Fraction(0))
    return own + sum(max(price(charges, part) for part in parts) for parts in splits.values())


class Boom(Exception):
    """A crash in the middle of a transaction."""


class Ledgers(RuleBasedStateMachine):
    """The same history told to a ledger file, to a ledger in memory, and to a list."""

    @initialize(limit=st.fractions(min_value=1, max_value=12, max_denominator=6))
    def create(self, limit):
        self.folder = Path(tempfile.mkdtemp())
        self.path, self.limit = self.folder / "a.ledger", limit
        self.file, self.memory = Ledger.create(self.path, limit, "survey"), Ledger(limit, "survey")
        self.places, self.charges, self.witnesses, self.entries = [ROOT], [], [], 1

    def teardown(self):
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    def pick(self, where, epsilon):
        place = self.places[where % len(self.places)]
        return place, price([*self.charges, (place, epsilon)]) <= self.limit

    def note(self, place, epsilon):
        self.charges.append((place, epsilon))
        self.entries += 1

    @rule(where=choices, epsilon=amounts)
    def charge(self, where, epsilon):
        place, fits = self.pick(where, epsilon)
        if fits:
            receipts = [Account(ledger, place).charge(Budget(epsilon), **ASK) for ledger in (self.file, self.memory)]
            self.witnesses.append(receipts[0].to_dict())
            assert receipts[0].number == receipts[1].number == self.entries + 1
            self.note(place, epsilon)
        else:
            for ledger in (self.file, self.memory):
                with pytest.raises(BudgetRefused, match="nothing was charged"):
                    Account(ledger, place).charge(Budget(epsilon), **ASK)

    @precondition(lambda self: len(self.places) < 20)
    @rule(where=choices)
    def split(self, where):
        place = self.places[where % len(self.places)]
        groups = {Account(ledger, place).split(question="sex", parts=2) for ledger in (self.file, self.memory)}
        assert len(groups) == 1
        group = groups.pop()
        self.places += [self.file.account.part(group, index).path for index in range(2)]
        self.entries += 1

    @rule()
    def reopen(self):
        self.file = Ledger.open(self.path)

    @rule(where=choices, epsilon=amounts)
    def charge_through_another_connection(self, where, epsilon):
        place, fits = self.pick(where, epsilon)
        if fits:
            Account(Ledger.open(self.path), place).charge(Budget(epsilon), **ASK)
            Account(self.memory, place).charge(Budget(epsilon), **ASK)
            self.note(place, epsilon)

    @rule(where=choices, epsilon=amounts)
    def crash_before_the_commit(self, where, epsilon):
        place, _ = self.pick(where, epsilon)
        for ledger in (self.file, self.memory):
            with pytest.raises(Boom), ledger.turn(write=True) as (_, known):
                known.next({"kind": "charge", "account": place, "epsilon": str(epsilon)})
                raise Boom

    @rule(share=st.floats(0, 0.99))
    def leave_a_line_unfinished(self, share):
        with self.file.turn(write=True) as (_, known), open(self.path, "ab") as raw:
            line = known.next({**ASK, "kind": "charge", "account": "/", "epsilon": "1/1000"})[0]
            raw.write(line[: int(share * len(line))])

    @rule()
    def copy_the_file_elsewhere(self):
        shutil.copy(self.path, self.folder / "backup")

    @precondition(lambda self: hasattr(os, "fork"))
    @rule(where=choices, epsilon=amounts, moment=st.sampled_from(["middle", "after", "never"]))
    def charge_in_a_child_that_is_killed(self, where, epsilon, moment):
        place, fits = self.pick(where, epsilon)
        child = os.fork()
        if not child:
            try:
                self._in_child(place, epsilon, moment)
            finally:
                os._exit(1)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code == (0 if moment == "never" or not fits and moment == "after" else -signal.SIGKILL)
        if fits and moment != "middle":
            Account(self.memory, place).charge(Budget(epsilon), **ASK)
            self.note(place, epsilon)

    def _in_child(self, place, epsilon, moment):
        if moment == "middle":
            with self.file.turn(write=True) as (_, known):
                known.price(place, epsilon)
                os.kill(os.getpid(), signal.SIGKILL)
        try:
            Account(self.file, place).charge(Budget(epsilon), **ASK)
        except BudgetRefused:
            os._exit(0)
        if moment == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(0)

    @rule()
    def verify(self):
        assert self.file.verify(self.witnesses) == self.memory.verify() == self.entries
        wrong = {"ledger": self.file.id, "number": self.entries + 1, "hash": ""}
        with pytest.raises(LedgerProblem):
            self.file.verify([wrong])

    @invariant()
    def all_agree(self):
        if hasattr(self, "file"):
            assert self.file.spent == self.memory.spent == price(self.charges) <= self.limit
            assert self.file.left == self.memory.left == self.limit - self.file.spent

    @invariant()
    def the_receipts_are_the_charges(self):
        if hasattr(self, "file"):
            for ledger in (self.file, self.memory):
                assert [(receipt.account, receipt.epsilon) for receipt in ledger.receipts()] == self.charges


TestLedgers = Ledgers.TestCase
TestLedgers.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
