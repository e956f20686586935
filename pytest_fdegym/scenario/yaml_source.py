"""YAML with positions: plain data together with the line on which each key and list item stands.

What PyYAML's safe loader reads is what the author gets, with three exceptions: a key given twice is an error, sexagesimal numbers are
text (``day_ends: 18:00`` means six in the evening, not 1080), and a plain ``{{ x }}`` is explained instead of read as a mapping.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from .problems import KeyPath, Problem, dotted

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

DEEPEST = 60
"""Levels of lists and mappings; what an author writes has less than fifteen."""
MOST_NODES = 200_000
"""Keys, values and list items, with what aliases repeat."""

_INT = re.compile(r"^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+)$")
_FLOAT = re.compile(
    r"^(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
)
_UNQUOTED = re.compile(r"(?:[:\-,] +|\[ *|^\s*)\{\{")
_QUOTE = "a text that begins with '{{' must stand in quotes: \"{{ name }}\""


class _Loader(_Base):  # type: ignore[misc]  # the base is libyaml's loader where PyYAML was built with it
    yaml_implicit_resolvers = {  # noqa: RUF012  # PyYAML's own protocol: a class attribute
        first: [
            (tag, {"tag:yaml.org,2002:int": _INT, "tag:yaml.org,2002:float": _FLOAT}.get(tag, regexp))
            for tag, regexp in copy.copy(resolvers)
        ]
        for first, resolvers in _Base.yaml_implicit_resolvers.items()
    }


@dataclass(frozen=True)
class YamlSource:
    """A YAML file as plain data. `lines` and `text_lines` hold, per key path, the line of the key and of its value's first character."""

    file: Path
    data: Any
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    text_lines: Mapping[KeyPath, int] = field(default_factory=dict)

    def line(self, path: KeyPath) -> int | None:
        """Line of the key or list item at `path`, or of the nearest thing that holds it; None for an empty file."""
        for length in range(len(path), -1, -1):
            if (line := self.lines.get(path[:length])) is not None:
                return line
        return None

    def text_line(self, path: KeyPath, offset: int) -> int | None:
        """Line of the file for line `offset` (from 1) of the text at `path`."""
        start = self.text_lines.get(path)
        return self.line(path) if start is None else start + offset - 1

    def problem(self, path: KeyPath, message: str, *, line: int | None = None) -> Problem:
        """A problem at `path`; items of a list of names are named by the list."""
        at = self.line(path) if line is None else line
        if path and isinstance(path[-1], int) and path in self.text_lines:
            path = path[:-1]
        return Problem(self.file, at, dotted(path), message)


class YamlProblems(Exception):
    """The file could not be read as YAML; `problems` says why."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


def read_yaml(file: Path) -> YamlSource:
    """Read a YAML file. Raises `YamlProblems` for what is not UTF-8, not YAML, or holds a key twice."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise YamlProblems([Problem(file, None, "", "is missing")]) from None
    except OSError as error:
        raise YamlProblems([Problem(file, None, "", f"cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError as error:
        line = file.read_bytes()[: error.start].count(b"\n") + 1
        raise YamlProblems([Problem(file, line, "", "is not UTF-8 text")]) from None
    return parse_yaml(text, file)


def parse_yaml(text: str, file: Path) -> YamlSource:
    """Parse YAML `text` that stands in `file`. Raises `YamlProblems`."""
    loader = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        builder = _Builder(file, loader)
        data = None if node is None else builder.build(node, (), ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = error.problem or "not YAML"
        if error.context:
            reason = f"{reason} ({error.context})"
        if mark and _UNQUOTED.search(text.split("\n")[min(mark.line, text.count("\n"))]):
            raise YamlProblems([Problem(file, mark.line + 1, "", _QUOTE)]) from None
        raise YamlProblems([Problem(file, mark.line + 1 if mark else None, "", f"is not valid YAML: {reason}")]) from None
    except yaml.YAMLError as error:  # a character that YAML does not allow has a position, but no mark
        position = getattr(error, "position", None)
        line = text.encode("utf-8")[:position].count(b"\n") + 1 if isinstance(position, int) else None
        raise YamlProblems([Problem(file, line, "", f"is not valid YAML: {getattr(error, 'reason', error)}")]) from None
    finally:
        if loader is not None:
            loader.dispose()
    if builder.problems:
        raise YamlProblems(builder.problems)
    return YamlSource(file, data, builder.lines, builder.text_lines)


class _Builder:
    """Turns nodes into data, noting lines and problems on the way."""

    def __init__(self, file: Path, loader: Any) -> None:
        self._file = file
        self._loader = loader
        self._flattened: set[int] = set()
        self._nodes = 0
        self._too_much = False
        self.lines: dict[KeyPath, int] = {}
        self.text_lines: dict[KeyPath, int] = {}
        self.problems: list[Problem] = []

    def build(self, node: Any, path: KeyPath, above: tuple[Any, ...]) -> Any:
        if node in above:
            self._add(node, path, "an alias that contains itself cannot be read")
            return None
        self._nodes += 1
        if self._nodes > MOST_NODES or len(above) > DEEPEST:
            if not self._too_much:
                self._too_much = True
                what = f"is nested more than {DEEPEST} levels deep" if len(above) > DEEPEST else f"holds more than {MOST_NODES:,} values"
                self._add(node, (), f"{what}, aliases included; nothing so large can be read")
            return None
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, (*above, node))
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index), (*above, node)) for index, item in enumerate(node.value)]
        self.text_lines[path] = node.start_mark.line + (2 if node.style in ("|", ">") else 1)
        return self._scalar(node, path)

    def _scalar(self, node: Any, path: KeyPath) -> Any:
        try:
            return self._loader.construct_object(node, deep=True)
        except yaml.constructor.ConstructorError as error:
            self._add(node, path, f"cannot be read: {error.problem}")
        except ValueError as error:  # 2025-02-30
            self._add(node, path, f"{node.value!r} cannot be read: {error}")
        return None

    def _mapping(self, node: Any, path: KeyPath, above: tuple[Any, ...]) -> dict[Any, Any]:
        if id(node) not in self._flattened:
            self._flattened.add(id(node))
            self._refuse_duplicates(node, path)
            self._loader.flatten_mapping(node)
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node, path)
            if key is None:
                continue
            here: KeyPath = (*path, key)  # an odd key (a date, a number) is the model's to refuse
            self.lines[here] = key_node.start_mark.line + 1
            result[key] = self.build(value_node, here, above)
        return result

    def _key(self, node: Any, path: KeyPath) -> Any:
        if isinstance(node, yaml.ScalarNode):
            key = self._scalar(node, path)
            if key is None:
                self._add(node, path, "a key without a name is found")
            return key
        hint = _QUOTE if isinstance(node, yaml.MappingNode) else "a list or mapping cannot be a key"
        self._add(node, path, hint)
        return None

    def _refuse_duplicates(self, node: Any, path: KeyPath) -> None:
        first: dict[tuple[str, str], int] = {}
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                continue
            name = (key_node.tag, key_node.value)
            line = key_node.start_mark.line + 1
            if name in first:
                self._add(key_node, (*path, key_node.value), f"the key is given twice, first on line {first[name]}")
            first.setdefault(name, line)

    def _add(self, node: Any, path: KeyPath, message: str) -> None:
        self.problems.append(Problem(self._file, node.start_mark.line + 1, dotted(path), message))
