"""Source: the questions that can be asked of private rows, and the door to them."""

from typing import Any

from .. import wording
from ..errors import LedgerProblem
from ..schema import Schema
from ..schema.encoding import quiet
from ..schema.refusing import refuse
from ..schema.streams import stream_of
from .ledger import Ledger
from .noise import Noise, SystemNoise
from .reading import read_table
from .recoding import owned
from .seeded import SeededNoise
from .verbs.best import Trying
from .verbs.bins import Binning
from .verbs.choose import Choosing
from .verbs.divide import Dividing
from .verbs.gradual import Refining
from .verbs.minimise import Minimising
from .verbs.order import Ordering
from .verbs.ranges import Ranging
from .verbs.segments import Cutting
from .verbs.sieve import Sifting
from .verbs.sparse import CountingSparsely


class Source(
    Refining, CountingSparsely, Choosing, Binning, Ranging, Cutting, Dividing, Sifting, Ordering, Minimising, Trying
):
    """Private rows, or a part of them, that answer questions with noise as long as the budget lasts."""


def make_noise(seed: Any = None) -> Noise:
    """The operating system's noise for None, the source given, or a seeded and marked one for a seed or a generator."""
    if seed is None:
        return SystemNoise()
    return seed if isinstance(seed, Noise) else SeededNoise(seed)


def open_source(rows: Any, schema: Any, ledger: Ledger, noise: Any = None, *, purpose: str = "") -> Source:
    """Private rows behind their ledger. The rows' names and shape are checked, their values are not.

    `schema`: a Schema or the path of one. `noise`: None for the operating system's, a seed for repeatable and marked
    answers, or a source such as OpenDPNoise(). `purpose` is for the ledger's reader, such as "train naive-bayes".
    """
    schema = schema if isinstance(schema, Schema) else Schema.read(schema)
    refuse(ledger.name != schema.name, wording.NAMES_DIFFER.format(ledger.name, schema.name), LedgerProblem)
    source, own = make_noise(noise), owned(schema)
    account = ledger.run(purpose, stream.engine if (stream := stream_of(rows)) else "")  # of a time before reading
    with quiet():
        table = read_table(stream or rows, own, source)
    return Source(table, own, schema, account, source)
