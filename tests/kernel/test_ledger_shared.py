"""Ledgers in PostgreSQL: the same chain, receipts and refusals, whatever befalls the server, its tables and writers.

They need PostgreSQL's server, which is started here for a moment; `make test-cluster` installs it.
"""

import gc
import os
import pickle
import random
import shlex
import shutil
import signal
import threading
import time
from contextlib import suppress
from fractions import Fraction
from itertools import count
from pathlib import Path

import pytest

from experiments import postgres
from experiments.bench import shared_attack
from shell import output, run
from veil import NaiveBayesClassifier, datasets, trusted, wording
from veil.cli.copying import copy
from veil.errors import BudgetRefused, LedgerProblem
from veil.kernel import Budget, Ledger, marks

psycopg = pytest.importorskip("psycopg", reason="the driver is not installed: pip install 'veil[postgres]'")
database = pytest.importorskip("veil.kernel.database")
pytestmark = pytest.mark.skipif(bool(postgres.missing()), reason=postgres.missing())
ASK = {"verb": "count", "question": "age by income", "noise": "operating system", "private": True}
SECRETS = ("se/cr@t", postgres.Server.password)
GUIDE = Path(__file__).parents[2] / "docs/guide/team.md"
TENTH = Budget("0.1")
numbers = count()


@pytest.fixture(scope="module")
def server():
    """A server that asks for a password."""
    started = postgres.Server("scram-sha-256")
    yield started
    started.remove()


@pytest.fixture
def address(server):
    """The address of a ledger that does not exist yet."""
    return server.address(f"clinic-{next(numbers)}")


@pytest.fixture
def ledger(address):
    """A new ledger of limit 1."""
    return Ledger.create(address, 1, "survey")


def charge(ledger, epsilon=TENTH):
    return ledger.account.charge(epsilon, **ASK)


def told(*arguments, place=None, use=charge):
    """The sentence by which something is refused, after checking that it is one and shows no password."""
    with pytest.raises(LedgerProblem) as error:
        use(*arguments)
    text = str(error.value)
    assert "\n" not in text and ": " in text and len(text) < 400 and not any(secret in text for secret in SECRETS)
    return text


def sql(server, *commands):
    with psycopg.connect(server.address().partition("?")[0], autocommit=True) as connection:
        return [connection.execute(command) for command in commands][-1]


def rows(server, ledger):
    """What is in the table, by number."""
    name = str(ledger.path).rpartition("=")[2]
    return dict(sql(server, f"SELECT number, line FROM veil_entries WHERE ledger = '{name}'").fetchall())


# The same ledger


def test_it_is_charged_refused_and_verified_as_any_other(ledger, address):
    receipts = [charge(ledger) for _ in range(9)]
    group = ledger.account.split(question="sex", parts=2)
    for part in (0, 1):
        ledger.account.part(group, part).charge(TENTH, **ASK)
    with pytest.raises(BudgetRefused, match="0 is left.*nothing was charged"):
        charge(ledger)
    again = Ledger.open(address)
    assert again.spent == ledger.spent == 1 and again.id == ledger.id and again.receipts()[:9] == receipts
    assert again.verify([receipt.to_dict() for receipt in receipts]) == 13
    assert again.account.ledger is again and repr(again) == "Ledger 'survey': 1 of 1 spent, 0 left"


def test_a_charge_is_in_the_table_when_it_returns_and_looks_like_the_line_of_a_file(server, ledger, tmp_path):
    receipt = charge(ledger)
    file = tmp_path / "a.ledger"
    file.write_text("".join(f"{line}\n" for _, line in sorted(rows(server, ledger).items())))
    assert Ledger.open(file).receipts() == [receipt]


def test_ledgers_of_one_database_have_accounts_of_their_own(server, ledger, address):
    other = Ledger.create(server.address("a%20b%27%3B--%25"), 2, "other")
    charge(ledger, Budget(1))
    charge(other, Budget("1.5"))
    assert (ledger.left, other.left) == (0, Fraction(1, 2))
    assert Ledger.open(server.address("a%20b%27%3B--%25")).name == "other"


