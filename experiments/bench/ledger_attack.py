"""Attack a ledger: sixteen processes charge it, are killed at any moment and started again, while others disturb it.

Every answered charge is written down by its writer after the charge returned. After each round, what was answered is
held against the ledger:

- overspent: answers of one history (a chain of hashes) that cost more than the limit together;
- undercounted: answers that the file does not account for, after a round in which nobody destroyed any of it;
- unseen: answers that are missing after somebody did, though the ledger opens and agrees with all receipts.

`make audit-ledger` goes on where it was stopped: what was found so far is in a small file, round by round.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

from veil.errors import BudgetRefused, LedgerProblem
from veil.kernel import Budget, Ledger

WRITERS = 16
LIMIT = Fraction(1)
COSTS = [Fraction(n, 1000) for n in (1, 2, 3, 7)] + [Fraction(1, 700)]
ASK = {"verb": "count", "question": "age by income", "noise": "operating system", "private": True}
KINDS = ("overspent", "undercounted", "unseen")
PAUSE = 0.004  # seconds between two kills, on average
RESULT = Path(__file__).parent / "ledger-attack.json"


# What writers do


def write(folder: Path, inherited: Ledger | None, seed: int) -> None:
    """Charge until killed, copying the ledger now and then, and charging another one in between."""
    chance, path = random.Random(seed), folder / "a.ledger"
    signal.signal(signal.SIGUSR1, lambda *_: fork_a_child(chance))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    answers = os.open(folder / f"{seed}.answers", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    ledger = inherited
    while True:
        try:
            ledger = ledger or Ledger.open(path)
            account = ledger.account
            if chance.random() < 0.2:  # a part, of which the siblings are never charged: it costs what it costs
                account = account.part(account.split(question="sex", parts=2), 1)
            answer(answers, ledger, account, chance.choice(COSTS))
            meddle(folder, path, chance)
        except BudgetRefused:
            time.sleep(0.02)
        except (LedgerProblem, OSError) as problem:
            note(folder, f"{seed} {problem}")
            time.sleep(0.02)
            ledger = None if chance.random() < 0.7 else ledger


def answer(file: int, ledger: Ledger, account, cost: Fraction) -> None:
    """Charge, and write down what was answered, with the entry that it follows."""
    receipt = account.charge(Budget(cost), **ASK)
    before = ledger._kept.known.hashes[receipt.number - 2]
    os.write(file, f"{receipt.number} {receipt.hash} {before} {cost} {receipt.ledger}\n".encode())


def meddle(folder: Path, path: Path, chance: random.Random) -> None:
    """What programs do to files in the process that charges them: copy, open and close, charge others."""
    luck = chance.random()
    if luck < 0.1:
        shutil.copy(path, folder / f"{os.getpid()}.copy")
    elif luck < 0.2:
        open(path, "rb").close()
    elif luck < 0.25:
        Ledger.open(folder / "other.ledger").account.charge(Budget("1/1000"), **ASK)


def fork_a_child(chance: random.Random) -> None:
    """In a signal handler, in the middle of whatever it is: a child that has everything open, for a moment."""
    if not os.fork():
        time.sleep(chance.random() * 0.01)
        os._exit(0)


def note(folder: Path, text: str) -> None:
    with open(folder / "refusals", "a") as file:
        file.write(text + "\n")


# What others do to the file meanwhile


def show(path: Path, chance: random.Random) -> None:
    """As `veil ledger show` in another window, which is closed at any moment."""
    child = os.fork()
    if not child:
        with suppress(BaseException):
            repr(Ledger.open(path))
        os._exit(0)
    time.sleep(chance.random() * 0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def move_and_back(path: Path, chance: random.Random) -> None:
    os.rename(path, path.with_suffix(".moved"))
    time.sleep(chance.random() * 0.01)
    os.rename(path.with_suffix(".moved"), path)


def link_and_unlink(path: Path, chance: random.Random) -> None:
    os.link(path, path.with_suffix(".twin"))
    time.sleep(chance.random() * 0.01)
    os.unlink(path.with_suffix(".twin"))


def tidy_up(path: Path, chance: random.Random) -> None:
    """Remove all that looks as if it had been left behind."""
    for name in path.parent.glob("a.ledger?*"):
        name.unlink()


def old_copy(path: Path, chance: random.Random) -> bytes:
    data = path.read_bytes()
    time.sleep(chance.random() * 0.05)
    return data


def restore_by_rename(path: Path, chance: random.Random) -> None:
    path.with_suffix(".old").write_bytes(old_copy(path, chance))
    os.replace(path.with_suffix(".old"), path)


def restore_in_place(path: Path, chance: random.Random) -> None:
    path.write_bytes(old_copy(path, chance))


def cut_the_end(path: Path, chance: random.Random) -> None:
    os.truncate(path, max(path.stat().st_size - chance.randint(1, 700), 0))


def remove_and_restore(path: Path, chance: random.Random) -> None:
    data = old_copy(path, chance)
    path.unlink()
    time.sleep(chance.random() * 0.01)
    path.write_bytes(data)


def remove(path: Path, chance: random.Random) -> None:
    path.unlink()


def append_rubbish(path: Path, chance: random.Random) -> None:
    with open(path, "ab") as file:
        file.write(chance.randbytes(chance.randint(1, 60)) + b"\n" * chance.randint(0, 1))


HARMLESS = (show, move_and_back, link_and_unlink, tidy_up)
HARMFUL = (restore_by_rename, restore_in_place, cut_the_end, remove_and_restore, remove, append_rubbish)


# One round


def attack(folder: Path, kills: int, chance: random.Random, harm: bool) -> dict[str, int]:
    """What one round with a new ledger came to, as counts by name."""
    os.environ["VEIL_STATE"] = str(folder / "marks")
    path, found = folder / "a.ledger", Counter[str]()
    ledger, _ = Ledger.create(path, LIMIT, "survey"), Ledger.create(folder / "other.ledger", 10**6, "survey")
    writers = [start(folder, ledger, chance) for _ in range(WRITERS)]
    fatal = chance.randrange(kills // 4) if harm else -1
    kills = fatal + kills // 8 if harm else kills  # little happens after the harm is done
    for killed in range(kills):
        time.sleep(chance.expovariate(1 / PAUSE))
        if killed == fatal or chance.random() < 0.15:
            disturb(path, chance, HARMFUL if killed == fatal else HARMLESS, found)
        os.kill(chance.choice(writers), signal.SIGUSR1)
        place = chance.randrange(WRITERS)
        end(writers[place])
        writers[place] = start(folder, ledger, chance)
    for writer in writers:
        end(writer)
    found["kills"], found["rounds"] = kills + WRITERS, 1
    return found + judge(folder, path, ledger, harm)


def start(folder: Path, ledger: Ledger, chance: random.Random) -> int:
    seed, inherits = chance.getrandbits(48), chance.random() < 0.5
    child = os.fork()
    if child:
        return child
    try:
        write(folder, ledger if inherits else None, seed)
    except BaseException as problem:  # nothing but a kill ends a writer
        note(folder, f"{seed} UNFORESEEN {type(problem).__name__} {problem}")
    finally:
        os._exit(1)


def end(writer: int) -> None:
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)


def disturb(path: Path, chance: random.Random, ways, found: Counter[str]) -> None:
    way = chance.choice(ways)
    with suppress(FileNotFoundError, FileExistsError):
        way(path, chance)
        found[way.__name__] += 1


def judge(folder: Path, path: Path, ledger: Ledger, harm: bool) -> Counter[str]:
    """Hold what was answered against the ledger."""
    lines = [line.split() for file in folder.glob("*.answers") for line in file.read_text().split("\n")[:-1]]
    answers = {hash: (int(number), before, Fraction(cost)) for number, hash, before, cost, _ in lines}
    text = (folder / "refusals").read_text() if (folder / "refusals").exists() else ""
    found = Counter(answers=len(lines), refusals=text.count("\n"), unforeseen=text.count("UNFORESEEN"))
    found["overspent"] = int(len(answers) < len(lines)) + overspent(answers, path)
    witnesses = [{"ledger": ledger.id, "number": n, "hash": hash} for hash, (n, _, _) in answers.items()]
    state, kept = look(path, witnesses)
    missing = [hash for hash in answers if hash not in kept]
    if not harm:
        found["undercounted"] = len(missing) + (state != "sound")
    elif missing:
        found[f"seen by {state}" if state != "sound" else "unseen"] += 1
        found["seen by an open ledger"] += refuses(ledger)
    else:
        found["nothing answered was lost"] += 1
    return found


def overspent(answers, path: Path) -> int:
    """How many answers bring the answers of their history over the limit."""
    before, cost = {}, {}
    with suppress(OSError, ValueError, KeyError):
        entries = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
        before = {one["hash"]: other["hash"] for other, one in zip(entries, entries[1:], strict=False)}
    before |= {hash: parent for hash, (_, parent, _) in answers.items()}
    for hash, _ in sorted(answers.items(), key=lambda item: item[1][0]):
        chain, place = answers[hash][2], before.get(hash)
        while place is not None and place not in cost:
            chain, place = chain + (answers[place][2] if place in answers else 0), before.get(place)
        cost[hash] = chain + cost.get(place, 0)
    return sum(total > LIMIT for total in cost.values())


def look(path: Path, witnesses) -> tuple[str, set[str]]:
    """How a new process finds the ledger, and the hashes of its entries."""
    try:
        ledger = Ledger.open(path)
    except LedgerProblem:
        return "a new process", set()
    kept = {entry[2] for entry, _ in ledger.entries()}
    assert ledger.spent <= LIMIT
    try:
        ledger.verify(witnesses)
    except LedgerProblem:
        return "receipts", kept
    return "sound", kept


def refuses(ledger: Ledger) -> bool:
    try:
        ledger.account.charge(Budget("1/100000"), **ASK)
    except LedgerProblem:
        return True
    return False


# All rounds


def rooms() -> list[str]:
    """Where ledgers are attacked: on the disk, and in memory where that is a file system, which is faster."""
    return [tempfile.gettempdir(), *(["/dev/shm"] if os.access("/dev/shm", os.W_OK) else [])]


def one_round(kills: int, seed: int, where: str) -> dict[str, int]:
    folder = Path(tempfile.mkdtemp(dir=where, prefix="ledger-"))
    try:
        return attack(folder, kills, random.Random(seed), harm=seed % 2 == 1)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10_000)
    parser.add_argument("--result", type=Path, default=RESULT)
    parser.add_argument("--fresh", action="store_true", help="begin again")
    given = parser.parse_args()
    found = Counter(json.loads(given.result.read_text())) if given.result.exists() and not given.fresh else Counter()
    places = rooms()
    while found["kills"] < given.kills:
        seed = found["rounds"]
        found += Counter(one_round(134, seed, places[seed // 2 % len(places)]))
        draft = given.result.with_suffix(".draft")
        draft.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n")
        os.replace(draft, given.result)
        bad = ", ".join(f"{found[kind]} {kind}" for kind in KINDS)
        print(f"{found['kills']:,} kills, {found['answers']:,} answers, {bad}", flush=True)
    sys.exit(any(found[kind] for kind in (*KINDS, "unforeseen")))


if __name__ == "__main__":
    main()
