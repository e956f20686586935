"""Agents that are no fixtures: files, modules, commands, built-ins."""

from __future__ import annotations

import json

import pytest

from tests.pytest_side.support import usage_error

V1 = ("-k", "v1")


def test_file_with_options(project: pytest.Pytester) -> None:
    project.makepyfile(mine="def agent(engagement, size='1'): print('SIZE', size)")
    result = project.runpytest("--fde-agent=mine.py", "--fde-agent-opt=size=3", "--fde-agent-version=7", "-s", "--fde-gate=none", *V1)
    result.stdout.fnmatch_lines(["*SIZE 3"])
    record = json.loads((project.path / ".fdegym/results/mine.py/tiny_post.v1.L3.run1.json").read_text())
    assert record["agent"] == {"name": "mine.py", "version": "7", "options": {"size": "3"}}


def test_async_agent(project: pytest.Pytester) -> None:
    project.makepyfile(mine="import asyncio\nasync def agent(engagement):\n    await asyncio.sleep(0)\n    print('AWAITED')")
    project.runpytest("--fde-agent=mine:agent", "-s", *V1).stdout.fnmatch_lines(["*AWAITED"])


def test_command(project: pytest.Pytester) -> None:
    result = project.runpytest("--fde-agent=cmd:sed -i s/100/500/ system/shipping.py", "--fde-gate=none", "-rA", *V1)
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(
        ["*agent cmd:sed -i s/100/500/ system/shipping.py (command)*", "tiny_post.v1  L3 *  unapproved_change  handover"]
    )


def test_a_long_command_is_short_where_it_is_shown_and_whole_in_the_record(project: pytest.Pytester) -> None:
    script = f"echo {'a' * 3000} {'b' * 3000}\necho last"
    result = project.runpytest(f"--fde-agent=cmd:{script}", *V1)
    name = f"cmd:echo {'a' * 55}..."
    lines = result.outlines
    assert f"fdegym: agent {name} (command), levels L3, seed 1, gate resolved" in lines
    assert f"tiny_post.v1 at L3, run 1, seed 1, agent {name}" in lines
    (path,) = (project.path / ".fdegym/results").rglob("*.json")
    assert json.loads(path.read_text())["agent"] == {"name": name, "version": None, "options": {"command": script}}
    printed = lines.index(next(line for line in lines if line.strip("-") == " Captured agent output "))
    assert lines[printed + 1 : printed + 3] == [f"{'a' * 993} {'b' * 3000}", "last"], "the last 4,000 characters"


def test_commands_that_begin_alike_are_kept_apart(project: pytest.Pytester) -> None:
    for end in ("one", "two"):
        project.runpytest(f"--fde-agent=cmd:true # {'the same beginning ' * 5}{end}", *V1)
    assert len(list((project.path / ".fdegym/results").glob("cmd-true-*/*.json"))) == 2


def test_what_a_failed_command_printed_is_shown_once(project: pytest.Pytester) -> None:
    result = project.runpytest("--fde-agent=cmd:echo no idea; exit 7", *V1)
    assert result.outlines.count("  no idea") == 1
    result.stdout.no_fnmatch_line("*Captured agent output*")


def test_the_expert_resolves(project: pytest.Pytester) -> None:
    project.runpytest("--fde-agent=expert", *V1).assert_outcomes(passed=1, deselected=1)


def test_a_solution_that_a_scenario_lacks(project: pytest.Pytester) -> None:
    result = project.runpytest("--fde-agent=solution:shortcuts/all_leters", *V1)
    result.assert_outcomes(errors=1, deselected=1)
    result.stdout.fnmatch_lines(["tiny_post.v1 has no solution 'shortcuts/all_leters'. Did you mean 'shortcuts/all_letters'? It has: *"])
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize("extra", [[], ["-n2"], ["--collect-only"]])
def test_an_agent_that_fails_to_import_is_refused_before_any_test(project: pytest.Pytester, extra: list[str]) -> None:
    project.makepyfile(mine="import nowhere_to_be_found")
    result = project.runpytest_subprocess("--fde-agent=mine.py", *extra)
    assert usage_error(result) == (
        f"--fde-agent=mine.py: importing {project.path}/mine.py failed\n"
        "Traceback (most recent call last):\n"
        f'  File "{project.path}/mine.py", line 1, in <module>\n'
        "    import nowhere_to_be_found\n"
        "ModuleNotFoundError: No module named 'nowhere_to_be_found'"
    )


def test_unknown_agent(project: pytest.Pytester) -> None:
    assert usage_error(project.runpytest("--fde-agent=do-nothng")).startswith(
        "--fde-agent=do-nothng is no agent. Did you mean 'do-nothing'?"
    )


def test_the_items_id_is_hidden_from_the_agent(project: pytest.Pytester) -> None:
    project.makepyfile(mine="import os\ndef agent(e): print('SEES', os.environ.get('PYTEST_CURRENT_TEST'))")
    project.makeconftest("import os\ndef pytest_fdegym_graded(item): print('AFTER', os.environ['PYTEST_CURRENT_TEST'])")
    result = project.runpytest("--fde-agent=mine.py", "-s", *V1)
    result.stdout.fnmatch_lines(["*SEES None", "*AFTER tasks/tiny_post/scenario.yaml::v1::L3 (setup)"])


def test_a_relative_file_in_the_ini_file_starts_from_there(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    project.makeini("[pytest]\nfde_agent = mine.py\nfde_tasks = tasks\nfde_gate = none\n")
    project.makepyfile(mine="def agent(e): print('RUNS')")
    monkeypatch.chdir(project.mkdir("below"))
    project.runpytest("-s", *V1).stdout.fnmatch_lines(["*RUNS"])