@pytest.mark.parametrize("name", ["l'année", "a\nb", "\0", "\ud800", "数", "%s"])
def test_any_text_is_a_name(address, name):
    Ledger.create(address, 1, name)
    assert Ledger.open(address).name == name


def test_a_pickled_ledger_has_no_password(server, ledger, monkeypatch):
    data = pickle.dumps(ledger.noted("for a worker"))
    assert not any(secret.encode() in data for secret in SECRETS)
    assert "cannot be reached" in told(data, use=pickle.loads)
    monkeypatch.setenv("PGPASSWORD", "se/cr@t")
    assert charge(pickle.loads(data)).note == "for a worker" and ledger.spent == Fraction(1, 10)


def test_commands_take_an_address_and_show_no_password(files, address):
    said = [output("ledger", "create", address, "--limit", 2, "--name", "fair")]
    told = ["--schema", "fair.toml", "--epsilon", 1, "--ledger", address]
    said += [output("train", "fair.csv", *told, "--out", "m.veil")]
    said += [output("ledger", name, address, "--json") for name in ("show", "export", "verify")]
    said += [output("ledger", "verify", address, "--against", "m.veil")]
    assert "the ledger has 1 of 2 left" in said[1] and "is sound" in said[-1]
    made = b"".join(path.read_bytes() for path in Path().iterdir())
    assert not any(secret in "".join(said) or secret.encode() in made for secret in SECRETS)
    assert "kernel/database.py" in Path("m.html").read_text()


def test_the_commands_of_the_guide_do_what_it_says(files, server):
    for name in ("fair.csv", "fair.toml"):
        Path(name.replace("fair", "clinic")).write_text(Path(name).read_text().replace('"fair"', '"clinic"'))
    charge(Ledger.create("clinic.ledger", 1, "clinic"))
    commands = [
        shlex.split(line) for line in GUIDE.read_text(encoding="utf-8").splitlines() if line.startswith("veil ")
    ]
    for _, *command in commands:
        here = server.address("guide-copied" if "copy" in command else "guide")
        output(*(here if part.startswith("postgresql://") else part for part in command))
    assert len(commands) == 4 and Ledger.open(server.address("guide")).left == 1
    assert Ledger.open(server.address("guide-copied")).spent == Fraction(1, 10)


def test_only_a_result_that_was_charged_there_has_the_database_on_its_list(ledger, address):
    flowers, schema = datasets.load("iris")
    Ledger.create(f"{address}-iris", 9, schema.name)
    for place, listed in ((f"{address}-iris", True), (Ledger(9, schema.name), False)):
        model = NaiveBayesClassifier(epsilon=9, schema=schema, ledger=place).fit(flowers)
        outcome = model.outcome_
        used = trusted.files_used(outcome.schema, outcome.releases, outcome.receipts)
        assert ("kernel/database.py" in [file.name for file in used]) == listed


# The tables


def test_entries_can_be_neither_changed_nor_removed(server, ledger):
    charge(ledger)
    before = rows(server, ledger)
    for command in (
        "UPDATE veil_entries SET line = ''",
        "DELETE FROM veil_entries",
        "TRUNCATE veil_entries",
        "TRUNCATE veil_ledgers CASCADE",
        "UPDATE veil_ledgers SET name = 'other'",
        "DELETE FROM veil_ledgers",
        "INSERT INTO veil_entries SELECT * FROM veil_entries ON CONFLICT (ledger, number) DO UPDATE SET line = ''",
    ):
        with pytest.raises(psycopg.errors.RaiseException, match="a ledger only grows"):
            sql(server, command)
    assert rows(server, ledger) == before and ledger.verify() == 2


