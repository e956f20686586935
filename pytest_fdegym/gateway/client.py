"""Client of the company's LLM gateway.

    from gateway import Gateway

    answer = Gateway().chat([{"role": "user", "content": "Is this about a parcel? ..."}])

The gateway speaks the OpenAI protocol (POST /v1/chat/completions, GET /v1/models) over a unix socket; other clients work as well.
In production, functions are passed an instance of this class. It is production's own copy of this file: changes made here do not reach it.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
from collections.abc import Mapping, Sequence
from typing import Any

VARIABLE = "LLM_GATEWAY_SOCKET"
SECONDS = 900


class GatewayError(Exception):
    """The gateway gave no answer; `status` is that of HTTP (429: no more calls), or None when it could not be reached."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Gateway:
    """Calls the gateway; may be shared between threads."""

    def __init__(self) -> None:
        self._connection: _Connection | None = None
        self._lock = threading.Lock()

    def chat(self, messages: Sequence[Mapping[str, str]], model: str | None = None) -> str:
        """The answer to `messages` (each with `role` and `content`), of the gateway's first model unless one is named.

        Raises GatewayError.
        """
        request: dict[str, Any] = {"messages": messages} if model is None else {"messages": messages, "model": model}
        answer: str = self._request("POST", "/v1/chat/completions", request)["choices"][0]["message"]["content"]
        return answer

    def models(self) -> list[str]:
        """The names of the models. Raises GatewayError."""
        return [model["id"] for model in self._request("GET", "/v1/models")["data"]]

    def close(self) -> None:
        """Close the connection that is kept open; a later call opens another."""
        with self._lock:
            self._close()

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with self._lock:
            kept = self._connection is not None
            try:
                status, text = self._exchange(method, path, data)
            except (OSError, http.client.HTTPException) as error:
                self._close()
                if not kept or isinstance(error, TimeoutError):
                    raise GatewayError(f"the gateway cannot be reached: {error}") from None
                try:  # A connection that was kept open may have been closed meanwhile.
                    status, text = self._exchange(method, path, data)
                except (OSError, http.client.HTTPException) as again:
                    self._close()
                    raise GatewayError(f"the gateway cannot be reached: {again}") from None
        answer = json.loads(text)
        if status != 200:
            raise GatewayError(answer["error"]["message"], status)
        return answer

    def _exchange(self, method: str, path: str, data: bytes | None) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = _Connection()
        self._connection.request(method, path, data, {} if data is None else {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        return response.status, response.read()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


class _Connection(http.client.HTTPConnection):
    def __init__(self) -> None:
        super().__init__("gateway")

    def connect(self) -> None:
        path = _socket_path()
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(SECONDS)
        self.sock.connect(path)


def _socket_path() -> str:
    """Where the gateway listens: as the machine's environment says, or a file in the folder bin/ beside or above this file."""
    path = os.environ.get(VARIABLE)
    if path:
        return path
    folder = os.path.dirname(os.path.abspath(__file__))
    while True:
        try:
            with open(os.path.join(folder, "bin", ".gateway"), encoding="utf-8") as file:
                return file.read().strip()
        except OSError:
            if folder == os.path.dirname(folder):
                raise GatewayError(f"the gateway is not configured: {VARIABLE} is not set") from None
            folder = os.path.dirname(folder)
