"""Serving the pages on this machine alone, and opening a browser on them."""

import socket
import threading
import webbrowser
from collections.abc import Callable
from typing import Any

from ..errors import BadInput
from .given import Given
from .guard import Secrets

HOST = "127.0.0.1"  # there is no option for another: whoever may ask from elsewhere would see ledgers
MISSING = "veil explore needs Starlette and uvicorn: pip install 'veil[explore]'"


def needed() -> Any:
    """uvicorn, if it and Starlette are there. Raises BadInput with the command that installs them otherwise."""
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError:
        raise BadInput(MISSING) from None
    return uvicorn


def listening(port: int) -> socket.socket:
    """A socket on this machine, at this port, or at a free one for 0."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
    except OSError:
        found.close()
        raise BadInput(f"port {port} cannot be used: choose another with --port, or 0 for a free one") from None
    return found


def serve(given: Given, port: int, tell: Callable[[str], None], browse: bool) -> None:
    """Serve until somebody stops it. `tell` gets the address, with the token that opens it."""
    uvicorn = needed()
    from .app import application

    door, secret = listening(port), Secrets()
    port = door.getsockname()[1]
    address = f"http://{HOST}:{port}{secret.base}?token={secret.token}"
    config = uvicorn.Config(
        application(given, secret, port), log_level="error", access_log=False, server_header=False, lifespan="off"
    )
    door.listen()  # whoever is told the address may ask at once
    tell(address)
    if browse:
        threading.Timer(0.4, webbrowser.open, [address]).start()
    uvicorn.Server(config).run(sockets=[door])
