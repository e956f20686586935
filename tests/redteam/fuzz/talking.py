"""Hostile bytes for a server on a unix socket: broken HTTP, broken JSON, and requests that are well formed and ask for nonsense."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SECONDS = 20.0
"""No answer takes a hundredth of it."""
_ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 1e308, 10**400, "", "x", "\0", "\ud800", "\u202e", "x" * 20_000, [], {}, [[]], {"": None}, [None] * 1000,
    "pike\n", "../pike", "PIKE", "{{ limit }}", "'; DROP TABLE people; --",
)  # fmt: skip  # a table of values
_HEADERS = (
    "content-length: 5", "content-length: -1", "content-length: 99999999999999999999", "content-length: \u0663", "content-length:",
    "content-length: 1e3",
    "transfer-encoding: chunked", "expect: 100-continue", "connection: keep-alive", "connection: upgrade", "x" * 70_000, ": empty",
    " folded",
    "content-type: text/\0", "host: a\r\nx: b", "content-length: 0\r\ncontent-length: 9",
)  # fmt: skip  # a table of values
METHODS = ("GET", "POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "HEAD", "get", "PRI", "\x16\x03\x01", "", "GET /people")


def hostile(rng: random.Random, paths: Sequence[str], bodies: Sequence[Any]) -> bytes:
    """One message. `bodies` are those that a server understands and refuses; they are broken further."""
    match rng.randrange(8):
        case 0:
            return rng.randbytes(rng.choice([0, 1, 7, 200, 5000]))
        case 1:
            return _request(rng.choice(METHODS), rng.choice([*paths, "/", "*", "/../people", "/%00", "/ask?x", "x" * 9000]), b"", [])
        case 2:
            return _request("POST", rng.choice(paths), _json(rng.choice(bodies)), [rng.choice(_HEADERS) for _ in range(rng.randint(1, 3))])
        case 3:
            return _broken(_request("POST", rng.choice(paths), _json(rng.choice(bodies)), []), rng)
        case 4:
            return _request("POST", rng.choice(paths), _broken(_json(rng.choice(bodies)), rng), [])
        case 5:
            return _request("POST", rng.choice(paths), _json(_odd(rng.choice(bodies), rng)), [])
        case 6:
            body = rng.choice(
                [b"[" * 100_000, b'{"a":' * 50_000, b"9" * 100_000, b'"' + b"\\u0000" * 9000 + b'"', b"NaN", b"\xff\xfe{}", b""]
            )
            return _request("POST", rng.choice(paths), body, [])
        case _:
            several = [_request("POST", rng.choice(paths), _json(rng.choice(bodies)), []) for _ in range(rng.randint(2, 5))]
            return b"".join(several)


def _request(method: str, path: str, body: bytes, headers: Sequence[str]) -> bytes:
    length = [] if any(each.startswith("content-length") for each in headers) else [f"content-length: {len(body)}"]
    lines = [f"{method} {path} HTTP/1.1", "host: customer", *length, *headers]
    return "\r\n".join(lines).encode("utf-8", "surrogatepass") + b"\r\n\r\n" + body


def _json(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


def _odd(value: Any, rng: random.Random) -> Any:
    """The value with something odd in one place."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        name = rng.choice(sorted(value))
        return {**value, name: _odd(value[name], rng)} | ({"extra": rng.choice(_ODD)} if rng.random() < 0.2 else {})
    if isinstance(value, list) and value and rng.random() < 0.8:
        return [_odd(each, rng) for each in value]
    return rng.choice(_ODD)


def _broken(data: bytes, rng: random.Random) -> bytes:
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, max(0, len(data) - 1))
        match rng.randrange(4):
            case 0:
                data = data[:at] + bytes([rng.randrange(128, 256)]) + data[at + 1 :]
            case 1:
                data = data[:at]
            case 2:
                data = data[:at] + data[at + rng.randint(1, 9) :]
            case _:
                data = data[:at] + rng.choice([b"\0", b"\r\n", b"\n", b'"', b"}", b"\\"]) * rng.choice([1, 1, 300]) + data[at:]
    return data


def said_to(path: Path, message: bytes) -> bytes:
    """Send a message, say that nothing more follows, and read all that comes back. Raises TimeoutError for a server that hangs."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(SECONDS)
        client.connect(str(path))
        answer = b""
        try:
            client.sendall(message)
            client.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # It has hung up already, with or without a word.
        try:
            while chunk := client.recv(1 << 16):
                answer += chunk
        except ConnectionResetError:
            pass
        return answer