def test_the_rights_of_the_guide_are_enough_to_charge_and_no_more(server, ledger, address):
    guide = GUIDE.read_text(encoding="utf-8")
    grants = [line.rstrip(";") for line in guide.splitlines() if line.startswith(("GRANT", "CREATE ROLE"))]
    assert len(grants) == 3
    sql(
        server,
        *grants,
        "CREATE ROLE ann LOGIN PASSWORD 'se/cr@t' IN ROLE team",
        "CREATE ROLE bob LOGIN PASSWORD 'se/cr@t'",
    )
    charge(Ledger.open(address.replace("veil:", "ann:")))
    assert ledger.spent == Fraction(1, 10)
    assert "ask the owner of its database for the rights" in told(address.replace("veil:", "bob:"), use=Ledger.open)
    with psycopg.connect(server.address(user="ann").partition("?")[0], autocommit=True) as ann:
        for command in ("UPDATE veil_entries SET line = ''", "DELETE FROM veil_entries", "DELETE FROM veil_ledgers"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                ann.execute(command)
        with pytest.raises(psycopg.errors.RaiseException):
            ann.execute("UPDATE veil_ledgers SET name = 'x'")


@pytest.fixture
def hostile(server, ledger):
    """Runs SQL on the tables as somebody who is allowed everything, and leaves nothing of it behind."""
    charge(ledger)
    charge(ledger)
    assert ledger.verify() == 3  # by now the last entry was read, too
    name = str(ledger.path).rpartition("=")[2]

    def harm(command):
        sql(server, "SET session_replication_role = replica", command.format(f"ledger = '{name}'"))

    yield harm
    with suppress(psycopg.Error):
        sql(server, "SET session_replication_role = replica", f"DELETE FROM veil_entries WHERE ledger = '{name}'")


@pytest.mark.parametrize(
    ("command", "opened", "anew"),
    [
        ("UPDATE veil_entries SET line = replace(line, '1/10', '1/99') WHERE {} AND number = 2", "", "does not match"),
        ("UPDATE veil_entries SET line = 'é' || chr(10) WHERE {} AND number = 3", "changed while", "does not match"),
        ("UPDATE veil_entries SET number = 9 WHERE {} AND number = 3", "changed while", "changed while"),
        ("DELETE FROM veil_entries WHERE {} AND number = 2", "", "changed while"),
        ("DELETE FROM veil_entries WHERE {} AND number = 3", "changed while", "is not the newest copy"),
        ("DELETE FROM veil_entries WHERE {}", "changed while", "is not a ledger"),
        (
            "INSERT INTO veil_entries SELECT ledger, 4, line FROM veil_entries WHERE {} AND number = 3",
            "entry 4",
            "entry 4",
        ),
    ],
)
def test_entries_that_somebody_changed_all_the_same_are_refused(ledger, address, hostile, command, opened, anew):
    hostile(command)
    assert anew in told(address, use=Ledger.open)
    if opened:
        assert opened in told(ledger)


def test_tables_that_are_not_veils_are_refused(server):
    sql(server, "CREATE DATABASE odd")
    place = server.address(database="odd")
    assert "there is no ledger" in told(place, use=Ledger.open)
    with psycopg.connect(place.partition("?")[0], autocommit=True) as odd:
        odd.execute("CREATE TABLE veil_ledgers (name int)")
        assert "tables are not as Veil made them" in told(place, use=Ledger.open)
        assert "tables are not as Veil made them" in told(place, 1, "survey", use=Ledger.create)
        odd.execute("DROP TABLE veil_ledgers; CREATE TABLE veil_ledgers (name text)")
        odd.execute("CREATE TABLE veil_entries (ledger text, number numeric, line text)")
        odd.execute("INSERT INTO veil_ledgers VALUES ('clinic'); INSERT INTO veil_entries VALUES ('clinic', 1, NULL)")
        assert "not a ledger" in told(place, use=Ledger.open)


def test_a_trigger_that_alters_what_is_written_leads_to_no_answer(server, ledger):
    twist = "BEGIN NEW.line = replace(NEW.line, '1/10', '1/99'); RETURN NEW; END"
    sql(
        server,
        f"CREATE FUNCTION twist() RETURNS trigger LANGUAGE plpgsql AS $${twist}$$",
        "CREATE TRIGGER twist BEFORE INSERT ON veil_entries FOR EACH ROW EXECUTE FUNCTION twist()",
    )
    try:
        assert "changed while it was open" in told(ledger)
    finally:
        sql(server, "DROP TRIGGER twist ON veil_entries")
    assert charge(ledger).number == 2 and ledger.verify() == 2


# What is not there, and what is there already


def test_places_without_a_ledger_are_one_sentence_each(server, ledger, address):
    assert "there is no ledger postgresql://veil@127.0.0.1" in told(server.address("none"), use=Ledger.open)
    assert "cannot be reached" in told(server.address(database="none"), use=Ledger.open)
    wrong = address.replace(server.password, "wrong")
    assert "cannot be reached" in told(wrong, use=Ledger.open) and "wrong" not in told(wrong, use=Ledger.open)


def test_an_existing_ledger_is_left_alone(server, ledger, address):
    charge(ledger)
    before = rows(server, ledger)
    assert "exists already" in told(address, 9, "survey", use=Ledger.create)
    assert rows(server, ledger) == before and Ledger.open(address).limit == 1


def test_one_of_many_who_make_the_same_ledger_at_once_makes_it(server):
    sql(server, "CREATE DATABASE new")
    made, refused = [], []

    def make(limit):
        try:
            made.append(Ledger.create(server.address(database="new"), limit, "survey").limit)
        except LedgerProblem as problem:
            refused.append(str(problem))

    threads = [threading.Thread(target=make, args=(limit,)) for limit in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and len(refused) == 5 and all("exists already" in text for text in refused)
    assert Ledger.open(server.address(database="new")).limit == made[0]


def test_a_server_that_only_reads_takes_no_charge(server, ledger, address):
    charge(ledger)
    reader = Ledger.open(f"{address}&options=-cdefault_transaction_read_only%3Don")
    assert reader.spent == Fraction(1, 10) and "its server is read-only" in told(reader)
    assert ledger.spent == Fraction(1, 10)


def test_a_ledger_that_somebody_holds_is_waited_for_and_then_refused(server, address, ledger):
    hurried = Ledger.open(address, patience=0.2)
    name = str(ledger.path).rpartition("=")[2]
    with psycopg.connect(server.address().partition("?")[0]) as other:
        other.execute("SELECT * FROM veil_ledgers WHERE name = %s FOR UPDATE", (name,))
        assert "is locked by another program" in told(hurried)
        assert hurried.spent == 0  # to read it needs no lock
    assert charge(hurried).number == 2


# Servers and connections that go away


def test_a_server_that_was_started_again_is_found_again(server, ledger):
    charge(ledger)
    server.stop()
    assert "cannot be reached" in told(ledger)
    server.start()
    assert charge(ledger).number == 3 and ledger.verify() == 3


def test_a_connection_that_was_ended_between_charges_is_made_anew(server, ledger):
    charge(ledger)
    sql(server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname > ''")
    assert charge(ledger).number == 3


@pytest.fixture
def at(monkeypatch):
    """Does something before, or after, the first statement of this kind that is executed, or a later one."""

    def meddle(kind, *, before=lambda: None, after=lambda: None, place=1):
        execute, seen = psycopg.Connection.execute, []

        def meddled(self, query, *more, **options):
            if (query if isinstance(query, str) else query.decode()).lstrip().startswith(kind):
                seen.append(query)
            if mine := len(seen) == place and seen[-1] is query:
                seen.append(None)
                before()
            done = execute(self, query, *more, **options)
            if mine:
                after()
            return done

        monkeypatch.setattr(psycopg.Connection, "execute", meddled)

    return meddle


@pytest.mark.parametrize("kind", ["SELECT name", "SELECT number", "INSERT"])
def test_a_server_that_is_lost_before_the_commit_has_charged_nothing(server, ledger, at, kind):
    charge(ledger)
    at(kind, before=server.stop)
    try:
        assert "cannot be reached" in told(ledger)
    finally:
        server.start()
    assert ledger.spent == Fraction(1, 10) and charge(ledger).number == 3


@pytest.mark.slow  # a crash takes seconds to recover from
def test_a_server_that_is_lost_at_the_commit_may_have_charged_and_nothing_is_answered(server, ledger, at):
    at("COMMIT", before=lambda: server.stop("immediate"))
    try:
        text = told(ledger)
    finally:
        server.start()
    assert "may have been charged, and nothing was answered" in text
    assert ledger.spent in (0, Fraction(1, 10)) and charge(ledger) and ledger.verify()


def test_a_commit_whose_answer_is_lost_is_not_answered_and_stays_charged(ledger, at):
    def lose():
        raise psycopg.OperationalError("the connection is lost")

    at("COMMIT", after=lose)
    assert "may have been charged" in told(ledger)
    assert ledger.spent == Fraction(1, 10)


def test_a_transaction_that_the_server_rolls_back_is_not_answered(ledger, at):
    """An error that nobody reported, as when a child uses the connection: COMMIT then answers ROLLBACK, without one."""
    connections = ledger._kept.store._connections

    def spoil():
        with suppress(psycopg.Error):
            connections[os.getpid()].execute("SELECT 1/0")

    at("COMMIT", before=spoil)
    assert "may have been charged" in told(ledger)
    assert ledger.spent == 0


@pytest.mark.parametrize("kind", ["BEGIN", "SELECT name", "SELECT number", "INSERT", "COMMIT"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupt_leaves_a_usable_ledger(ledger, at, kind, when):
    def interrupt():
        raise KeyboardInterrupt

    charge(ledger)
    at(kind, **{when: interrupt})
    with pytest.raises(KeyboardInterrupt):
        charge(ledger)
    assert ledger.spent == (Fraction(2, 10) if (kind, when) == ("COMMIT", "after") else Fraction(1, 10))
    assert charge(ledger) and ledger.verify() == ledger.receipts()[-1].number


def test_a_full_disk_of_the_server_leads_to_no_answer(ledger, at):
    def full():
        raise psycopg.errors.DiskFull("could not extend file")

    at("INSERT", before=full)
    assert "the disk of its server is full" in told(ledger)
    assert ledger.spent == 0 and charge(ledger)


def test_a_command_whose_server_is_lost_says_that_charges_stay(files, server, address, start, at):
    Ledger.create(address, 2, "fair")
    at("COMMIT", before=server.stop)
    try:
        told = ["--schema", "fair.toml", "--epsilon", 1, "--ledger", address, "--method", "naive-bayes"]
        code, _, err = start("train", "fair.csv", *told, "--out", "m.veil")
    finally:
        server.start()
    assert code == 2 and "what was charged to the ledger since the start stays charged" in err
    assert "may have been charged, and nothing was answered" in err and not Path("m.veil").exists()


# An old copy


def test_a_database_restored_from_a_backup_is_refused_where_the_newer_one_was_charged(server, ledger, address, hostile):
    charge(ledger)
    hostile("DELETE FROM veil_entries WHERE {} AND number = 4")
    assert "is not the newest copy" in told(ledger)
    assert "is not the newest copy: entry 4, which was charged on this machine, is missing" in told(
        address, use=Ledger.open
    )
    Path(marks.place(ledger.id)).unlink()
    assert Ledger.open(address).spent == Fraction(2, 10)  # elsewhere it looks sound: only receipts tell


# Processes


def child(work):
    """Runs something in a forked child and gives its exit code, 0 if nothing was raised."""
    process = os.fork()
    if not process:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test_no_connection_is_shared_by_a_fork(ledger):
    charge(ledger)
    mine = ledger._kept.store._connections[os.getpid()].info.backend_pid

    def work():
        charge(ledger)
        assert ledger._kept.store._connections[os.getpid()].info.backend_pid != mine

    assert [child(work) for _ in range(3)] == [0] * 3
    gone = Ledger.open(ledger._kept.store._address + f"?ledger={ledger._kept.store.ledger}")
    charge(gone)
    kept = gone._kept.store._connections[os.getpid()]

    def drop():
        gone.__dict__.clear()  # the child's copy goes, and must not say goodbye on its parent's connection
        gc.collect()

    assert child(drop) == 0
    assert charge(gone).number == 7 and gone._kept.store._connections[os.getpid()] is kept
    assert charge(ledger).number == 8
    assert ledger._kept.store._connections[os.getpid()].info.backend_pid == mine


def test_a_signal_handler_that_forks_in_the_middle_of_a_charge_gets_one_answer(ledger, at, tmp_path):
    """The child shares the connection and would go on with the charge: it finds that it is another process."""
    children = []
    for kind in ("SELECT name", "SELECT number", "INSERT", "COMMIT"):
        before, (mine, its) = ledger.spent, os.pipe()
        at(kind, after=lambda: children.append(os.fork()))
        try:
            charge(ledger, Budget("1/100"))
            os.write(its, b"!")
        except LedgerProblem:
            pass
        finally:
            if not children[-1]:
                os._exit(0)
        os.waitpid(children[-1], 0)
        os.close(its)
        answers = len(os.read(mine, 9))
        os.close(mine)
        assert answers == 1 and ledger.spent - before == Fraction(1, 100)
        charge(ledger, Budget("1/100"))
    assert ledger.verify() == 9


def test_sixteen_processes_spend_exactly_the_limit(server, ledger, address, tmp_path):
    def spend(opened, file):
        with suppress(BudgetRefused), open(file, "a") as answers:
            while True:
                answers.write(f"{charge(opened, Budget('1/64')).number}\n")

    started = []
    for number in range(16):
        started.append(os.fork())
        if not started[-1]:
            with suppress(BaseException):
                spend(ledger if number % 2 else Ledger.open(address), tmp_path / f"{number}")
            os._exit(0)
    for process in started:
        os.waitpid(process, 0)
    answers = sorted(int(line) for path in tmp_path.iterdir() for line in path.read_text().split())
    assert answers == [*range(2, 66)] and ledger.spent == 1 and ledger.verify() == 65


def test_whoever_is_killed_with_the_lock_in_hand_does_not_keep_it(ledger, at):
    process = os.fork()
    if not process:
        at("COMMIT", before=lambda: os.kill(os.getpid(), signal.SIGKILL))
        charge(ledger)
    os.waitpid(process, 0)
    start = time.monotonic()
    assert charge(ledger).number == 2 and time.monotonic() - start < 20


def test_whoever_hangs_with_the_lock_in_hand_loses_it(address, ledger, at):
    """As a machine does that is cut off: its connection stays, and nothing comes from it any more."""
    hung = Ledger.open(address, patience=1)
    process = os.fork()
    if not process:
        at("COMMIT", before=lambda: os.kill(os.getpid(), signal.SIGSTOP))
        with suppress(LedgerProblem):
            charge(hung)
            os._exit(1)  # answered, though its transaction was taken away
        os._exit(0)
    os.waitpid(process, os.WUNTRACED)
    assert charge(ledger).number == 2
    os.kill(process, signal.SIGCONT)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert ledger.spent == Fraction(1, 10) and ledger.verify() == 2


# A short run of the attack whose result is kept, experiments/bench/shared-attack.json


@pytest.mark.slow
def test_kills_and_a_crash_lose_and_overspend_nothing(server, tmp_path):
    found = shared_attack.attack(server, tmp_path, 1, 10, random.Random(1))
    assert not [kind for kind in shared_attack.BAD if found[kind]] and found["answers"] > 10, found


@pytest.mark.slow
def test_the_attack_finds_a_ledger_that_answers_before_it_commits(server, tmp_path, monkeypatch):
    commit = database.Database.commit

    def sometimes(self, connection, unsure):
        return None if unsure == wording.UNSURE and random.random() < 0.2 else commit(self, connection, unsure)

    monkeypatch.setattr(database.Database, "commit", sometimes)
    monkeypatch.setattr(marks, "write", lambda *_: None)  # which show it by themselves
    found = shared_attack.attack(server, tmp_path, 10, 4, random.Random(2))
    assert found["lost"] > 0 and found["unsound"] > 0, found


# Copies


@pytest.fixture
def file(tmp_path):
    """A ledger file with charges, a split and a charge to one of its parts."""
    ledger = Ledger.create(tmp_path / "survey.ledger", 1, "l'année\n\ud800")
    charge(ledger)
    ledger.account.part(ledger.account.split(question="sex", parts=2), 1).charge(Budget("0.3"), **ASK)
    return ledger


def test_a_copy_has_every_entry_and_the_old_ledger_is_closed(file, address):
    receipts = [receipt.to_dict() for receipt in file.receipts()]
    said = output("ledger", "copy", file.path, address)
    new = Ledger.open(address)
    assert "6 entries" in said and not any(secret in said for secret in SECRETS)
    assert (new.id, new.name, new.limit, new.spent) == (file.id, file.name, 1, Fraction(4, 10))
    assert new.verify(receipts) == 6 and file.verify(receipts) == 5 and new.moved == ""
    assert "is closed, it went to postgresql://veil@127.0.0.1" in told(file) and new.path in told(file)
    charge(new, Budget("0.6"))
    assert new.left == 0 and Ledger.open(file.path).moved == new.path  # the newer mark does not hide where it went
    assert not any(secret.encode() in file.path.read_bytes() for secret in SECRETS)


def test_a_backup_of_the_old_ledger_is_refused_on_the_machine_that_copied_it(file, address, tmp_path):
    shutil.copy(file.path, tmp_path / "backup")
    copy(file, address)
    assert "is not the newest copy" in told(tmp_path / "backup", use=Ledger.open)


def test_a_ledger_is_copied_once(server, file, address):
    copy(file, address)
    assert "is closed, it went to" in told(file, server.address("elsewhere"), use=copy)
    assert "exists already" in told(file, address, use=copy)
    assert "there is no ledger" in told(server.address("elsewhere"), use=Ledger.open)


def test_a_copy_to_a_ledger_that_exists_leaves_both_alone(file, ledger, address):
    assert "exists already" in told(file, address, use=copy)
    assert charge(file) and charge(ledger)


def test_a_copy_that_loses_its_server_is_finished_by_the_same_command(server, file, address, at):
    at("COMMIT", before=server.stop, place=2)  # the first is that of the sign in the database
    try:
        assert "run the same command again" in told(file, address, use=copy)
    finally:
        server.start()
    assert "is closed" in told(file) and "there is no" in told(address, use=Ledger.open)
    assert copy(file, address) == 6 and charge(Ledger.open(address)).number == 7


def test_a_copy_that_loses_its_server_before_it_begins_leaves_the_old_ledger_open(server, file, address, at):
    at("COMMIT", before=server.stop)
    try:
        assert "may have been made, or not" in told(file, address, use=copy)
    finally:
        server.start()
    assert charge(file).number == 5 and copy(file, address) == 7 and "is closed" in told(file)


@pytest.fixture
def elsewhere(server, monkeypatch):
    """An address without host and database, and a function by which it leads to another database from then on."""
    settings = {"HOST": "127.0.0.1", "PORT": server.port, "USER": "veil", "PASSWORD": "se/cr@t"}
    names = iter([f"db{next(numbers)}", f"db{next(numbers)}"])

    def turn():
        monkeypatch.setenv("PGDATABASE", name := next(names))
        sql(server, f"CREATE DATABASE {name}")

    for name, value in settings.items():
        monkeypatch.setenv(f"PG{name}", str(value))
    turn()
    return "postgresql:///?ledger=clinic", turn


def test_a_ledger_is_not_copied_again_to_where_its_address_leads_by_then(file, elsewhere):
    address, turn = elsewhere
    copy(file, address)
    turn()
    assert "another database now than the one where the copy began" in told(file, address, use=copy)
    Ledger.create("postgresql:///?ledger=another", 1, "other")  # the tables are there
    assert "find the first" in told(file, address, use=copy)
    assert "there is no" in told(address, use=Ledger.open)


def test_a_copy_whose_end_is_not_known_is_finished_nowhere_else(file, elsewhere, at):
    """Its server may have it after all."""
    address, turn = elsewhere

    def lose():
        raise psycopg.OperationalError

    at("COMMIT", after=lose, place=2)
    assert "run the same command again" in told(file, address, use=copy)
    turn()
    assert "another database now" in told(file, address, use=copy)


def test_a_copy_cannot_be_charged_before_the_old_one_is_closed(file, address, monkeypatch):
    def full(*_):
        raise LedgerProblem("ledger survey.ledger cannot grow: the disk is full")

    monkeypatch.setattr(file, "append", full, raising=False)
    assert "disk is full" in told(file, address, use=copy)
    assert "there is no" in told(address, use=Ledger.open) and charge(Ledger.open(file.path))


def test_a_ledger_moves_from_one_database_to_another(server, ledger, address):
    charge(ledger)
    assert copy(ledger, f"{address}-moved") == 4
    assert "is closed" in told(ledger) and charge(Ledger.open(f"{address}-moved")).number == 5
    assert run("ledger", "verify", address).exit_code == 0
