"""Attack a ledger in PostgreSQL: sixteen processes charge it and are killed at any moment, and its server crashes once.

Every answered charge is written down by its writer after the charge returned, and is held against the ledger at the
end. Two rounds: with a limit that is never reached, and with one that all fight for. Then the time of a charge, beside
that of a ledger in a file, in turn.

    python -m experiments.bench.shared_attack          # starts a server, and writes shared-attack.json
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

from veil.errors import BudgetRefused, LedgerProblem
from veil.kernel import Budget, Ledger

from ..postgres import Server, missing
from .ledger_attack import ASK, COSTS, WRITERS, end
from .measure import Result, compare

KILLS = 40
PAUSE = 0.1  # seconds between two kills, on average
LIMITS = (10**6, 1)
BAD = ("lost", "overspent", "unsound", "unforeseen")
RESULT = Path(__file__).parent / "shared-attack.json"


def write(folder: Path, address: str, inherited: Ledger | None, seed: int) -> None:
    """Charge until killed."""
    chance, ledger = random.Random(seed), inherited
    answers = os.open(folder / f"{seed}.answers", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while True:
        try:
            ledger = ledger or Ledger.open(address)
            account = ledger.account
            if chance.random() < 0.2:  # a part, of which the siblings are never charged: it costs what it costs
                account = account.part(account.split(question="sex", parts=2), 1)
            receipt = account.charge(Budget(cost := chance.choice(COSTS)), **ASK)
            os.write(answers, f"{receipt.number} {receipt.hash} {cost}\n".encode())
        except BudgetRefused:
            time.sleep(0.02)
        except LedgerProblem as problem:
            note(folder, str(problem))
            time.sleep(0.05)
            ledger = None if chance.random() < 0.5 else ledger


def note(folder: Path, text: str) -> None:
    with open(folder / "refusals", "a") as file:
        file.write(text + "\n")


def start(folder: Path, address: str, ledger: Ledger, chance: random.Random) -> int:
    seed, inherits = chance.getrandbits(48), chance.random() < 0.5
    child = os.fork()
    if child:
        return child
    try:
        write(folder, address, ledger if inherits else None, seed)
    except BaseException as problem:  # nothing but a kill ends a writer
        note(folder, f"UNFORESEEN {type(problem).__name__} {problem}")
    finally:
        os._exit(1)


def attack(server: Server, folder: Path, limit: int, kills: int, chance: random.Random) -> Counter[str]:
    """What one round came to, as counts by name."""
    address = server.address(f"attacked-{limit}")
    ledger = Ledger.create(address, limit, "survey")
    writers = [start(folder, address, ledger, chance) for _ in range(WRITERS)]
    for killed in range(kills):
        time.sleep(chance.expovariate(1 / PAUSE))
        if killed == kills // 2:
            server.stop("immediate")
            time.sleep(0.3)
            server.start()
        place = chance.randrange(WRITERS)
        end(writers[place])
        writers[place] = start(folder, address, ledger, chance)
    time.sleep(1)
    for writer in writers:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
    return judge(folder, address, limit) + Counter(kills=kills + WRITERS, crashes=1)


def judge(folder: Path, address: str, limit: int) -> Counter[str]:
    """Hold what was answered against the ledger, opened anew."""
    lines = [line.split() for file in folder.glob("*.answers") for line in file.read_text().split("\n")[:-1]]
    refusals = (folder / "refusals").read_text().splitlines() if (folder / "refusals").exists() else []
    ledger, found = Ledger.open(address), Counter(answers=len(lines))
    charged = {receipt.hash: receipt for receipt in ledger.receipts()}
    witnesses = [{"ledger": ledger.id, "number": int(number), "hash": hash} for number, hash, _ in lines]
    found["lost"] = len(lines) - len({hash for _, hash, _ in lines} & charged.keys())
    answered = sum(Fraction(cost) for *_, cost in lines)
    found["overspent"] = int(answered > limit) + int(ledger.spent > limit)
    found["charged, not answered"] = len(charged) - len(lines)
    found["unsound"] = int(ledger.spent != sum(receipt.epsilon for receipt in charged.values()))
    with suppress(LedgerProblem):
        ledger.verify(witnesses)
        found["unsound"] -= 1
    found["unsound"] += 1
    found["unforeseen"] = sum(text.startswith("UNFORESEEN") for text in refusals)
    found["server lost"] = sum("cannot be reached" in text for text in refusals)
    found["may have been charged"] = sum("may have been charged" in text for text in refusals)
    return found


def sharing(server: Server, rounds: int = 101) -> list[Result]:
    """The time of one charge, beside a ledger in a file on the same disk, by one writer."""
    with tempfile.TemporaryDirectory(dir=server.folder.parent) as folder:
        file = Ledger.create(Path(folder, "a.ledger"), 10**6, "survey")
        shared = Ledger.create(server.address("timed"), 10**6, "survey")
        ours, theirs = (lambda one=one: one.account.charge(Budget("1/1000"), **ASK) for one in (shared, file))
        return [compare("a charge in PostgreSQL / in a file", ours, theirs, "< 5", rounds)]


def charges() -> list[Result]:
    """The same with a server of its own; nothing where none can be started."""
    if missing():
        return []
    server = Server("scram-sha-256")
    try:
        return sharing(server)
    finally:
        server.remove()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--result", type=Path, default=RESULT)
    given = parser.parse_args()
    if missing():
        sys.exit(missing())
    server, found = Server("scram-sha-256"), {}
    try:
        for limit in LIMITS:
            with tempfile.TemporaryDirectory() as folder:
                counts = attack(server, Path(folder), limit, given.kills, random.Random(limit))
                found[f"limit {limit:,}"] = {name: counts[name] for name in sorted({*counts, *BAD})}
                print(f"limit {limit:,}:", ", ".join(f"{counts[name]} {name}" for name in ("answers", "kills", *BAD)))
        times = sharing(server)
    finally:
        server.remove()
    for one in times:
        print(f"{one.name}: {one.ours:.2f} / {one.reference:.2f} ms, ratio {one.ratio:.2f} (wanted {one.target})")
    found["time"] = [{**asdict(one), "ratio": one.ratio, "met": one.met} for one in times]
    found["command"] = "python -m experiments.bench.shared_attack"
    given.result.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(any(counts[name] for counts in (found[f"limit {limit:,}"] for limit in LIMITS) for name in BAD))


if __name__ == "__main__":
    main()
