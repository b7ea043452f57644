"""The application: five views, each one GET with its state in the query. What goes wrong is a sentence on a page."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from ..errors import BadInput, VeilError
from ..wording import NO_MEMORY
from . import choice, compare, ledger, plan, ranges, results
from .asking import Asking
from .foreseeing import MOST_TEXT
from .given import Given
from .guard import Guard, Secrets
from .page import Site, View, body, frame, paragraph, warning

MOST_BODY = 4 * MOST_TEXT
REPORTED = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; sandbox"
)
Make = Callable[[Site, Given, Asking], View]


class Explorer:
    """The views over the files that were given."""

    def __init__(self, given: Given, base: str) -> None:
        self.given, self.site = given, Site(base, given.in_words)

    def routes(self) -> list[Route]:
        """All addresses that there are."""
        base = self.site.base
        return [
            Route(base, self._get("compare", compare.compare, compare.PARAMETERS)),
            Route(f"{base}compare", self._get("compare", compare.compare, compare.PARAMETERS)),
            Route(f"{base}compare.csv", self._file(compare.as_csv, (), "text/csv; charset=utf-8")),
            Route(f"{base}compare/ranges", self._get("compare", ranges.ranges, ranges.PARAMETERS)),
            Route(f"{base}compare/ranges.csv", self._file(ranges.counts_csv, ranges.COUNTS, "text/csv; charset=utf-8")),
            Route(f"{base}compare/widths.csv", self._file(ranges.widths_csv, ranges.WIDTHS, "text/csv; charset=utf-8")),
            Route(f"{base}plan", self._get("plan", plan.plan, plan.PARAMETERS)),
            Route(f"{base}plan", self._pasted, methods=["POST"]),
            Route(
                f"{base}plan/notebook",
                self._file(plan.notebook, ("schema", "rows", "epsilon", "method"), "application/x-ipynb+json"),
            ),
            Route(f"{base}ledger", self._get("ledger", ledger.ledger, ledger.PARAMETERS)),
            Route(f"{base}ledger/verify", self._verify, methods=["POST"]),
            Route(f"{base}ledger.csv", self._file(ledger.as_csv, ledger.PARAMETERS, "text/csv; charset=utf-8")),
            Route(f"{base}ledger.json", self._file(ledger.as_json, ledger.PARAMETERS, "application/json")),
            Route(f"{base}choice.json", self._file(choice.as_json, choice.PARAMETERS, "application/json")),
            Route(f"{base}choice/{{number:int}}.json", self._file(choice.chosen_as_json, (), "application/json")),
            Route(f"{base}results", self._get("results", results.results, results.PARAMETERS)),
            Route(f"{base}results/{{number:int}}", self._get("results", results.result, results.ONE)),
            Route(f"{base}results/{{number:int}}/report", self._report),
            Route(f"{base}results/{{number:int}}/page", self._report),
            Route(f"{base}choice", self._get("choice", choice.choice, choice.PARAMETERS)),
            Route(f"{base}choice/{{number:int}}", self._get("choice", _chosen, ())),
            Route(f"{base}{{rest:path}}", self._nowhere),
        ]

    def _get(self, name: str, make: Callable[..., View], known: tuple[str, ...]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            number = [request.path_params["number"]] if "number" in request.path_params else []

            def made() -> View:
                asking = Asking.of(_pairs(request), {*known, "part"})
                return make(self.site, self.given, asking, *number)

            return await self._shown(request, name, made)

        return answer

    async def _shown(self, request: Request, name: str, made: Callable[[], View]) -> Response:
        """A page or, for the script, the inside of it; a complaint is a page too."""
        view = await run_in_threadpool(_told, made)
        part = request.query_params.get("part") == "1"
        text = body(view) if part else frame(self.site, name, view)
        return HTMLResponse(text, view.status)

    async def _complaining(self, request: Request, name: str, problem: Exception) -> Response:
        words = str(problem)
        return await self._shown(request, name, lambda: _complaint(words))

    async def _pasted(self, request: Request) -> Response:
        """The plan of a schema that was pasted: used for this answer, and not kept."""

        try:
            found = dict(parse_qsl((await _body(request)).decode("utf-8", "replace"), max_num_fields=20))
        except (VeilError, ValueError) as error:
            return await self._complaining(request, "plan", error)
        text = found.pop("text", "")[:MOST_TEXT]
        asking = [(name, value) for name, value in found.items()]
        return await self._shown(
            request,
            "plan",
            lambda: plan.plan(self.site, self.given, Asking.of(asking, {*plan.PARAMETERS, "part"}), text or " "),
        )

    async def _verify(self, request: Request) -> Response:
        try:
            pairs = parse_qsl((await _body(request)).decode("utf-8", "replace"), max_num_fields=5)
        except (VeilError, ValueError) as error:
            return await self._complaining(request, "ledger", error)
        return await self._shown(
            request, "ledger", lambda: ledger.verify(self.site, self.given, Asking.of(pairs, ledger.PARAMETERS))
        )

    def _file(self, make: Callable[..., str], known: tuple[str, ...], kind: str) -> Callable[[Request], Any]:
        """Something to keep: a notebook, a table, or the numbers of a view."""

        async def answer(request: Request) -> Response:
            number = [*request.path_params.values()]
            try:
                text = await run_in_threadpool(lambda: make(self.given, Asking.of(_pairs(request), known), *number))
            except VeilError as error:
                return await self._complaining(request, "", error)
            name = "train.ipynb" if "ipynb" in kind else request.url.path.rpartition("/")[2]
            return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})

        return answer

    async def _report(self, request: Request) -> Response:
        """A report under its own policy: nothing in it runs, and it has no rights of this page."""
        number, kept = request.path_params["number"], request.url.path.endswith("/page")
        make = results.page_of if kept else results.report_of
        try:
            page: Any = await run_in_threadpool(make, self.given, number)
        except VeilError as error:
            return await self._complaining(request, "results", error)
        return HTMLResponse(page, headers={"content-security-policy": REPORTED})

    async def _nowhere(self, request: Request) -> Response:
        return await self._shown(
            request, "", lambda: _complaint("There is no such page: choose one of the views above.", 404)
        )


def _chosen(site: Site, given: Given, asking: Asking, number: int) -> View:
    return choice.chosen(site, given, number)


def _pairs(request: Request) -> list[tuple[str, str]]:
    return [(name, value) for name, value in request.query_params.multi_items()]


def _told(made: Callable[[], View]) -> View:
    """A view; what is wrong with the request or with a file is told on a page, never as a trace."""
    try:
        return made()
    except VeilError as error:
        return _complaint(str(error), 404 if isinstance(error, BadInput) else 400)
    except MemoryError:
        return _complaint(f"This page was stopped: {NO_MEMORY}.", 500)
    except Exception as error:  # a message may quote what it should not
        return _complaint(f"This page was stopped by an unforeseen {type(error).__name__}.", 500)


def _complaint(words: str, status: int = 400) -> View:
    return View(
        "Not so",
        "This cannot be shown as it was asked for.",
        "",
        warning(words) + paragraph("Nothing was opened or charged."),
        status,
    )


async def _body(request: Request) -> bytes:
    """The body of a form, if it is not too long."""
    found = b""
    async for piece in request.stream():
        found += piece
        if len(found) > MOST_BODY:
            raise BadInput(f"this is too long: at most {MOST_TEXT:,} letters")
    return found


def application(given: Given, secret: Secrets, port: int) -> Guard:
    """The guarded application."""
    return Guard(Starlette(routes=Explorer(given, secret.base).routes()), secret, port)
