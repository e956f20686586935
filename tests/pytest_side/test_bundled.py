"""The bundled tasks: found in a checkout, unpacked from a wheel's archive."""

from __future__ import annotations

import zipfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from pytest_fdegym.bundled import bundled_tasks, cache_folder, unpacked
from pytest_fdegym.errors import InfrastructureFault


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.zip"
    with zipfile.ZipFile(path, "w") as content:
        for number in range(50):
            content.writestr(f"tasks/demo/{number}.txt", str(number) * 1000)
    return path


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "demo").iterdir())


def test_a_checkout_has_its_own() -> None:
    assert bundled_tasks() == Path(__file__).parents[2] / "tasks"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [({"XDG_CACHE_HOME": "/somewhere"}, Path("/somewhere/pytest-fdegym"))],
)
def test_cache_folder(environment: dict[str, str], expected: Path) -> None:
    assert cache_folder(environment) == expected


def test_unpacks_once(archive: Path, tmp_path: Path) -> None:
    first = unpacked(archive, (tmp_path / "cache",))
    (marker := first / "marker").touch()
    assert unpacked(archive, (tmp_path / "cache",)) == first
    assert marker.exists()
    assert len(files(first)) == 50
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [first.parent.name]


def test_another_archive_goes_elsewhere(archive: Path, tmp_path: Path) -> None:
    first = unpacked(archive, (tmp_path / "cache",))
    with zipfile.ZipFile(archive, "a") as content:
        content.writestr("tasks/demo/new.txt", "new")
    second = unpacked(archive, (tmp_path / "cache",))
    assert (len(files(first)), len(files(second))) == (50, 51)


def test_a_damaged_cache_is_replaced(archive: Path, tmp_path: Path) -> None:
    first = unpacked(archive, (tmp_path / "cache",))
    (first / "demo" / "7.txt").unlink()
    assert len(files(unpacked(archive, (tmp_path / "cache",)))) == 50


def test_the_next_place_serves_when_one_cannot_be_written(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert unpacked(archive, (tmp_path / "file" / "cache", tmp_path / "cache")).is_relative_to(tmp_path / "cache")


def test_no_place_can_be_written(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InfrastructureFault) as caught:
        unpacked(archive, (tmp_path / "file" / "cache",))
    assert str(caught.value).startswith(f"the bundled tasks cannot be unpacked ({tmp_path}/file/cache/tasks-")
    assert str(caught.value).endswith(": Not a directory); set XDG_CACHE_HOME to a folder that can be written")


def test_several_processes_at_once(archive: Path, tmp_path: Path) -> None:
    with ProcessPoolExecutor(4) as pool:
        found = {each.result() for each in [pool.submit(unpacked, archive, (tmp_path / "cache",)) for _ in range(8)]}
    (folder,) = found
    assert len(files(folder)) == 50
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [folder.parent.name]
