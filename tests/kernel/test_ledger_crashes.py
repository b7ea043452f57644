"""Processes that are killed, forked and interrupted: no released answer without its charge, never past the limit."""

import fcntl
import gc
import json
import os
import random
import resource
import signal
import sys
import threading
import time
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from veil.errors import BudgetRefused, LedgerProblem
from veil.kernel import Budget, Ledger, entries, marks, store
from veil.kernel import ledger as ledger_module

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning"),
]
ASK = {"verb": "count", "question": "age by income", "noise": "operating system", "private": True}
CODE = {module.__file__ for module in (ledger_module, store, entries, marks)}


def start(work):
    """A forked child that does the work and ends there; 0 if it went well."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException as problem:  # a child must never go on as a second test run
        os.write(2, f"child: {type(problem).__name__}: {problem}\n".encode())
    finally:
        os._exit(status)


def finish(child, seconds=30):
    """The child's exit status, negative for a signal; a child that hangs is killed and fails the test."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("a child process hangs")


def run(work):
    assert finish(start(work)) == 0


def release(file, number):
    """Publish an answer: after this its number is on the disk."""
    os.write(file, f"{number}\n".encode())
    os.fsync(file)


def whole_lines(path):
    """The lines of a file; one that was being written when the child died does not count: a kill may cut a write."""
    return path.read_text().split("\n")[:-1] if path.exists() else []


def released(path):
    """The numbers of published answers."""
    return [int(line) for line in whole_lines(path)]


def spend_until_refused(ledger, epsilon, answers):
    file = os.open(answers, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with suppress(BudgetRefused):
        while True:
            release(file, ledger.account.charge(Budget(epsilon), **ASK).number)


# Kills


def test_two_hundred_kills_lose_no_charge(tmp_path):
    path, rounds, at_once = tmp_path / "a.ledger", 50, 4
    limit, rng = Fraction(2), random.Random(1)
    ledger = Ledger.create(path, limit, "survey")
    for round in range(rounds):

        def work(round=round):
            mine = ledger if round % 2 else Ledger.open(path)
            spend_until_refused(mine, Fraction(1, 2000), tmp_path / f"{round}.answers")
            time.sleep(60)

        children = [start(work) for _ in range(at_once)]
        for child in children:
            time.sleep(rng.expovariate(1 / 0.015))
            os.kill(child, signal.SIGKILL)
        assert [finish(child) for child in children] == [-signal.SIGKILL] * at_once
        reopened = Ledger.open(path)
        charged = {json.loads(line)["number"] for line in whole_lines(path)[1:]}
        answers = released(tmp_path / f"{round}.answers")
        assert charged.issuperset(answers) and len(set(answers)) == len(answers)
        assert reopened.spent == ledger.spent == Fraction(len(charged), 2000) <= limit
    everything = [number for round in range(rounds) for number in released(tmp_path / f"{round}.answers")]
    assert len(everything) == len(set(everything)) > rounds
    print(f"{len(everything)} answers, {len(charged)} charges, {rounds * at_once} kills", file=sys.stderr)


def lines_of(work, act):
    """Run the work with `act(n)` called at the n-th line of the ledger's own code; how many lines there were."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if frame.f_code.co_filename not in CODE:
            return None
        if event == "line":
            count += 1
            act(count)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def test_a_kill_at_any_line_of_a_charge_loses_no_charge(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", 10**6, "survey")
    part = ledger.account.part(ledger.account.split(question="sex", parts=2), 1)
    outcomes, status = [], None
    while status != 0:
        before, (mine, its) = ledger.spent, os.pipe()
        fatal = len(outcomes) + 1

        def work(fatal=fatal, its=its):
            lines_of(
                lambda: os.write(its, bytes([part.charge(Budget(1), **ASK).number % 256])),
                lambda line: line == fatal and os.kill(os.getpid(), signal.SIGKILL),
            )

        child = start(work)
        os.close(its)
        answer, status = os.read(mine, 1), finish(child)
        os.close(mine)
        outcomes.append((bool(answer), ledger.spent - before))
    assert len(outcomes) > 60 and outcomes[-1] == (True, 1)
    assert set(outcomes[:-1]) == {(False, 0), (False, 1)}
    assert Ledger.open(tmp_path / "a.ledger").spent == ledger.spent


@pytest.fixture
def no_collection():
    """No garbage of other tests is collected meanwhile: Python ignores an interrupt that falls into a destructor."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    gc.collect()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of a connection cut off while opening
@pytest.mark.parametrize("kept", ["memory", "file"])
def test_an_interrupt_at_any_line_leaves_a_usable_ledger(tmp_path, kept, no_collection):
    ledger = Ledger(10**6, "survey") if kept == "memory" else Ledger.create(tmp_path / "a.ledger", 10**6, "survey")
    part = ledger.account.part(ledger.account.split(question="sex", parts=2), 1)

    def interrupt(line, at):
        if line == at:
            raise KeyboardInterrupt

    lines, before = lines_of(lambda: part.charge(Budget(1), **ASK), lambda _: None), 1
    for at in range(1, lines + 1):  # each charge reads the line of the one before
        with pytest.raises(KeyboardInterrupt):
            lines_of(lambda: part.charge(Budget(1), **ASK), lambda line, at=at: interrupt(line, at))
        assert ledger.spent - before in (0, 1)
        before = ledger.spent + 1
        ledger.account.charge(Budget(1), **ASK)
    assert ledger.verify() > lines
    if kept == "file":
        with open(tmp_path / "a.ledger") as other:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)  # no lock is left behind


