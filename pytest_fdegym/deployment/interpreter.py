"""How Python is started for code that is not ours."""

from __future__ import annotations

COMMAND = ("python3", "-s", "-S", "-P", "-B")
"""The customer's machine's Python with the standard library alone. ``-I`` would do the same and let hashes be random."""
ENVIRONMENT = {"PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "TZ": "UTC"}
"""The same order of sets and the same local time in each replay."""
