"""Where the harness's own temporary folders lie."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path

import pytest

from pytest_fdegym.scratch import scratch_folder


def test_it_lies_where_temporary_files_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="s") as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        with scratch_folder("fde") as folder:
            assert folder.parent == Path(short).resolve()
        assert not folder.exists()


def test_sockets_can_be_opened_in_it_however_deep_temporary_files_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("deep" * 20)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with scratch_folder("fdetrial") as folder, socket.socket(socket.AF_UNIX) as listener:
        (folder / "socket").mkdir()
        listener.bind(str(folder / "socket" / "customer.sock"))
        assert folder.stat().st_mode & 0o777 == 0o711
    assert not folder.exists()
