"""Budgets, charges, receipts and parts; edited, damaged and unusable ledger files."""

import copy
import hashlib
import json
import os
import pickle
import shutil
import sqlite3
import threading
from collections import defaultdict
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from importlib.metadata import version

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from veil.errors import BadInput, BudgetRefused, LedgerProblem
from veil.kernel import ledger as module
from veil.kernel.budget import Budget, exact
from veil.kernel.ledger import Account, Ledger, Receipt
from veil.kernel.store import Store

ASK = {"verb": "count", "question": "age by income", "noise": "operating system", "private": True}
amounts = st.fractions(min_value=Fraction(1, 1000), max_value=10, max_denominator=1000)


def tell(error):
    """The message, after checking that it is one line which says what to do next."""
    text = str(error.value)
    assert "\n" not in text and ": " in text and len(text) < 500, text
    return text


@pytest.fixture(params=["memory", "file"])
def ledger(request, tmp_path):
    """A ledger of limit 1, kept either way."""
    return Ledger(1, "survey") if request.param == "memory" else Ledger.create(tmp_path / "a.ledger", 1, "survey")


@pytest.fixture
def path(tmp_path):
    """A ledger file with five entries: three charges, a split, and a charge to one of its parts."""
    ledger = Ledger.create(tmp_path / "survey.ledger", 1, "survey")
    ledger.account.charge(Budget("0.1"), **ASK)
    ledger.account.charge(Budget("0.2"), **ASK)
    group = ledger.account.split(question="sex", parts=2)
    ledger.account.part(group, 1).charge(Budget("0.3"), **ASK)
    return tmp_path / "survey.ledger"


# Budgets


@given(amounts, st.lists(st.floats(min_value=1e-200, max_value=1e200), min_size=1, max_size=20))
def test_a_split_adds_up_to_exactly_the_whole(epsilon, shares):
    assert sum(part.epsilon for part in Budget(epsilon).split(*shares)) == epsilon


@given(amounts, st.integers(min_value=1, max_value=300))
def test_equal_parts_add_up_to_exactly_the_whole(epsilon, count):
    parts = Budget(epsilon).each(count)
    assert len(parts) == count and len(set(parts)) == 1 and sum(part.epsilon for part in parts) == epsilon


def test_shares_are_proportions():
    assert Budget(1).split(3, 37, 60) == (Budget("0.03"), Budget("0.37"), Budget("0.6"))
    assert Budget(1).split(0.3, 1 - 0.3) == (Budget("0.3"), Budget("0.7"))
    assert Budget(1).each(np.int64(4)) == (Budget("1/4"),) * 4


@pytest.mark.parametrize(
    "tenth", [0.1, "0.1", "1/10", Decimal("0.1"), Fraction(1, 10), np.float64(0.1), np.float32(0.1)]
)
def test_a_tenth_is_one_tenth_however_it_is_written(tenth):
    assert Budget(tenth).epsilon == Fraction(1, 10)


@pytest.mark.parametrize("size", [5e-324, 1e-300, "1e-900", 0.1, 1])
def test_ten_tenths_fit_and_nothing_more(ledger, size):
    for _ in range(10):
        ledger.account.charge(Budget(0.1), **ASK)
    assert ledger.spent == 1 and ledger.left == 0
    with pytest.raises(BudgetRefused):
        ledger.account.charge(Budget(size), **ASK)
    assert ledger.spent == 1 and len(ledger.receipts()) == 10


def test_a_subnormal_amount_is_charged_exactly(ledger):
    smallest = 5e-324
    ledger.account.charge(Budget(smallest), **ASK)
    assert ledger.spent == Fraction(5, 10**324)
    with pytest.raises(BudgetRefused):
        ledger.account.charge(Budget(1), **ASK)
    ledger.account.charge(Budget(1 - Fraction(5, 10**324)), **ASK)
    assert ledger.left == 0


@pytest.mark.parametrize(
    "value",
    [0, -1, -0.0, "-1/3", float("nan"), float("inf"), float("-inf"), Decimal("nan"), Decimal("-inf"), "one", "", "1/0"]
    + [None, True, [1], b"1", 1j, "nan", "inf", np.array([0.5, 1.0]), object(), "1e999999999999", "9" * 5000]
    + ["1e-9999", Decimal("1e-999999"), 10**5000, Fraction(1, 10**5000), "0." + "1" * 4000, "1e٩٩٩٩٩٩"],
    ids=lambda value: f"{type(value).__name__}",
)
def test_an_unusable_amount_is_refused_in_one_sentence(value):
    for use in (Budget, lambda value: Ledger(value, "survey"), lambda value: Budget(1).split(1, value)):
        with pytest.raises(BadInput) as error:
            use(value)
        assert "\n" not in str(error.value) and "must be" in str(error.value)


@pytest.mark.parametrize("count", [0, -1, 2.0, "2", None])
def test_an_unusable_number_of_parts_is_refused(count):
    with pytest.raises(BadInput, match="whole number"):
        Budget(1).each(count)
    with pytest.raises(BadInput, match="shares must be greater than zero"):
        Budget(1).split()


