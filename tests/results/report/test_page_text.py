"""The text of a page: it refers to nothing outside, and what agents and customers wrote is never markup in it."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest
from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]  # it has no types

from pytest_fdegym.results.record import AgentIdentity, Engaged, IncidentRecord
from pytest_fdegym.results.report.html import embedded
from tests.results.report.support import HOSTILE, details_of, message, numbers_of, page_of, several_agents, store, without_plotly
from tests.support.records import graded

PAGE = Path(__file__).parents[3] / "pytest_fdegym" / "results" / "report" / "page"


class Elements(HTMLParser):
    """The elements of a page and their attributes, as a browser's parser finds them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A store in which everything that others wrote is hostile."""
    record = graded(
        agent=AgentIdentity(name=HOSTILE),
        sector=HOSTILE,
        agent_error=HOSTILE,
        notes=(HOSTILE,),
        details={HOSTILE: HOSTILE},
        engaged=Engaged(facts=(HOSTILE,), key_facts=(HOSTILE,)),
        incident=True,
        incidents=(IncidentRecord(id=HOSTILE, text=HOSTILE, keys=(HOSTILE,), count=2),),
    )
    stem = tmp_path / "agent" / "run"
    stem.parent.mkdir()
    Path(f"{stem}.json").write_text(record.model_dump_json(), encoding="utf-8")
    other = store(tmp_path / "elsewhere", [graded()], [message(HOSTILE, HOSTILE), {"kind": "command", "command": HOSTILE}], f"+{HOSTILE}\n")
    for ending in ("events.jsonl", "patch"):
        (other / "myagent" / f"oil_npt.v1.L3.run1.{ending}").rename(f"{stem}.{ending}")
    return tmp_path / "agent"


def test_what_others_wrote_adds_no_element(hostile: Path, tmp_path: Path) -> None:
    tame = page_of(store(tmp_path / "tame", [graded()], [], ""))
    page = page_of(hostile)
    assert [tag for tag, _ in Elements(page).found] == [tag for tag, _ in Elements(tame).found]
    assert "owned" not in re.sub(r"<script type=.*?</script>", "", page, flags=re.DOTALL)


def test_what_others_wrote_is_kept_as_it_is(hostile: Path) -> None:
    page = page_of(hostile)
    assert numbers_of(page)["runs"][0]["sector"] == HOSTILE
    (details,) = details_of(page)
    assert details["notes"] == [HOSTILE]
    assert details["timeline"][0]["text"] == HOSTILE
    assert details["patch"] == f"+{HOSTILE}\n"


def test_embedded_json_has_no_letter_that_means_something_to_html() -> None:
    text = embedded({"</script>": "<!-- & \u2028 \ud800"})
    assert text == '{"\\u003c/script\\u003e":"\\u003c!-- \\u0026 \\u2028 \\ud800"}'


def test_a_page_refers_to_nothing_outside(tmp_path: Path) -> None:
    page = page_of(store(tmp_path, several_agents(), [message("a", "b")], "+x\n"))
    elements = Elements(page).found
    assert {name for _, attributes in elements for name in attributes if name in ("src", "srcset", "action", "data", "poster")} == set()
    assert [attributes["href"] for _, attributes in elements if "href" in attributes] == ["data:,", "#tasks"]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_the_policy_allows_these_scripts_and_no_network(tmp_path: Path) -> None:
    page = page_of(store(tmp_path, several_agents()))
    (policy,) = [
        each["content"] for tag, each in Elements(page).found if tag == "meta" and each.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert set(rules) == {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}
    assert "unsafe" not in rules["script-src"]
    assert "http" not in policy


def test_our_scripts_write_no_markup() -> None:
    for file in PAGE.glob("*.js"):
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", file.read_text()), file.name


def test_the_policy_names_our_script_and_the_one_that_plotly_ships(tmp_path: Path) -> None:
    page = page_of(store(tmp_path, [graded()]))
    (packed,) = re.findall(r'<script type="text/plain" id="plotly">([^<]*)</script>', page)
    plotly = zlib.decompress(base64.b64decode(packed))
    assert plotly.decode() == get_plotlyjs()
    (ours,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script).digest()).decode() for script in (ours.encode(), plotly)]
    assert f"script-src 'sha256-{hashes[0]}' 'sha256-{hashes[1]}';" in html.unescape(page)


def test_a_page_without_the_library_has_all_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = store(tmp_path, several_agents(), [message("a", "b")], "+x\n")
    whole = page_of(folder)
    without_plotly(monkeypatch)
    page = page_of(folder)
    assert 'id="plotly"' not in page
    assert "plotly.js (MIT licence)" not in page
    assert (numbers_of(page), details_of(page)) == (numbers_of(whole), details_of(whole))
