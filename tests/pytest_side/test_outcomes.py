"""Passed, failed, void: what decides, and what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pytest_side.support import usage_error
from tests.support.tiny_scenario import edit

V1 = ("-k", "v1")


@pytest.mark.parametrize(
    ("gate", "outcome"),
    [
        ("resolved", "failed"),
        ("min-score:0.9", "failed"),
        ("min-score:0.375", "passed"),
        ("min-score:0.3751", "failed"),
        ("none", "passed"),
    ],
)
def test_gate(project: pytest.Pytester, gate: str, outcome: str) -> None:
    result = project.runpytest("--fde-agent=solution:ablations/F_LIMIT/guess_250", f"--fde-gate={gate}", *V1)
    result.assert_outcomes(deselected=1, **{outcome: 1})


def test_the_card_of_a_failed_run(project: pytest.Pytester) -> None:
    project.makepyfile(
        mine="""
        def agent(engagement):
            engagement.ask("pike", "How heavy may a letter be before it has to be a parcel?")
            engagement.write_text("system/shipping.py", "def ship(order, *, db): return 1 / 0\\n")
            raise RuntimeError("lost")
        """
    )
    result = project.runpytest("--fde-agent=mine.py", *V1)
    result.assert_outcomes(failed=1, deselected=1)
    folder = ".fdegym/results/mine.py/tiny_post.v1.L3.run1"
    result.stdout.fnmatch_lines(
        [
            "*_ tiny_post / v1 / L3 _*",
            "RuntimeError: lost; score -0.270, asked for 0.8 without incident (tiny_post.v1 at L3)",
            "tiny_post.v1 at L3, run 1, seed 1, agent mine.py",
            "",
            "orders sent the right way",
            "  as found       60 %",
            "  delivered      50 %",
            "  reference      100 %",
            "uplift U         -0.250",
            "contact cost C   0.020",
            "score S = U - C  -0.270",
            "",
            "incidents",
            "  - Orders were sent in another way without the owner's approval. (unapproved_change, 20 times)",
            "contacts         1 message, 0 trials, 0 days waited",
            "key facts        1 of 1 obtained",
            "end              the agent raised an exception; what it left was graded",
            "",
            "the delivery in production",
            "  - *ZeroDivisionError*200 of 200*",
            "  - 200 orders were sent as parcels since ship failed.",
            "",
            "the agent's error",
            "  Traceback (most recent call last):",
            f'    File "{project.path}/mine.py", line 4, in agent',
            '      raise RuntimeError("lost")',
            "  RuntimeError: lost",
            "",
            f"record           {folder}.json",
            f"events           {folder}.events.jsonl",
            f"patch            {folder}.patch",
        ],
    )
    assert "pytest_fdegym/" not in result.stdout.str()
    for suffix in (".json", ".events.jsonl", ".patch"):
        assert (project.path / f"{folder}{suffix}").is_file()


def test_void(project: pytest.Pytester) -> None:
    project.makepyfile(
        mine="from pytest_fdegym.errors import InfrastructureFault\ndef agent(e): raise InfrastructureFault('the disk is full')"
    )
    result = project.runpytest("--fde-agent=mine.py", "-v")
    result.assert_outcomes(errors=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "tasks/tiny_post/scenario.yaml::v1::L3 VOID*",
            "*ERROR at setup of tiny_post / v1 / L3*",
            "VOID: the disk is full",
            "",
            "An infrastructure fault spoiled the run. It says nothing about the agent and is left out of the averages.",
            "tiny_post.v1  L3        1  -  -  -       0/0          -  void",
            "resolved 0/0, with incidents 0, void 2, graded 0 of 2 planned",
        ]
    )
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize("verdict", ["skip", "fail", "xfail"])
def test_an_agent_cannot_choose_its_outcome(project: pytest.Pytester, verdict: str, kind: str) -> None:
    project.makepyfile(mine=f"import pytest\n{kind} agent(engagement):\n    pytest.{verdict}('too hard')\n")
    result = project.runpytest("--fde-agent=mine.py", *V1)
    result.assert_outcomes(failed=1, deselected=1)
    said = f"RuntimeError: the agent called pytest.{verdict}('too hard'): an agent does not decide its outcome"
    result.stdout.fnmatch_lines([f"{said}; score 0.000, asked for 0.8 without incident (tiny_post.v1 at L3)"])
    lines = result.outlines
    trace = lines[lines.index("the agent's error") :]
    shown = [line for line in trace[: trace.index("")] if "^" not in line]
    assert shown == [
        "the agent's error",
        "  Traceback (most recent call last):",
        f'    File "{project.path}/mine.py", line 3, in agent',
        f"      pytest.{verdict}('too hard')",
        f"  {said}",
    ]


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_the_reason_in_a_line(project: pytest.Pytester, workers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")  # where pytest does not cut it
    project.makepyfile(mine="def agent(engagement): raise RuntimeError('out of ideas')")
    result = project.runpytest_subprocess("--fde-agent=mine.py", "--tb=line", *V1, *workers)
    reason = "RuntimeError: out of ideas; score 0.000, asked for 0.8 without incident (tiny_post.v1 at L3)"
    lines = result.outlines
    assert [line for line in lines if "out of ideas" in line] == [
        reason,
        f"FAILED tasks/tiny_post/scenario.yaml::v1::L3 - {reason}",
    ]


def test_the_reason_of_an_error_in_a_line(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    project.makepyfile(mine="from pytest_fdegym.errors import InfrastructureFault\ndef agent(e): raise InfrastructureFault('full')")
    result = project.runpytest_subprocess("--fde-agent=mine.py", "--tb=line", "-rA", *V1)
    assert [line for line in result.outlines if "VOID" in line] == ["VOID: full", "VOID tasks/tiny_post/scenario.yaml::v1::L3 - VOID: full"]


def test_world_py_that_raises(project: pytest.Pytester) -> None:
    edit(project.path / "tasks" / "tiny_post", "world.py", "overpaid = sum(", "overpaid = 1 / 0 + sum(")
    result = project.runpytest("--fde-agent=literal", *V1)
    result.assert_outcomes(errors=1, deselected=1)
    text = result.stdout.str()
    assert "pytest_fdegym/" not in text
    result.stdout.fnmatch_lines(["tasks/tiny_post/world.py:*: prepare: ZeroDivisionError: division by zero"])


def test_no_sandbox_on_this_machine(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_fdegym.errors import SandboxUnavailable  # noqa: PLC0415

    def none(name: str) -> None:
        raise SandboxUnavailable(f"no sandbox ({name}) works on this machine")

    monkeypatch.setattr("pytest_fdegym.pytest_side.session.choose", none)
    assert usage_error(project.runpytest("--fde-agent=literal")) == "no sandbox (auto) works on this machine"
    assert project.runpytest("--fde-agent=literal", "--collect-only").ret == 0


def test_without_a_sandbox_by_wish(project: pytest.Pytester) -> None:
    result = project.runpytest("--fde-agent=do-nothing", "--fde-sandbox=none", "--fde-gate=none", *V1)
    warning = "WARNING: no sandbox: the agent's commands and the delivered code can do whatever you can do on this machine"
    result.stdout.fnmatch_lines([f"fdegym: {warning}", "*fdegym ==*", warning])


def test_nothing_of_a_run_is_left_in_the_temporary_folder(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    result = project.runpytest_subprocess("--fde-agent=reference", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=2)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("fde")] == []