@pytest.fixture(scope="module")
def torn(tmp_path_factory):
    """The bytes of a ledger with four charges, and its receipts."""
    ledger = Ledger.create(tmp_path_factory.mktemp("torn") / "a.ledger", 1, "survey")
    for _ in range(4):
        ledger.account.charge(Budget("0.1"), **ASK)
    return ledger.path.read_bytes(), ledger.receipts()


def test_bytes_after_the_last_newline_were_never_answered_and_are_cut_off_by_the_next_charge(torn, tmp_path):
    data, receipts = torn
    last = data.rindex(b"\n", 0, -1) + 1
    for size in range(last + 1, len(data), 7):
        path = tmp_path / f"{size}.ledger"
        path.write_bytes(data[:size])
        Path(marks.place(receipts[0].ledger)).unlink(missing_ok=True)
        ledger = Ledger.open(path)
        assert ledger.receipts() == receipts[:3] and path.read_bytes() == data[:size]  # a reader changes nothing
        ledger.account.charge(Budget("0.2"), **ASK)
        assert path.read_bytes().startswith(data[:last]) and path.read_bytes().count(b"\n") == data.count(b"\n")
        assert Ledger.open(path).spent == Fraction(5, 10)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**6), st.binary(min_size=1, max_size=8), st.booleans())
def test_a_damaged_file_never_passes_the_witness_of_its_last_receipt(torn, tmp_path, offset, piece, cut):
    data, receipts = torn
    offset %= len(data)
    spoilt = data[:offset] + (b"" if cut else piece + data[offset + len(piece) :])
    path = tmp_path / "a.ledger"
    path.write_bytes(spoilt)
    Path(marks.place(receipts[0].ledger)).unlink(missing_ok=True)
    try:
        ledger = Ledger.open(path, patience=0.1)
        assert ledger.receipts() == receipts[: len(ledger.receipts())]
        ledger.verify([receipts[-1].to_dict()])
        assert ledger.spent == Fraction(4, 10)
    except LedgerProblem as problem:
        assert "\n" not in str(problem)


# Many processes


