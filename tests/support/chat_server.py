"""A real HTTP server that speaks chat completions and answers by a rule."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Chat = list[dict[str, str]]


@dataclass(frozen=True)
class Status:
    """Answer with this HTTP status instead."""

    code: int
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """Answer with this body, as it is; `length` is what the header says of it."""

    body: bytes
    length: int | None = None


class Hang:
    """Answer nothing until the server is closed."""


Answer = str | Status | Raw | Hang
Rule = Callable[[Chat], Answer]


class ChatServer:
    """Serves while the context is open. `requests` has the bodies that were asked, `keys` the authorization headers."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self._closed = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ChatServer:
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                """Tests print enough."""

            def do_POST(self) -> None:
                assert self.path == "/v1/chat/completions"
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append(body)
                outer.keys.append(self.headers["authorization"])
                answer = outer.rule(body["messages"])
                if isinstance(answer, Hang):
                    outer._closed.wait()
                elif isinstance(answer, Status):
                    self._send(answer.code, answer.body.encode(), answer.headers)
                elif isinstance(answer, Raw):
                    self._send(200, answer.body, {}, answer.length)
                else:
                    message = {"role": "assistant", "content": answer}
                    self._send(200, json.dumps({"model": "small-1-2025", "choices": [{"index": 0, "message": message}]}).encode(), {})

            def _send(self, code: int, body: bytes, headers: dict[str, str], length: int | None = None) -> None:
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body) if length is None else length))
                self.end_headers()
                self.wfile.write(body)

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
