"""Budgets, charges, receipts, parts, units and runs."""

import copy
import json
import os
import pickle
import re
import threading
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from importlib.metadata import version

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from veil.display import runs_of
from veil.errors import BadInput, BudgetRefused, LedgerProblem
from veil.kernel import Budget, Ledger, Receipt, exact, store
from veil.kernel.budget import CHARGED, fits
from veil.kernel.ledger import Account

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


@pytest.mark.parametrize("place", ["postgresql://ann:secret@host/db?ledger=x", "clinic.ledger"])
def test_a_place_alone_is_told_how_to_open_it(place):
    with pytest.raises(BadInput, match=r"Ledger\.open\(\.\.\.\) opens one") as found:
        Ledger(place)
    assert "secret" not in str(found.value)


@pytest.mark.parametrize("name", ["l'année", 'a"b', "a\nb", "\0", "\ud800", "'); DROP TABLE entries; --", "数"])
def test_any_text_is_a_name(name, tmp_path):
    Ledger.create(tmp_path / "a.ledger", 1, name)
    assert Ledger.open(tmp_path / "a.ledger").name == Ledger(1, name).name == name


# Charges


def test_a_charge_is_in_the_file_when_it_returns(path):
    receipt = Ledger.open(path).account.charge(Budget(0.05), **ASK)
    last = json.loads(path.read_text().splitlines()[-1])
    assert (last["number"], last["hash"]) == (receipt.number, receipt.hash)
    assert last["body"]["epsilon"] == "1/20" and last["body"]["question"] == ASK["question"]


def test_a_charge_is_brought_to_the_disk_before_it_returns(path, monkeypatch):
    ledger, synced = Ledger.open(path), []
    monkeypatch.setattr(store, "_sync", lambda descriptor: synced.append(os.fstat(descriptor).st_size))
    ledger.account.charge(Budget(0.05), **ASK)
    assert synced == [path.stat().st_size]


def test_a_ledger_is_one_file(path):
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


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


def test_totals_stay_exact_however_long_they_get():
    ledger, oracle = Ledger(1, "survey"), Fraction(0)
    primes = [n for n in range(10**6, 10**6 + 14_000) if all(n % k for k in range(2, 1010))]
    for prime in primes:
        ledger.account.charge(Budget(Fraction(1, prime)), **ASK)
        oracle += Fraction(1, prime)
    ledger.account.charge(Budget(0.5), **ASK)
    assert bool(ledger.spent == oracle + Fraction(1, 2)) and ledger.verify()
    assert oracle.denominator > 10**4300 and "about 0.501 of 1 spent" in repr(ledger)
    shown = ledger.runs()[-1].to_dict()["total"]
    numerator, denominator = (int(text[:-4000]) * 10**4000 + int(text[-4000:]) for text in shown.split("/"))
    assert bool(Fraction(numerator, denominator) == ledger.spent)  # pytest could not show them


def test_one_charge_never_makes_a_later_one_too_long():
    ledger = Ledger(5, "survey")
    odd = Fraction(2**11990 + 1, 2**11999 + 1)
    with pytest.raises(BadInput, match="too many digits") as error:
        ledger.account.charge(Budget(odd), **ASK)
    tell(error)
    assert ledger.spent == 0
    ledger.account.charge(Budget(Fraction(2**2990 + 1, 2**2999 + 1)), **ASK)
    ledger.account.charge(Budget("1/10"), **ASK)
    assert ledger.spent == Fraction(2**2990 + 1, 2**2999 + 1) + Fraction(1, 10) and ledger.verify() == 3


digits = st.decimals(min_value="0.000000000001", max_value="999999.999999999999", places=12)


@given(digits | st.floats(min_value=5e-324, max_value=1e6), st.integers(1, 2**1000))
@example(5e-324, 2**1000)
@example(1e308, 2**1000)
def test_an_ordinary_charge_always_fits(epsilon, count):
    (first, *_) = Budget(Budget(epsilon).epsilon / count).each(1)
    assert fits(first.epsilon, CHARGED)


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
    ledger.run("train trees").charge(Budget(0.25), **ASK)
    title, header, line = str(ledger).splitlines()
    assert repr(ledger) == title
    assert title == "Ledger 'survey': 0.25 of 1 spent, 0.75 left"
    assert re.split("  +", header.strip()) == ["time (UTC)", "what for", "answers", "cost", "total", "private"]
    assert re.fullmatch(r"  \d{4}-\d\d-\d\d \d\d:\d\d  train trees  1        0.25  0.25   yes", line)
    ledger.account.charge(Budget(0.25), **{**ASK, "private": False})
    assert "not private" in str(ledger).splitlines()[-1] and "1 of 2 runs" in str(ledger)


def test_html_is_escaped():
    ledger = Ledger(1, "<script>alert(1)</script>")
    receipt = ledger.account.charge(Budget(0.5), **{**ASK, "question": "a < b & <img src=x>"})
    for html in (ledger._repr_html_(), receipt._repr_html_()):
        assert "<script>" not in html and "<img" not in html and "&lt;script&gt;" in html and "0.5" in html
    assert "a &lt; b &amp; &lt;img" in receipt._repr_html_()


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
    before = ledger.entries()
    with pytest.raises(BudgetRefused, match="0.5 is left"):
        deep.charge(Budget("0.6"), **ASK)
    assert ledger.entries() == before
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
    with ledger.turn(write=True) as (turn, known):
        for ask in (lambda: ledger.spent, lambda: ledger.account.charge(Budget("0.1"), **ASK)):
            with pytest.raises(LedgerProblem, match="in the middle of a charge"):
                ask()
        turn.append(known.next({**ASK, "kind": "charge", "account": "/", "epsilon": "1/2"})[0], known.place)
    assert ledger.spent == Fraction(1, 2)


