"""Guard: who may ask. A page that tells of ledgers and schemas answers its owner's browser alone, and nobody else's.

Every request must name this very server (a name that was made to lead here does not), lie under a random path (which
the cookie is bound to: a browser sends cookies to every port), come from these pages themselves, and have the token.
"""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from .page import policy

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
COOKIE = "veil"
LONGEST = 200  # letters of a path: no page of ours has a longer one
HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}


@dataclass(frozen=True)
class Secrets:
    """What only this server and its owner know."""

    path: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def base(self) -> str:
        """The path that all pages lie under."""
        return f"/{self.path}/"


class Guard:
    """An ASGI application around another: lets through what its owner's pages ask, and refuses the rest in a word."""

    def __init__(self, app: Any, secret: Secrets, port: int) -> None:
        self.app, self.secret, self.port = app, secret, port
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = _headers(scope)
        status, words, more = self._refusal(scope, headers)
        if status:
            await _answer(send, status, words, more)
            return
        await self.app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope, headers: dict[str, list[str]]) -> tuple[int, str, dict[str, str]]:
        """A status, a word and headers if the request is not let through; 0 if it is."""
        host, origin, site = (headers.get(name, []) for name in ("host", "origin", "sec-fetch-site"))
        if len(host) != 1 or host[0] not in self.hosts:
            return 403, "This server answers to its own address alone.", {}
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "Pages are asked for by GET.", {}
        if origin and origin != [f"http://{host[0]}"]:
            return 403, "Another page asked for this.", {}
        own = ["same-origin"] if scope["method"] == "POST" else ["same-origin", "none"]
        if site and (len(site) != 1 or site[0] not in own):
            return 403, "Another page asked for this.", {}
        if scope["method"] == "POST" and not (site or origin):
            return 403, "A browser says where a form comes from.", {}
        if not scope["path"].startswith(self.secret.base) or len(scope["path"]) > LONGEST:
            return 404, "There is nothing here.", {}
        return self._session(scope, headers)

    def _session(self, scope: Scope, headers: dict[str, list[str]]) -> tuple[int, str, dict[str, str]]:
        """Exchange the token for a cookie, or check the cookie."""
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])
        if given and scope["path"] == self.secret.base and scope["method"] == "GET":
            if len(given) == 1 and secrets.compare_digest(given[0].encode(), self.secret.token.encode()):
                cookie = f"{COOKIE}={self.secret.cookie}; Path={self.secret.base}; HttpOnly; SameSite=Strict"
                return 303, "", {"location": self.secret.base, "set-cookie": cookie}
            return 401, "This token is not valid: use the address that veil explore printed.", {}
        if not any(secrets.compare_digest(one.encode(), self.secret.cookie.encode()) for one in _cookies(headers)):
            return 401, "Use the address that veil explore printed, with its token.", {}
        return 0, "", {}


def _headers(scope: Scope) -> dict[str, list[str]]:
    found = dict[str, list[str]]()
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _cookies(headers: dict[str, list[str]]) -> list[str]:
    """The values of all cookies with the name of ours: another port of this machine may have set one too."""
    pairs = [part.strip().partition("=") for text in headers.get("cookie", []) for part in text.split(";")]
    return [value for name, _, value in pairs if name == COOKIE]


async def _answer(send: Send, status: int, words: str, more: dict[str, str]) -> None:
    headers = {
        **HEADERS,
        "content-type": "text/plain; charset=utf-8",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        **more,
    }
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": words.encode()})


def _with_headers(send: Send) -> Send:
    """The same, with the headers that every answer has; a page that brings a policy of its own keeps it."""

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            wanted = {**HEADERS, "content-security-policy": policy()}
            added = [(k.encode(), v.encode()) for k, v in wanted.items() if k.encode() not in present]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return sending
