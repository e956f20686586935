"""Agents that are fixtures: found, overridden, parametrized and torn down like any fixture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pytest_side.support import collected, usage_error
from tests.support.tiny_scenario import edit, write_tiny_scenario

V1 = ("-k", "v1")


def test_request_node_scope_and_teardown(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def connection():
            print("OPEN")
            yield "connection"
            print("CLOSE")

        @pytest.fixture
        def myagent(request, connection, tmp_path):
            print("AGENT FOR", request.node.name, request.node.get_closest_marker("fde").kwargs["variant"], connection)
            yield lambda engagement: print("WORKS", engagement.people()[0].id)
            print("DONE", request.node.user_properties[-1][0])
        """
    )
    result = project.runpytest("--fde-agent=myagent", "-s", "--fde-gate=none")
    result.assert_outcomes(passed=2)
    told = [line.lstrip(".") for line in result.outlines]
    shown = [line.partition("scenario.yaml ")[2] or line for line in told]
    assert [line for line in shown if line.split(" ")[0] in ("OPEN", "AGENT", "WORKS", "DONE", "CLOSE", ".DONE")] == [
        "OPEN",
        "AGENT FOR L3 v1 connection",
        "WORKS moss",
        "DONE fde.digest",
        "AGENT FOR L3 v2 connection",
        "WORKS moss",
        "DONE fde.digest",
        "CLOSE",
    ]


