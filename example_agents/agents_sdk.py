"""An agent of the OpenAI Agents SDK, as a fixture.

    pip install openai-agents
    echo "from agents_sdk import agents_sdk" >> conftest.py
    pytest --fde-agent=agents_sdk --fde-agent-opt model=gpt-5-mini

OPENAI_API_KEY (and OPENAI_BASE_URL for another provider) are taken from the environment, as always with this SDK. While a task runs, they
lead to the metering proxy, which counts turns, tokens and USD and holds the limits; nothing is to be reported here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from agents import Agent, Runner, Tool, function_tool, set_tracing_disabled

from pytest_fdegym import Engagement

INSTRUCTIONS = (
    "You are an engineer at work for a customer. Find out what is needed, ask people what only they know, get approvals before you change "
    "what customers or money depend on, change the system in the workspace, and test it. End with a short summary when you are done."
)


@pytest.fixture
def agents_sdk(fde_agent_options: dict[str, str]) -> Callable[[Engagement], Awaitable[None]]:
    """The agent; its model is the option ``model``."""
    set_tracing_disabled(True)  # it would send conversations to a service of OpenAI's
    model = fde_agent_options.get("model", "gpt-5-mini")

    async def agent(engagement: Engagement) -> None:
        worker = Agent(name="engineer", instructions=INSTRUCTIONS, model=model, tools=tools_of(engagement))
        # The limits are those of the run, not the ten turns of the SDK.
        await Runner.run(worker, engagement.brief, max_turns=None)

    return agent


def tools_of(engagement: Engagement) -> list[Tool]:
    """What the model can do. The SDK tells it the errors that these raise."""

    @function_tool
    def run(command: str) -> str:
        """Run a shell command line in the workspace."""
        result = engagement.run(command)
        return f"{result.stdout}{result.stderr}\n[exit code {result.exit_code}]"[-20_000:]

    @function_tool
    def people() -> str:
        """The staff directory: id, name, role and what each person is responsible for."""
        return "\n".join(f"{person.id}: {person.name}, {person.role}. {person.directory}." for person in engagement.people())

    @function_tool
    def ask(person: str, message: str) -> str:
        """Write to a person, named by id, and read the answer."""
        return engagement.ask(person, message).text

    @function_tool
    def inbox() -> str:
        """Read the mail that has arrived."""
        return "\n\n".join(f"{mail.sender}: {mail.subject}\n{mail.text}" for mail in engagement.inbox()) or "no mail"

    @function_tool
    def wait(days: int) -> str:
        """Let working days pass, 1 to 60."""
        return f"it is {engagement.wait(days=days).now:%A, %d %B %Y, %H:%M}"

    @function_tool
    def trial() -> str:
        """Let the system run beside the real one, where the customer allows it, and read what people noticed."""
        report = engagement.trial()
        return "\n".join([f"{report.id}: {report.feedback}", *report.notes])

    @function_tool
    def write_file(path: str, content: str) -> str:
        """Write a text file of the workspace, whole."""
        engagement.write_text(path, content)
        return f"wrote {path}"

    return [run, people, ask, inbox, wait, trial, write_file]
