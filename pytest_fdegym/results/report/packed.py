"""Details of runs as compressed pieces of a page, each with several runs, which the browser inflates when one of them is opened."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_fdegym.results.report.details import Details

PIECE = 96_000
"""Characters of JSON that a piece has, about: a few runs of one task, which share much of their text."""
LEVEL = 3
"""Of compression: higher ones take twice the time for a tenth of the size."""


@dataclass(frozen=True)
class Piece:
    """The runs from number `first` on, as base64 of a zlib stream of a JSON list."""

    first: int
    count: int
    data: str


def pieces(runs: Iterable[Details]) -> Iterator[Piece]:
    """Pack the details in their order."""
    first, waiting, size = 0, list[bytes](), 0
    for each in runs:
        text = each.model_dump_json(exclude_defaults=False).encode()
        waiting.append(text)
        size += len(text)
        if size >= PIECE:
            yield _piece(first, waiting)
            first, waiting, size = first + len(waiting), [], 0
    if waiting:
        yield _piece(first, waiting)


def _piece(first: int, texts: list[bytes]) -> Piece:
    return Piece(first, len(texts), base64.b64encode(zlib.compress(b"[" + b",".join(texts) + b"]", LEVEL)).decode())


def unpacked(data: str) -> bytes:
    """The JSON list of a piece: the inverse, for tests and for whoever reads a page without a browser."""
    return zlib.decompress(base64.b64decode(data))
