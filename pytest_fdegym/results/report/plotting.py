"""The library that draws a page's figures: plotly.js, out of the package plotly, which is an extra."""

from __future__ import annotations

import base64
import hashlib
import zlib
from dataclasses import dataclass

MISSING = 'The figures of the page are not drawn: pip install "pytest-fdegym[report]" draws them. Their numbers are in it as tables.'
"""What is said once by who writes a page without the library."""


@dataclass(frozen=True)
class Library:
    """`packed` is the script as base64 of a zlib stream, a third of its size; `allowed` its source in a Content-Security-Policy."""

    packed: str
    allowed: str


def is_installed() -> bool:
    """Whether pages have their figures drawn."""
    try:
        import plotly.offline  # type: ignore[import-untyped]  # noqa: F401, PLC0415  (an extra; it has no types)
    except ImportError:
        return False
    return True


def library() -> Library | None:
    """plotly.js as the installed package has it; None without the package."""
    if not is_installed():
        return None
    from plotly.offline import get_plotlyjs  # noqa: PLC0415  (the same)

    script = get_plotlyjs().encode()
    return Library(base64.b64encode(zlib.compress(script)).decode(), source_of(script))


def source_of(script: bytes) -> str:
    """The expression of a Content-Security-Policy that lets the browser run this script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"
