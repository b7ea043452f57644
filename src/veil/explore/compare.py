"""Compare: which method is good on tables like mine, and how sure is that? Methods down, tables across."""

import csv
import io
from math import isnan

import numpy as np

from ..errors import BadInput
from ..markup import escaped
from ..plans.catalogue import NAMES
from ..results import MEASURED, difference
from .asking import Asking
from .closer import near
from .commands import compare_command
from .given import Given
from .page import Safe, Site, View, box, copied, form, paragraph, section, select, table, tabs, warning
from .picking import PARAMETERS as PARAMETERS
from .picking import SHOW, TABLES, WHO, Picked, has_scope, picked
from .ranges import PAIR
from .words import MEASURES, digits_of, gap, odds, short, size_words

LEAST = 3  # seeds in common from which on a difference is told from chance
STEPS = (0.005, 0.015, 0.03, 0.06, 0.12)  # gaps, each with a stronger colour
LEAD = "Every number is a mean over seeds, on rows that were held out of public tables. Choose one to look closer."
LEGEND = """Methods down, tables across. = is the best, or no worse than it as far as the seeds can tell: over the same
seeds, the 95 % interval of the difference holds zero. With fewer than three seeds nothing is told apart from chance,
and no margin is given. A dash says why there is no number. The mean is over the tables that have one."""


def compare(site: Site, given: Given, asking: Asking) -> View:
    """The view."""
    results, problems = given.comparison()
    troubles, above = "".join(map(warning, problems)), tabs(site, "Comparisons", PAIR, 0)
    if not results:
        return View(
            "Compare", "There are no results to show.", above, troubles + paragraph("Make some:") + repeat(None)
        )
    now = picked(results, asking)
    parts = [troubles, grid_section(site, now), near(now), failures(now), repeat(now)]
    return View("Compare", LEAD, above + controls(site, now), "".join(parts))


def controls(site: Site, now: Picked) -> str:
    """The form."""
    stops = [f"{epsilon:g}" for epsilon in now.results.epsilons]
    sizes = {("all" if size is None else str(size)): size_words(size) for size in now.results.sizes}
    sized = [select("rows", "Rows", sizes, "all" if now.rows is None else str(now.rows))] if len(sizes) > 1 else []
    scoped = [select("tables", "Tables", TABLES, now.scope)] if has_scope(now.results) else []
    return form(
        site,
        "compare",
        select("measure", "Measure", MEASURES, now.measure),
        select("epsilon", "Epsilon", stops, f"{now.epsilon:g}"),
        select("show", "Show", SHOW, now.show),
        select("who", "Methods", WHO, now.who),
        select("table", "Table", now.results.tables, now.table),
        select("method", "Highlight", {"": "the best", **{name: name for name in now.results.methods}}, now.method),
        *scoped,
        *sized,
    )


def grid_section(site: Site, now: Picked) -> Safe:
    """The grid of all methods and tables."""
    measured = now.measured
    private = [name for name in measured if now.results.private(name)]
    others = [name for name in measured if name not in private]
    bests = {name: now.best(name) for name in now.tables}
    ranked = sorted(private, key=lambda name: mean_gap(now, name, bests))
    rows = "".join(_row(site, now, name, bests) for name in [*ranked, *others])
    heads = "".join(f'<th scope="col">{_head(site, now, name)}</th>' for name in now.tables)
    words = f"{MEASURES[now.measure]} at epsilon {now.epsilon:g}"
    words += "" if now.rows is None else f", learned from {now.rows:,} rows"
    caption = f"<caption>{escaped(words)}, {SHOW[now.show]}</caption>"
    first = '<th scope="col">method</th><th scope="col">mean</th>'
    inside = f'<table class="grid">{caption}<thead><tr>{first}{heads}</tr></thead><tbody>{rows}</tbody></table>'
    said = paragraph(odds(now.epsilon)), paragraph(LEGEND, "quiet")
    csv_ = paragraph(site.link("All means as CSV", "compare.csv")) if site.served else ""
    return section("Every method on every table", said[0], box(words, inside), csv_, said[1], source(now))


def source(now: Picked) -> Safe:
    """Where the numbers come from, and how old they are."""
    dates, versions = sorted(now.results.dates), ", ".join(sorted(now.results.versions))
    when = f" Measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))}" if dates else " The file does not say when"
    older = " Some runs are older and do not say when." if dates and now.results.undated else ""
    by = f" by {versions}" if versions else ""
    return paragraph(f"Source: public tables, seeded noise that protects nobody.{when}{by}.{older}", "quiet")


def _head(site: Site, now: Picked, name: str) -> Safe:
    chosen = " (drawn below)" if name == now.table else ""
    return site.link(name, "compare", label=chosen, **now.asked(table=name))


def mean_gap(now: Picked, method: str, bests: dict[str, str]) -> float:
    """How far a method is behind the best, on average over tables; infinite if it has no numbers."""
    gaps = [abs(found) for name in now.tables if (found := _gap(now, name, method, bests[name])) is not None]
    return float(np.mean(gaps)) if gaps else float("inf")


