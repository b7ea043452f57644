"""Findings in a file, so that a long audit can be stopped and go on later."""

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

from .harness import Case, Finding

SOURCE = Path(__file__).parent.parent


class Kept:
    """The findings in a file, a line for each; those of other code or another number of runs are ignored."""

    def __init__(self, path: Path | None) -> None:
        self.path, self._found = path, dict[tuple[str, int], Finding]()
        for line in path.read_text(encoding="utf-8").splitlines() if path and path.exists() else ():
            try:
                held = json.loads(line)
                same, finding = held.pop("code") == code(), Finding(**held)
            except (ValueError, TypeError, KeyError, AttributeError):
                continue  # the last line, if the audit was killed while it was written
            if same:
                self._found[finding.name, finding.trials] = finding

    def get(self, case: Case, trials: int) -> Finding | None:
        """The finding of a case, if it is kept."""
        return self._found.get((case.name, trials))

    def add(self, finding: Finding) -> None:
        """Keep a finding."""
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"code": code(), **asdict(finding)}) + "\n")

    def done(self) -> None:
        """Remove the file: the next audit starts anew."""
        if self.path:
            self.path.unlink(missing_ok=True)


@cache
def code() -> str:
    """A digest of the code that is audited, and of the audit."""
    digest = hashlib.sha256()
    for path in sorted(SOURCE.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
