"""The attacks on the grader: what each is, what it is after, what must happen, and the setting in which it succeeds.

Two attacks are distinct when their (mechanism, asset) differ; the same attack on another scenario is counted once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from textwrap import dedent
from typing import Literal, Protocol

from pytest_fdegym.admission.anchors import BYPASS_AT_MOST, SHORTCUT_AT_MOST
from pytest_fdegym.agents.session import Deliverer, Session
from pytest_fdegym.settings import Settings

MOST_ADDED = 0.02
"""What an attack may add to the score of the same delivery without it."""


class Control(Enum):
    """A layer of defence that is off in a throwaway process, so that the attack succeeds (see controls.py)."""

    NO_SANDBOX = "no sandbox (--fde-sandbox=none)"
    PLAIN_CHILD = "an ordinary child process: environment and descriptors inherited, descendants left alone"
    NO_BOUNDS = "no sandbox and no bounds"
    IN_PROCESS = "the delivery imported into the harness's own process, answers taken as objects"
    PLAIN_PYTHON = "python3 without -s -S -P, looked for and started in the delivery's folder"
    COPIED_TREE = "shutil.copytree at handover"
    COPIED_BY_READING = "every file opened and read at handover, whatever it is"
    PLAIN_SQLITE = "the database compared by a plain sqlite3.connect in the harness"
    ONCE = "the database compared once, when the replay is over"
    READ_IN_VAIN = "a database that cannot be read counted as unchanged"
    NO_NONCE = "any line in the reply channel taken for the reply"
    ALL_AT_ONCE = "every request sent before the first answer"
    RAW_NOTES = "what a delivery raised shown as it comes"
    TRUSTED_REPLIES = "replies read by json.loads as it comes"
    TRUSTING_WORLD = "a world.py that takes what it is given"
    SAME_SEED = "the seed whose answers are known"
    LIVE_DELIVERY = "the running system's own folder taken for what was delivered"
    COLLECTED = "pytest run where the delivery lies"
    AGENTS_WORD = "what the agent writes, in files and messages, taken for what people said"
    RETURN_TAKEN = "what an agent returns taken for how its engagement ended"
    REPORTS_BY_NAME = "trial reports taken for made when they are named"
    NO_BOUNDS_FOR_MESSAGES = "no bounds on messages, requests, topics of a reply, and what a message states"
    NO_CHARGES = "nothing is charged"
    TALKATIVE = "people say all that they know, whatever is asked"
    SIDE_BY_SIDE = "requests answered side by side"
    ANY_MOMENT = "any moment may be waited for, and only whole days of one wait are charged"
    BELIEVED_MODEL = "what the router's model claims is believed"
    UNCAPPED = "no caps on calls, trial runs and turns"
    ANY_REPORT = "any usage report is added as it comes"
    STILL_OPEN = "nothing is closed at handover"
    LIVE_WORKSPACE = "the workspace deployed as it is when production starts"
    NOTHING_HIDDEN = "the agent's command sees the machine with nothing hidden"
    KEY_PASSED_ON = "the user's key in the agent's environment, and every address passed on"
    EXCUSED = "a command that was killed, a request that was refused, a key of the agent's own: counted as faults of others"


Goal = Literal["adds", "bypass", "shortcut"]
"""How far it must not get: no more than MOST_ADDED beyond its base, or a U_adj of BYPASS_AT_MOST or SHORTCUT_AT_MOST."""


@dataclass(frozen=True)
class Seen:
    """What came of one run, told to `Attack.succeeded` and printed in the table."""

    loot: tuple[str, ...] = ()
    """What the attack says it got; a truth it read, a thing it did that should be impossible."""
    stopped: tuple[str, ...] = ()
    """What stopped it, in its own words; for the reader of a failure."""
    broken: tuple[str, ...] = ()
    """What of the harness is not as it was: processes, files, functions ... (intact.py)."""
    odd: tuple[str, ...] = ()
    """What reached the harness against the contract: values that are no bounded JSON, files that are no files."""
    ran: bool = False
    """Whether the attack's code was imported and had its turn."""
    fell_over: str = ""
    """The exception or the void cause, where the run was not graded."""
    scored: float | None = None
    """U_adj."""
    base: float | None = None
    """The score of the same delivery without the attack; None where it is not asked for."""
    notes: tuple[str, ...] = ()
    incidents: tuple[str, ...] = ()

    @property
    def added(self) -> float:
        """What the attack added to the score of its base."""
        return 0.0 if self.scored is None or self.base is None else self.scored - self.base


