"""Looks for markers in everything that a process sees, within bounds: a program of its own, run inside a sandbox. Standard library only.

Called with folders to look into, it prints a line of JSON: a list of [place, marker]. Its text never holds a whole marker.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence

SECONDS = 1.0
MOST_BYTES = 1 << 20
"""Of one file."""
MARKER = re.compile(b"fde" + b"canary-[a-z]+-[0-9a-f]{8}")


def seen(folders: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of a place and the marker that stands there."""
    found = {("its environment", marker) for text in os.environ.values() for marker in MARKER.findall(os.fsencode(text))}
    end = time.monotonic() + SECONDS
    for place in _places(folders):
        if time.monotonic() > end:
            break
        found |= {(place, marker) for marker in MARKER.findall(os.fsencode(place) + b" " + _read(place))}
    return sorted((place, marker.decode()) for place, marker in found)


def _places(folders: Sequence[str]) -> Iterator[str]:
    for number in _listed("/proc/self/fd"):
        yield f"/proc/self/fd/{number}"
    for folder in folders:
        if not os.path.isdir(folder):
            yield folder
        for top, _, names in os.walk(folder):
            yield from (os.path.join(top, name) for name in names)
    for number in _listed("/proc"):
        if number.isdigit():
            yield from (f"/proc/{number}/{name}" for name in ("environ", "cmdline"))


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _read(path: str) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.read(handle, MOST_BYTES)
    except OSError:
        return b""
    finally:
        os.close(handle)


if __name__ == "__main__":
    print(json.dumps(seen(sys.argv[1:])))
