"""Whether records can be kept where they are to be kept: found out before an agent costs money."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pytest_fdegym.errors import UsageError


def check_results_folder(folder: Path) -> None:
    """Make `folder` and write in it; what is written goes away. Raises UsageError."""
    try:
        reason = "it is not a folder" if folder.exists() and not folder.is_dir() else None
        if reason is None:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
    except OSError as error:
        reason = error.strerror or str(error)
    if reason is not None:
        raise UsageError(f"--fde-results: nothing can be kept in {folder}: {reason}. A folder that can be written is expected.")
