"""A delivery as a patch: what git would apply, whatever the files are."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_fdegym.results.patch import SLOW_LINES, delivery_patch


def tree(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    root.mkdir(exist_ok=True)
    return root


def test_nothing_changed_is_no_patch(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"system/a.py": "x = 1\n"}
    assert delivery_patch(tree(tmp_path / "a", files), tree(tmp_path / "b", files)) == ""


def test_a_binary_file_is_named_only(tmp_path: Path) -> None:
    before, after = tree(tmp_path / "a", {"system/x": b"\0\1"}), tree(tmp_path / "b", {"system/x": b"\0\2"})
    assert delivery_patch(before, after) == "Binary files a/system/x and b/system/x differ\n"


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the patch")
@pytest.mark.parametrize("lines", [3, SLOW_LINES + 1])
def test_git_turns_the_system_as_found_into_the_delivery(tmp_path: Path, lines: int) -> None:
    long = "".join(f"line {n}\n" for n in range(lines))
    before = tree(tmp_path / "a", {"system/changed.py": long, "system/gone.py": "bye\n", "system/same.py": "same\n"})
    after = tree(
        tmp_path / "b", {"system/changed.py": long + "no newline at the end", "system/new/file.py": "é\n", "system/same.py": "same\n"}
    )
    (tmp_path / "p.patch").write_text(delivery_patch(before, after), encoding="utf-8")
    subprocess.run(["git", "apply", "--unsafe-paths", "-p1", "../p.patch"], cwd=before, check=True, capture_output=True)
    left = {path.relative_to(before).as_posix(): path.read_bytes() for path in before.rglob("*") if path.is_file()}
    assert left == {path.relative_to(after).as_posix(): path.read_bytes() for path in after.rglob("*") if path.is_file()}
