"""The same proxy on a Unix socket, for sandboxes without network."""

from __future__ import annotations

import http.client
import json
import socket
from pathlib import Path

import pytest

from pytest_fdegym.errors import InfrastructureFault
from tests.agents.metering.support import HELLO, MODELS, PATHS, question, run
from tests.support.providers import KEY, Api


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._path))


def status(path: Path, api: Api, key: str, *, streaming: bool = False) -> int:
    connection = UnixConnection(path)
    headers = {"x-api-key": key} if api == "messages" else {"authorization": f"Bearer {key}"}
    connection.request("POST", PATHS[api], json.dumps(question(api, stream=streaming)), headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status


@pytest.mark.parametrize("streaming", [False, True], ids=["plain", "streaming"])
@pytest.mark.parametrize("api", list(MODELS))
def test_calls_are_the_runs(tmp_path: Path, api: Api, streaming: bool) -> None:
    with run([HELLO]) as metered, metered.account.socket_in(tmp_path) as path:
        assert path == tmp_path / "meter.sock"
        assert status(path, api, metered.account.token, streaming=streaming) == 200
        assert metered.tracker.usage.turns == 1
        assert KEY in str(metered.provider.calls[0].headers)


def test_a_key_of_its_own_and_a_token_of_nobodys(tmp_path: Path) -> None:
    with run([HELLO]) as metered, metered.account.socket_in(tmp_path) as path:
        assert status(path, "chat", "sk-mine") == 401
        assert metered.provider.calls[0].headers["authorization"] == "Bearer sk-mine"
        assert status(path, "chat", "sk-fdegym-made-up") == 401
        assert len(metered.provider.calls) == 1


def test_the_address_of_a_relay() -> None:
    with run() as metered:
        environment = metered.account.environment_at("127.0.0.1:8377")
        assert environment == {
            "OPENAI_BASE_URL": "http://127.0.0.1:8377/openai/v1",
            "OPENAI_API_KEY": metered.account.token,
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:8377/anthropic",
            "ANTHROPIC_API_KEY": metered.account.token,
        }


def test_the_socket_is_gone_afterwards_and_can_be_made_again(tmp_path: Path) -> None:
    with run([HELLO] * 2) as metered:
        for _ in range(2):
            with metered.account.socket_in(tmp_path) as path:
                assert status(path, "chat", metered.account.token) == 200
            assert list(tmp_path.iterdir()) == []


def test_a_path_that_is_too_long(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    with run() as metered, pytest.raises(InfrastructureFault) as fault, metered.account.socket_in(folder):
        pass
    assert str(fault.value) == f"no socket could be opened at {folder}/meter.sock: AF_UNIX path too long"
