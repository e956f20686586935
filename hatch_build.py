"""Build hook: packs tasks/ into one archive of the wheel, the same bytes for the same files.

One file instead of thousands, because pytest reads the file list of every distribution that has a pytest plugin at each start.
"""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TASKS = "tasks"
IN_WHEEL = "pytest_fdegym/tasks.zip"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_LEFT_OUT = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".fdegym"})


def write_archive(tasks: Path, archive: Path) -> None:
    """Pack the regular files below `tasks` as ``tasks/...``, sorted, without times, owners or modes. Raises ValueError for a link."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as content:
        for path in sorted(tasks.rglob("*"), key=lambda each: each.relative_to(tasks).as_posix()):
            relative = path.relative_to(tasks)
            if _LEFT_OUT.intersection(relative.parts) or path.suffix == ".pyc":
                continue
            if path.is_symlink():
                raise ValueError(f"{path} is a link; the bundled tasks are regular files")
            if path.is_file():
                member = zipfile.ZipInfo(f"{TASKS}/{relative.as_posix()}", _EPOCH)
                member.compress_type = zipfile.ZIP_DEFLATED
                member.create_system = 3
                member.external_attr = 0o644 << 16
                content.writestr(member, path.read_bytes())


class ArchiveOfTasks(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's own hooks leave the argument out
    """Adds the archive to a wheel; an editable install reads tasks/ where it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory(prefix="fdegym-build-")
        archive = Path(self._folder.name) / "tasks.zip"
        write_archive(Path(self.root) / TASKS, archive)
        build_data["force_include"][str(archive)] = IN_WHEEL

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        del build_data, artifact_path
        if self.target_name == "wheel" and version != "editable":
            self._folder.cleanup()
