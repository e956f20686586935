"""The file tools outside of the sandbox, in a workspace that somebody else changes at the same moment."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

import pytest

from pytest_fdegym.agents.files import OutsideWorkspace, WorkspaceFiles


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work" / "system").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.txt").write_text("the answer")
    return tmp_path / "work"


@pytest.fixture
def files(root: Path) -> WorkspaceFiles:
    return WorkspaceFiles(root, lambda path: None)


def test_a_new_file_in_new_folders_is_given_with_the_first_of_them(root: Path) -> None:
    given: list[Path] = []
    files = WorkspaceFiles(root, given.append)
    files.write_text("system/a/b/c.txt", "text")
    files.write_text("system/a/b/c.txt", "longer text")
    files.edit("system/a/b/c.txt", "longer", "other")
    assert files.read_text("system/a/b/c.txt") == "other text"
    assert given == [root / "system" / "a", root / "system" / "a" / "b" / "c.txt", root / "system" / "a" / "b" / "c.txt"]
    assert files.list_files() == ["system/a/b/c.txt"]
    assert files.list_folder("system") == ["a/"]


def test_the_workspace_may_be_reached_by_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    files = WorkspaceFiles(tmp_path / "link", lambda path: None)
    files.write_text("system/a.txt", "text")
    assert files.list_files() == ["system/a.txt"]
    assert files.read_text("system/a.txt") == "text"


def test_a_link_to_a_place_inside_is_followed_and_one_to_elsewhere_is_not(files: WorkspaceFiles, root: Path) -> None:
    (root / "system" / "a.txt").write_text("inside")
    (root / "near").symlink_to("system")
    (root / "away").symlink_to("../elsewhere")
    assert files.read_text("near/a.txt") == "inside"
    for refused in (files.read_text, files.list_folder, files.list_files):
        with pytest.raises(OutsideWorkspace) as error:
            refused("away/secret.txt" if refused == files.read_text else "away")
        assert str(error.value).endswith("leads out of the workspace")


def test_an_error_names_the_path(files: WorkspaceFiles, root: Path) -> None:
    for operation in (lambda: files.read_text("no/such/file"), lambda: files.list_folder("no/such")):
        with pytest.raises(FileNotFoundError) as error:
            operation()
        assert str(error.value.filename).startswith(str(root / "no" / "such"))
    with pytest.raises(OSError, match="not a regular file"):
        files.read_text("system")
    with pytest.raises(IsADirectoryError):
        files.write_text("system", "text")


def test_a_folder_that_is_exchanged_for_a_link_all_the_time_never_leads_out(files: WorkspaceFiles, root: Path, tmp_path: Path) -> None:
    """Between looking at a path and opening it, a command of the agent may exchange a folder on the way."""
    (root / "real").mkdir()
    (root / "real" / "secret.txt").write_text("harmless")
    (root / "link").symlink_to(tmp_path / "elsewhere")
    (root / "real").rename(root / "there")
    over = threading.Event()

    def exchanging() -> None:
        while not over.is_set():
            os.rename(root / "there", root / "real")
            os.rename(root / "link", root / "there")
            os.rename(root / "there", root / "link")
            os.rename(root / "real", root / "there")

    thread = threading.Thread(target=exchanging)
    thread.start()
    seen = set()
    try:
        for _ in range(3000):
            with contextlib.suppress(OSError, OutsideWorkspace):
                seen.add(files.read_text("there/secret.txt"))
    finally:
        over.set()
        thread.join()
    assert seen == {"harmless"}
