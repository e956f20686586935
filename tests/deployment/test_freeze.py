"""A delivery is copied out of a workspace in which anything may lie."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pytest_fdegym.deployment.freeze import DEEPEST, Frozen, freeze


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "system" / "npt").mkdir(parents=True)
    (folder / "system" / "npt" / "coder.py").write_text("def code(): return 1\n")
    (folder / "system" / "release.json").write_text("{}")
    (folder / "notes.md").write_text("not delivered")
    return folder


def frozen(workspace: Path, *folders: str, **bounds: int) -> Frozen:
    return freeze(workspace, folders or ("system",), workspace.parent / f"frozen{len(list(workspace.parent.iterdir()))}", **bounds)


def files(result: Frozen) -> list[str]:
    return sorted(path.relative_to(result.root).as_posix() for path in result.root.rglob("*") if not path.is_dir())


def test_takes_the_deployed_folders_and_nothing_else(workspace: Path) -> None:
    result = frozen(workspace)
    assert files(result) == ["system/npt/coder.py", "system/release.json"]
    assert (result.root / "system/npt/coder.py").read_text() == "def code(): return 1\n"
    assert result.notes == ()


def test_the_copy_does_not_follow_later_changes(workspace: Path) -> None:
    result = frozen(workspace)
    (workspace / "system/release.json").write_text("changed after handover")
    assert (result.root / "system/release.json").read_text() == "{}"


def test_digest_is_of_paths_and_contents_not_of_modes_and_times(workspace: Path) -> None:
    before = frozen(workspace).digest
    (workspace / "system/release.json").chmod(0o755)
    os.utime(workspace / "system/release.json", (1, 1))
    assert frozen(workspace).digest == before
    (workspace / "system/release.json").write_text("{ }")
    changed = frozen(workspace).digest
    (workspace / "system/release.json").rename(workspace / "system/Release.json")
    assert len({before, changed, frozen(workspace).digest}) == 3


def test_bytecode_caches_are_not_part_of_a_delivery(workspace: Path) -> None:
    before = frozen(workspace)
    (workspace / "system/npt/__pycache__").mkdir()
    (workspace / "system/npt/__pycache__/coder.cpython-311.pyc").write_bytes(b"hidden code")
    after = frozen(workspace)
    assert (after.digest, after.notes, files(after)) == (before.digest, (), files(before))


def test_links_are_left_out_wherever_they_point(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "truth.json").write_text("the answer")
    (workspace / "system/answer.json").symlink_to(tmp_path / "truth.json")
    (workspace / "system/all").symlink_to(tmp_path)
    (workspace / "system/broken").symlink_to("nowhere")
    result = frozen(workspace)
    assert files(result) == ["system/npt/coder.py", "system/release.json"]
    assert result.notes == ("3 symbolic links were left out: system/all, system/answer.json, system/broken",)


def test_fifo_and_socket_neither_block_nor_arrive(workspace: Path) -> None:
    os.mkfifo(workspace / "system/queue")
    os.mkfifo(workspace / "system/npt/another")
    result = frozen(workspace)
    assert result.notes == ("2 special files (no regular files, no folders) were left out: system/npt/another, system/queue",)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make devices")
def test_device_is_not_read(workspace: Path) -> None:
    try:
        os.mknod(workspace / "system/zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("this machine does not let root make devices")
    assert frozen(workspace).notes == ("1 special file (no regular file, no folder) was left out: system/zero",)


def test_hard_link_is_copied_as_a_file_of_its_own(workspace: Path) -> None:
    os.link(workspace / "system/release.json", workspace / "system/second.json")
    result = frozen(workspace)
    (result.root / "system/second.json").write_text("x")
    assert (result.root / "system/release.json").read_text() == "{}"
    assert (result.root / "system/release.json").stat().st_nlink == 1


def test_sparse_giant_costs_nothing_and_ends_the_copy(workspace: Path) -> None:
    with (workspace / "system/npt/hole").open("wb") as file:
        file.truncate(1 << 40)
    result = frozen(workspace)
    assert files(result) == ["system/npt/coder.py"]
    assert result.notes == ("The delivery is larger than 67,108,864 bytes; system/npt/hole and what follows were not taken over.",)


def test_bytes_are_bounded_in_all(workspace: Path) -> None:
    for number in range(5):
        (workspace / f"system/part{number}").write_bytes(b"x" * 400)
    result = frozen(workspace, max_bytes=1000)
    assert files(result) == ["system/npt/coder.py", "system/part0", "system/part1"]
    assert result.notes == ("The delivery is larger than 1,000 bytes; system/part2 and what follows were not taken over.",)


def test_files_are_bounded_over_folders(workspace: Path) -> None:
    for number in range(9):
        (workspace / f"system/folder{number}").mkdir()
        (workspace / f"system/folder{number}/a.py").write_text("")
    result = frozen(workspace, max_files=12)
    assert len(files(result)) == 6
    assert result.notes == ("The delivery holds more than 12 files and folders; system/folder6/ and what follows were not taken over.",)


def test_a_folder_of_very_many_files_is_not_even_sorted(workspace: Path) -> None:
    for number in range(30):
        (workspace / f"system/npt/{number}").write_text("")
    assert frozen(workspace, max_files=20).notes == ("system/npt/ holds more than 20 entries; it and what follows were not taken over.",)


def test_deep_folders_end_somewhere(workspace: Path) -> None:
    handle = os.open(workspace / "system", os.O_RDONLY)
    for _ in range(250):  # the path at the end is longer than the system can take at once
        os.mkdir("twenty-letters-long", dir_fd=handle)
        below = os.open("twenty-letters-long", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(handle)
    result = frozen(workspace)
    path = "system" + "/twenty-letters-long" * (DEEPEST + 1)
    assert result.notes == (f"1 folder deeper than 32 levels was left out: {path[:97]}...",)
    assert (result.root / path).parent.is_dir()


def test_long_paths_are_left_out(workspace: Path) -> None:
    folder = workspace / "system"
    for _ in range(5):
        folder = folder / ("n" * 240)
    folder.mkdir(parents=True)
    (notes,) = frozen(workspace).notes
    assert notes.startswith("1 path longer than 1,000 bytes was left out: system/nnn")
    assert len(notes) < 200


@pytest.mark.parametrize("name", [b"new\nline.py", b"\xff\xfe.py", b"\x1b[31mred.py", "\u202ereversed.py".encode()])
def test_names_that_could_break_a_report_are_left_out(workspace: Path, name: bytes) -> None:
    try:
        Path(os.fsdecode(os.fsencode(workspace / "system") + b"/" + name)).write_text("")
    except OSError:
        pytest.skip("this file system does not take such names")
    result = frozen(workspace)
    assert files(result) == ["system/npt/coder.py", "system/release.json"]
    assert result.notes == ("1 entry with a name that is not printable text was left out, in system/",)


def test_missing_folder(workspace: Path) -> None:
    result = frozen(workspace, "system", "services/api")
    assert result.notes == ("services/api/ is missing.",)
    assert "system/npt/coder.py" in files(result)


def test_folder_replaced_by_a_file(workspace: Path) -> None:
    (workspace / "services").write_text("")
    assert frozen(workspace, "services/api").notes == ("services is a file, not a folder; nothing of services/api/ was deployed.",)


def test_folder_replaced_by_a_link(workspace: Path) -> None:
    (workspace / "services").symlink_to(workspace / "system")
    result = frozen(workspace, "services")
    assert result.notes == ("services is a symbolic link, not a folder; nothing of services/ was deployed.",)
    assert files(result) == []


def test_folder_replaced_by_a_fifo(workspace: Path) -> None:
    os.mkfifo(workspace / "services")
    assert frozen(workspace, "services").notes == ("services is a special file, not a folder; nothing of services/ was deployed.",)


def test_folders_within_each_other_are_copied_once(workspace: Path) -> None:
    assert frozen(workspace, "system/npt", "system", "system").digest == frozen(workspace, "system").digest


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_unreadable_file_is_left_out(workspace: Path) -> None:
    (workspace / "system/release.json").chmod(0)
    assert frozen(workspace).notes == ("1 unreadable entry was left out: system/release.json",)
