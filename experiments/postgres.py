"""A PostgreSQL server of one's own for tests and measurements: on loopback, in a folder of its own, for a moment.

A server refuses to run as root: started by root, it runs as the user `postgres` that Debian's package makes.
"""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

USER = "postgres"
PLACES = "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin"


def missing() -> str:
    """Why no server can be started here; "" if one can."""
    if not binaries():
        return "PostgreSQL's server is not installed: `apt-get install postgresql`, or `make test-cluster` as root"
    return "" if os.getuid() or _other_user() else f"a server does not run as root, and there is no user {USER}"


def binaries() -> Path | None:
    """The folder with pg_ctl and initdb, of the newest version."""
    found = [path.parent for place in PLACES for path in Path("/").glob(f"{place[1:]}/pg_ctl")]
    on_path = shutil.which("pg_ctl")
    found += [Path(on_path).resolve().parent] if on_path else []
    return max(
        found, key=lambda folder: [int(part) for part in folder.as_posix().split("/") if part.isdigit()], default=None
    )


def _other_user() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(USER)
    except KeyError:
        return None


class Server:
    """A server with the database and user `veil`, whose password is `se/cr@t` if it asks for one."""

    password = "se%2Fcr%40t"

    def __init__(self, login: str = "trust", **settings: Any) -> None:
        self.folder, self.port = Path(tempfile.mkdtemp(prefix="veil-pg-")), free_port()
        self._user = {} if os.getuid() else {"user": USER, "group": _other_user().pw_gid, "extra_groups": []}
        (self.folder / "password").write_text("se/cr@t\n")
        if self._user:
            for path in (self.folder, self.folder / "password"):
                shutil.chown(path, USER)
        given = [f"--auth={login}", "--username=veil", f"--pwfile={self.folder}/password", "--encoding=UTF8"]
        self._run("initdb", "--no-sync", *given)
        local = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": self.folder}
        with open(self.folder / "data/postgresql.conf", "a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in {**local, **settings}.items())
        self.start()

    def start(self) -> None:
        self._run("pg_ctl", "--wait", f"--log={self.folder}/log", "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it; `immediate` is a crash: nothing is written down, and the next start recovers."""
        self._run("pg_ctl", "--wait", f"--mode={mode}", "stop")

    def remove(self) -> None:
        try:
            self.stop("immediate")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def address(self, ledger: str = "clinic", *, user: str = "veil", database: str = "postgres", more: str = "") -> str:
        """An address of a ledger there, with a password."""
        return f"postgresql://{user}:{self.password}@127.0.0.1:{self.port}/{database}?ledger={ledger}{more}"

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(binaries() / program), f"--pgdata={self.folder}/data", *arguments]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
        subprocess.run(command, check=True, cwd=self.folder, timeout=120, **quiet, **self._user)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
