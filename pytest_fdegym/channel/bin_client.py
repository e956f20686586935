#!/usr/bin/env python3
"""Talk to the customer's people: the programs of this folder are one, under several names."""

from __future__ import annotations

import http.client
import json
import os
import socket
import sys
from datetime import datetime
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
MAX_MESSAGE = 16_000

USAGE = {
    "ask": """usage: ask --who                 the people, and what they do
       ask --log                 what was asked and answered so far
       ask PERSON "MESSAGE"      write to somebody and read the answer
       ask PERSON < message.txt  the same, the message from standard input""",
    "inbox": """usage: inbox                     the mail that has arrived""",
    "wait": """usage: wait DAYS                 let working days pass (1 to 60)
       wait until "2025-03-07 08:00"  let time pass until then""",
    "trial": """usage: trial                     let the system as it stands run beside the real one, and read what people noticed""",
    "mcp": """usage: mcp                       an MCP server on standard input and output, for clients of the Model Context Protocol""",
}
PERSON = {"type": "string", "description": "The id of the person, from the staff directory."}
DAYS = {"type": "integer", "minimum": 1, "maximum": 60, "description": "Working days."}
UNTIL = {"type": "string", "description": "A moment of the company's calendar, such as 2025-03-07T08:00."}
TOOLS: dict[str, tuple[str, str, str, dict[str, Any], list[str]]] = {
    "people": ("GET", "/people", "The staff directory: the people you can write to, and what they do.", {}, []),
    "ask": (
        "POST",
        "/ask",
        "Write to a person and read the answer. The company's calendar moves on.",
        {"person": PERSON, "message": {"type": "string"}},
        ["person", "message"],
    ),
    "inbox": ("GET", "/inbox", "The mail that has arrived so far.", {}, []),
    "wait": ("POST", "/wait", "Let working days pass, or time until a moment; say one of the two.", {"days": DAYS, "until": UNTIL}, []),
    "trial": (
        "POST",
        "/trial",
        "Let the system, as it stands in the workspace, run beside the real one on live work, and read what people noticed.",
        {},
        [],
    ),
    "log": ("GET", "/log", "What was asked and answered so far.", {}, []),
    "status": ("GET", "/status", "What time it is in the company's calendar, and what is left of your turns, minutes and USD.", {}, []),
}
"""MCP tools: the request behind each, what it is for, its arguments, and those that must be given."""
MCP_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
INSTRUCTIONS = "The people of the company you work for, their mail and their calendar. Your task is in TASK.md in the workspace."


class Refused(Exception):
    """A line for the user, exit code 2."""


class Connection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("customer")
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self.path)


def request(method: str, path: str, body: dict[str, Any] | None = None, socket_path: str | None = None) -> Any:
    if socket_path is None:
        with open(os.path.join(HERE, ".socket"), encoding="utf-8") as file:
            socket_path = file.read().strip()
    connection = Connection(socket_path)
    try:
        connection.request(method, path, json.dumps(body).encode() if body is not None else None)
        response = connection.getresponse()
        answer = json.loads(response.read())
    except (FileNotFoundError, ConnectionError):
        raise Refused("nobody answers any more: the engagement is over") from None
    if response.status != 200:
        raise Refused(answer["error"])
    return answer


def moment(text: str) -> str:
    return datetime.fromisoformat(text).strftime("%a %d %b %Y %H:%M")


def message_of(words: list[str]) -> str:
    if words:
        text = " ".join(words)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Refused("the message is not text (UTF-8 is expected); nothing was sent") from None
    elif sys.stdin.isatty():
        raise Refused('there is no message; say: ask PERSON "MESSAGE"')
    else:
        data = sys.stdin.buffer.read(4 * MAX_MESSAGE + 1)
        try:
            # A cut in the middle of a character is no reason to call it binary.
            text = data.decode() if len(data) <= 4 * MAX_MESSAGE else data.decode(errors="ignore")
        except UnicodeDecodeError:
            raise Refused("the message is not text (UTF-8 is expected); nothing was sent") from None
    if not text.strip():
        raise Refused('there is no message; say: ask PERSON "MESSAGE"')
    if len(text) > MAX_MESSAGE:
        raise Refused(f"the message is too long: at most {MAX_MESSAGE:,} characters are read; nothing was sent")
    return text


