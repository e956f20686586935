"""The gateway in production: what the delivered code is given, and what the harness knows of its calls afterwards."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.deployment.freeze import freeze
from pytest_fdegym.deployment.host import Deployment
from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.gateway.models import Model
from pytest_fdegym.gateway.service import Service
from pytest_fdegym.results.record import Record
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.model import ScenarioFile
from pytest_fdegym.scenario.world import GatewayCall, GatewayRequest, Outcome, Returned, TimedOut
from tests.support.settings import python_agent
from tests.support.tiny_gateway import write_tiny_gateway
from tests.support.tiny_scenario import edit


def delivered(case: Case, settings: Settings, code: str, **files: str) -> Record:
    """The record of an agent that delivers `code` as system/shipping.py."""

    def agent(engagement: Engagement) -> None:
        engagement.write_text("system/shipping.py", dedent(code))
        for name, text in files.items():
            engagement.write_text(name, dedent(text))

    record = run(case, python_agent(agent), settings)
    assert record.agent_error is None, record.agent_error
    return record


ASKS = """
    def ship(order, *, db, gateway):
        return gateway.chat([{"role": "user", "content": "Letter or parcel? " + order["id"]}])
"""


def test_every_call_is_known_with_the_call_of_productions_during_which_it_was_made(case: Case, settings: Settings) -> None:
    record = delivered(case, settings, ASKS)
    assert record.scores is not None
    assert (record.scores.kpi, record.details) == (50.0, {"usd": 50.0, "calls": [0, 1, 2]})
    assert (record.gateway, record.notes) == ("simulated", ())


def test_calls_while_the_file_is_imported_belong_to_the_call_that_needed_it(case: Case, settings: Settings) -> None:
    code = """
        from gateway import Gateway
        WARM = Gateway().chat([{"role": "user", "content": "hello"}])
        def ship(order, *, db, gateway):
            return gateway.chat([{"role": "user", "content": order["id"]}]) if order["id"] == "N7" else "parcel"
    """
    record = delivered(case, settings, code)
    assert record.details["usd"] == 0.5
    assert record.details["calls"][0] == 0


@pytest.mark.parametrize(
    "imports",
    [
        "from gateway import GatewayError",
        "from system.gateway import GatewayError",
        "from system import gateway as client; GatewayError = client.GatewayError",
        "import system.gateway; GatewayError = system.gateway.GatewayError",
    ],
)
def test_the_error_that_is_caught_is_the_one_that_is_raised(case: Case, settings: Settings, imports: str) -> None:
    code = f"""
        {imports}
        def ship(order, *, db, gateway):
            try:
                return gateway.chat([{{"role": "narrator", "content": order["id"]}}])
            except GatewayError as error:
                return "letter" if error.status == 400 else "parcel"
    """
    record = delivered(case, settings, code)
    assert record.scores is not None
    assert (record.scores.kpi, record.notes) == (50.0, ()), "all of them went as letters"


def test_production_has_its_own_client_whatever_was_made_of_the_file(case: Case, settings: Settings) -> None:
    ours = {"system/gateway.py": "def helper(text):\n    return text.lower()\n"}
    code = """
        from gateway import helper
        def ship(order, *, db, gateway):
            return helper(gateway.chat([{"role": "user", "content": order["id"]}]))
    """
    assert delivered(case, settings, code, **ours).details["usd"] == 50.0


def test_an_error_that_nobody_caught_is_told_as_any_other(case: Case, settings: Settings) -> None:
    code = """
        def ship(order, *, db, gateway):
            return gateway.chat([{"role": "user", "content": order["id"]}], model="gpt")
    """
    record = delivered(case, settings, code)
    assert record.notes[0].startswith("ship raised GatewayError: there is no such model. This gateway serves: post-small, post-large")
    assert record.details["usd"] == 0, "a call that is refused costs nothing"


def test_the_authors_mistake_in_answer_is_told_with_its_line(case: Case, settings: Settings) -> None:
    code = """
        def ship(order, *, db, gateway):
            try:
                return gateway.chat([{"role": "user", "content": "boom"}])
            except Exception:
                return "parcel"
    """
    with pytest.raises(ScenarioError) as raised:
        delivered(case, settings, code)
    first, *_, last = str(raised.value).splitlines()
    assert first.endswith(": answer: ZeroDivisionError: the model is confused")
    assert "world.py:" in first
    assert last == "ZeroDivisionError: the model is confused"


def test_an_answer_that_is_no_text_is_the_authors_mistake(tmp_path: Path, settings: Settings) -> None:
    folder = write_tiny_gateway(tmp_path / "tiny_post")
    edit(folder, "world.py", "def answer(request, world, heldout):\n", "def answer(request, world, heldout):\n    return None\n")
    with pytest.raises(ScenarioError, match=r"world\.py:[0-9]+: answer: returned None; str is expected"):
        delivered(Case(load(folder), "v1", "L3"), settings, ASKS)


# --- a deployment of its own ---


class Patient:
    """Answers after more time than a call may take."""

    id = "patient"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def answer(self, request: GatewayRequest) -> str:
        import threading  # noqa: PLC0415

        threading.Event().wait(self.seconds)
        return "letter"


def one_call(
    case: Case, settings: Settings, tmp_path: Path, code: str, model: Model, seconds: float
) -> tuple[Outcome, tuple[GatewayCall, ...]]:
    prepared = settings.prepared.get(case.scenario, case.variant, case.seed)
    file = prepared.file.model_copy(
        update={"entry_points": {"ship": prepared.file.entry_points["ship"].model_copy(update={"seconds": seconds})}}
    )
    assert isinstance(file, ScenarioFile)
    assert file.gateway is not None
    (tmp_path / "work/system").mkdir(parents=True)
    (tmp_path / "work/system/shipping.py").write_text(dedent(code))
    frozen = freeze(tmp_path / "work", ["system"], tmp_path / "frozen")
    service = Service(file.gateway, model, "production", most_calls=10)
    with Deployment(frozen.root, file, prepared.databases, settings.sandbox, gateway=service) as system:
        outcome = system.call("ship", {"id": "N1"})
    return outcome, service.calls


def test_the_time_for_which_the_gateway_keeps_the_system_waiting_is_not_the_systems(case: Case, settings: Settings, tmp_path: Path) -> None:
    outcome, calls = one_call(case, settings, tmp_path, ASKS, Patient(1.3), seconds=1)
    assert outcome == Returned("letter")
    assert [call.call for call in calls] == [0]


def test_its_own_time_still_counts(case: Case, settings: Settings, tmp_path: Path) -> None:
    code = """
        def ship(order, *, db, gateway):
            gateway.chat([{"role": "user", "content": "hello"}])
            while True:
                pass
    """
    outcome, _ = one_call(case, settings, tmp_path, code, Patient(0), seconds=0.5)
    assert outcome == TimedOut(0.5)


def test_a_thread_that_is_left_behind_is_answered_no_more(case: Case, settings: Settings, tmp_path: Path) -> None:
    code = """
        import threading
        RESULTS = []
        def later(gateway, go):
            go.wait()
            try:
                RESULTS.append(gateway.chat([{"role": "user", "content": "hello"}]))
            except Exception as error:
                RESULTS.append(str(error))
        def ship(order, *, db, gateway):
            go = threading.Event()
            threading.Thread(target=later, args=(gateway, go), daemon=True).start()
            threading.Timer(0.2, go.set).start()
            return "parcel"
    """
    outcome, calls = one_call(case, settings, tmp_path, code, Patient(0), seconds=5)
    assert (outcome, calls) == (Returned("parcel"), ())
