"""Content digests that decide whether something measured earlier still holds."""

from __future__ import annotations

import functools
import hashlib
import platform
from pathlib import Path

from pytest_fdegym._version import __version__


@functools.cache
def harness_digest() -> str:
    """A digest of this package's source and of the Python that runs deliveries: either may change a KPI."""
    digest = hashlib.sha256(f"{__version__} {platform.python_implementation()} {platform.python_version()}".encode())
    root = Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def combined(*parts: object) -> str:
    """One sha256 over several parts, none of which can pass for another."""
    digest = hashlib.sha256()
    for part in parts:
        text = str(part).encode()
        digest.update(f"{len(text)}:".encode() + text)
    return digest.hexdigest()
