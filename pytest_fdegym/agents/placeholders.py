"""Placeholders in the command of a command agent, and how what they stand for gets into the shell: as data, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

VARIABLES: Mapping[str, str] = MappingProxyType({"workspace": "FDE_WORKSPACE", "task": "FDE_TASK", "task_file": "FDE_TASK_FILE"})
"""The placeholders, and the variables of the command's environment that hold the same."""
_TOKEN = re.compile(r"(?P<escaped>\\.)|(?P<quote>['\"])|(?<!\$)\{(?P<name>workspace|task|task_file)\}", re.DOTALL)


def filled(command: str) -> str:
    """Return `command` with each placeholder as one shell word, be it between quotes or not.

    It becomes the expansion of a variable, which a shell never reads as code. Braces around anything else, and ``${task}``, stay.
    """
    parts, at, inside = list[str](), 0, ""
    for token in _TOKEN.finditer(command):
        if token["escaped"] and inside != "'":
            continue
        if token["quote"]:
            inside = token["quote"] if not inside else "" if inside == token["quote"] else inside
        elif token["name"]:
            variable = f"${{{VARIABLES[token['name']]}}}"
            parts += [command[at : token.start()], variable if inside == '"' else f"'\"{variable}\"'" if inside else f'"{variable}"']
            at = token.end()
    return "".join(parts) + command[at:]