def _gap(now: Picked, table_: str, method: str, best: str) -> float | None:
    group, first = now.group(table_, method), now.group(table_, best) if best else None
    if group is None or first is None:
        return None
    mean, top = group.summary(now.measure)[0], first.summary(now.measure)[0]
    return None if mean is None or top is None or isnan(mean) or isnan(top) else mean - top


def _row(site: Site, now: Picked, method: str, bests: dict[str, str]) -> str:
    cells = "".join(_cell(site, now, name, method, bests[name]) for name in now.tables)
    mean = mean_gap(now, method, bests)
    delta, private = now.results.delta(method), now.results.private(method)
    mark = f" <small>delta {delta:g}</small>" if delta else "" if private else " <small>NOT private</small>"
    loud = ' class="chosen"' if method == now.method else ""
    behind = short(mean) if private and mean != float("inf") else "-"
    return f'<tr{loud}><th scope="row">{escaped(method)}{mark}</th><td>{behind}</td>{cells}</tr>'


def _cell(site: Site, now: Picked, table_: str, method: str, best: str) -> str:
    group = now.group(table_, method)
    if group is None:
        return '<td class="none">-<span class="aside"> not measured</span></td>'
    mean, margin = group.summary(now.measure)
    if mean is None or isnan(mean):
        why = group.reasons[0] if group.reasons else "this measure was not taken"
        return f'<td class="none">-<span class="aside"> {escaped(why, 200)}</span></td>'
    tie, found = is_tie(now, table_, method, best), _gap(now, table_, method, best)
    behind = found is not None and group.private
    text = short(mean) if now.show == "value" or not behind or found is None else "=" if tie else gap(found)
    digits = digits_of(margin)
    wide = "" if margin is None else f" ± {short(margin, digits)}"
    said = f"{method} on {table_}: {short(mean, digits)}{wide}, {len(group.seeds)} runs"
    level = 0 if not behind or tie or found is None else sum(abs(found) > step for step in STEPS)
    kind = ("tie" if tie else f"g{level}") if group.private else "open"
    return f'<td class="{kind}">{site.link(text, "compare", label=said, **now.asked(table=table_, method=method))}</td>'


def is_tie(now: Picked, table_: str, method: str, best: str) -> bool:
    """Whether a method is the best, or no worse as far as the seeds can tell."""
    if method == best:
        return True
    mine, first = now.group(table_, method), now.group(table_, best)
    if mine is None or first is None or len({*mine.seeds} & {*first.seeds}) < LEAST:
        return False
    mean, margin = difference(first, mine, now.measure)
    return margin is not None and abs(mean) <= margin


def as_csv(given: Given, asking: Asking) -> str:
    """The mean and margin of every measure, for each method, table, epsilon and number of rows."""
    results, problems = given.comparison()
    if not results:
        raise BadInput(problems[0] if problems else "there are no results")
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    pairs = [f"{name}{part}" for name in MEASURED for part in ("", "_margin")]
    writer.writerow(["table", "method", "epsilon", "rows", "private", "delta", "runs", "failed", *pairs])
    for (table_, method, epsilon, rows), group in results.groups.items():
        found = [value for name in MEASURED for value in group.summary(name)]
        numbers = ["" if value is None else f"{value:.4g}" for value in found]
        about = [table_, method, f"{epsilon:g}", size_words(rows), group.private, f"{group.delta:g}"]
        writer.writerow([*about, len(group.seeds), len(group.reasons), *numbers])
    return stream.getvalue()


def failures(now: Picked) -> Safe:
    """Which runs gave no answer, and why."""
    rows = [
        (f"{method} on {name}", f"{epsilon:g}", len(group.reasons), group.reasons[0])
        for (name, method, epsilon, _), group in now.results.groups.items()
        if group.reasons
    ]
    if not rows:
        return Safe("")
    listing = table("Runs without an answer", ["method and table", "epsilon", "runs", "why"], rows, fold=True)
    return section("What failed", paragraph("A method that has no answer is a result too."), listing)


def repeat(now: Picked | None) -> Safe:
    """The command that makes such results again."""
    methods = [name for name in now.methods if name in NAMES] if now else []
    stops = [f"{epsilon:g}" for epsilon in now.results.epsilons] if now else []
    command = compare_command(methods, [now.table] if now else ["iris"], stops, *([most_seeds(now)] if now else []))
    words = "Rows of tables that Veil does not bring along are found in the folder VEIL_DATA, or by their path."
    return section("Make it again", paragraph(words, "quiet"), copied("Command", command, "shell"))


def most_seeds(now: Picked) -> int:
    """How many seeds the runs on the table that is drawn had, at most."""
    groups = [group for (name, *_), group in now.results.groups.items() if name == now.table]
    return max([len(group.seeds) + len(group.reasons) for group in groups if group.private], default=1)