def test_sixteen_processes_spend_exactly_the_limit(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", 1, "survey")
    children = [start(lambda: spend_until_refused(ledger, Fraction(1, 400), tmp_path / "inherited")) for _ in range(8)]
    opened = lambda: Ledger.open(tmp_path / "a.ledger")  # noqa: E731
    children += [start(lambda: spend_until_refused(opened(), Fraction(1, 400), tmp_path / "opened")) for _ in range(8)]
    assert [finish(child, 60) for child in children] == [0] * 16
    assert ledger.spent == 1 and ledger.verify() == 401
    assert sorted(released(tmp_path / "inherited") + released(tmp_path / "opened")) == list(range(2, 402))


def test_sixteen_processes_never_pass_a_limit_that_amounts_do_not_divide(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", 1, "survey")
    amounts = [Fraction(1, n) for n in range(31, 47)]
    children = [start(lambda e=e: spend_until_refused(ledger, e, tmp_path / "answers")) for e in amounts]
    assert [finish(child, 60) for child in children] == [0] * 16
    receipts = ledger.receipts()
    assert ledger.spent == sum(receipt.epsilon for receipt in receipts) <= 1 < ledger.spent + max(amounts)
    assert ledger.left < min(amounts)
    assert sorted(released(tmp_path / "answers")) == [receipt.number for receipt in receipts]


# Forks


def test_a_ledger_in_memory_refuses_in_a_forked_child():
    ledger = Ledger(1, "survey")
    part = ledger.account.part(ledger.account.split(question="sex", parts=2), 0)

    def work():
        for use in (lambda: ledger.account.charge(Budget(0.1), **ASK), lambda: part.charge(Budget(0.1), **ASK)):
            with pytest.raises(LedgerProblem, match="memory of another process.*Ledger.create"):
                use()
        with pytest.raises(LedgerProblem, match="memory of another process"):
            print(ledger.spent)
        assert Ledger(1, "another").account.charge(Budget(1), **ASK).number == 2

    run(work)
    ledger.account.charge(Budget(0.5), **ASK)
    assert ledger.spent == Fraction(1, 2)


def test_parent_and_child_are_both_counted_after_a_fork(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", 1, "survey")
    ledger.account.charge(Budget("0.1"), **ASK)
    child = start(lambda: [ledger.account.charge(Budget("0.01"), **ASK) for _ in range(20)])
    for _ in range(20):
        ledger.account.charge(Budget("0.01"), **ASK)
    assert finish(child) == 0
    assert ledger.spent == Fraction(1, 2) and ledger.verify() == 42


def test_a_part_is_not_spent_twice_by_parent_and_child(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", 1, "survey")
    group = ledger.account.split(question="sex", parts=2)
    one, two = (ledger.account.part(group, index) for index in (0, 1))
    one.charge(Budget("0.3"), **ASK)
    run(lambda: two.charge(Budget("0.3"), **ASK))
    assert ledger.spent == Fraction(3, 10)
    run(lambda: two.charge(Budget("0.3"), **ASK))
    two.charge(Budget("0.3"), **ASK)
    assert ledger.spent == Fraction(9, 10)

    def refused():
        with pytest.raises(BudgetRefused):
            two.charge(Budget("0.2"), **ASK)

    run(refused)
    assert ledger.spent == Fraction(9, 10) and ledger.verify() == 6


def test_grandchildren_are_counted(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", 1, "survey")

    def generation(left):
        ledger.account.charge(Budget("0.1"), **ASK)
        if left:
            run(lambda: generation(left - 1))
        ledger.account.charge(Budget("0.1"), **ASK)

    run(lambda: generation(3))
    assert ledger.spent == Fraction(8, 10) and ledger.verify() == 9


def test_threads_of_a_child_share_the_ledger(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", 1, "survey")
    ledger.account.charge(Budget("0.2"), **ASK)

    def work():
        spend = lambda: [ledger.account.charge(Budget("0.01"), **ASK) for _ in range(10)]  # noqa: E731
        threads = [threading.Thread(target=spend) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    run(work)
    assert ledger.left == 0 and ledger.verify() == 82


def test_forks_while_other_threads_charge_lose_nothing(tmp_path):
    files = [Ledger.create(tmp_path / f"{n}.ledger", 10**6, "survey") for n in range(2)]
    ledgers, stop, charged = [*files, Ledger(10**6, "survey")], threading.Event(), [0, 0, 0]

    def spend(which):
        while not stop.is_set():
            ledgers[which].account.charge(Budget(1), **ASK)
            charged[which] += 1

    threads = [threading.Thread(target=spend, args=(which,)) for which in range(3)]
    for thread in threads:
        thread.start()
    try:
        children = [start(lambda: [f.account.charge(Budget(1), **ASK) for f in files]) for _ in range(25)]
        statuses = [finish(child) for child in children]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert statuses == [0] * 25
    assert [ledger.spent for ledger in ledgers] == [charged[0] + 25, charged[1] + 25, charged[2]]
    assert all(ledger.verify() for ledger in ledgers) and min(charged) > 0


def test_a_signal_handler_that_forks_in_the_middle_of_a_charge_gets_one_answer_in_two_processes(tmp_path):
    """Both processes go on with the same charge and share what was opened and its lock: one of them writes the line."""
    ledger, children, sizes = Ledger.create(tmp_path / "a.ledger", 10**6, "survey"), [], []
    charge = lambda: ledger.account.charge(Budget(1), **ASK)  # noqa: E731
    lines_of(charge, lambda _: sizes.append(ledger.path.stat().st_size))
    landed = next(line for line, size in enumerate(sizes, 1) if size > sizes[0])
    assert landed > 50
    for at in range(1, landed):
        before, (mine, its) = ledger.spent, os.pipe()

        def fork(line, at=at):
            if line == at:
                children.append(os.fork())

        try:
            lines_of(charge, fork)
            os.write(its, b"!")
        except LedgerProblem:
            pass
        finally:
            if not children[-1]:
                os._exit(0)
        finish(children[-1])
        os.close(its)
        answers = len(os.read(mine, 9))
        os.close(mine)
        assert answers <= ledger.spent - before, f"{answers} answers after a fork at line {at}"
    assert charge() and ledger.verify() > landed // 2


def test_a_file_replaced_before_the_child_looks_is_noticed(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", 1, "survey")
    Ledger.create(tmp_path / "b.ledger", 100, "survey")

    def work():
        os.replace(tmp_path / "b.ledger", tmp_path / "a.ledger")
        with pytest.raises(LedgerProblem, match="was moved or replaced"):
            ledger.account.charge(Budget(0.1), **ASK)

    run(work)
    assert Ledger.open(tmp_path / "a.ledger").spent == 0


# A disk that takes no more


def limited(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_charge_that_does_not_reach_the_disk_is_refused_and_costs_nothing(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", 10**6, "survey")
    ledger.account.charge(Budget(1), **ASK)

    def work():
        limited(60_000)
        answers = os.open(tmp_path / "answers", os.O_WRONLY | os.O_CREAT)
        with pytest.raises(LedgerProblem, match="nothing was answered"):
            while True:
                release(answers, ledger.account.charge(Budget(1), **{**ASK, "question": "long " * 400}).number)
        assert ledger.spent == len(released(tmp_path / "answers")) + 1

    run(work)
    count = len(released(tmp_path / "answers"))
    assert count > 0 and ledger.spent == count + 1 and ledger.verify() == count + 2
    ledger.account.charge(Budget(1), **ASK)
    assert Ledger.open(tmp_path / "a.ledger").spent == count + 2


def test_a_ledger_that_does_not_fit_on_the_disk_is_not_made(tmp_path):
    for size in (0, 1, 100):

        def work(size=size):
            limited(size)
            with pytest.raises(LedgerProblem, match="cannot be created"):
                Ledger.create(tmp_path / "a.ledger", 1, "survey")

        run(work)
        assert not list(tmp_path.iterdir())
