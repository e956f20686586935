"""What is kept for grading again: the delivery byte for byte, and what people approved, in their own types."""

from __future__ import annotations

import gzip
import io
import tarfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.deployment.freeze import Frozen, freeze
from pytest_fdegym.errors import UsageError
from pytest_fdegym.grading import Obtained
from pytest_fdegym.results import handover as module
from pytest_fdegym.results.handover import Handover, handover, opened, packed
from pytest_fdegym.scenario.world import SignOff

SIGNOFF = SignOff("S", "moss", "SHIP-7", {"grams": 500, "from": date(2025, 3, 4), "sites": ("a", "b")}, datetime(2025, 3, 4, 9))


def frozen(folder: Path) -> Frozen:
    system = folder / "work/system"
    (system / "empty").mkdir(parents=True)
    (system / "shipping.py").write_text("LIMIT = 500\n")
    (system / "model.bin").write_bytes(bytes(range(256)))
    (system / "näme with\ttab").write_text("")
    return freeze(folder / "work", ["system"], folder / "frozen")


def packed_in(folder: Path, obtained: Obtained, delivery: Frozen) -> Path:
    data = packed(handover(obtained, delivery, deployed=["system"], contact_cost=0.05, other_notes=["a note"]), delivery.root)
    assert data is not None
    archive = folder / "a.handover.tar.gz"
    archive.write_bytes(data)
    return archive


def test_all_of_it_comes_back(tmp_path: Path) -> None:
    delivery = frozen(tmp_path)
    obtained = Obtained([SIGNOFF], frozenset({"F_LIMIT"}), [{"person": "moss", "sent": "\ud800 half", "charge": 0.03}])
    with opened(packed_in(tmp_path, obtained, delivery), delivery.digest) as (what, again):
        assert (what.contact_cost, what.other_notes, again.notes) == (0.05, ("a note",), delivery.notes)
        back = what.obtained
        assert (list(back.signoffs), back.facts, list(back.contacts)) == ([SIGNOFF], obtained.facts, list(obtained.contacts))
        assert (again.root / "system/model.bin").read_bytes() == bytes(range(256))
        assert again.digest == delivery.digest
        assert (again.root / "system/empty").is_dir()


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    delivery = frozen(tmp_path)
    (tmp_path / "x").mkdir()
    assert packed_in(tmp_path, Obtained(), delivery).read_bytes() == packed_in(tmp_path / "x", Obtained(), delivery).read_bytes()


SCOPES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.dates() | st.datetimes(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers() | st.just("$kind"), inner),
    max_leaves=8,
)


@given(scope=st.dictionaries(st.text(), SCOPES))
def test_a_scope_keeps_its_types(scope: dict[str, Any]) -> None:
    what = handover(Obtained([SignOff("S", "moss", "R", scope)]), Frozen(Path(), "", ()), deployed=["system"], contact_cost=0)
    again = module._parsed(module._text(what))
    assert list(again.obtained.signoffs) == [SignOff("S", "moss", "R", scope)]


def test_a_delivery_that_is_too_large_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_ARCHIVE", 1000)
    (tmp_path / "noise").write_bytes(bytes(byte * 7919 % 251 ^ byte % 13 for byte in range(100_000)))
    assert packed(Handover(deployed=("system",), contact_cost=0), tmp_path) is None


def refused(archive: Path, digest: str) -> str:
    with pytest.raises(UsageError) as error, opened(archive, digest):
        pass
    return str(error.value)


def test_another_delivery_is_refused(tmp_path: Path) -> None:
    archive = packed_in(tmp_path, Obtained(), frozen(tmp_path))
    assert refused(archive, "0" * 64) == f"{archive} holds another delivery than the one of the record"


def test_one_that_is_missing_or_cut_off_is_refused(tmp_path: Path) -> None:
    delivery = frozen(tmp_path)
    archive = packed_in(tmp_path, Obtained(), delivery)
    assert refused(tmp_path / "none", delivery.digest) == f"{tmp_path}/none is missing: the delivery was not kept"
    data = archive.read_bytes()
    for length in (0, 1, 20, len(data) // 2, len(data) - 9):
        archive.write_bytes(data[:length])
        assert refused(archive, delivery.digest).startswith(f"{archive} is not a handover: ")
    for at in range(12, len(data), 7):
        archive.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert refused(archive, delivery.digest).startswith(f"{archive} is not a handover: ")


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, size
    return info


@pytest.mark.parametrize(
    "hostile",
    [
        member("../outside"),
        member("/tmp/outside"),
        member("delivery/../../outside"),
        member("delivery/system/link", tarfile.SYMTYPE, "/etc/passwd"),
        member("delivery/system/hard", tarfile.LNKTYPE, "handover.json"),
        member("delivery/system/pipe", tarfile.FIFOTYPE),
        member("delivery"),
    ],
    ids=lambda info: info.name,
)
def test_nothing_but_files_and_folders_of_a_delivery_is_unpacked(tmp_path: Path, hostile: tarfile.TarInfo) -> None:
    archive = tmp_path / "a.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.addfile(hostile)
    assert refused(archive, "") == f"{archive} is not a handover: unexpected content {hostile.name!r}"


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    archive = tmp_path / "a.tar.gz"
    with gzip.open(archive, "wb", compresslevel=1) as zipped, tarfile.open(fileobj=zipped, mode="w") as tar:
        for number in range(2):
            tar.addfile(member(f"delivery/{number}", size=40 << 20), io.BytesIO(bytes(40 << 20)))
    assert refused(archive, "") == f"{archive} is not a handover: it unpacks to more than a delivery may hold"