# Units


def test_a_ledger_refuses_to_add_up_rows_and_people(ledger):
    people = {**ASK, "protects": "one person, at most 3 rows"}
    ledger.account.charge(Budget("0.1"), **people)
    ledger.account.charge(Budget("0.1"), **{**ASK, "protects": "one person, at most 1 rows"})
    with pytest.raises(LedgerProblem, match="would protect one row, but earlier ones in the ledger protect one person"):
        ledger.account.charge(Budget("0.1"), **ASK)
    assert ledger.spent == Fraction(2, 10) and ledger.verify() == 3
    other = Ledger(1, "survey")
    other.account.charge(Budget("0.1"), **ASK)
    with pytest.raises(LedgerProblem, match="one person, but .* protect one row.*another ledger") as error:
        other.account.charge(Budget("0.1"), **people)
    tell(error)


# Runs


def test_a_run_is_one_opening_of_the_rows(ledger):
    noted = ledger.noted("for the annual report", file="model.veil")
    account = noted.run("train trees")
    group = account.split(question="sex", parts=2)
    for index in (0, 1):
        account.part(group, index).charge(Budget("0.2"), **ASK)
    ledger.account.charge(Budget("0.1"), **{**ASK, "private": False})
    first, second = noted.runs()
    said = ("train trees", "model.veil", "for the annual report", 2, Fraction(1, 5), Fraction(1, 5), True, None)
    assert first[2:] == said
    assert second[2:] == ("ask: count", "", "", 1, Fraction(1, 10), Fraction(3, 10), False, None)
    assert first.run == account.run != second.run and ledger.runs() == [first, second]
    assert {receipt.note for receipt in ledger.receipts()} == {"for the annual report", ""}


def test_runs_that_take_turns_are_told_apart_and_add_up(ledger):
    one, two = ledger.run("one"), ledger.run("two")
    for account, epsilon in [(one, "0.1"), (two, "0.2"), (one, "0.3"), (two, "0.05")]:
        account.charge(Budget(epsilon), **ASK)
    found = [(run.purpose, run.answers, run.epsilon, run.total) for run in ledger.runs()]
    assert found == [("one", 2, Fraction(4, 10), Fraction(6, 10)), ("two", 2, Fraction(1, 4), Fraction(13, 20))]


def test_words_given_by_the_owner_come_before_those_of_a_method(ledger):
    receipt = ledger.noted(purpose="pilot").noted("a note").run("train trees").charge(Budget("0.1"), **ASK)
    assert (receipt.purpose, receipt.note, receipt.file) == ("pilot", "a note", "")
    for wrong in ({"note": "x" * 501}, {"note": 3}, {"purpose": None}):
        with pytest.raises(BadInput, match="texts of at most 500"):
            ledger.noted(**wrong)


def test_receipts_without_a_run_are_shown_by_their_time(ledger):
    receipts = [ledger.account.charge(Budget("0.1"), **ASK) for _ in range(3)]
    old = [replace(receipt, run="", time=f"2025-01-0{1 + i // 2}T10:00:00+00:00") for i, receipt in enumerate(receipts)]
    totals = [Fraction(i, 10) for i in (1, 2, 3)]
    assert [(run.answers, run.total) for run in runs_of(zip(old, totals, strict=True))] == [
        (2, Fraction(1, 5)),
        (1, Fraction(3, 10)),
    ]


def test_a_receipt_of_an_earlier_version_is_one_without_a_run(ledger):
    plain = ledger.account.charge(Budget("1/3"), **ASK).to_dict()
    old = {key: value for key, value in plain.items() if key not in ("run", "purpose", "note", "file")}
    assert Receipt(**{**old, "epsilon": Fraction(1, 3)}).run == "" and ledger.verify([old]) == 2


def test_many_runs_are_shortened_openly(ledger):
    for _ in range(25):
        ledger.account.charge(Budget("0.01"), **ASK)
    for shown in (str(ledger), ledger._repr_html_()):
        assert "... 5 earlier runs: ledger.runs()" in shown and shown.count("ask: count") == 20


def test_nothing_raw_from_a_name_reaches_the_terminal():
    ledger = Ledger(1, "sur\x1b[31mvey").noted("no\x1bte", purpose="pur\x1bpose", file="fi\x1ble")
    receipt = ledger.account.charge(Budget("0.1"), **{**ASK, "question": "age\x1b]0;owned\x07 by\r\nincome"})
    for shown in (repr(receipt), repr(ledger), str(ledger), receipt._repr_html_(), ledger._repr_html_()):
        assert not {"\x1b", "\x07", "\r"} & {*shown}
    assert len(repr(receipt).splitlines()) == 12


def test_a_noted_ledger_is_the_same_ledger(path):
    ledger = Ledger.open(path).noted("mine")
    twin = pickle.loads(pickle.dumps(ledger))
    assert twin.account.charge(Budget("0.1"), **ASK).note == "mine"
    assert ledger.spent == ledger.noted("other").spent == Fraction(7, 10)


def test_runs_that_overlap_end_with_all_that_is_spent(ledger):
    first, second = ledger.run("first"), ledger.run("second")
    for run in (first, second, first):
        run.charge(Budget("0.1"), **ASK)
    assert [run.purpose for run in ledger.runs()] == ["second", "first"] and ledger.runs()[-1].total == ledger.spent
