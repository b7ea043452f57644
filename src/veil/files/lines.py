"""Rows of a CSV, each line by itself: whatever is in a line, the rows of all others are the same with it and without.

A line ends with a line feed, a carriage return or both, also between quotation marks; one that is empty is no row. A
value that begins with a quotation mark ends with the next one that is not doubled, and may hold commas. A line with too
few or too many values, with a quotation mark that is never closed, or of more than `LONGEST` bytes is left out.
`multiline` lets values between quotation marks hold line ends: then a stray mark can swallow the lines after it.
"""

import codecs
import csv
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from ..display import readable
from ..errors import BadInput

PIECE = 1 << 23  # bytes at a time
FIRST = 1 << 13  # bytes at a time while looking for the header
LONGEST = 1 << 26  # bytes of a line
MOST = 2**31 - 1  # bytes that PyArrow takes in one block
QUOTE, COMMA, LF, CR = b'",\n\r'
BESIDE = np.isin(np.arange(256), [QUOTE, COMMA, LF, CR])  # what a quotation mark of a quoted value has beside it
MARK = b"\xef\xbb\xbf"  # the byte order mark
CLOSED = rb'(?:"(?:[^"]++|"")*+"[^,]*+|(?!")[^,]*+)'  # a value all of whose quotation marks are closed
SOUND = re.compile(CLOSED + rb"(?:," + CLOSED + rb")*+")
SEVERAL = "ascii iso8859-1 utf-16 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be ".split()  # a line end is one anywhere
SEVERAL += "big5 big5hkscs cp932 cp949 cp950 euc_jp gb18030 gb2312 gbk johab shift_jis shift_jis_2004".split()
FIXED = ("utf-16", "utf-32")  # whose letters have a fixed width, so that single bytes are none
Letters = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
Lines = npt.NDArray[np.int32]  # line numbers: a piece has few lines


def check_encoding(name: str) -> str:
    """Python's name of an encoding in which no line can change what another line says; raises for any other."""
    try:
        codec = codecs.lookup(name)
        if codec.name in ("utf-8", "utf-8-sig"):
            return "utf-8"
        if codec.name in SEVERAL or hasattr(sys.modules[codec.incrementaldecoder.__module__], "decoding_table"):
            return codec.name  # a decoding table has one letter for each byte
    except (LookupError, ValueError, TypeError, AttributeError):
        pass
    raise BadInput(
        f"{readable(name)!r} is no encoding that can be read: use utf-8, latin-1, cp1252, utf-16 or another such"
    )


def read_header(stream: Any, encoding: str, multiline: bool) -> list[str] | None:
    """The names in the first non-empty line; None if it cannot be decoded."""
    first = _joined(stream, encoding) if multiline else (line for line in _lines(stream, encoding) if line)
    try:
        text = (str(line, "utf-8") for line in first)
        return next(filter(None, csv.reader(text)))
    except UnicodeDecodeError:
        return None


def _lines(stream: Any, encoding: str) -> Iterator[bytes]:
    """Lines without their line ends, up to the first with an unclosed quotation mark, which can be no header."""
    for piece in pieces(stream, encoding, FIRST):
        for line in re.split(rb"[\r\n]", piece):
            if not SOUND.fullmatch(line):
                return
            yield line


def _joined(stream: Any, encoding: str) -> Iterator[bytes]:
    """Lines with their line ends."""
    for piece in pieces(stream, encoding, FIRST):
        yield from piece.splitlines(keepends=True)


def read_tables(
    stream: Any, names: list[str], encoding: str, multiline: bool, every_line: bool = False
) -> Iterator[pa.Table]:
    """The rows of a CSV as Arrow tables of bytes, one after the other: UTF-8 where it can be decoded, else as they
    were; see `tables.read_rows`. With `multiline` all rows are one table."""
    if multiline:
        text = b"".join(_blocks(stream, encoding, PIECE)).lstrip(b"\r\n")
        yield _parsed(text + b"\n", names, every_line, skip_rows_after_names=1)
        return
    yield _parsed(b"\n", names, every_line)
    yield from _each(_rows_of(pieces(stream, encoding, PIECE)), lambda part: _piece(part, names, every_line))


