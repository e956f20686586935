"""The wheel: one archive of the bundled tasks, the same for the same files."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytest.importorskip("hatchling")


def build(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


def test_holds_the_tasks_in_one_file(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "pytest_fdegym/tasks.zip" in names
    assert [name for name in names if not name.startswith(("pytest_fdegym/", "pytest_fdegym-"))] == []


def test_same_files_same_bytes(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as first, zipfile.ZipFile(build(tmp_path)) as second:
        assert first.read("pytest_fdegym/tasks.zip") == second.read("pytest_fdegym/tasks.zip")


def test_tasks_are_unpacked_from_it(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as content:
        content.extractall(installed)
    code = f"import sys; sys.path.insert(0, {str(installed)!r}); from pytest_fdegym.bundled import bundled_tasks; print(bundled_tasks())"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    shown = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True).stdout
    folder = Path(shown.strip())
    assert folder.is_relative_to(tmp_path / "cache" / "pytest-fdegym")
    assert folder.name == "tasks"
    original = {path.relative_to(ROOT / "tasks") for path in (ROOT / "tasks").rglob("*") if path.is_file()}
    assert {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()} == {
        path for path in original if "__pycache__" not in path.parts
    }
