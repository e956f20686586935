"""What a run handed over, kept beside its record: the delivery, byte for byte, and what was obtained from people. It can be graded again.

A gzipped tar with ``handover.json`` (`Handover`) and the folders that were deployed, below ``delivery/``.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from pytest_fdegym.deployment.freeze import Frozen, freeze
from pytest_fdegym.errors import UsageError
from pytest_fdegym.grading import Obtained
from pytest_fdegym.scenario.world import SignOff
from pytest_fdegym.scratch import scratch_folder

SCHEMA_VERSION: Literal[1] = 1
"""Raised when a field changes its meaning or goes away."""
LARGEST_ARCHIVE = 16 << 20
"""Bytes of an archive that is kept; a larger one is not."""
MOST_BYTES = 64 << 20
MOST_FILES = 10_000
"""Of what is unpacked: a delivery is frozen within less."""
_TOO_MUCH = "it unpacks to more than a delivery may hold"
_HANDOVER = "handover.json"
_DELIVERY = "delivery"
_KIND, _VALUE = "$kind", "$value"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GivenSignOff(_Model):
    """As `pytest_fdegym.scenario.world.SignOff`; dates in its scope are marked as such."""

    id: str
    person: str
    reference: str
    scope: dict[str, Any] = {}
    given_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None


class Handover(_Model):
    """What is known at handover beside the delivery itself."""

    schema_version: Literal[1] = SCHEMA_VERSION
    deployed: tuple[str, ...]
    """The folders that were deployed."""
    contact_cost: float
    signoffs: tuple[GivenSignOff, ...] = ()
    facts: tuple[str, ...] = ()
    contacts: tuple[dict[str, Any], ...] = ()
    freeze_notes: tuple[str, ...] = ()
    """What was not taken over into the delivery."""
    other_notes: tuple[str, ...] = ()
    """Of the record, those that no replay makes: how the engagement ended, what answered at the gateway."""

    @property
    def obtained(self) -> Obtained:
        """For the grader."""
        return Obtained(tuple(_signoff(each) for each in self.signoffs), frozenset(self.facts), self.contacts)


def handover(
    obtained: Obtained, frozen: Frozen, *, deployed: Sequence[str], contact_cost: float, other_notes: Sequence[str] = ()
) -> Handover:
    """Put together what regrading needs."""
    return Handover(
        deployed=tuple(deployed),
        contact_cost=contact_cost,
        signoffs=tuple(_given(each) for each in obtained.signoffs),
        facts=tuple(sorted(obtained.facts)),
        contacts=tuple(dict(each) for each in obtained.contacts),
        freeze_notes=tuple(frozen.notes),
        other_notes=tuple(other_notes),
    )


def _text(what: Handover) -> bytes:
    # In ASCII, for what agents wrote need not be UTF-8.
    return json.dumps(what.model_dump(), indent=1, default=_as_text).encode()


def _as_text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime | date) else str(value)


class _TooLarge(Exception):
    """The archive passes its bound."""


class _Bounded(io.BytesIO):
    def write(self, data: Any) -> int:
        if self.tell() + len(data) > LARGEST_ARCHIVE:
            raise _TooLarge
        return super().write(data)


def packed(what: Handover, delivery: Path) -> bytes | None:
    """The archive; the same bytes for the same content. None where it would be larger than `LARGEST_ARCHIVE`."""
    target = _Bounded()
    try:
        with (
            gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=target, mtime=0) as zipped,
            tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            text = _text(what)
            tar.addfile(_member(_HANDOVER, len(text)), io.BytesIO(text))
            for path in sorted(delivery.rglob("*")):
                name = f"{_DELIVERY}/{path.relative_to(delivery).as_posix()}"
                if path.is_dir():
                    tar.addfile(_member(name, 0, tarfile.DIRTYPE))
                else:
                    with path.open("rb") as file:
                        tar.addfile(_member(name, path.stat().st_size), file)
    except _TooLarge:
        return None
    return target.getvalue()


def _member(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.mode = size, kind, 0o755 if kind == tarfile.DIRTYPE else 0o644
    return info


@contextmanager
def opened(archive: Path, digest: str | None) -> Iterator[tuple[Handover, Frozen]]:
    """What `packed` kept, with the delivery in a folder that goes away afterwards; `digest` is the delivery's, in its record.

    Raises UsageError for a file that is missing, not such an archive, or another delivery than the record's.
    """
    with scratch_folder("fdehand") as root:
        try:
            what = _unpacked(archive, root / "unpacked")
        except FileNotFoundError:
            raise UsageError(f"{archive} is missing: the delivery was not kept") from None
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise UsageError(f"{archive}: {_HANDOVER}: {', '.join(map(str, first['loc'])) or 'the whole file'}: {first['msg']}") from None
        except (OSError, EOFError, tarfile.TarError, zlib.error, ValueError) as error:
            raise UsageError(f"{archive} is not a handover: {error}") from None
        frozen = freeze(root / "unpacked", what.deployed, root / "frozen")
        if frozen.digest != digest:
            raise UsageError(f"{archive} holds another delivery than the one of the record")
        yield what, Frozen(frozen.root, frozen.digest, what.freeze_notes)


def _unpacked(archive: Path, target: Path) -> Handover:
    """Written anew file by file, within bounds: results folders travel, and what comes back need not be what was packed."""
    target.mkdir()
    what: Handover | None = None
    left, files = MOST_BYTES, MOST_FILES
    with _inflated(archive) as inflated, tarfile.open(fileobj=inflated, mode="r:") as tar:
        for member in tar:
            files, left = files - 1, left - member.size
            if files < 0 or left < 0:
                raise ValueError(_TOO_MUCH)
            parts = PurePosixPath(member.name).parts
            if member.name == _HANDOVER and member.isreg():
                what = _parsed(_content(tar, member))
                continue
            if parts[:1] != (_DELIVERY,) or len(parts) < 2 or ".." in parts or not (member.isreg() or member.isdir()):
                raise ValueError(f"unexpected content {member.name!r}")
            place = target.joinpath(*parts[1:])
            if member.isdir():
                place.mkdir(parents=True, exist_ok=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("xb") as file:
                    file.write(_content(tar, member))
    if what is None:
        raise ValueError(f"there is no {_HANDOVER} in it")
    return what


@contextmanager
def _inflated(archive: Path) -> Iterator[IO[bytes]]:
    """The tar in a temporary file: read to its end, where the checksum of all of it stands."""
    with gzip.open(archive) as zipped, tempfile.TemporaryFile() as file:
        while chunk := zipped.read(1 << 20):
            file.write(chunk)
            if file.tell() > 2 * MOST_BYTES:
                raise ValueError(_TOO_MUCH)
        file.seek(0)
        yield file


def _parsed(data: bytes) -> Handover:
    return Handover.model_validate(json.loads(data))


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    assert file is not None
    return file.read()


def _given(signoff: SignOff) -> GivenSignOff:
    return GivenSignOff(
        id=signoff.id,
        person=signoff.person,
        reference=signoff.reference,
        scope={str(key): _marked(value) for key, value in signoff.scope.items()},
        given_at=signoff.given_at,
        valid_from=signoff.valid_from,
        valid_until=signoff.valid_until,
    )


def _signoff(given: GivenSignOff) -> SignOff:
    return SignOff(
        id=given.id,
        person=given.person,
        reference=given.reference,
        scope={key: _unmarked(value) for key, value in given.scope.items()},
        given_at=given.given_at,
        valid_from=given.valid_from,
        valid_until=given.valid_until,
    )


_KINDS: Mapping[str, Any] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "tuple": lambda values: tuple(map(_unmarked, values)),
    "set": lambda values: {_unmarked(each) for each in values},
    "frozenset": lambda values: frozenset(map(_unmarked, values)),
    "map": lambda pairs: {_unmarked(key): _unmarked(value) for key, value in pairs},
}


def _marked(value: Any) -> Any:
    """A value as JSON that `_unmarked` turns into the same again: what a scope may hold that JSON has no word for is marked."""
    if isinstance(value, datetime | date):
        return {_KIND: "datetime" if isinstance(value, datetime) else "date", _VALUE: value.isoformat()}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value) and _KIND not in value:
            return {key: _marked(inner) for key, inner in value.items()}
        return {_KIND: "map", _VALUE: [[_marked(key), _marked(inner)] for key, inner in value.items()]}
    if isinstance(value, tuple):
        return {_KIND: "tuple", _VALUE: [_marked(inner) for inner in value]}
    if isinstance(value, set | frozenset):
        return {_KIND: type(value).__name__, _VALUE: sorted((_marked(inner) for inner in value), key=repr)}
    if isinstance(value, list):
        return [_marked(inner) for inner in value]
    return value


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        if _KIND in value:
            return _KINDS[value[_KIND]](value[_VALUE])
        return {key: _unmarked(inner) for key, inner in value.items()}
    return [_unmarked(inner) for inner in value] if isinstance(value, list) else value
