"""Templates in texts and files: every name they use is a parameter or `world`."""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from pytest_fdegym.scenario.problems import KeyPath, Problem
from pytest_fdegym.scenario.templates import check
from pytest_fdegym.scenario.validation import value_at
from pytest_fdegym.scenario.yaml_source import YamlSource


def text_findings(source: YamlSource, names: Set[str], under: KeyPath = ()) -> Iterator[Problem]:
    """Yield what is wrong with the templates of a YAML file, below the key path `under`."""
    for path, text in texts(value_at(source.data, under), under):
        for problem in check(text, names):
            yield source.problem(path, problem.message, line=source.text_line(path, problem.line))


def file_findings(file: Path, names: Set[str]) -> Iterator[Problem]:
    """Yield what is wrong with a file that is a template."""
    try:
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        yield Problem(file, None, "", "is not UTF-8 text, which a template has to be")
        return
    for problem in check(text, names):
        yield Problem(file, problem.line, "", problem.message)


def texts(data: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Every text of plain data, with its key path."""
    if isinstance(data, str):
        yield path, data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from texts(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from texts(value, (*path, index))
