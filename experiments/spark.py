"""Clusters of Spark of one's own for tests: on loopback, for a moment, ended with whatever they started."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep
from typing import Any

PATIENCE = 240.0  # seconds until a server must have said that it runs


def missing() -> str:
    """Why no Spark can be started here; "" if one can."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed: `pip install 'veil[spark]'`, or `make test-cluster`"
    return "" if shutil.which("java") else "Java is not installed: `apt-get install default-jre-headless`"


def surroundings() -> dict[str, str]:
    """The environment of all processes: this Python for workers, and no address but this machine's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    return {**kept, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "SPARK_NO_DAEMONIZE": "1"}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Servers:
    """Processes that are ended together, with all that they started."""

    def __init__(self) -> None:
        self.folder, self.running = Path(tempfile.mkdtemp(prefix="veil-spark-")), list[Any]()

    def start(self, name: str, *command: str, until: str, log: str = "") -> None:
        """Start a program of Spark, and wait until a log says that it is there."""
        home = Path(find_spec("pyspark").origin).parent  # type: ignore[union-attr, arg-type]
        with open(self.folder / name, "w") as out:
            self.running.append(
                subprocess.Popen(
                    [str(home / "bin" / command[0]), *command[1:]],
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL,
                    cwd=self.folder,
                    env={**surroundings(), "SPARK_HOME": str(home), "SPARK_WORKER_DIR": str(self.folder / "work")},
                    start_new_session=True,
                )
            )
        end = monotonic() + PATIENCE
        while until not in (self.folder / (log or name)).read_text(errors="replace"):
            if monotonic() > end or self.running[-1].poll() is not None:
                raise RuntimeError(f"{name} did not start: {(self.folder / name).read_text(errors='replace')[-2000:]}")
            sleep(0.2)

    def stop(self) -> None:
        for one in reversed(self.running):
            with suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)
            one.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def standalone() -> Any:
    """The address of a master with two workers."""
    servers, port = Servers(), free_port()
    address, local = f"spark://127.0.0.1:{port}", ["--host", "127.0.0.1", "--webui-port", "0"]
    deploy = "org.apache.spark.deploy"
    try:
        servers.start("master", "spark-class", f"{deploy}.master.Master", *local, "--port", str(port), until="ALIVE")
        for number in (1, 2):
            size = ["--port", "0", "--cores", "1", "--memory", "1200m"]
            given = ["spark-class", f"{deploy}.worker.Worker", *local, *size, address]
            servers.start(f"worker{number}", *given, until="Successfully registered")
        yield address
    finally:
        servers.stop()


@contextmanager
def connect() -> Any:
    """The address of a server of Spark Connect."""
    servers, port = Servers(), free_port()
    settings = {
        "spark.connect.grpc.binding.port": port,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.ui.enabled": "false",
    }
    confs = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    kind = "org.apache.spark.sql.connect.service.SparkConnectServer"
    given = ["--driver-memory", "1g", "--class", kind, "--master", "local[2,4]", *confs, "spark-internal"]
    try:
        servers.start("connect", "spark-submit", *given, until="Spark Connect server started")
        yield f"sc://127.0.0.1:{port}"
    finally:
        servers.stop()
