"""Options on the command line and in the ini file: what they accept, and what they say otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.pytest_side.option_values import parse_levels, parse_seeds
from pytest_fdegym.pytest_side.options import OPTIONS
from tests.pytest_side.support import collected, usage_error


@pytest.mark.parametrize(
    ("text", "levels"), [("L3", ["L3"]), ("L3,L0", ["L0", "L3"]), (" L1 , L1", ["L1"]), ("all", ["L0", "L1", "L2", "L3"])]
)
def test_levels(text: str, levels: list[str]) -> None:
    assert parse_levels(text) == levels


@pytest.mark.parametrize(("text", "seeds"), [("7", [7]), ("0", [0]), ("1-4", [1, 2, 3, 4]), ("9,1-3,2", [9, 1, 2, 3])])
def test_seeds(text: str, seeds: list[int]) -> None:
    assert parse_seeds(text) == seeds


@given(st.lists(st.integers(0, 10**9 - 1), min_size=1, max_size=20, unique=True))
def test_a_list_of_seeds_is_what_it_says(seeds: list[int]) -> None:
    assert parse_seeds(",".join(map(str, seeds))) == seeds


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--fde-levels=L7", "--fde-levels: all, or a list of L0, L1, L2, L3 with commas is expected, found 'L7'."),
        ("--fde-levels=", "--fde-levels: all, or a list of L0, L1, L2, L3 with commas is expected, found ''."),
        ("--fde-levels=l3", "--fde-levels: all, or a list of L0, L1, L2, L3 with commas is expected, found 'l3'. Did you mean 'L3'?"),
        ("--fde-runs=0", "--fde-runs: a whole number from 1 is expected, found '0'."),
        ("--fde-runs=1.5", "--fde-runs: a whole number from 1 is expected, found '1.5'."),
        ("--fde-seed=-1", "--fde-seed: a whole number (with --fde-admission also a list or a range such as 1-20) is expected, found '-1'."),
        (
            "--fde-seed=5-2",
            "--fde-seed: a whole number (with --fde-admission also a list or a range such as 1-20) is expected, found '5-2'.",
        ),
        (
            "--fde-gate=resolve",
            "--fde-gate: resolved, min-score:X (a number such as 0.6), baseline or none is expected, found 'resolve'. "
            "Did you mean 'resolved'?",
        ),
        (
            "--fde-gate=min-score:nan",
            "--fde-gate: resolved, min-score:X (a number such as 0.6), baseline or none is expected, found 'min-score:nan'.",
        ),
        ("--fde-gate=", "--fde-gate: resolved, min-score:X (a number such as 0.6), baseline or none is expected, found ''."),
        ("--fde-max-turns=0", "--fde-max-turns: a whole number above 0, or none, is expected, found '0'."),
        ("--fde-max-turns=2.5", "--fde-max-turns: a whole number above 0, or none, is expected, found '2.5'."),
        ("--fde-max-minutes=inf", "--fde-max-minutes: a number above 0, or none, is expected, found 'inf'."),
        ("--fde-max-usd=8$", "--fde-max-usd: a number above 0, or none, is expected, found '8$'."),
        (
            "--fde-sandbox=bubblwrap",
            "--fde-sandbox: auto or bubblewrap or landlock or sandbox-exec or none is expected, found 'bubblwrap'. "
            "Did you mean 'bubblewrap'?",
        ),
        ("--fde-router=llm", "--fde-router: embedded, llm:MODEL or replay:PATH is expected, found 'llm'."),
        ("--fde-router=llm:a b", "--fde-router: embedded, llm:MODEL or replay:PATH is expected, found 'llm:a b'."),
        ("--fde-router=replay:", "--fde-router: embedded, llm:MODEL or replay:PATH is expected, found 'replay:'."),
        (
            "--fde-router=embeded",
            "--fde-router: embedded, llm:MODEL or replay:PATH is expected, found 'embeded'. Did you mean 'embedded'?",
        ),
        ("--fde-gateway-model=", "--fde-gateway-model: the name of a model is expected, found ''."),
        ("--fde-gateway-model=large 9", "--fde-gateway-model: the name of a model is expected, found 'large 9'."),
        ("--fde-agent-opt=model", "--fde-agent-opt: K=V with a name K is expected, found 'model'."),
        ("--fde-agent-opt=1x=2", "--fde-agent-opt: K=V with a name K is expected, found '1x=2'."),
        ("--fde-agent=", "--fde-agent: the name of an agent is expected, found nothing."),
    ],
)
def test_refused(pytester: pytest.Pytester, option: str, message: str) -> None:
    assert usage_error(pytester.runpytest(option)) == message


def test_ini_value_that_is_refused_names_the_ini_option(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nfde_agent = literal\nfde_runs = many\n")
    assert usage_error(pytester.runpytest()) == "ini option fde_runs: a whole number from 1 is expected, found 'many'."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--fde-agent=literal", "--fde-admission"],
            "--fde-agent and --fde-admission exclude each other: one grades an agent, the other checks the scenarios.",
        ),
        (
            ["--fde-agent=literal", "--fde-seed=1-3"],
            "--fde-seed: one seed is expected, found 3; a list or range is accepted with --fde-admission only.",
        ),
        (["--fde-agent=a.py", "--fde-agent-opt=k=1", "--fde-agent-opt=k=2"], "--fde-agent-opt: 'k' is given twice ('1' and '2')."),
        (["--fde-agent=literal", "--fde-agent-opt=k=1"], "--fde-agent-opt k: a built-in agent takes no options (literal)."),
        (["--fde-agent=cmd:true", "--fde-agent-opt=k=1"], "--fde-agent-opt k: a command takes no options (cmd:true)."),
        (["--fde-agent=literal", "--fde-tasks=nowhere"], "--fde-tasks: there is no folder {path}/nowhere"),
    ],
)
def test_refused_together(pytester: pytest.Pytester, options: list[str], message: str) -> None:
    assert usage_error(pytester.runpytest(*options)) == message.format(path=pytester.path)


def test_every_option_has_an_ini_twin(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FDEGYM_GATEWAY_BASE_URL", "http://127.0.0.1:9/v1")
    (project.path / "mine.py").write_text("def agent(engagement, size): ...\n")
    project.makeini(
        """
        [pytest]
        fde_agent = mine.py
        fde_agent_opt =
            size=3
        fde_agent_version = 7
        fde_agent_network = none
        fde_agent_env =
        fde_metering = off
        fde_tasks = tasks
        fde_levels = L0,L3
        fde_runs = 2
        fde_seed = 4
        fde_gate = none
        fde_baseline = main.json
        fde_update_baseline = false
        fde_gate_margin = 0.2
        fde_inconclusive = fail
        fde_report =
            out.md
        fde_resume = false
        fde_results = out
        fde_max_turns = 5
        fde_max_minutes = 5
        fde_max_usd = none
        fde_budget_usd = 20
        fde_budget_minutes = none
        fde_min_coverage = 0.9
        fde_retries = 0
        fde_sandbox = auto
        fde_router = embedded
        fde_gateway_model = large-9
        fde_progress = off
        fde_admission = false
        fde_update_worth = false
        """
    )
    below = project.mkdir("below")
    project.makeconftest(
        """
        def pytest_collection_finish(session):
            from pytest_fdegym.pytest_side.session import SESSION
            plan = session.config.stash[SESSION].plan
            print("PLAN", plan.levels, plan.runs, plan.seeds, plan.gate.text, plan.results.name, plan.limits, plan.agent_options)
        """
    )
    project.chdir()
    import os  # noqa: PLC0415

    os.chdir(below)
    result = project.runpytest("--collect-only", "-q", "-s")
    assert len(collected(result)) == 6
    result.stdout.fnmatch_lines(
        ["PLAN ('L0', 'L3') 2 (4,) none out Limits(turns=5, minutes=5.0, usd=None) {'size': '3'}"],
    )
    assert {option.name for option in OPTIONS} == {
        line.split(" = ")[0].rstrip(" =") for line in (project.path / "tox.ini").read_text().splitlines() if line.startswith("fde_")
    }


def test_the_command_line_wins(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nfde_agent = literal\nfde_tasks = tasks\nfde_levels = L0\n")
    assert collected(project.runpytest("--collect-only", "-q", "--fde-levels=L1")) == ["tasks/tiny_post/scenario.yaml::v1::L1"]


def test_admission_asked_for_where_the_ini_file_names_an_agent(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nfde_agent = literal\nfde_tasks = tasks\n")
    assert "tasks/tiny_post/scenario.yaml::v1::reference" in collected(project.runpytest("--collect-only", "-q", "--fde-admission"))
