"""The page: one file without a reference to anything, whose policy forbids the browser to fetch or run anything else."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from pydantic_core import from_json

from pytest_fdegym.results.report.details import Details
from pytest_fdegym.results.report.model import Report, RunRow, TaskRow
from pytest_fdegym.results.report.packed import pieces
from pytest_fdegym.results.report.plotting import Library, source_of

_PAGE = Path(__file__).parent / "page"
_SCRIPTS = (
    "dom.js",
    "data.js",
    "theme.js",
    "plotting.js",
    "downloads.js",
    "headline.js",
    "table.js",
    "figures.js",
    "run_figures.js",
    "run.js",
)
"""Parts of one script, in this order."""


def page(report: Report, runs: Iterable[Details], plotting: Library | None) -> str:
    """The whole page, in ASCII but for our own texts; `runs` are the details of the report's runs, in its order.

    Without `plotting` each figure says how it would be drawn, above the same numbers.
    """
    script = _script()
    environment = Environment(loader=FileSystemLoader(_PAGE), autoescape=True, keep_trailing_newline=True)
    return environment.get_template("page.html").render(
        report=report,
        policy=_policy([source_of(script.encode()), *([plotting.allowed] if plotting else [])]),
        style=Markup((_PAGE / "page.css").read_text("utf-8")),
        numbers=Markup(embedded(compact(report))),
        pieces=pieces(runs),
        plotting=plotting,
        script=Markup(script),
    )


def compact(report: Report) -> dict[str, Any]:
    """The report as JSON, with runs and tasks as columns and rows, since names of keys would be most of it."""
    numbers: dict[str, Any] = from_json(report.model_dump_json())  # which has null for what is not finite
    for name, model in (("runs", RunRow), ("tasks", TaskRow)):
        columns = list(model.model_fields)
        numbers[name] = {"columns": columns, "rows": [[row[column] for column in columns] for row in numbers[name]]}
    return numbers


def embedded(value: Any) -> str:
    """JSON that cannot end the element that it stands in, whatever texts are in it."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _script() -> str:
    parts = "\n".join((_PAGE / name).read_text("utf-8") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();\n'


def _policy(allowed: Iterable[str]) -> str:
    """What the browser may do: run these scripts, and nothing over a network. plotly.js sets styles and draws a heat map as a data URL."""
    return (
        f"default-src 'none'; script-src {' '.join(allowed)}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )
