"""Giving a folder tree to the sandboxed user, and what is refused when it was not given."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pytest_fdegym.errors import InfrastructureFault
from pytest_fdegym.sandbox import Bounds, Layout, Sandbox, choose
from pytest_fdegym.sandbox.account import unprivileged

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives anything away")


def tree(top: Path) -> Path:
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "b" / "file").write_text("x")
    (top / "a" / "b" / "file").chmod(0o400)
    (top / "a").chmod(0o500)
    return top


def test_what_was_given_can_be_changed(sandbox: Sandbox, workdir: Path) -> None:
    tree(workdir)
    sandbox.give(workdir)
    result = sandbox.run(["sh", "-c", "echo more >> a/b/file && touch a/new && rm -r a/b"], Layout(workdir, (workdir,)), Bounds())
    assert (result.exit_code, result.stderr) == (0, "")
    assert sorted(os.listdir(workdir / "a")) == ["new"]


def test_links_are_not_followed(sandbox: Sandbox, workdir: Path, place: Path) -> None:
    outside = place / "outside"
    outside.mkdir()
    (outside / "file").write_text("x")
    (outside / "file").chmod(0o400)
    before = [(os.lstat(path).st_uid, os.lstat(path).st_mode) for path in (outside, outside / "file")]
    (workdir / "folder").symlink_to(outside)
    (workdir / "file").symlink_to(outside / "file")
    (workdir / "dangling").symlink_to(place / "nothing")
    sandbox.give(workdir)
    assert [(os.lstat(path).st_uid, os.lstat(path).st_mode) for path in (outside, outside / "file")] == before


@needs_root
def test_root_gives_to_a_user_without_rights(confining: Sandbox, workdir: Path) -> None:
    tree(workdir)
    confining.give(workdir)
    owners = {os.lstat(path).st_uid for path in (workdir, workdir / "a", workdir / "a" / "b" / "file")}
    assert len(owners) == 1
    assert owners.isdisjoint({0, 65534})
    done = confining.run(["id", "-u"], Layout(workdir, (workdir,)), Bounds())
    assert {int(done.stdout)} == owners


@needs_root
def test_a_file_with_another_name_outside_is_refused(confining: Sandbox, workdir: Path, place: Path) -> None:
    (place / "truth").write_text("x")
    os.link(place / "truth", workdir / "innocent")
    with pytest.raises(InfrastructureFault) as caught:
        confining.give(workdir)
    expected = f"cannot give {workdir}/innocent to the sandbox: the file has another name outside of {workdir}"
    assert str(caught.value) == expected
    assert os.stat(place / "truth").st_uid == 0


@needs_root
def test_a_file_with_two_names_inside_is_given(confining: Sandbox, workdir: Path) -> None:
    (workdir / "one").write_text("x")
    os.link(workdir / "one", workdir / "two")
    confining.give(workdir)
    assert stat.S_ISREG(os.stat(workdir / "two").st_mode)
    assert os.stat(workdir / "two").st_uid != 0


@needs_root
def test_what_was_not_given_is_refused(confining: Sandbox, workdir: Path) -> None:
    workdir.chmod(0o700)
    with pytest.raises(InfrastructureFault) as caught:
        confining.run(["true"], Layout(workdir, (workdir,)), Bounds())
    probe = Path(f"{workdir}-probe")
    probe.mkdir()
    confining.give(probe)
    uid = probe.stat().st_uid
    assert str(caught.value) == (
        f"{workdir} is closed to the user that confined code runs as (id {uid}, mode 0700, owner 0); "
        "it must be given with Sandbox.give first"
    )


@needs_root
def test_landlock_cannot_lead_root_around_a_closed_folder(place: Path, workdir: Path) -> None:
    sandbox = choose("landlock")
    sandbox.give(workdir)
    uid = workdir.stat().st_uid
    place.chmod(0o700)
    with pytest.raises(InfrastructureFault) as caught:
        sandbox.run(["true"], Layout(workdir, (workdir,)), Bounds())
    assert str(caught.value) == (
        f"{place} is closed to the user that confined code runs as (id {uid}), "
        f"and the landlock sandbox cannot lead it to {workdir}; "
        "keep workspaces in a folder that everybody may pass through, such as /tmp, "
        "or install bubblewrap, or run pytest as an ordinary user"
    )


@needs_root
def test_bubblewrap_leads_root_around_a_closed_folder(place: Path, workdir: Path) -> None:
    sandbox = choose("bubblewrap")
    sandbox.give(workdir)
    place.chmod(0o700)
    assert sandbox.run(["sh", "-c", "echo x > file; cat file"], Layout(workdir, (workdir,)), Bounds()).stdout == "x\n"


@needs_root
def test_each_harness_process_has_an_account_of_its_own() -> None:
    first, second = unprivileged(), unprivileged()
    assert first is not None
    assert second is not None
    assert first.uid != second.uid