def test_budgets_compare_by_amount_and_read_as_they_are_written():
    assert Budget("1/3") < Budget(0.5) == Budget("1/2") and max(Budget(1), Budget(2)) == Budget(2)
    assert Budget(Budget(0.5)) == Budget(0.5) and len({Budget(0.1), Budget("1/10")}) == 1
    assert [repr(Budget(value)) for value in (0.25, "1/3", 2)] == ["Budget('0.25')", "Budget('1/3')", "Budget('2')"]
    assert pickle.loads(pickle.dumps(Budget("1/3"))) == copy.deepcopy(Budget("1/3")) == Budget("1/3")


@pytest.mark.parametrize(
    "value", ["many", 10**5000, -(10**5000), Fraction(-1, 10**5000)], ids=lambda value: f"{type(value).__name__}"
)
def test_exact_names_what_is_wrong(value):
    with pytest.raises(BadInput, match="the threshold must be a finite number"):
        exact(value, "the threshold")


@pytest.mark.parametrize("name", ["", None, 3, ["survey"], np.array(["a", "b"])])
def test_a_ledger_needs_a_name(name, tmp_path):
    for make in (lambda: Ledger(1, name), lambda: Ledger.create(tmp_path / "a.ledger", 1, name)):
        with pytest.raises(BadInput, match="needs the name"):
            make()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["l'année", 'a"b', "a\nb", "\0", "\ud800", "'); DROP TABLE entries; --", "数"])
def test_any_text_is_a_name(name, tmp_path):
    Ledger.create(tmp_path / "a.ledger", 1, name)
    assert Ledger.open(tmp_path / "a.ledger").name == Ledger(1, name).name == name


# Charges


def test_a_charge_is_on_the_disk_when_it_returns(path):
    receipt = Ledger.open(path).account.charge(Budget(0.05), **ASK)
    with closing(sqlite3.connect(path)) as raw:
        number, body, hash = raw.execute("SELECT * FROM entries ORDER BY number DESC LIMIT 1").fetchone()
    assert (number, hash) == (receipt.number, receipt.hash)
    assert json.loads(body)["epsilon"] == "1/20" and json.loads(body)["question"] == ASK["question"]


def test_a_file_is_opened_durably_and_in_wal_mode(path):
    with Ledger.open(path)._store.read() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone()[0] >= 2
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_a_failed_answer_is_not_refunded(ledger):
    with pytest.raises(ZeroDivisionError):
        ledger.account.charge(Budget(0.25), **ASK)
        raise ZeroDivisionError
    assert ledger.spent == Fraction(1, 4)


def test_a_refusal_charges_nothing_and_says_what_is_left(ledger):
    ledger.account.charge(Budget(0.75), **ASK)
    before = ledger.verify()
    with pytest.raises(BudgetRefused) as error:
        ledger.account.charge(Budget("1/3"), **ASK)
    assert "0.25 is left" in tell(error) and "13/12" in tell(error) and "nothing was charged" in tell(error)
    assert ledger.spent == Fraction(3, 4) and ledger.verify() == before


def test_the_limit_cannot_be_assigned(ledger):
    with pytest.raises(AttributeError):
        ledger.limit = 100
    assert ledger.limit == 1


def test_a_charge_that_cannot_be_written_charges_nothing(ledger):
    for body in ({**ASK, "question": object()}, {"verb": "count"}):
        with pytest.raises((TypeError, LedgerProblem)):
            ledger.account.charge(Budget(0.1), **body)
        assert ledger.spent == 0 and ledger.receipts() == [] and ledger.verify() == 1


def test_the_asker_cannot_overrule_the_price(ledger):
    receipt = ledger.account.charge(Budget(0.5), **ASK, epsilon="1/1000", account="/1.1", kind="split", time="never")
    assert receipt.epsilon == ledger.spent == Fraction(1, 2) and receipt.account == "/" and receipt.time != "never"
    assert ledger.receipts() == [receipt] and ledger.verify() == 2


def test_totals_stay_exact_or_are_refused():
    ledger = Ledger(1, "survey")
    primes = [n for n in range(10**6, 10**6 + 60_000) if all(n % k for k in range(2, 1010))]
    oracle = Fraction(0)
    with pytest.raises(BadInput, match="fewer digits"):
        for prime in primes:
            ledger.account.charge(Budget(Fraction(1, prime)), **ASK)
            oracle += Fraction(1, prime)
    assert len(ledger.receipts()) > 400 and ledger.spent == oracle
    ledger.account.charge(Budget(0.5), **ASK)
    assert ledger.spent == oracle + Fraction(1, 2) and ledger.verify()


def test_a_file_with_an_odd_name_is_a_ledger_too(tmp_path):
    odd = tmp_path / "a b?mode=memory&c#d%20é'.ledger"
    Ledger.create(odd, 1, "survey").account.charge(Budget(0.5), **ASK)
    assert Ledger.open(odd).spent == Fraction(1, 2) and Ledger.open(str(odd)).path == odd
    assert [entry.name for entry in tmp_path.iterdir() if entry.suffix == ".ledger"] == [odd.name]


