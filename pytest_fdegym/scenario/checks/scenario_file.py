"""scenario.yaml: sponsor, calendar, variants, deployed folders, entry points, databases, and its own texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pytest_fdegym.scenario.fill import TEMPLATE_SUFFIX
from pytest_fdegym.scenario.model import GATEWAY, Calendar, Database, Draw, EntryPoint, Gateway, ScenarioFile
from pytest_fdegym.scenario.problems import KeyPath, Problem, unknown
from pytest_fdegym.scenario.scenario import FIRST_VARIANT
from pytest_fdegym.scenario.templates import WORLD, is_template

from .code import entry_point_problems
from .material import Finding, Material, by_number
from .texts import text_findings, texts

_FILLED = ("facts", "incidents")


def scenario_problems(material: Material) -> Iterator[Problem]:
    """Yield what is wrong between the parts of scenario.yaml, and between it and the files it names."""
    file = material.file.model
    if file is None:
        return
    yield from material.report(material.file_source, _findings(material, file))
    for name, entry_point in file.entry_points.items():
        yield from _entry_point_files(material, entry_point, ("entry_points", name))
    if material.readable("parameters"):
        for key in _FILLED:
            for name in material.names(key):
                yield from text_findings(material.file_source, material.names("parameters"), (key, name, "text"))


def _findings(material: Material, file: ScenarioFile) -> Iterator[Finding]:
    yield from material.person(file.sponsor, ("sponsor",), material.variants)
    yield from _calendar(file.calendar)
    for name, incident in file.incidents.items():
        yield from material.limits(incident, ("incidents", name))
    for name, fact in file.facts.items():
        yield from material.limits(fact, ("facts", name))
    if WORLD in file.parameters:
        yield ("parameters", WORLD), f"{WORLD!r} is taken: texts name the world's public values by it"
    for name, parameter in file.parameters.items():
        if parameter.draw is not None:
            yield from _draw(parameter.draw, ("parameters", name, "draw"))
    yield from _variants(material, file)
    yield from _deployed(material, file)
    if file.trial is not None:
        yield from material.limits(file.trial, ("trial",))
    if file.gateway is not None:
        yield from _gateway(material, file, file.gateway)
    for name, database in file.databases.items():
        yield from _database(file, name, database)
    for name, entry_point in file.entry_points.items():
        yield from _entry_point(material, file, entry_point, ("entry_points", name))
    if material.readable("entry_points"):
        without = [each for each in by_number(material.variants) if not any(entry.exists_in(each) for entry in file.entry_points.values())]
        if without:
            yield ("entry_points",), f"none exists in {', '.join(without)}"
    for path, text in texts(material.file_source.data):
        if is_template(text) and path[0] not in ("parameters", "variants") and not (path[0] in _FILLED and path[2:] == ("text",)):
            yield path, "templates are filled in in the texts of facts and incidents only"


def _calendar(calendar: Calendar) -> Iterator[Finding]:
    path: KeyPath = ("calendar", "start")
    begins, ends = calendar.day_starts, calendar.day_ends
    if begins >= ends:
        yield ("calendar", "day_ends"), f"the working day ends ({ends:%H:%M}) before it starts ({begins:%H:%M})"
        return
    if calendar.start.isoweekday() not in calendar.weekdays:
        worked = ", ".join(map(str, calendar.weekdays))
        yield path, f"{calendar.start:%Y-%m-%d} is a {calendar.start:%A}, which is not worked; weekdays: {worked}"
    if not begins <= calendar.start.time() < ends:
        yield path, f"{calendar.start:%H:%M} is outside of working hours ({begins:%H:%M} to {ends:%H:%M})"


def _variants(material: Material, file: ScenarioFile) -> Iterator[Finding]:
    if FIRST_VARIANT not in material.variants:
        yield ("variants",), f"{FIRST_VARIANT} is missing; it is the original"
    known = material.names("parameters")
    for name, variant in file.variants.items():
        for parameter in variant.parameters:
            if parameter not in known:
                yield ("variants", name, "parameters", parameter), unknown(parameter, "a parameter of scenario.yaml", known)
            elif parameter not in variant.draws and parameter in file.parameters and file.parameters[parameter].draw is not None:
                yield (
                    ("variants", name, "parameters", parameter),
                    f"{parameter!r} is drawn under seeds other than 1, and this value would be lost; say in 'draws' what is drawn here "
                    "(null: the value is the same under every seed)",
                )
        for parameter, draw in variant.draws.items():
            path: KeyPath = ("variants", name, "draws", parameter)
            if parameter not in known:
                yield path, unknown(parameter, "a parameter of scenario.yaml", known)
            if draw is not None:
                yield from _draw(draw, path)


def _draw(draw: Draw, path: KeyPath) -> Iterator[Finding]:
    if (draw.choices is None) == (draw.low is None and draw.high is None):
        yield path, "exactly one of choices, or low and high, is expected"
    elif draw.choices is not None:
        if not draw.choices:
            yield (*path, "choices"), "at least one value is expected; the list is empty"
        if "step" in draw.model_fields_set:
            yield path, "'step' belongs to low and high, which are not given"
    elif draw.low is None or draw.high is None:
        yield path, "low and high belong together"
    elif draw.low > draw.high:
        yield path, f"nothing lies from {draw.low:g} to {draw.high:g}"


def _gateway(material: Material, file: ScenarioFile, gateway: Gateway) -> Iterator[Finding]:
    yield from material.limits(gateway, ("gateway",))
    path: KeyPath = ("gateway", "client")
    if material.readable("deployed") and not any(_inside(gateway.client, folder) for folder in file.deployed):
        yield path, f"{gateway.client!r} lies in no deployed folder; deployed: {', '.join(file.deployed)}"
    if not gateway.client.endswith(".py"):
        yield path, f"{gateway.client!r} is not a Python file"
    for variant in by_number(material.variants_of(gateway)):
        if (found := _site_file(material.folder, variant, gateway.client)) is not None:
            yield path, f"{gateway.client!r} is a file of {found.relative_to(material.folder).parts[0]}/ already; the client is laid there"
            break


def _deployed(material: Material, file: ScenarioFile) -> Iterator[Finding]:
    site = material.folder / "site"
    for index, folder in enumerate(file.deployed):
        if site.is_dir() and not (site / folder).is_dir():
            found = sorted(each.name for each in site.iterdir() if each.is_dir())
            yield ("deployed", index), unknown(folder, "a folder of site/", found, label="It has")
        for other in file.deployed[:index]:
            if _inside(folder, other) or _inside(other, folder):
                yield ("deployed", index), f"{folder!r} and {other!r} are one inside the other; name the outer one"


def _database(file: ScenarioFile, name: str, database: Database) -> Iterator[Finding]:
    if name == GATEWAY:
        yield ("databases", name), f"{GATEWAY!r} is taken: `inject` names the company's gateway by it"
    for folder in file.deployed:
        if _inside(database.file, folder):
            yield (
                ("databases", name, "file"),
                f"{database.file!r} lies in the deployed folder {folder!r}; a production database is never part of the delivery",
            )


def _entry_point(material: Material, file: ScenarioFile, entry_point: EntryPoint, path: KeyPath) -> Iterator[Finding]:
    deployed = [each for each in file.deployed if each != "unreadable"]
    if not any(_inside(entry_point.file, folder) for folder in deployed) and material.readable("deployed"):
        yield (*path, "file"), f"{entry_point.file!r} lies in no deployed folder; deployed: {', '.join(deployed)}"
    if not entry_point.file.endswith(".py"):
        yield (*path, "file"), f"{entry_point.file!r} is not a Python file; production calls a function of one"
    yield from material.limits(entry_point, path)
    known = material.names("databases")
    for keyword, database in entry_point.inject.items():
        here: KeyPath = (*path, "inject", keyword)
        if database == GATEWAY:
            yield from _injected_gateway(material, file, material.variants_of(entry_point), here)
        elif database not in known:
            yield here, unknown(database, "a database of scenario.yaml", known | {GATEWAY})


def _injected_gateway(material: Material, file: ScenarioFile, holder: frozenset[str], path: KeyPath) -> Iterator[Finding]:
    """Find that there is no gateway in all the variants (`holder`) in which it is injected at `path`."""
    if file.gateway is not None:
        if missing := [each for each in by_number(holder) if not file.gateway.exists_in(each)]:
            yield path, f"there is no gateway in {', '.join(missing)}, where it is referred to"
    elif material.readable("gateway"):
        yield path, "scenario.yaml declares no gateway"


def _entry_point_files(material: Material, entry_point: EntryPoint, path: KeyPath) -> Iterator[Problem]:
    """The entry point's file as every variant finds it."""
    if any(each[:2] == path for each in material.file.dropped) or not (material.folder / "site").is_dir():
        return
    seen: dict[Path, None] = {}
    missing: list[str] = []
    holder = by_number(material.variants_of(entry_point))
    for variant in holder:
        found = _site_file(material.folder, variant, entry_point.file)
        if found is None:
            missing.append(variant)
        else:
            seen[found] = None
    if missing:
        where = "" if len(missing) == len(holder) else f" for {', '.join(missing)}"
        yield from material.report(material.file_source, [((*path, "file"), f"{entry_point.file!r} is not a file of site/{where}")])
    for file in seen:
        for problem in entry_point_problems(file, entry_point):
            if isinstance(problem, Problem):
                yield problem
            else:
                yield from material.report(material.file_source, [((*path, "function"), problem)])


def _site_file(folder: Path, variant: str, name: str) -> Path | None:
    """The file that lies at `name` of the variant's workspace once the site is laid down."""
    for site in (folder / f"site.{variant}", folder / "site"):
        for candidate in (site / f"{name}{TEMPLATE_SUFFIX}", site / name):
            if candidate.is_file():
                return candidate
    return None


def _inside(path: str, folder: str) -> bool:
    return PurePosixPath(path).is_relative_to(PurePosixPath(folder))
