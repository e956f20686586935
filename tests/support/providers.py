"""A fake model provider: real HTTP on 127.0.0.1 for OpenAI's chat completions and responses and Anthropic's messages, plain and streaming.

    with Provider([Reply(tools=[ToolCall("run", {"command": "ls"})]), Fault("rate_limit"), Reply("done")]) as provider:
        client = OpenAI(base_url=provider.openai, api_key=provider.key)         # or base_url=provider.anthropic for Anthropic
        ...
    provider.calls       what was asked, with headers and bodies
    provider.served      turns and tokens of the answers that were given

A script is a list, used up from the front, or a callable that gets the Call and gives the answer. The API spoken is the request's.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

Api = Literal["chat", "responses", "messages"]
FaultKind = Literal["reset", "hang_up", "authentication", "rate_limit", "server_error", "overflow", "bad_request"]
Event = tuple[str | None, Mapping[str, Any] | str]
KEY = "sk-the-real-key-of-the-user"
_SECONDS = 30.0


@dataclass(frozen=True)
class Tokens:
    """What an answer is said to have used. `input` includes the cached ones (`cached` read, `cache_written` written)."""

    input: int = 100
    output: int = 10
    cached: int = 0
    cache_written: int = 0


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool; `id` is made up when there is none."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True)
class Reply:
    """What the model answers. A streamed text comes in two pieces; `held` is waited for between them.

    `breaks` is what happens after the first piece instead: the connection is reset, or the stream ends with the API's error.
    `usage` None serves none. `model` None gives the name that was asked for.
    """

    text: str = ""
    tools: Sequence[ToolCall] = ()
    usage: Tokens | None = Tokens()
    model: str | None = None
    held: threading.Event | None = None
    breaks: Literal["reset", "error"] | None = None


@dataclass(frozen=True)
class Fault:
    """``reset`` and ``hang_up`` answer nothing; the others are errors in the API's own shape, with `headers` added."""

    kind: FaultKind
    headers: Mapping[str, str] = field(default_factory=lambda: {"retry-after-ms": "1"})


@dataclass(frozen=True)
class Raw:
    """These bytes, with this status and these headers."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


Answer = Reply | Fault | Raw


@dataclass(frozen=True)
class Call:
    """A request; header names in lower case. `api` is None for what is no model call (models, count_tokens), and for embeddings,
    which are answered by the script, with a Raw."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    api: Api | None
    number: int

    @property
    def streams(self) -> bool:
        """Whether the answer was asked for as a stream."""
        return bool(self.body.get("stream")) if isinstance(self.body, dict) else False


@dataclass(frozen=True)
class Served:
    """The sum of what whole answers said of themselves."""

    turns: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0


Script = Sequence[Answer] | Callable[[Call], Answer]


