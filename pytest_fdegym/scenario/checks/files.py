"""The files of a scenario's folder: the site, overlays, templates in them, and nothing but files and folders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_fdegym.scenario.fill import TEMPLATE_SUFFIX
from pytest_fdegym.scenario.problems import Problem, unknown
from pytest_fdegym.scenario.scenario import content_files

from .material import Material
from .texts import file_findings


def file_problems(material: Material) -> Iterator[Problem]:
    """Yield what is wrong with the files of site/, its overlays and the solutions."""
    site = material.folder / "site"
    if not site.is_dir():
        yield Problem(site, None, "", "is missing; it holds what the customer hands over")
    laid_down = [site] if site.is_dir() else []
    for overlay in sorted(material.folder.glob("site.*")):
        variant = overlay.name.removeprefix("site.")
        if material.variants and variant not in material.variants:
            yield Problem(overlay, None, "", unknown(variant, "a variant of scenario.yaml", material.variants))
        elif not overlay.is_dir():
            yield Problem(overlay, None, "", "is not a folder")
        else:
            laid_down.append(overlay)
    laid_down += [solution.folder for solution in material.solutions.values()]
    names = material.names("parameters")
    for folder in laid_down:
        yield from _links(folder)
        for file in content_files(folder):
            if file.suffix != TEMPLATE_SUFFIX:
                continue
            if file.with_suffix("").exists():
                yield Problem(file, None, "", f"{file.stem} lies beside it; both would be laid down under that name")
            if material.readable("parameters"):
                yield from file_findings(file, names)
    if material.readable("parameters"):
        for brief in dict.fromkeys(material.briefs.values()):
            yield from file_findings(brief.file, names)


def _links(folder: Path) -> Iterator[Problem]:
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            yield Problem(path, None, "", "is a link or a special file; only files and folders can be laid down")
