"""Makes broken things out of good ones, the same for the same number: bytes, lines, values, files."""

from __future__ import annotations

import random
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

ODD_VALUES = (
    *(
        "null",
        "~",
        "true",
        "0",
        "-1",
        "1e309",
        ".nan",
        "0x7fffffffffffffff",
        "99999999999999999999",
        "''",
        "[]",
        "{}",
        "[[]]",
        "{? [1]: 2}",
    ),
    *(
        "'{{'",
        "'{{ limit'",
        "'{{ nothing.at.all }}'",
        "'{% for x in'",
        "'(['",
        "'\\0'",
        "2025-02-30",
        "2025-03-04",
        "08:61:00",
        "!!binary x",
    ),
    *(
        "!!python/object:os.system x",
        "&a [*a]",
        "*nobody",
        "../../etc/passwd",
        "/etc/passwd",
        "'\\ud800'",
        "x" * 5000,
        "[" * 300,
        "é\u202e",
    ),
)
ODD_PYTHON = (
    *(
        "None",
        "-1",
        "1e400",
        "float('nan')",
        "'parcel'",
        "['letter']",
        "{'a': 1}",
        "b'letter'",
        "object()",
        "(1, 2)",
        "print",
        "order",
        "db",
    ),
    *(
        "1 / 0",
        "[].pop()",
        "exit(3)",
        "'letter' * 10**6",
        "lambda: 0",
        "iter([])",
        "''",
        "'Letter'",
        "True",
        "{1}",
        "10**5000",
        "...",
        "yield",
    ),
)
PARTLY_ODD = (
    *("'letter' if grams % 2 else None", "grams % 7 and 1 // (grams % 7 - 1) and 'letter'", "['letter'][grams // 400]", "300", "700"),
    *("'letter' if grams < 300 else exit(3)", "'parcel' if grams > 600 else 1 / 0", "{5: 'letter', 10: 7}.get(grams, 'parcel')", "grams"),
    *("grams and ('letter' if grams <= 500 else None)", "'letter' if 'N1' in order['id'] else order['size']"),
)
"""Python that is right for some orders of the tiny scenario, wrong or broken for others."""
_NUMBER = re.compile(rb"(?<![\w.])\d+(?![\w.])")


def generator(what: str, number: int) -> random.Random:
    """The chance for one mutant."""
    return random.Random(f"{what} {number}")


def mutated(data: bytes, rng: random.Random, odd: tuple[str, ...], most: int = 3) -> bytes:
    """One to `most` changes of the bytes, the lines, or the values in them."""
    for _ in range(rng.randint(1, most)):
        data = rng.choice(_WAYS)(data, rng, odd)
    return data


def partly_odd(data: bytes, rng: random.Random) -> bytes:
    """Python that still runs, and returns what is right for some orders only."""
    return re.sub(rb"return .*", lambda _: b"return " + rng.choice(PARTLY_ODD).encode(), data)


def _byte(data: bytes, rng: random.Random, odd: tuple[str, ...]) -> bytes:
    if not data:
        return bytes([rng.randrange(256)])
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _junk(data: bytes, rng: random.Random, odd: tuple[str, ...]) -> bytes:
    at = rng.randint(0, len(data))
    junk = rng.choice([b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\t", b"\r", b"\x1b[2J", b"\xe2\x80\xae", b"{{", b"}}", b": ", b"- ", b"\n"])
    return data[:at] + junk * rng.choice([1, 1, 1, 50]) + data[at:]


def _cut(data: bytes, rng: random.Random, odd: tuple[str, ...]) -> bytes:
    return data[: rng.randint(0, len(data))]


def _lines(data: bytes, rng: random.Random, odd: tuple[str, ...]) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    here, there = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.choice(["delete", "swap", "double", "indent", "outdent", "move"]):
        case "delete":
            del lines[here]
        case "swap":
            lines[here], lines[there] = lines[there], lines[here]
        case "double":
            lines.insert(here, lines[here])
        case "indent":
            lines[here] = b"  " + lines[here]
        case "outdent":
            lines[here] = lines[here].removeprefix(b"  ")
        case "move":
            lines.insert(there, lines.pop(here))
    return b"".join(lines)


def _value(data: bytes, rng: random.Random, odd: tuple[str, ...]) -> bytes:
    """Something odd after a colon, an equals sign or a return, or in place of a number."""
    places = [(found.start(), found.end()) for found in re.finditer(rb"(?<=[:=] )[^\n]*|(?<=return )[^\n]*", data)]
    places += [(found.start(), found.end()) for found in _NUMBER.finditer(data)]
    if not places:
        return data
    start, end = rng.choice(places)
    return data[:start] + rng.choice(odd).encode("utf-8", "surrogatepass") + data[end:]


_WAYS = (_byte, _junk, _cut, _lines, _lines, _lines, _value, _value, _value, _value)


def disturb(folder: Path, rng: random.Random) -> None:
    """Put a file or a folder of a tree where it does not belong, or nothing at all, or something that is neither."""
    path = rng.choice(sorted(each for each in folder.rglob("*") if each != folder))
    match rng.choice(["away", "folder", "link", "loop", "empty", "renamed", "unexpected"]):
        case "away":
            remove(path)
        case "folder":
            remove(path)
            path.mkdir()
        case "link":
            remove(path)
            path.symlink_to("/etc/hostname")
        case "loop":
            remove(path)
            path.symlink_to(path.name)
        case "empty":
            remove(path)
            path.write_bytes(b"")
        case "renamed":
            path.rename(path.with_name(rng.choice(["x", "v1", "L9.md", "scenario.yml", "nul\udcff", "é.j2", "manifest.yaml.j2"])))
        case "unexpected":
            target = path if path.is_dir() else path.parent
            (target / rng.choice(["stray.txt", "L3.v99.md", ".hidden", "site.v0", "a b"])).write_text("{{ nothing }}\n")


def remove(path: Path) -> None:
    """Take away a file, a link or a folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


@contextmanager
def no_hang(seconds: int, what: str) -> Iterator[None]:
    """Fail when the block takes much longer than it ever could on a slow machine."""

    def late(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"{what} hangs")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