class Provider:
    """Serves while the context is open. A request without `key` gets the API's own 401; None accepts any."""

    def __init__(self, script: Script = (), key: str | None = KEY) -> None:
        self._script = script if callable(script) else list(script)
        self.key = key or "any"
        self._checked = key is not None
        self.calls: list[Call] = []
        self.served = Served()
        self.hung_up = threading.Event()
        """Set when a client hung up in the middle of an answer."""
        self._lock = threading.Lock()
        self._listening = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai(self) -> str:
        """OPENAI_BASE_URL"""
        return f"{self.url}/v1"

    @property
    def anthropic(self) -> str:
        """ANTHROPIC_BASE_URL"""
        return self.url

    @property
    def environment(self) -> dict[str, str]:
        """What a user who has this provider would have set."""
        return {
            "OPENAI_BASE_URL": self.openai,
            "OPENAI_API_KEY": self.key,
            "ANTHROPIC_BASE_URL": self.anthropic,
            "ANTHROPIC_API_KEY": self.key,
        }

    @property
    def model_calls(self) -> list[Call]:
        """The calls that asked a model for an answer."""
        return [call for call in self.calls if call.api is not None]

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._server.open)

    def drop_connections(self) -> None:
        """Close those that are open; others are accepted."""
        self._server.close_all()

    def refuse(self) -> None:
        """From now on connections are refused: nobody listens any more."""
        if self._listening:
            self._listening = False
            self._server.shutdown()
            self._server.server_close()

    def __enter__(self) -> Provider:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self
        self.port = self._server.server_address[1]
        self._listening = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.refuse()
        self._server.close_all()

    def _noted(self, handler: _Handler, body: Any) -> Call:
        path = urlsplit(handler.path).path
        api: Api | None = None
        if handler.command == "POST":
            endings: dict[str, Api] = {"/chat/completions": "chat", "/responses": "responses", "/messages": "messages"}
            api = next((name for ending, name in endings.items() if path.endswith(ending)), None)
        with self._lock:
            headers = {name.lower(): value for name, value in handler.headers.items()}
            call = Call(handler.command, handler.path, headers, body, api, len(self.calls) + 1)
            self.calls.append(call)
        return call

    def _answer(self, call: Call) -> Answer:
        given = call.headers.get("x-api-key") or call.headers.get("authorization", "").removeprefix("Bearer ")
        if self._checked and given != self.key:
            return Fault("authentication")
        if call.api is None and not call.path.endswith("/embeddings"):
            return Raw(json.dumps(_no_model_call(call.path)).encode())
        if callable(self._script):
            return self._script(call)
        with self._lock:
            return self._script.pop(0) if self._script else Raw(b'{"error": {"message": "the script is used up"}}', 400)

    def _count(self, usage: Tokens | None) -> None:
        tokens = usage or Tokens(0, 0)
        with self._lock:
            served = self.served
            self.served = Served(
                served.turns + 1, served.input + tokens.input, served.output + tokens.output, served.cached + tokens.cached
            )


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    provider: Provider

    def __init__(self, *args: Any) -> None:
        self.open: set[socket.socket] = set()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.open.discard(request)

    def close_all(self) -> None:
        for each in list(self.open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is its own business."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _SECONDS
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Tests print enough."""

    def do_GET(self) -> None:
        self._respond(None)

    def do_POST(self) -> None:
        content = self._content()
        try:
            self._respond(json.loads(content))
        except ValueError:
            self._respond(content)

    def _content(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _respond(self, body: Any) -> None:
        provider = self.server.provider
        call = provider._noted(self, body)
        answer = provider._answer(call)
        if isinstance(answer, Fault) and answer.kind in ("reset", "hang_up"):
            self._drop(reset=answer.kind == "reset")
        elif isinstance(answer, Fault):
            status, error = _error(answer.kind, call)
            self._send(status, json.dumps(error).encode(), {"content-type": "application/json", **answer.headers})
        elif isinstance(answer, Raw):
            self._send(answer.status, answer.body, answer.headers)
        elif call.streams:
            self._stream(call, answer)
        elif answer.breaks is not None:
            whole = json.dumps(_plain(call, answer)).encode()
            self._send(200, whole[: len(whole) // 2], {"content-type": "application/json"}, length=len(whole))
            self._drop(reset=True)
        else:
            if answer.held is not None:
                answer.held.wait(_SECONDS)
            provider._count(answer.usage)
            self._send(200, json.dumps(_plain(call, answer)).encode(), {"content-type": "application/json", "x-request-id": "req_1"})

    def _send(self, status: int, body: bytes, headers: Mapping[str, str], length: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, call: Call, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for name, data in _events(call, reply):
                if name == "held":
                    if reply.held is not None:
                        reply.held.wait(_SECONDS)
                    if reply.breaks == "reset":
                        return self._drop(reset=True)
                    if reply.breaks == "error":
                        self._chunk(_stream_error(call))
                        self.wfile.write(b"0\r\n\r\n")
                        return None
                    continue
                self._chunk((name, data))
            self.server.provider._count(reply.usage)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True
            self.server.provider.hung_up.set()
        return None

    def _chunk(self, event: Event) -> None:
        name, data = event
        text = data if isinstance(data, str) else json.dumps(data)
        block = ("" if name is None else f"event: {name}\n") + f"data: {text}\n\n"
        encoded = block.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(encoded), encoded))

    def _drop(self, *, reset: bool) -> None:
        self.close_connection = True
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            # Not shut down first, which would say goodbye in the ordinary way.
            self.server.open.discard(self.connection)
            self.rfile.close()
            self.wfile.close()
            self.connection.close()


def _no_model_call(path: str) -> dict[str, Any]:
    if path.endswith("/count_tokens"):
        return {"input_tokens": 42}
    return {"object": "list", "data": [{"id": "small-1", "object": "model", "created": 1, "owned_by": "nobody"}], "has_more": False}


def _error(kind: FaultKind, call: Call) -> tuple[int, dict[str, Any]]:
    """As the providers word theirs."""
    if call.api == "messages" or call.path.startswith("/v1/messages"):
        status, name, text = {
            "authentication": (401, "authentication_error", "invalid x-api-key"),
            "rate_limit": (429, "rate_limit_error", "This request would exceed your organization's rate limit."),
            "server_error": (500, "api_error", "Internal server error"),
            "overflow": (400, "invalid_request_error", "prompt is too long: 209000 tokens > 200000 maximum"),
            "bad_request": (400, "invalid_request_error", "tools.0.name: String should match the pattern '^[a-zA-Z0-9_-]{1,128}$'"),
        }[kind]
        return status, {"type": "error", "error": {"type": name, "message": text}, "request_id": "req_1"}
    status, name, code, text = {
        "authentication": (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
        "rate_limit": (429, "requests", "rate_limit_exceeded", "Rate limit reached for requests per minute."),
        "server_error": (500, "server_error", None, "The server had an error while processing your request."),
        "overflow": (400, "invalid_request_error", "context_length_exceeded", "This model's maximum context length is 8192 tokens."),
        "bad_request": (400, "invalid_request_error", "invalid_value", "Invalid 'tools[0].function.name': string does not match pattern."),
    }[kind]
    return status, {"error": {"message": text, "type": name, "param": None, "code": code}}


def _stream_error(call: Call) -> Event:
    if call.api == "messages":
        return "error", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    if call.api == "responses":
        response = {**_response(call, Reply(usage=None)), "status": "failed", "error": {"code": "server_error", "message": "It failed."}}
        return "response.failed", {"type": "response.failed", "sequence_number": 99, "response": response}
    return None, {"error": {"message": "It failed.", "type": "server_error", "param": None, "code": None}}


def _tools(call: Call, reply: Reply) -> list[tuple[str, str, str]]:
    """(id, name, arguments as JSON)"""
    return [(tool.id or f"call_{call.number}_{n}", tool.name, json.dumps(dict(tool.arguments))) for n, tool in enumerate(reply.tools)]


def _halves(text: str) -> tuple[str, str]:
    return text[: (len(text) + 1) // 2], text[(len(text) + 1) // 2 :]


def _model(call: Call, reply: Reply) -> str:
    return reply.model or str(call.body.get("model", "unnamed"))


def _plain(call: Call, reply: Reply) -> dict[str, Any]:
    if call.api == "chat":
        tools = [
            {"id": name, "type": "function", "function": {"name": tool, "arguments": text}} for name, tool, text in _tools(call, reply)
        ]
        message = {"role": "assistant", "content": reply.text or None, **({"tool_calls": tools} if tools else {})}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if tools else "stop"}
        head = {"id": f"chatcmpl-{call.number}", "object": "chat.completion", "created": 1, "model": _model(call, reply)}
        return {**head, "choices": [choice], **_usage(call, reply)}
    if call.api == "responses":
        return _response(call, reply)
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [{"type": "tool_use", "id": name, "name": tool, "input": json.loads(text)} for name, tool, text in _tools(call, reply)]
    return {**_message(call, reply), "content": content, "stop_reason": "tool_use" if reply.tools else "end_turn", **_usage(call, reply)}


def _usage(call: Call, reply: Reply) -> dict[str, Any]:
    used = reply.usage
    if used is None:
        return {}
    if call.api == "chat":
        details = {"prompt_tokens_details": {"cached_tokens": used.cached}}
        return {
            "usage": {"prompt_tokens": used.input, "completion_tokens": used.output, "total_tokens": used.input + used.output, **details}
        }
    if call.api == "responses":
        return {
            "usage": {
                "input_tokens": used.input,
                "input_tokens_details": {"cached_tokens": used.cached, "cache_write_tokens": used.cache_written},
                "output_tokens": used.output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": used.input + used.output,
            }
        }
    return {
        "usage": {
            "input_tokens": used.input - used.cached - used.cache_written,
            "cache_creation_input_tokens": used.cache_written,
            "cache_read_input_tokens": used.cached,
            "output_tokens": used.output,
        }
    }


def _message(call: Call, reply: Reply) -> dict[str, Any]:
    return {
        "id": f"msg_{call.number}",
        "type": "message",
        "role": "assistant",
        "model": _model(call, reply),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _items(call: Call, reply: Reply) -> list[dict[str, Any]]:
    """The output of a response."""
    items: list[dict[str, Any]] = []
    if reply.text:
        part = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        items.append({"id": f"out_{call.number}", "type": "message", "role": "assistant", "status": "completed", "content": [part]})
    for name, tool, text in _tools(call, reply):
        items.append({"id": f"fc_{name}", "type": "function_call", "call_id": name, "name": tool, "arguments": text, "status": "completed"})
    return items


def _response(call: Call, reply: Reply) -> dict[str, Any]:
    return {
        "id": f"resp_{call.number}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": _model(call, reply),
        "output": _items(call, reply),
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
        **_usage(call, reply),
    }


def _events(call: Call, reply: Reply) -> Iterator[Event]:
    """The server-sent events of a reply; one named ``held`` marks where `held` and `breaks` act."""
    return {"chat": _chat_events, "responses": _response_events, "messages": _message_events}[call.api or "chat"](call, reply)


def _chat_events(call: Call, reply: Reply) -> Iterator[Event]:
    head = {"id": f"chatcmpl-{call.number}", "object": "chat.completion.chunk", "created": 1, "model": _model(call, reply)}
    with_usage = bool((call.body.get("stream_options") or {}).get("include_usage"))
    empty = {"usage": None} if with_usage else {}

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> Event:
        return None, {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **empty}

    first, second = _halves(reply.text)
    yield chunk({"role": "assistant", "content": first})
    yield "held", {}
    if second:
        yield chunk({"content": second})
    for n, (name, tool, text) in enumerate(_tools(call, reply)):
        yield chunk({"tool_calls": [{"index": n, "id": name, "type": "function", "function": {"name": tool, "arguments": ""}}]})
        for half in _halves(text):
            yield chunk({"tool_calls": [{"index": n, "function": {"arguments": half}}]})
    yield chunk({}, "tool_calls" if reply.tools else "stop")
    if with_usage and reply.usage is not None:
        yield None, {**head, "choices": [], **_usage(call, reply)}
    yield None, "[DONE]"


def _response_events(call: Call, reply: Reply) -> Iterator[Event]:
    number = -1

    def event(kind: str, **data: Any) -> Event:
        nonlocal number
        number += 1
        return kind, {"type": kind, "sequence_number": number, **data}

    begun = {**_response(call, Reply(usage=None)), "status": "in_progress"}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    if not reply.text:
        yield "held", {}
    for n, item in enumerate(_items(call, reply)):
        at = {"item_id": item["id"], "output_index": n}
        if item["type"] == "message":
            yield event("response.output_item.added", output_index=n, item={**item, "status": "in_progress", "content": []})
            part = item["content"][0]
            yield event("response.content_part.added", **at, content_index=0, part={**part, "text": ""})
            first, second = _halves(reply.text)
            yield event("response.output_text.delta", **at, content_index=0, delta=first, logprobs=[])
            yield "held", {}
            yield event("response.output_text.delta", **at, content_index=0, delta=second, logprobs=[])
            yield event("response.output_text.done", **at, content_index=0, text=reply.text, logprobs=[])
            yield event("response.content_part.done", **at, content_index=0, part=part)
        else:
            yield event("response.output_item.added", output_index=n, item={**item, "status": "in_progress", "arguments": ""})
            for half in _halves(item["arguments"]):
                yield event("response.function_call_arguments.delta", **at, delta=half)
            yield event("response.function_call_arguments.done", **at, name=item["name"], arguments=item["arguments"])
        yield event("response.output_item.done", output_index=n, item=item)
    yield event("response.completed", response=_response(call, reply))


def _message_events(call: Call, reply: Reply) -> Iterator[Event]:
    usage = _usage(call, reply).get("usage", {})

    def event(kind: str, **data: Any) -> Event:
        return kind, {"type": kind, **data}

    opening = {"usage": {**usage, "output_tokens": min(1, usage["output_tokens"])}} if usage else {}
    yield event("message_start", message={**_message(call, reply), **opening})
    yield event("ping")
    blocks = 0
    if reply.text:
        first, second = _halves(reply.text)
        yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": first})
        yield "held", {}
        yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": second})
        yield event("content_block_stop", index=0)
        blocks = 1
    else:
        yield "held", {}
    for n, (name, tool, text) in enumerate(_tools(call, reply), start=blocks):
        yield event("content_block_start", index=n, content_block={"type": "tool_use", "id": name, "name": tool, "input": {}})
        for half in _halves(text):
            yield event("content_block_delta", index=n, delta={"type": "input_json_delta", "partial_json": half})
        yield event("content_block_stop", index=n)
    closing = {"usage": {"output_tokens": usage["output_tokens"]}} if usage else {}
    yield event("message_delta", delta={"stop_reason": "tool_use" if reply.tools else "end_turn", "stop_sequence": None}, **closing)
    yield event("message_stop")