def test_a_relative_path_stays_where_it_was(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    ledger = Ledger.create("a.ledger", 1, "survey")
    monkeypatch.chdir(tmp_path / "elsewhere")
    ledger._store.close()
    ledger.account.charge(Budget(0.5), **ASK)
    assert pickle.loads(pickle.dumps(ledger)).spent == Ledger.open(tmp_path / "a.ledger").spent == Fraction(1, 2)


# Receipts


def test_a_receipt_holds_what_was_asked_and_what_it_cost(ledger):
    receipt = ledger.account.charge(Budget("1/3"), **{**ASK, "private": False})
    assert (receipt.verb, receipt.question, receipt.noise) == ("count", "age by income", "operating system")
    assert (receipt.data, receipt.epsilon, receipt.private) == ("survey", Fraction(1, 3), False)
    assert (receipt.ledger, receipt.number, receipt.account) == (ledger.id, 2, "/")
    assert receipt.version == version("veil") and receipt.time.endswith("+00:00") and len(receipt.hash) == 64
    assert ledger.receipts() == [receipt]


def test_a_receipt_round_trips_through_json(ledger):
    receipt = ledger.account.charge(Budget("1/3"), **ASK)
    plain = json.loads(json.dumps(receipt.to_dict()))
    assert plain == receipt.to_dict() and plain["epsilon"] == "1/3"
    assert Receipt(**{**plain, "epsilon": Fraction(plain["epsilon"])}) == receipt
    assert ledger.verify([plain]) == 2


def test_a_receipt_reads_well(ledger):
    group = ledger.account.split(question="sex", parts=2)
    receipt = ledger.account.part(group, 1).charge(Budget(0.5), **{**ASK, "private": False, "noise": "seeded"})
    lines = repr(receipt).splitlines()
    assert lines[0] == "Receipt" and "count age by income" in lines[1]
    assert "epsilon 0.5" in repr(receipt) and "one row" in repr(receipt)
    assert "NO: the noise was seeded" in repr(receipt) and "/2.1" in repr(receipt)
    assert "private  yes" in repr(ledger.account.charge(Budget(0.1), **ASK))
    public = ledger.account.charge(Budget(0.1), **{**ASK, "private": False})
    assert "NO: the rows were declared public" in repr(public)


def test_a_ledger_reads_well(ledger):
    ledger.account.charge(Budget(0.25), **ASK)
    assert repr(ledger).splitlines() == [
        "Ledger 'survey': 0.25 of 1 spent, 0.75 left",
        "      0.25  count age by income",
    ]
    ledger.account.charge(Budget(0.25), **{**ASK, "private": False})
    assert "not private" in repr(ledger).splitlines()[-1] and "1 of 2 answers" in repr(ledger)


def test_html_is_escaped():
    ledger = Ledger(1, "<script>alert(1)</script>")
    receipt = ledger.account.charge(Budget(0.5), **{**ASK, "question": "a < b & <img src=x>"})
    for html in (ledger._repr_html_(), receipt._repr_html_()):
        assert "<script>" not in html and "<img" not in html
        assert "&lt;script&gt;" in html and "a &lt; b &amp; &lt;img" in html and "0.5" in html


# Parts


def price(charges, here=()):
    """What charges cost, worked out afresh from all of them: own charges, plus the dearest part of every split."""
    splits = defaultdict(set)
    for place, _ in charges:
        if place[: len(here)] == here and place != here:
            group, part = place[len(here)]
            splits[group].add(part)
    own = sum((epsilon for place, epsilon in charges if place == here), Fraction(0))
    return own + sum(max(price(charges, (*here, (g, part))) for part in parts) for g, parts in splits.items())


def test_the_oracle_knows_a_case_worked_out_by_hand():
    a, b, nested = ((1, 0),), ((1, 1),), ((1, 1), (2, 0))
    charges = [((), 1), (a, 5), (b, 2), (nested, 4), (((1, 1), (2, 1)), 3), (((3, 0),), 7)]
    assert price(charges) == 1 + max(5, 2 + max(4, 3)) + 7 == 14


def test_parts_cost_what_the_dearest_costs(ledger):
    group = ledger.account.split(question="sex", parts=3)
    totals = []
    for index, epsilon in [(0, "0.2"), (1, "0.3"), (0, "0.1"), (2, "0.05"), (0, "0.3"), (1, "0.3")]:
        ledger.account.part(group, index).charge(Budget(epsilon), **ASK)
        totals.append(ledger.spent)
    assert totals == [Fraction(n, 10) for n in (2, 3, 3, 3, 6, 6)]


def test_splits_of_one_parent_add_their_maxima(ledger):
    first, second = ledger.account.split(question="sex", parts=2), ledger.account.split(question="age", parts=2)
    assert first != second
    for group, index, epsilon in [(first, 0, "0.2"), (second, 0, "0.1"), (first, 1, "0.1"), (second, 1, "0.4")]:
        ledger.account.part(group, index).charge(Budget(epsilon), **ASK)
    assert ledger.spent == Fraction(2, 10) + Fraction(4, 10)


def test_nested_splits_cost_the_dearest_path(ledger):
    outer = ledger.account.split(question="sex", parts=2)
    left, right = (ledger.account.part(outer, index) for index in (0, 1))
    inner = left.split(question="age", parts=2)
    left.charge(Budget("0.1"), **ASK)
    left.part(inner, 0).charge(Budget("0.2"), **ASK)
    left.part(inner, 1).charge(Budget("0.3"), **ASK)
    right.charge(Budget("0.35"), **ASK)
    assert ledger.spent == Fraction(4, 10)
    right.charge(Budget("0.1"), **ASK)
    assert ledger.spent == Fraction(45, 100)


def test_a_split_costs_nothing(ledger):
    ledger.account.charge(Budget(1), **ASK)
    ledger.account.split(question="sex", parts=2)
    assert ledger.spent == 1 and ledger.verify() == 3


def test_a_refusal_in_a_part_charges_nothing_anywhere(ledger):
    outer = ledger.account.split(question="sex", parts=2)
    part = ledger.account.part(outer, 0)
    deep = part.part(part.split(question="age", parts=2), 1)
    deep.charge(Budget("0.5"), **ASK)
    before = ledger._read()
    with pytest.raises(BudgetRefused, match="0.5 is left"):
        deep.charge(Budget("0.6"), **ASK)
    assert ledger._read() == before
    ledger.account.part(outer, 1).charge(Budget(1), **ASK)
    deep.charge(Budget("0.5"), **ASK)
    assert ledger.spent == 1


def test_what_a_cheap_part_may_still_spend_is_free(ledger):
    group = ledger.account.split(question="sex", parts=2)
    ledger.account.part(group, 0).charge(Budget(1), **ASK)
    for _ in range(4):
        ledger.account.part(group, 1).charge(Budget(0.25), **ASK)
    assert ledger.spent == 1
    with pytest.raises(BudgetRefused, match="0 is left"):
        ledger.account.part(group, 1).charge(Budget("1/1000"), **ASK)


@pytest.mark.parametrize(
    "wrong", ["", "/12", "12.3", "/12.", "/12.-1", "/1.2/5", "//", "/1.2/", "/1.٣", "/1.2\n", "/a.b"]
)
def test_only_parts_of_splits_can_be_charged(ledger, wrong):
    with pytest.raises(LedgerProblem, match="there is no account"):
        Account(ledger, wrong).charge(Budget(0.1), **ASK)
    assert ledger.spent == 0 and ledger.verify() == 1


def test_splits_may_be_nested_very_deeply():
    ledger = Ledger(1, "survey")
    account = ledger.account
    for _ in range(1500):
        account = account.part(account.split(question="again", parts=2), 1)
    account.charge(Budget("1/3"), **ASK)
    assert ledger.spent == Fraction(1, 3) and ledger.verify() == 1502


step = st.tuples(st.integers(0, 30), st.sampled_from(["charge", "charge", "charge", "split"]), amounts)


@settings(max_examples=120, deadline=None)
@given(st.lists(step, max_size=40), st.fractions(min_value=1, max_value=60, max_denominator=7))
def test_any_interleaving_costs_what_the_oracle_says(steps, limit):
    ledger, places, charges = Ledger(limit, "survey"), [()], []
    accounts = {(): ledger.account}
    for where, what, epsilon in steps:
        place = places[where % len(places)]
        if what == "split":
            group = accounts[place].split(question="q", parts=3)
            for part in range(3):
                inside = (*place, (group, part))
                accounts[inside] = accounts[place].part(group, part)
                places.append(inside)
        elif price([*charges, (place, epsilon)]) > limit:
            with pytest.raises(BudgetRefused):
                accounts[place].charge(Budget(epsilon), **ASK)
        else:
            accounts[place].charge(Budget(epsilon), **ASK)
            charges.append((place, epsilon))
        assert ledger.spent == price(charges) <= limit
    assert ledger.verify() and [receipt.epsilon for receipt in ledger.receipts()] == [e for _, e in charges]


# Copies and threads


def test_a_copy_is_the_ledger_itself(ledger):
    assert copy.copy(ledger) is ledger and copy.deepcopy({"ledger": [ledger]})["ledger"][0] is ledger
    assert copy.deepcopy(ledger.account).ledger is ledger


def test_a_pickled_file_ledger_opens_the_same_file(path):
    ledger, part = Ledger.open(path), Account(Ledger.open(path), "/4.0")
    twin, again = pickle.loads(pickle.dumps((ledger, part)))
    twin.account.charge(Budget("0.1"), **ASK)
    again.charge(Budget("0.3"), **ASK)
    assert twin is not ledger and twin.id == ledger.id
    assert ledger.spent == twin.spent == again.ledger.spent == Fraction(7, 10)


def test_a_ledger_in_memory_refuses_to_be_pickled():
    with pytest.raises(TypeError, match="keep it in a file"):
        pickle.dumps(Ledger(1, "survey"))


def test_threads_share_one_ledger(ledger):
    released, refused = [], []

    def spend():
        while not refused:
            try:
                released.append(ledger.account.charge(Budget("1/120"), **ASK).number)
            except BudgetRefused:
                refused.append(True)

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.spent == 1 and sorted(released) == list(range(2, 122)) and ledger.verify() == 121


def test_a_question_in_the_middle_of_a_charge_is_refused_and_does_no_harm(ledger):
    with ledger._store.write() as store:
        store.execute("INSERT INTO accounts VALUES ('/', '1/2')")
        for ask in (lambda: ledger.spent, lambda: ledger.account.charge(Budget("0.1"), **ASK)):
            with pytest.raises(LedgerProblem, match="in the middle of a charge"):
                ask()
    assert ledger.spent == Fraction(1, 2)


# Edited files


def edit(path, *commands):
    """Change a ledger file behind Veil's back."""
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("DROP TRIGGER entries_are_kept")
        raw.execute("DROP TRIGGER entries_are_final")
        for command in commands:
            raw.execute(*(command if isinstance(command, tuple) else (command,)))


def rows_of(path):
    with closing(sqlite3.connect(path)) as raw:
        return raw.execute("SELECT number, body, hash FROM entries ORDER BY number").fetchall()


def chained(bodies):
    """Rows with right hashes, whatever they say."""
    rows, before = [], ""
    for number, fields in enumerate(bodies, 1):
        body = json.dumps(fields, sort_keys=True)
        before = hashlib.sha256(f"{before}\n{number}\n{body}".encode()).hexdigest()
        rows.append((number, body, before))
    return rows


def rewrite(path, bodies, *commands):
    """A forger's work: entries replaced, every hash made right."""
    edit(
        path,
        "DELETE FROM entries",
        *(("INSERT INTO entries VALUES (?, ?, ?)", row) for row in chained(bodies)),
        *commands,
    )


def test_the_file_itself_refuses_to_forget(path):
    with closing(sqlite3.connect(path)) as raw:
        for command in ("DELETE FROM entries WHERE number = 3", "UPDATE entries SET body = '{}' WHERE number = 3"):
            with pytest.raises(sqlite3.IntegrityError, match="a ledger only grows"):
                raw.execute(command)
    assert Ledger.open(path).verify() == 5


@pytest.mark.parametrize(
    "command, message",
    [
        ("UPDATE entries SET body = replace(body, '1/10', '1/100') WHERE number = 2", "entry 2 does not match"),
        ("UPDATE entries SET body = replace(body, 'income', 'outcome') WHERE number = 5", "entry 5 does not match"),
        ("UPDATE entries SET body = 'nonsense' WHERE number = 4", "entry 4 does not match"),
        ("UPDATE entries SET body = '[' || body || ']' WHERE number = 4", "entry 4 does not match"),
        ("UPDATE entries SET body = CAST(body AS BLOB) WHERE number = 4", "entry 4 does not match"),
        ("UPDATE entries SET body = '" + "[" * 99_999 + "' WHERE number = 4", "entry 4 does not match"),
        ("UPDATE entries SET hash = replace(hash, 'a', 'b') || 'c' WHERE number = 3", "entry 3 does not match"),
        ("UPDATE entries SET hash = 1 WHERE number = 3", "entry 3 does not match"),
        ("DELETE FROM entries WHERE number = 1", "edited|lost its first entry"),
        ("DELETE FROM entries WHERE number = 3", "entry 3 is missing"),
        ("DELETE FROM entries WHERE number = 5", "totals do not follow"),
        ("DELETE FROM entries", "lost its first entry"),
        ("UPDATE entries SET number = number - 1", "edited"),
        ("UPDATE entries SET number = number + 5 WHERE number > 3", "entry 4 is missing"),
        ("UPDATE accounts SET spent = '1/10' WHERE path = '/'", "totals do not follow"),
        ("UPDATE accounts SET spent = '1/100' WHERE path = '/4.1'", "totals do not follow"),
        ("UPDATE accounts SET spent = '0' WHERE path = '/'", "an amount in the ledger is damaged"),
        ("UPDATE accounts SET spent = '-1' WHERE path = '/'", "an amount in the ledger is damaged"),
        ("UPDATE accounts SET spent = '1e9999999999' WHERE path = '/'", "an amount in the ledger is damaged"),
        ("UPDATE accounts SET spent = x'00' WHERE path = '/'", "an amount in the ledger is damaged"),
        ("DELETE FROM accounts WHERE path = '/'", "totals do not follow"),
        ("DELETE FROM accounts WHERE path = '/4'", "totals do not follow"),
        ("DELETE FROM accounts", "totals do not follow"),
        ("INSERT INTO accounts VALUES ('/4.0', '1/10')", "totals do not follow"),
        ('UPDATE entries SET body = replace(body, \'"limit": "1"\', \'"limit": "9"\') WHERE number = 1', "entry 1"),
        ("UPDATE entries SET body = CAST(x'ff' AS TEXT) WHERE number = 2", "is damaged"),
        ("DROP TABLE accounts", "is damaged"),
        ("DROP TABLE entries", "is damaged"),
        ("PRAGMA application_id = 0", "is not a ledger"),
    ],
)
def test_an_edit_is_detected(path, command, message):
    watching = Ledger.open(path)
    edit(path, command)
    with pytest.raises(LedgerProblem, match=message) as error:
        Ledger.open(path)
    tell(error)
    if "application_id" not in command:
        with pytest.raises(LedgerProblem):
            watching.verify()


def test_swapped_entries_are_detected(path):
    edit(
        path,
        "UPDATE entries SET number = -1 WHERE number = 2",
        "UPDATE entries SET number = 2 WHERE number = 3",
        "UPDATE entries SET number = 3 WHERE number = -1",
    )
    with pytest.raises(LedgerProblem, match="entry 2 does not match"):
        Ledger.open(path)


def test_entries_from_another_ledger_are_detected(path, tmp_path):
    other = Ledger.create(tmp_path / "other.ledger", 1, "survey")
    for _ in range(2):
        other.account.charge(Budget("0.1"), **ASK)
    number, body, hash = rows_of(tmp_path / "other.ledger")[2]
    edit(path, ("UPDATE entries SET body = ?, hash = ? WHERE number = ?", (body, hash, number)))
    with pytest.raises(LedgerProblem, match="entry 3 does not match"):
        Ledger.open(path)


def test_an_appended_entry_over_the_limit_is_detected_though_its_hash_is_right(path):
    bodies = [json.loads(body) for _, body, _ in rows_of(path)]
    extra = {**bodies[1], "epsilon": "2"}
    rewrite(path, [*bodies, extra])
    with pytest.raises(LedgerProblem, match="totals do not follow"):
        Ledger.open(path)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE accounts SET spent = '13/5' WHERE path = '/'")
    with pytest.raises(LedgerProblem, match="pass the limit"):
        Ledger.open(path)


def test_an_edited_limit_is_detected_though_its_hash_is_right(path):
    bodies = [json.loads(body) for _, body, _ in rows_of(path)]
    first = chained([{**bodies[0], "limit": "100"}])[0]
    edit(path, ("UPDATE entries SET body = ?, hash = ? WHERE number = 1", first[1:]))
    with pytest.raises(LedgerProblem, match="entry 2 does not match"):
        Ledger.open(path)


@pytest.mark.parametrize(
    "change",
    [{"account": "nowhere"}, {"account": None}, {"account": "/" * 9999}, {"epsilon": "-1/10"}, {"epsilon": 0.1}]
    + [{"epsilon": "1e999999999"}, {"epsilon": None}, {"epsilon": "9" * 5000}, {"account": "/1.1" * 5000}],
)
def test_forged_entries_are_refused_in_one_sentence(path, change):
    bodies = [json.loads(body) for _, body, _ in rows_of(path)]
    rewrite(path, [*bodies[:-1], {**bodies[-1], **change}])
    with pytest.raises(LedgerProblem) as error:
        Ledger.open(path)
    tell(error)


def test_a_forged_ledger_passes_alone_and_fails_against_a_receipt(path):
    receipt = Ledger.open(path).receipts()[0].to_dict()
    bodies = [json.loads(body) for _, body, _ in rows_of(path)]
    rewrite(
        path,
        [bodies[0], {**bodies[1], "epsilon": "1/1000"}],
        "DELETE FROM accounts",
        "INSERT INTO accounts VALUES ('/', '1/1000')",
    )
    assert Ledger.open(path).spent == Fraction(1, 1000)
    with pytest.raises(LedgerProblem, match="entry 2 is not the receipt's") as error:
        Ledger.open(path).verify([receipt])
    tell(error)


def test_a_ledger_restored_from_a_backup_passes_alone_and_fails_against_a_receipt(path, tmp_path):
    shutil.copy(path, tmp_path / "backup")
    ledger = Ledger.open(path)
    receipt = ledger.account.charge(Budget("0.1"), **ASK)
    assert ledger.verify([receipt.to_dict()]) == 6
    del ledger
    shutil.copy(tmp_path / "backup", path)
    restored = Ledger.open(path)
    assert restored.verify() == 5 and restored.verify([r.to_dict() for r in restored.receipts()]) == 5
    with pytest.raises(LedgerProblem, match="entry 6 of the receipt is missing") as error:
        restored.verify([receipt.to_dict()])
    tell(error)


def test_a_ledger_cut_short_passes_alone_and_fails_against_a_receipt(path):
    receipt = Ledger.open(path).receipts()[-1].to_dict()
    bodies = [json.loads(body) for _, body, _ in rows_of(path)]
    rewrite(path, bodies[:3], "DELETE FROM accounts WHERE path <> '/'", "UPDATE accounts SET spent = '3/10'")
    assert Ledger.open(path).spent == Fraction(3, 10)
    with pytest.raises(LedgerProblem, match="entry 5 of the receipt is missing"):
        Ledger.open(path).verify([receipt])


def test_two_copies_spent_apart_are_told_apart_by_a_receipt(path, tmp_path):
    shutil.copy(path, tmp_path / "copy")
    one, two = Ledger.open(path), Ledger.open(tmp_path / "copy")
    mine = one.account.charge(Budget("0.1"), **ASK)
    two.account.charge(Budget("0.2"), **ASK)
    assert one.id == two.id and one.verify([mine.to_dict()]) == two.verify() == 6
    with pytest.raises(LedgerProblem, match="entry 6 is not the receipt's"):
        two.verify([mine.to_dict()])


@pytest.mark.parametrize("change", [{"number": 0}, {"number": None}, {"number": "2"}, {"hash": ""}, {"hash": None}])
def test_a_spoilt_receipt_is_no_witness(path, change):
    ledger = Ledger.open(path)
    with pytest.raises(LedgerProblem) as error:
        ledger.verify([{**ledger.receipts()[0].to_dict(), **change}])
    tell(error)


def test_witnesses_come_in_a_list(path):
    ledger = Ledger.open(path)
    with pytest.raises(BadInput, match="list of receipts"):
        ledger.verify(ledger.receipts()[0].to_dict())


def test_the_receipt_of_another_ledger_is_refused(path):
    other = Ledger(1, "survey")
    other.account.charge(Budget("0.1"), **ASK)
    with pytest.raises(LedgerProblem, match="belongs to another ledger") as error:
        Ledger.open(path).verify([other.receipts()[0].to_dict()])
    tell(error)


# Unusable files


def content(path):
    """What a ledger says, as plain values."""
    ledger = Ledger.open(path, patience=0.1)
    return ledger.id, ledger.limit, ledger.spent, ledger.receipts(), ledger.verify()


def stranger(path):
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE entries (number INTEGER)")


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda path: None, "there is no ledger at"),
        (lambda path: path.mkdir(), "there is no ledger at"),
        (lambda path: path.symlink_to("nowhere"), "there is no ledger at"),
        (lambda path: path.touch(), "is not a ledger"),
        (lambda path: path.write_bytes(b"name,age\nada,36\n" * 999), "is not a ledger"),
        (lambda path: path.write_bytes(os.urandom(8192)), "is not a ledger"),
        (stranger, "is not a ledger"),
    ],
)
def test_what_is_not_a_ledger_is_refused_and_left_alone(tmp_path, make, message):
    place = tmp_path / "a.ledger"
    make(place)
    before = place.read_bytes() if place.is_file() else None
    with pytest.raises(LedgerProblem, match=message) as error:
        Ledger.open(place)
    tell(error)
    assert (place.read_bytes() if place.is_file() else None) == before


