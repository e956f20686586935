"""Python that an author wrote, read without running it: world.py's functions and the entry points of the system."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_fdegym.scenario.model import EntryPoint
from pytest_fdegym.scenario.problems import Problem, unknown

from .material import Material

SIGNATURES: Mapping[str, tuple[str, ...]] = {
    "prepare": ("params", "rng"),
    "build": ("site", "world", "rng"),
    "heldout": ("world", "rng"),
    "operate": ("system", "heldout", "world", "signoffs", "as_found"),
    "measure": ("operations", "heldout", "world", "evidence"),
}
"""What world.py defines, with the names of the parameters."""
DECLARED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "trial": ("trial", ("system", "n", "world", "rng")),
    "gateway": ("answer", ("request", "world", "heldout")),
}
"""What it defines as well where scenario.yaml has the key."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def world_problems(material: Material) -> Iterator[Problem]:
    """Yield what is wrong with world.py (functions missing or with other parameters) and the Python files beside it.

    An incident that one of them names and scenario.yaml does not know is found where the name is written out.
    """
    file = material.folder / "world.py"
    if not file.is_file():
        yield Problem(file, None, "", f"is missing; it defines {', '.join(SIGNATURES)}")
        return
    tree = parse(file)
    if isinstance(tree, Problem):
        yield tree
        return
    found = functions(tree)
    for key, name, expected in _expected(material):
        wanted = f"{name}({', '.join(expected)})"
        if name not in found:
            why = f", since scenario.yaml declares a {key}" if key else ""
            yield Problem(file, None, name, f"is missing; {wanted} is expected{why}")
            continue
        function = found[name]
        if isinstance(function, ast.AsyncFunctionDef):
            yield Problem(file, function.lineno, name, f"is async; a plain function {wanted} is expected")
        elif (given := _parameters(function)) != expected:
            yield Problem(file, function.lineno, name, f"has the parameters ({', '.join(given)}); {wanted} is expected")
    trees = {file: tree}
    for other in sorted(set(material.folder.glob("*.py")) - {file}):
        parsed = parse(other)
        if isinstance(parsed, Problem):
            yield parsed
        else:
            trees[other] = parsed
    if material.readable("incidents"):
        for each, parsed in trees.items():
            yield from _incidents(each, parsed, material)


def _expected(material: Material) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The key of scenario.yaml that asks for a function (nothing where every world.py has it), its name, and its parameters."""
    for name, parameters in SIGNATURES.items():
        yield "", name, parameters
    declared = material.file_source.data
    for key, (name, parameters) in DECLARED.items():
        if isinstance(declared, dict) and declared.get(key) is not None:
            yield key, name, parameters


def _incidents(file: Path, tree: ast.Module, material: Material) -> Iterator[Problem]:
    known = material.names("incidents")
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)):
            continue
        called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        if called != "Incident":
            continue
        first = node.args[0] if node.args else next((each.value for each in node.keywords if each.arg == "id"), None)
        if isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value not in known:
            yield Problem(file, first.lineno, "Incident", unknown(first.value, "an incident of scenario.yaml", known))


def entry_point_problems(file: Path, entry_point: EntryPoint) -> Iterator[str | Problem]:
    """Yield what is wrong with an entry point's function in `file`, as a message or, for a syntax error, as a problem of that file."""
    if file.suffix != ".py":
        return  # a template: what it defines is known once it is filled in
    tree = parse(file)
    if isinstance(tree, Problem):
        yield tree
        return
    found = functions(tree)
    function = found.get(entry_point.function)
    if function is None:
        yield unknown(entry_point.function, f"a function at the top level of {entry_point.file}", found, label="It defines")
        return
    if isinstance(function, ast.AsyncFunctionDef):
        yield f"{entry_point.function} of {entry_point.file} is async; production calls plain functions"
    takes = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}
    for keyword in entry_point.inject:
        if keyword not in takes and function.args.kwarg is None:
            yield (
                f"{entry_point.function} of {entry_point.file} (line {function.lineno}) has no parameter {keyword!r}, under which it is "
                f"given {entry_point.inject[keyword]!r}; it has ({', '.join(_parameters(function))})"
            )


def parse(file: Path) -> ast.Module | Problem:
    """The syntax tree of a Python file, or why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning about the customer's code is no mistake of the author
            return ast.parse(file.read_bytes(), filename=str(file))
    except SyntaxError as error:
        return Problem(file, error.lineno, "", f"is not valid Python: {error.msg}")
    except ValueError as error:  # null bytes
        return Problem(file, None, "", f"is not valid Python: {error}")


def functions(tree: ast.Module) -> dict[str, _Function]:
    """The functions defined at the top level; the last definition of a name counts."""
    return {node.name: node for node in tree.body if isinstance(node, _Function)}


def _parameters(function: _Function) -> tuple[str, ...]:
    arguments = function.args
    plain = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    star = [f"*{arguments.vararg.arg}"] if arguments.vararg else ["*"] if arguments.kwonlyargs else []
    return (*plain, *star, *(each.arg for each in arguments.kwonlyargs), *([f"**{arguments.kwarg.arg}"] if arguments.kwarg else []))