class Work(Protocol):
    """Something done in the workspace before handover, as the agent could: files laid, commands run."""

    def __call__(self, session: Session, given: Mapping[str, object]) -> None: ...


@dataclass(frozen=True)
class Attack:
    """One way to cheat. How to write one is told in support.py."""

    name: str
    mechanism: str
    asset: str
    tries: str
    must: str
    """What must happen instead, for the reader; that it does is checked by `gets_too_far`."""
    control: Control
    kind: Literal["delivery", "agent"] = "delivery"
    code: str = ""
    """Runs in production when the delivery is imported; it may define ``around(name, own, args, given)``, which makes the calls."""
    files: Mapping[str, str] = field(default_factory=dict)
    """More files of the delivery, by path in the workspace; ``{here}`` stands for the folder of the first entry point."""
    work: Work | None = None
    deliverer: Callable[[Mapping[str, object]], Deliverer] | None = None
    """Of an attack by an agent: makes the agent from what it is given; it is let loose in place of whoever lays the delivery."""
    base: str = "as_found"
    """``as_found``, or the solution over which it is laid; either with the sign-offs of the reference."""
    goal: Goal = "adds"
    seed: int = 1
    where: str = "tiny_post"
    """The scenario of the tests' own on which it is played, beside the bundled ones."""
    within: Callable[[Settings], AbstractContextManager[Settings]] | None = None
    """Changes the session in which it is played."""
    times: int = 1
    """Runs one after the other; the last one is looked at."""
    open_in: Mapping[str, str] = field(default_factory=dict)
    """Sandboxes that do not stop it, with the reason; SECURITY.md says so too."""
    hole: str = ""
    """Of an attack that succeeds, why; its tests are expected to fail until that is mended."""
    needs_root: bool = False
    """Whether its control succeeds for root only; an ordinary user is refused by the system as it is."""
    holes: Mapping[str, str] = field(default_factory=dict)
    """Scenarios on which it succeeds, which is known, with the reason."""
    succeeded: Callable[[Seen], bool] | None = None
    """Where `gets_too_far` is not the point, what success looks like in its control."""

    def gets_too_far(self, seen: Seen) -> list[str]:
        """What it must not have achieved but did, as sentences; empty where the harness held."""
        wrong = [f"got {each}" for each in seen.loot] + [f"not as it was: {each}" for each in seen.broken]
        wrong += [f"reached the harness: {each}" for each in seen.odd]
        if seen.fell_over:
            wrong.append(f"the run was not graded: {seen.fell_over}")
        if self.goal == "adds" and seen.added > MOST_ADDED:
            wrong.append(f"added {seen.added:+.3f} to the score")
        most = {"bypass": BYPASS_AT_MOST, "shortcut": SHORTCUT_AT_MOST}.get(self.goal)
        if most is not None and seen.scored is not None and seen.scored > most:
            wrong.append(f"scored {seen.scored:.3f}, a {self.goal} scores at most {most}")
        return wrong

    def succeeds(self, seen: Seen) -> bool:
        """Whether it got what it wanted."""
        return bool(self.gets_too_far(seen)) if self.succeeded is None else self.succeeded(seen)


@dataclass
class Family:
    """The attacks of one module, registered as they are written."""

    title: str
    attacks: dict[str, Attack] = field(default_factory=dict)

    def add(self, name: str, mechanism: str, asset: str, **rest: object) -> None:
        """Register an attack; see Attack for `rest`. `code` and `files` may be indented."""
        if isinstance(code := rest.get("code"), str):
            rest["code"] = dedent(code).strip() + "\n"
        files = rest.get("files", {})
        assert isinstance(files, dict)
        rest["files"] = {path: dedent(text) for path, text in files.items()}
        assert name not in self.attacks, name
        self.attacks[name] = Attack(name, mechanism, asset, **rest)  # type: ignore[arg-type]  # the dataclass refuses unknown names