def test_a_path_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for place in ("", "/", tmp_path, "a\0b", tmp_path / "file" / "a", tmp_path / "no" / "a", tmp_path / ("x" * 300)):
        for use in (Ledger.open, lambda place: Ledger.create(place, 1, "survey")):
            with pytest.raises(LedgerProblem) as error:
                use(place)
            tell(error)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_truncated_file_is_refused_or_whole(path):
    whole, data = content(path), path.read_bytes()
    for size in range(0, len(data), 512):
        path.write_bytes(data[:size])
        with pytest.raises(LedgerProblem) as error:
            Ledger.open(path)
        tell(error)
    path.write_bytes(data)
    assert content(path) == whole


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of a ledger of several pages, and what it says."""
    path = tmp_path_factory.mktemp("sound") / "a.ledger"
    ledger = Ledger.create(path, 100, "survey")
    for count in range(8):
        group = ledger.account.split(question="sex", parts=2)
        for index in range(3):
            ledger.account.part(group, index % 2).charge(Budget(Fraction(1, count + 2)), **ASK)
    ledger._store.close()
    assert len(path.read_bytes()) > 3 * 4096
    return path.read_bytes(), content(path)


places = st.one_of(st.integers(0, 99), st.integers(0, 4095), st.integers(0, 10**6))


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.lists(st.tuples(places, st.binary(min_size=1, max_size=8)), min_size=1, max_size=3))
@example(data=[(18, b"\x01\x01")])
@example(data=[(56, b"\x00\x00\x00\x02")])
def test_damaged_bytes_change_nothing_or_are_refused(sound, tmp_path, data):
    good, said = sound
    spoilt = bytearray(good)
    for offset, piece in data:
        spoilt[offset % len(good) : offset % len(good) + len(piece)] = piece
    place = tmp_path / "spoilt.ledger"
    for suffix in ("", "-wal", "-shm", "-journal"):
        (tmp_path / f"spoilt.ledger{suffix}").unlink(missing_ok=True)
    place.write_bytes(spoilt)
    try:
        assert content(place) == said
        receipt = Ledger.open(place).account.charge(Budget(1), **ASK)
        assert content(place)[2] == said[2] + 1 and content(place)[3] == [*said[3], receipt]
    except LedgerProblem as problem:
        assert "\n" not in str(problem)


def test_a_flipped_byte_in_the_schema_changes_nothing_or_is_refused(sound, tmp_path):
    good, said = sound
    start, end = good.index(b"tableaccounts") - 50, good.index(b"CREATE TABLE entries") + 120
    refused = 0
    for place in range(min(start, end - 700), end, 5):
        spoilt = tmp_path / f"{place}.ledger"
        spoilt.write_bytes(good[:place] + bytes([good[place] ^ 0xFF]) + good[place + 1 :])
        try:
            assert content(spoilt) == said
        except LedgerProblem as problem:
            refused += "\n" not in str(problem)
    assert refused > 20


def test_totals_out_of_order_are_refused(path):
    """All amounts are there, yet a lookup misses the total: a charge would start from zero."""
    data = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as raw:
        root = raw.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'accounts'").fetchone()[0]
    first = (root - 1) * 4096 + 8
    assert data[first - 8] == 10 and data[first - 5 : first - 3] == b"\0\3"
    data[first : first + 6] = data[first + 2 : first + 6] + data[first : first + 2]
    path.write_bytes(data)
    with pytest.raises(LedgerProblem, match="is damaged") as error:
        Ledger.open(path)
    tell(error)


def test_a_ledger_of_a_newer_format_asks_for_an_upgrade(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FORMAT", 2)
    Ledger.create(tmp_path / "a.ledger", 1, "survey")
    monkeypatch.undo()
    with pytest.raises(LedgerProblem, match="pip install -U veil") as error:
        Ledger.open(tmp_path / "a.ledger")
    tell(error)


def test_a_ledger_that_cannot_be_written_can_be_read(path, monkeypatch):
    keep = Ledger.open(path)  # its journal must exist for a reader who cannot write
    keep.verify()
    read_only = f"{path.as_uri()}?mode=ro"
    options = {"isolation_level": None, "check_same_thread": False, "uri": True}
    monkeypatch.setattr(Store, "_connect", lambda self: sqlite3.connect(read_only, **options))
    ledger = Ledger.open(path)
    assert ledger.spent == Fraction(6, 10)
    with pytest.raises(LedgerProblem, match="write permission") as error:
        ledger.account.charge(Budget("0.1"), **ASK)
    tell(error)
    assert ledger.spent == keep.spent == Fraction(6, 10)


def test_a_locked_ledger_is_refused_after_a_while_and_works_again(path):
    ledger = Ledger.open(path, patience=0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for use in (lambda: ledger.account.charge(Budget("0.1"), **ASK), lambda: ledger.account.split(question="q")):
            with pytest.raises(LedgerProblem, match="is locked by another program") as error:
                use()
            tell(error)
        assert ledger.spent == Fraction(6, 10)
    ledger.account.charge(Budget("0.1"), **ASK)
    assert ledger.spent == Fraction(7, 10) and ledger.verify() == 6


def test_a_ledger_locked_for_readers_too_is_refused(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerProblem, match="is locked by another program"):
            Ledger.open(path, patience=0.1)
    assert Ledger.open(path).verify() == 5


def test_a_full_disk_is_reported_and_charges_nothing(path):
    ledger = Ledger.open(path)
    with ledger._store.read() as connection:
        connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")
    charged = []
    with pytest.raises(LedgerProblem, match="the disk is full") as error:
        while True:
            charged.append(ledger.account.charge(Budget("1/10000"), **{**ASK, "question": "long " * 99}))
    tell(error)
    assert ledger.spent == Fraction(6, 10) + len(charged) * Fraction(1, 10000) and ledger.verify() == 5 + len(charged)
    ledger._store.close()
    ledger.account.charge(Budget("0.1"), **ASK)
    assert Ledger.open(path).spent == Fraction(7, 10) + len(charged) * Fraction(1, 10000)


def test_create_refuses_what_exists_and_leaves_it_alone(path, tmp_path):
    (tmp_path / "notes").write_text("mine")
    (tmp_path / "link").symlink_to("nowhere")
    for place in (path, tmp_path / "notes", tmp_path / "link"):
        before = place.read_bytes() if place.is_file() else None
        with pytest.raises(LedgerProblem, match="exists already") as error:
            Ledger.create(place, 2, "other")
        tell(error)
        assert (place.read_bytes() if place.is_file() else None) == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link", "notes", "survey.ledger"]


def test_create_refuses_to_inherit_the_journal_of_a_deleted_ledger(path):
    keep = Ledger.open(path)
    keep.account.charge(Budget("0.1"), **ASK)
    path.unlink()
    with pytest.raises(LedgerProblem, match="survey.ledger-wal belongs to") as error:
        Ledger.create(path, 50, "other")
    tell(error)
    assert not path.exists()


def test_one_of_many_who_create_at_once_wins(tmp_path):
    made, refused = [], []

    def create(limit):
        try:
            made.append(Ledger.create(tmp_path / "a.ledger", limit, "survey"))
        except LedgerProblem as problem:
            refused.append(problem)

    threads = [threading.Thread(target=create, args=(limit,)) for limit in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and len(refused) == 7
    assert Ledger.open(tmp_path / "a.ledger").id == made[0].id
    assert not [entry for entry in tmp_path.iterdir() if entry.suffix == ".draft"]


def test_a_failure_to_create_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", fail)
    with pytest.raises(LedgerProblem, match="cannot be created") as error:
        Ledger.create(tmp_path / "a.ledger", 1, "survey")
    tell(error)
    assert not list(tmp_path.iterdir())


def test_a_ledger_with_two_names_is_refused(path, tmp_path):
    ledger = Ledger.open(path)
    os.link(path, tmp_path / "twin.ledger")
    for use in (lambda: ledger.account.charge(Budget("0.1"), **ASK), lambda: Ledger.open(tmp_path / "twin.ledger")):
        with pytest.raises(LedgerProblem, match="has a second name") as error:
            use()
        tell(error)
    (tmp_path / "twin.ledger").unlink()
    assert ledger.spent == Fraction(6, 10)


def test_a_connection_made_by_another_process_is_not_used(path):
    ledger = Ledger.open(path)
    ledger._store._process -= 1  # as after a fork that Python did not see
    with pytest.raises(LedgerProblem, match="another process"):
        ledger.account.charge(Budget("0.1"), **ASK)
    assert Ledger.open(path).spent == Fraction(6, 10)


@pytest.mark.parametrize("fate", ["moved", "replaced", "deleted"])
def test_a_file_that_changes_places_under_an_open_ledger_is_noticed(path, tmp_path, fate):
    ledger = Ledger.open(path)
    shutil.copy(path, tmp_path / "backup")
    if fate == "replaced":
        os.replace(tmp_path / "backup", path)
    elif fate == "moved":
        path.rename(tmp_path / "elsewhere")
    else:
        path.unlink()
    for use in (lambda: ledger.account.charge(Budget("0.1"), **ASK), lambda: ledger.spent, ledger.verify):
        with pytest.raises(LedgerProblem, match="was moved or replaced|is gone") as error:
            use()
        tell(error)