def test_parameters(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        import pytest

        @pytest.fixture(params=["small", "big"])
        def myagent(request):
            return lambda engagement: engagement.ask("moss", request.param)
        """
    )
    result = project.runpytest("--fde-agent=myagent", "--fde-gate=none", "-v", *V1)
    result.assert_outcomes(passed=2, deselected=2)
    result.stdout.fnmatch_lines(
        ["tasks/tiny_post/scenario.yaml::v1::L3?small? PASSED*", "tasks/tiny_post/scenario.yaml::v1::L3?big? PASSED*"]
    )
    assert sorted(path.name for path in (project.path / ".fdegym" / "results").iterdir()) == [".gitignore", "myagent-big", "myagent-small"]


def test_a_conftest_beside_the_tasks_overrides(project: pytest.Pytester) -> None:
    project.makeconftest("import pytest\n@pytest.fixture\ndef myagent(): return lambda e: print('FAR')")
    (project.path / "tasks" / "conftest.py").write_text(
        "import pytest\n@pytest.fixture\ndef myagent(myagent):\n    return lambda e: (myagent(e), print('NEAR'))\n"
    )
    result = project.runpytest("--fde-agent=myagent", "-s", "--fde-gate=none", *V1)
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(["*FAR", "NEAR"])


def test_the_agent_fixture_itself_can_be_overridden(project: pytest.Pytester) -> None:
    project.makeconftest(
        "import pytest\n@pytest.fixture\ndef fde_agent(fde_agent):\n    print('WRAPPED', fde_agent.identity.name)\n    return fde_agent"
    )
    result = project.runpytest("--fde-agent=reference", "-s", *V1)
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(["*WRAPPED reference"])


def test_autouse_fixtures_of_the_rootdir_apply(project: pytest.Pytester) -> None:
    project.makeconftest("import pytest\n@pytest.fixture(autouse=True)\ndef around(request):\n    print('AROUND', request.node.name)")
    project.runpytest("--fde-agent=do-nothing", "-s", *V1).stdout.fnmatch_lines(["*AROUND L3"])


# --- the bundled tasks see the user's fixtures ---

AGENT = "import pytest\n@pytest.fixture\ndef myagent({argument}): return lambda e: print('{name}')\n"


def test_bundled_tasks_see_the_rootdirs_conftest(pytester: pytest.Pytester, bundle: Path) -> None:
    assert bundle.is_dir()
    pytester.makeconftest(AGENT.format(argument="", name="ROOTDIR"))
    result = pytester.runpytest("--fde-agent=myagent", "-s", "--fde-gate=none", *V1)
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(["*ROOTDIR"])


@pytest.mark.parametrize("in_rootdir", [False, True])
def test_bundled_tasks_see_the_invocation_directorys_conftest(
    pytester: pytest.Pytester, bundle: Path, monkeypatch: pytest.MonkeyPatch, in_rootdir: bool
) -> None:
    assert bundle.is_dir()
    pytester.makeini("[pytest]\n")
    if in_rootdir:
        pytester.makeconftest(AGENT.format(argument="", name="ROOTDIR"))
    below = pytester.path / "some" / "where"
    below.mkdir(parents=True)
    (below.parent / "conftest.py").write_text("import pytest\n@pytest.fixture\ndef helper(): return 'HELPED'\n")
    (below / "conftest.py").write_text(AGENT.format(argument="helper", name="BELOW").replace("print('BELOW')", "print('BELOW', helper)"))
    monkeypatch.chdir(below)
    result = pytester.runpytest("--fde-agent=myagent", "-s", "--fde-gate=none", *V1)
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(["*BELOW HELPED"])


def test_a_session_fixture_of_the_invocation_directory_is_made_once(
    pytester: pytest.Pytester, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(write_tiny_scenario(bundle / "second"), "scenario.yaml", "id: tiny_post", "id: second")
    pytester.makeini("[pytest]\n")
    below = pytester.mkdir("below")
    (below / "conftest.py").write_text(
        "import pytest\n@pytest.fixture(scope='session')\ndef myagent():\n    print('MADE')\n    return lambda e: None\n"
    )
    monkeypatch.chdir(below)
    result = pytester.runpytest("--fde-agent=myagent", "-s", "--fde-gate=none", *V1)
    result.assert_outcomes(passed=2, deselected=2)
    assert result.stdout.str().count("MADE") == 1


# --- names ---


FORMS = (
    "Built in: do-nothing, literal, reference, expert, five-tools. Installed: none. A name of these is accepted, or solution:NAME, "
    "package.module:callable, path/to/agent.py[:callable], 'cmd:SHELL COMMAND', or a fixture's name."
)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("mayagent", f"--fde-agent=mayagent is neither a built-in nor an installed agent nor a fixture. {FORMS}"),
        (
            "referense",
            f"--fde-agent=referense is neither a built-in nor an installed agent nor a fixture. Did you mean 'reference'? {FORMS}",
        ),
        (
            "mine",
            "--fde-agent=mine is neither a built-in nor an installed agent nor a fixture. mine.py exists here: --fde-agent=mine.py. "
            f"{FORMS}",
        ),
        ("fixture:mayagent", "--fde-agent=fixture:mayagent: there is no such fixture."),
    ],
)
def test_missing_fixture(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, agent: str, message: str) -> None:
    monkeypatch.setattr("pytest_fdegym.pytest_side.agent_source.installed_agents", dict)
    project.makeconftest("import pytest\n@pytest.fixture\ndef myagent(): ...")
    project.makepyfile(mine="def agent(engagement): ...")
    result = project.runpytest(f"--fde-agent={agent}", "--fde-runs=2")
    result.assert_outcomes(errors=1)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    lines = result.outlines
    start = next(number for number, line in enumerate(lines) if "ERROR at setup" in line)
    assert lines[start + 1 : start + 4] == [
        message,
        next(line for line in lines if line.strip("=") == " fdegym "),
        "resolved 0/0, with incidents 0, void 0, graded 0 of 4 planned",
    ]
    assert any(line.strip("!") == " there is no such agent " for line in lines)


def test_missing_fixture_with_workers(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("--fde-agent=fixture:mayagent", "-n1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.outlines.count("--fde-agent=fixture:mayagent: there is no such fixture.") == 1


def test_a_fixture_missing_in_the_agents_fixture_is_pytests_to_tell(project: pytest.Pytester) -> None:
    project.makeconftest("import pytest\n@pytest.fixture\ndef myagent(connectoin): ...")
    result = project.runpytest("--fde-agent=myagent", *V1)
    result.stdout.fnmatch_lines(["*def myagent(connectoin): ...", "E       fixture 'connectoin' not found"])
    assert "--fde-agent=" not in result.stdout.str()


@pytest.mark.parametrize("fixture", ["@pytest.fixture", "@pytest.fixture(params=[1, 2])"])
def test_a_fixture_with_a_built_ins_name(project: pytest.Pytester, fixture: str) -> None:
    project.makeconftest(f"import pytest\n{fixture}\ndef literal(): return lambda e: None")
    result = project.runpytest("--fde-agent=literal", *V1)
    result.assert_outcomes(errors=1, deselected=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of tiny_post / v1 / L3*",
            "--fde-agent=literal could be two things: the built-in 'literal', and a fixture of that name. "
            "Say builtin:literal or fixture:literal.",
        ],
        consecutive=True,
    )
    project.runpytest("--fde-agent=builtin:literal", "--fde-gate=none", *V1).assert_outcomes(passed=1, deselected=1)


def test_the_fixture_of_a_built_ins_name_said_explicitly(project: pytest.Pytester) -> None:
    project.makeconftest("import pytest\n@pytest.fixture\ndef literal(): return lambda e: print('MINE')")
    project.runpytest("--fde-agent=fixture:literal", "-s", *V1).stdout.fnmatch_lines(["*MINE"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 'gpt'", "the agent myagent is a str ('gpt'); an agent is a callable that takes an Engagement."),
        ("return 3", "the agent myagent is an int (3); an agent is a callable that takes an Engagement."),
        ("lambda engagement: None", "the agent myagent is None: its fixture has to return or yield the agent."),
        (
            "return lambda: None",
            "the agent myagent does not take an Engagement: it would be called with that alone, and its parameters are ().",
        ),
        (
            "return lambda engagement, size: None",
            "the agent myagent does not take an Engagement: it would be called with that alone, and its parameters are (engagement, size).",
        ),
    ],
)
def test_a_fixture_that_gives_no_agent(project: pytest.Pytester, body: str, message: str) -> None:
    project.makeconftest(f"import pytest\n@pytest.fixture\ndef myagent(): {body}")
    result = project.runpytest("--fde-agent=myagent", *V1)
    result.assert_outcomes(errors=1, deselected=1)
    lines = result.outlines
    assert lines[next(number for number, line in enumerate(lines) if "ERROR at setup" in line) + 1] == message
    assert lines[lines.index(message) + 1].strip("=") == " fdegym "
    assert not list((project.path / ".fdegym").rglob("*.json")), "nothing was run"


def test_a_fixture_that_fails_shows_the_users_code_only(project: pytest.Pytester) -> None:
    project.makeconftest("import pytest\n@pytest.fixture\ndef myagent():\n    raise OSError('no key')")
    result = project.runpytest("--fde-agent=myagent", *V1)
    result.assert_outcomes(errors=1, deselected=1)
    result.stdout.fnmatch_lines([">       raise OSError('no key')", "E       OSError: no key", "conftest.py:4: OSError"])
    assert "pytest_fdegym" not in result.stdout.str()


def test_the_plan_shows_the_agents_fixture(project: pytest.Pytester) -> None:
    project.makeconftest("import pytest\n@pytest.fixture(scope='session')\ndef myagent(): raise AssertionError('not to be run')")
    result = project.runpytest("--fde-agent=myagent", "--setup-plan", *V1)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["SETUP    S myagent", "*SETUP    F fde_agent*", "*SETUP    F fde_run*"])
    assert not (project.path / ".fdegym").exists()


# --- options ---

UNREAD = "--fde-agent-opt: the fixture myagent does not use them; let it request the fixture fde_agent_options."


def test_options_are_a_fixture(project: pytest.Pytester) -> None:
    project.makeconftest(
        "import pytest\n@pytest.fixture\ndef model(fde_agent_options): return fde_agent_options.get('model', 'small')\n"
        "@pytest.fixture\ndef myagent(model): return lambda e: print('MODEL', model)"
    )
    project.runpytest("--fde-agent=myagent", "--fde-agent-opt=model=big", "-s", *V1).stdout.fnmatch_lines(["*MODEL big"])
    record = json.loads((project.path / ".fdegym/results/myagent/tiny_post.v1.L3.run1.json").read_text())
    assert record["agent"]["options"] == {"model": "big"}
    project.runpytest("--fde-agent=myagent", "-s", *V1).stdout.fnmatch_lines(["*MODEL small"])


@pytest.mark.parametrize("more", [[], ["--collect-only"]])
def test_options_that_the_fixture_does_not_request(project: pytest.Pytester, more: list[str]) -> None:
    project.makeconftest("import pytest\n@pytest.fixture\ndef myagent(): return lambda e: None")
    assert usage_error(project.runpytest("--fde-agent=myagent", "--fde-agent-opt=model=big", *more)) == UNREAD


def test_options_that_the_fixture_does_not_request_with_workers(project: pytest.Pytester) -> None:
    project.makeconftest("import pytest\n@pytest.fixture\ndef myagent(): return lambda e: None")
    result = project.runpytest_subprocess("--fde-agent=myagent", "--fde-agent-opt=model=big", "-n2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.outlines.count(f"ERROR: {UNREAD}") == 1


def test_collection_knows_the_parameters(project: pytest.Pytester) -> None:
    project.makeconftest("import pytest\n@pytest.fixture(params=['a', 'b'])\ndef myagent(request): ...")
    ids = collected(project.runpytest("--collect-only", "-q", "--fde-agent=myagent", "-k", "v1 and b"))
    assert ids == ["tasks/tiny_post/scenario.yaml::v1::L3[b]"]