def _rows_of(parts: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces without leading empty lines and the header."""
    header = True
    for part in parts:
        if header and (part := part.lstrip(b"\r\n")):
            part, header = re.split(rb"[\r\n]", part, maxsplit=1)[1], False
        if part:
            yield part


def _each(parts: Iterator[bytes], parse: Callable[[bytes], pa.Table]) -> Iterator[pa.Table]:
    """The parsed tables of pieces, in order; in threads, since PyArrow releases the interpreter lock."""
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[pa.Table]] = deque()
        for part in parts:
            waiting.append(pool.submit(parse, part))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def pieces(stream: Any, encoding: str, size: int) -> Iterator[bytes]:
    """The text as UTF-8, in pieces of whole lines; a line that is too long becomes a quotation mark: no row."""
    open_line, length = list[bytes](), 0
    for block in _blocks(stream, encoding, size):
        end = max(block.rfind(b"\n"), block.rfind(b"\r")) + 1
        if end:
            first = _first_end(block)
            whole = b"".join(open_line) if length + first <= LONGEST else b'"'
            yield whole + (block[:end] if length + first <= LONGEST else block[first:end])
            open_line, length = [], 0
        open_line, length = [*open_line, block[end:]] if length <= LONGEST else [], length + len(block) - end
    if length:
        yield (b"".join(open_line) if length <= LONGEST else b'"') + b"\n"


def _first_end(block: bytes) -> int:
    """The index of the first line end in a block."""
    return min(place for place in (block.find(b"\n"), block.find(b"\r")) if place >= 0)


def _blocks(stream: Any, encoding: str, size: int) -> Iterator[bytes]:
    """The text as UTF-8 blocks, without a byte order mark; undecodable bytes become bytes that are not UTF-8."""
    decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)("veil.kept")
    first = True
    while block := stream.read(size):
        text = decoder.decode(block).encode("utf-8", "surrogatepass") if decoder else block
        yield text.removeprefix(MARK) if first else text
        first = first and not text
    if decoder and decoder.getstate()[0]:  # a letter that breaks off; with line ends behind it, it is told as elsewhere
        last = decoder.decode(b"" if encoding.startswith(FIXED) else b"\n" * 4) + decoder.decode(b"", True)
        yield last.encode("utf-8", "surrogatepass")


def _kept(problem: UnicodeError) -> tuple[str, int]:
    """Replace every byte that cannot be decoded by a lone surrogate, so that different bytes stay different."""
    assert isinstance(problem, UnicodeDecodeError)
    return "".join(chr(0xDC00 + byte) for byte in problem.object[problem.start : problem.end]), problem.end


codecs.register_error("veil.kept", _kept)


def _piece(text: bytes, names: list[str], every_line: bool) -> pa.Table:
    if text.startswith(MARK):
        text = b"\n" + text  # or PyArrow would take it for that of the file
    if b'"' in text:
        text = _without_open_quotes(text, b"x" if len(names) > 1 else b",")
    return _parsed(text, names, every_line)


def _without_open_quotes(text: bytes, filler: bytes) -> bytes:
    """The text with every line that has an unclosed quotation mark replaced by one with a wrong number of values."""
    letters = np.frombuffer(text, np.uint8)
    quotes, breaks = np.flatnonzero(letters == QUOTE), (letters == LF) | (letters == CR)
    ends = np.flatnonzero(breaks)
    if _all_in_pairs(letters, quotes, ends):
        return text
    changed, starts = bytearray(text), np.concatenate([[0], ends[:-1] + 1])
    for line in _odd_lines(letters, quotes, np.cumsum(breaks, dtype=np.int32)[quotes]):
        start, end = int(starts[line]), int(ends[line])
        if not SOUND.fullmatch(text, start, end):
            changed[start:end] = filler * (end - start)
    return bytes(changed)


def _all_in_pairs(letters: Letters, quotes: Places, ends: Places) -> bool:
    """Whether quotation marks pair up in every line: each second one closes the value that the one before has opened.

    A doubled mark closes one pair and opens the next.
    """
    before, after = letters[quotes[::2] - 1], letters[quotes[1::2] + 1]  # before the first letter, the last: a line end
    return bool(BESIDE[before].all() and BESIDE[after].all() and not (np.searchsorted(quotes, ends) % 2).any())


def _odd_lines(letters: Letters, quotes: Places, lines: Lines) -> Lines:
    """The lines in which quotation marks do not pair up, given the line of each mark."""
    first = np.flatnonzero(np.diff(lines, prepend=-1))
    counts = np.diff(first, append=len(quotes))
    opens = (np.arange(len(quotes)) - np.repeat(first, counts)) % 2 == 0
    beside = BESIDE[letters[np.where(opens, quotes - 1, quotes + 1)]]
    return np.union1d(lines[~beside], lines[first[counts % 2 == 1]])


def _parsed(text: bytes, names: list[str], every_line: bool, **more: Any) -> pa.Table:
    """The rows of text that ends with a line end, parsed as one block: PyArrow loses cells between two blocks.

    PyArrow prints the bytes of a line that it skips if they are not UTF-8, so such text goes through as Latin-1.
    """
    try:
        str(text, "utf-8")
    except UnicodeDecodeError:
        table = _as_it_is(str(text, "latin-1").encode(), names, every_line, **more)
        return pa.table([_narrowed(column) for column in table.columns], names)
    return _as_it_is(text, names, every_line, **more)


def _as_it_is(text: bytes, names: list[str], every_line: bool, **more: Any) -> pa.Table:
    odd: list[int] = []  # the numbers of lines that do not fit, from 1; threads would not know them

    def leave_out(line: Any) -> str:
        odd.append(line.number)
        return "skip"

    read = pyarrow.csv.ReadOptions(
        block_size=min(max(len(text), 1), MOST), use_threads=False, column_names=names, **more
    )
    parse = pyarrow.csv.ParseOptions(invalid_row_handler=leave_out, newlines_in_values=bool(more))
    convert = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.binary()), strings_can_be_null=False)
    table = pyarrow.csv.read_csv(pa.py_buffer(text), read, parse, convert)
    header = more.get("skip_rows_after_names", 0)
    return _with_gaps(table, [number - 1 - header for number in odd]) if every_line else table


def _with_gaps(table: pa.Table, places: list[int]) -> pa.Table:
    """The table with a row of nulls inserted at each of these indices."""
    there = np.ones(table.num_rows + len(places), bool)
    there[places] = False
    return table.take(pa.array(np.cumsum(there) - 1, mask=~there))


def _narrowed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cells that were decoded as Latin-1, as their original bytes."""
    return pa.chunked_array([_narrow(chunk) for chunk in column.chunks], pa.binary())


def _narrow(cells: pa.Array) -> pa.Array:
    cells = pa.concat_arrays([cells])  # without an offset
    valid, offsets, data = cells.buffers()
    ends = np.frombuffer(offsets, np.int32, len(cells) + 1)
    letters = np.frombuffer(data or b"", np.uint8)[: ends[-1]]
    first = (letters & 0xC0) != 0x80  # the others are the second halves of letters above 127
    after = np.append(letters[1:], np.uint8(0))
    joined = np.where(letters < 0x80, letters, (letters & 3) << 6 | after & 0x3F)[first].astype(np.uint8)
    places = np.concatenate([[0], np.cumsum(first)]).astype(np.int32)[ends]
    return pa.Array.from_buffers(pa.binary(), len(cells), [valid, pa.py_buffer(places), pa.py_buffer(joined)])
