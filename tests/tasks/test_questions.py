"""The bundled scenarios' test questions: what they ask is there, and nothing of them reaches an agent or changes a result."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_fdegym.admission.questions import question_files, read_questions
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.workspace.build import build_workspace
from pytest_fdegym.workspace.prepare import PreparedTasks

TASKS = Path(__file__).parents[2] / "tasks"
FOLDERS = sorted(file.parent for file in TASKS.glob("*/questions.yaml"))
PROBE = 40
"""Characters of a question that nothing else says."""

each_scenario = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


@each_scenario
def test_every_topic_is_asked_for(folder: Path) -> None:
    people = load(folder).people
    asked = {(each.to, topic) for file in question_files(folder) for each in read_questions(file, people) for topic in each.topics}
    there = {(name, topic) for name, who in people.people.items() if who.exists_in("v1") for topic in who.topics}
    in_v1 = {(name, topic) for name, topic in there if people.people[name].topics[topic].exists_in("v1")}
    assert in_v1 <= asked


@each_scenario
def test_no_question_is_laid_into_a_workspace(folder: Path, tmp_path: Path) -> None:
    scenario = load(folder)
    probes = [" ".join(each.text.split())[:PROBE] for file in question_files(folder) for each in read_questions(file, scenario.people)]
    assert len(probes) > 100
    with PreparedTasks() as tasks:
        for variant in scenario.variants:
            workspace = tmp_path / variant
            build_workspace(tasks.get(scenario, variant, 1), "L3", workspace, tmp_path)
            files = [file for file in workspace.rglob("*") if file.is_file()]
            assert not [file for file in files if file.name.startswith("questions")]
            text = " ".join(" ".join(file.read_text(encoding="utf-8", errors="replace").split()) for file in files)
            assert not [probe for probe in probes if len(probe) == PROBE and probe in text]


@each_scenario
def test_questions_are_no_part_of_the_digest(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    before = load(copy).digest("v1")
    (copy / "questions_late.yaml").write_text("[]\n")
    (copy / "questions.yaml").write_text("[]\n")
    assert load(copy).digest("v1") == before
    (copy / "site" / "questions.yaml").write_text("[]\n")
    assert load(copy).digest("v1") != before