def ask(words: list[str]) -> None:
    if words == ["--who"]:
        for person in request("GET", "/people"):
            print(f"{person['id']:<12} {person['name']}, {person['role']}. {person['directory']}.")
    elif words == ["--log"]:
        for entry in request("GET", "/log"):
            print(f"[{moment(entry['sent_at'])}] to {entry['person']}: {entry['message']}")
            print(f"[{moment(entry['answered_at'])}] {entry['person']}: {entry['reply']}\n")
    elif not words or words[0].startswith("-"):
        raise Refused(USAGE["ask"])
    else:
        text = message_of(words[1:])
        try:
            words[0].encode()
        except UnicodeEncodeError:
            raise Refused("the person's id is not text; `ask --who` lists the people") from None
        reply = request("POST", "/ask", {"person": words[0], "message": text})
        print(f"[{moment(reply['answered_at'])}] {reply['person']}: {reply['text']}")


def inbox(words: list[str]) -> None:
    if words:
        raise Refused(USAGE["inbox"])
    mails = request("GET", "/inbox")
    for mail in mails:
        print(f"[{moment(mail['arrived_at'])}] from {mail['sender']}: {mail['subject']}\n{mail['text']}\n")
    if not mails:
        print("no mail")


def wait(words: list[str]) -> None:
    if len(words) == 1 and words[0].isdecimal() and words[0].isascii():
        body: dict[str, Any] = {"days": int(words[0][:4])}
    elif len(words) >= 2 and words[0] == "until":
        try:
            body = {"until": datetime.fromisoformat(" ".join(words[1:])).isoformat()}
        except ValueError:
            raise Refused(USAGE["wait"]) from None
    else:
        raise Refused(USAGE["wait"])
    result = request("POST", "/wait", body)
    print(f"it is now {moment(result['now'])}" + (f"; new mail: {result['new_mail']}" if result["new_mail"] else ""))


def trial(words: list[str]) -> None:
    if words:
        raise Refused(USAGE["trial"])
    report = request("POST", "/trial", {})
    print(f"[{moment(report['finished_at'])}] {report['id']}: {report['feedback']}")
    for note in report["notes"]:
        print(f"- {note}")


def tools() -> list[dict[str, Any]]:
    """The tools, as MCP describes them."""
    return [
        {
            "name": name,
            "description": text,
            "inputSchema": {"type": "object", "properties": arguments, "required": needed, "additionalProperties": False},
        }
        for name, (_, _, text, arguments, needed) in TOOLS.items()
    ]


def call_tool(name: str, arguments: dict[str, Any], socket_path: str | None = None) -> str:
    """What a tool answers, as JSON. Raises Refused with the reason."""
    if name not in TOOLS:
        raise Refused(f"there is no tool {name!r}; the tools are: {', '.join(TOOLS)}")
    method, path, _, known, _ = TOOLS[name]
    for each in arguments:
        if each not in known:
            raise Refused(f"{name} takes no argument {each!r}; it takes: {', '.join(known) or 'none'}")
    return json.dumps(request(method, path, arguments if method == "POST" else None, socket_path), ensure_ascii=False)


def mcp(words: list[str]) -> None:
    if words:
        raise Refused(USAGE["mcp"])
    for line in sys.stdin.buffer:
        answer = mcp_answer(line)
        if answer is not None:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **answer}) + "\n")
            sys.stdout.flush()


def mcp_answer(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except ValueError:
        return {"id": None, "error": {"code": -32700, "message": "this is no JSON"}}
    if not isinstance(message, dict):
        return {"id": None, "error": {"code": -32600, "message": "one message a line is expected"}}
    if "id" not in message or "method" not in message:
        return None  # a notification
    method, params = message["method"], message.get("params") or {}
    result: dict[str, Any]
    if method == "initialize":
        wanted = params.get("protocolVersion")
        result = {
            "protocolVersion": wanted if wanted in MCP_VERSIONS else MCP_VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "company", "version": "1"},
            "instructions": INSTRUCTIONS,
        }
    elif method == "ping":
        result = {}
    elif method == "tools/list":
        result = {"tools": tools()}
    elif method == "tools/call":
        try:
            text, failed = call_tool(str(params.get("name")), params.get("arguments") or {}), False
        except Refused as error:
            text, failed = str(error), True
        result = {"content": [{"type": "text", "text": text}], "isError": failed}
    else:
        return {"id": message["id"], "error": {"code": -32601, "message": f"there is no method {method}"}}
    return {"id": message["id"], "result": result}


def main() -> int:
    name = os.path.basename(sys.argv[0])
    try:
        {"ask": ask, "inbox": inbox, "wait": wait, "trial": trial, "mcp": mcp}[name](sys.argv[1:])
    except Refused as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
