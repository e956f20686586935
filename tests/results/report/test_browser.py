"""The page in headless Chromium: drill-down, filters, keyboard, themes, a narrow screen, downloads, hostile text, and nothing fetched."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.results.report.build import make_report
from pytest_fdegym.results.report.reading import runs_in
from pytest_fdegym.results.report.run_tables import runs_csv
from tests.results.report.support import HOSTILE, MADE, message, page_of, several_agents, store, without_plotly
from tests.results.report.test_page_text import hostile  # noqa: F401  (a fixture)
from tests.support.records import graded

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield opened
        opened.close()


class Watched:
    """A page, and all that it asked for or complained of."""

    def __init__(self, browser: Browser, file: Path, **context: Any) -> None:
        self.said: list[str] = []
        self._context = browser.new_context(**context)
        self.page: Page = self._context.new_page()
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: None if request.url == file.as_uri() else self.said.append(request.url))
        self.page.goto(file.as_uri())

    def __enter__(self) -> Page:
        return self.page

    def __exit__(self, *exc_info: object) -> None:
        self._context.close()
        if exc_info[0] is None:
            assert [text for text in self.said if not text.startswith("blob:")] == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    events = [
        {"kind": "start"},
        message("Which rule holds?", "The register decides.", charge=0.03, facts=("F_A",)),
        {"kind": "command", "command": "sqlite3 data.db", "exit_code": 1, "stopped_by": None},
    ]
    return store(tmp_path_factory.mktemp("store"), several_agents(), events, "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old\n+new\n")


@pytest.fixture(scope="module")
def file(folder: Path) -> Path:
    file = folder / "report.html"
    file.write_text(page_of(folder), encoding="utf-8")
    return file


def draw_all(page: Page) -> None:
    """Scroll to every figure, since they are drawn when they come into sight."""
    for figure in page.locator("#plots > figure").all():
        figure.scroll_into_view_if_needed()
        figure.locator("svg .xtick text").first.wait_for()


def test_the_headline_and_all_figures(browser: Browser, file: Path) -> None:
    with Watched(browser, file) as page:
        row = page.locator("#headline tbody tr").first.inner_text().split("\t")
        assert row[:2] == ["first", "0.100"]
        assert "5 of 6" in row[-1]
        draw_all(page)
        assert page.locator("#plots > figure").count() == 6
        page.locator("#figure-below_do_nothing summary").click()
        assert "first\t0.5" in page.locator("#figure-below_do_nothing tbody").inner_text()


def test_filters(browser: Browser, file: Path) -> None:
    with Watched(browser, file) as page:
        shown = page.locator("#shown")
        assert shown.inner_text().startswith("8 of 8 runs in 7 rows.")
        page.locator("select[name=outcome]").select_option(label="incident")
        page.get_by_text("1 of 8 runs in 1 rows.").wait_for()
        assert page.locator("#table tbody tr").inner_text().startswith("tolls.v1\tL3\tfirst")
        page.get_by_role("button", name="Clear").click()
        page.get_by_text("8 of 8 runs").wait_for()
        page.locator("input[name=text]").fill("OIL second")
        page.get_by_text("1 of 8 runs").wait_for()


def test_a_run_is_opened_and_closed_with_the_keyboard_alone(browser: Browser, file: Path) -> None:
    with Watched(browser, file) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('button.open[aria-expanded]')"):
                break
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        dialog = page.locator("dialog[open]")
        dialog.wait_for()
        assert page.evaluate("document.activeElement.textContent") == "Close"
        page.keyboard.press("Escape")
        assert page.locator("dialog[open]").count() == 0
        assert page.evaluate("document.activeElement.dataset.run") is not None


def test_what_a_run_shows(browser: Browser, file: Path) -> None:
    with Watched(browser, file) as page:
        page.locator("select[name=outcome]").select_option(label="incident")
        page.get_by_text("1 of 8 runs").wait_for()
        page.locator("button.open").click()
        dialog = page.locator("dialog[open]")
        text = dialog.inner_text()
        for part in ("tolls.v1 at L3, run 1: first", "harm was done (harm, 1 time: k)", "counted as 0.000 because of incidents"):
            assert part in text
        assert dialog.locator("tbody tr", has_text="delivered").inner_text() == "delivered\t0.9"
        assert dialog.locator("tbody tr", has_text="F_B").inner_text() == "F_B\tkey\tobtained\t1.00"
        charged = dialog.locator("ol.timeline > li.charged").inner_text()
        for part in ("okafor", "6.0 min, 2025-03-04 14:00:00", "charge 0.03", "fact F_A", "Which rule holds?", "The register decides."):
            assert part in charged
        assert dialog.locator(".diff .added").inner_text() == "+new"
        dialog.locator("select").select_option(label="what was charged")
        assert dialog.locator("ol.timeline > li:visible").count() == 1


def test_the_customers_number_has_its_name_and_unit_and_missed_facts_their_worth(browser: Browser, file: Path) -> None:
    with Watched(browser, file) as page:
        page.locator("input[name=text]").fill("first oil L3")
        page.get_by_text("3 of 8 runs in 2 rows.").wait_for()
        page.locator("button.open[aria-expanded]").click()
        page.locator("[data-run]").first.click()
        dialog = page.locator("dialog[open]")
        assert "The customer's number: net credited hours" in dialog.inner_text()
        assert dialog.locator("thead", has_text="h").first.inner_text().split() == ["h"]
        dialog.locator("svg .xtitle", has_text="net credited hours (h)").wait_for()
        page.keyboard.press("Escape")
        page.locator("button.open:not([aria-expanded])").click()
        assert dialog.locator("tbody tr", has_text="F_A").inner_text() == "F_A\tkey\tmissed\t0.26"
        assert "Worth: the uplift that the best solution without the fact lacks, as admission measures it." in dialog.inner_text()
        page.keyboard.press("Escape")
        page.locator("input[name=text]").fill("second oil")
        page.get_by_text("1 of 8 runs").wait_for()
        page.locator("button.open").click()
        assert dialog.locator("tbody tr", has_text="F_B").inner_text() == "F_B\tkey\tmissed\t?"
        assert "?: the scenario's worth.yaml did not say it." in dialog.inner_text()


def test_columns_are_sorted(browser: Browser, file: Path) -> None:
    with Watched(browser, file) as page:
        page.locator("[data-sort=score]").click()
        assert page.locator("#table tbody tr").first.inner_text().split("\t")[3] == "-1.100"
        page.keyboard.press("Enter")
        assert page.locator("#table tbody tr").first.inner_text().split("\t")[3] == "0.850"
        assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"


def test_themes(browser: Browser, file: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    with Watched(browser, file, color_scheme="dark") as page:
        dark = page.evaluate(background)
        page.locator("#theme").select_option("light")
        light = page.evaluate(background)
        assert (light, dark) == ("rgb(255, 255, 255)", "rgb(16, 21, 27)")
        page.reload()
        assert page.evaluate(background) == light
        page.locator("#theme").select_option("dark")
        page.emulate_media(color_scheme="light")
        assert page.evaluate(background) == dark
        page.locator("#theme").select_option("system")
        assert page.evaluate(background) == light
        draw_all(page)
        ink = """() => [document.body, document.querySelector("#figure-score_by_level .xtick text")].map((each, place) =>
            getComputedStyle(each)[place ? "fill" : "color"])"""
        seen = set()
        for theme in ("light", "dark", "system"):
            page.locator("#theme").select_option(theme)
            page.wait_for_function(f"() => new Set(({ink})()).size === 1")
            seen.add(page.evaluate(ink)[0])
        assert len(seen) == 2


def test_a_narrow_screen_is_never_scrolled_sideways(browser: Browser, file: Path) -> None:
    with Watched(browser, file, viewport={"width": 390, "height": 800}) as page:
        draw_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator("button.open").first.click()
        page.locator("dialog[open]").wait_for()
        assert page.locator("dialog").evaluate("dialog => dialog.scrollWidth <= dialog.clientWidth")


def test_the_figures_are_of_the_numbers(browser: Browser, file: Path) -> None:
    drawn = "name => document.querySelector(`#figure-${name} .js-plotly-plot`).data"
    with Watched(browser, file) as page:
        draw_all(page)
        levels = page.evaluate(drawn, "score_by_level")
        assert [[round(value, 3) for value in trace["x"]] for trace in levels] == [[0.85], [-0.15, 0.5]]
        assert page.evaluate(drawn, "score_by_level")[1]["y"] == [0, 1]
        (cells,) = page.evaluate(drawn, "scenario_agent")
        assert cells["text"] == [["0.15", "0.20"], ["-0.05", "0.80"]]
        bands = page.evaluate(drawn, "score_bands")
        assert [round(sum(trace["x"][agent] for trace in bands), 9) for agent in (0, 1)] == [1, 1]
        assert page.evaluate(drawn, "below_do_nothing")[0]["x"] == [0.5, 0]
        told = page.evaluate(drawn, "key_facts_uplift")[0]
        assert -3 not in told["y"], "floored, and what an incident wiped out is 0"
        dots = sorted([x, round(y, 9)] for x, y in zip(told["x"], told["y"], strict=True))
        assert dots == [[0, -1], [0.5, 0.2], [0.75, 0.75], [1, 0], [1, 0.9], [1, 0.9]]
        page.get_by_label("contact cost C").check()
        page.wait_for_function("() => document.querySelector('#figure-cost_score').textContent.includes('mean contact cost C')")
        assert page.evaluate(drawn, "key_facts_uplift")[1]["y"][0] == -1


def test_a_figure_says_what_a_point_is_when_it_is_pointed_at(browser: Browser, file: Path) -> None:
    with Watched(browser, file) as page:
        draw_all(page)
        page.locator("#figure-score_by_level .points path").first.hover(force=True)
        page.locator("#figure-score_by_level .hovertext", has_text="first at L0: 0.850 (none from one), 1 tasks").wait_for()
        assert page.locator(".modebar").count() == 0


def test_without_the_library_each_figure_says_how_it_would_be_drawn(
    browser: Browser, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "plain.html"
    without_plotly(monkeypatch)
    file.write_text(page_of(folder), encoding="utf-8")
    with Watched(browser, file) as page:
        for figure in page.locator("#plots > figure").all():
            assert figure.locator("p").inner_text() == 'Not drawn: pip install "pytest-fdegym[report]" draws it.'
            figure.locator("summary").click()
            figure.locator("tbody tr").first.wait_for()
        page.locator("button.open:not([aria-expanded])").first.click()
        assert page.locator("dialog tbody tr", has_text="delivered").inner_text() == "delivered\t0.9"


def test_downloads_are_what_the_command_writes(browser: Browser, folder: Path, file: Path) -> None:
    report = make_report([run.record for run in runs_in([folder])], made_at=MADE)
    with Watched(browser, file) as page:
        with page.expect_download() as saved:
            page.get_by_role("button", name="All numbers as JSON").click()
        assert json.loads(saved.value.path().read_text()) == json.loads(report.model_dump_json())
        with page.expect_download() as saved:
            page.get_by_role("button", name="Runs as CSV").click()
        assert _numbers(saved.value.path().read_text("utf-8")) == _numbers(runs_csv(report))


def _numbers(text: str) -> list[list[str | float]]:
    """Cells, of which numbers are compared as numbers: 1.0 is 1."""
    return [
        [float(cell) if cell.replace(".", "").replace("-", "").isdigit() else cell for cell in line.split(",")]
        for line in text.splitlines()
    ]


def test_a_name_that_plotly_would_take_for_markup_is_shown_as_it_is(browser: Browser, tmp_path: Path) -> None:
    name = "<b>&lt;b<br>x"
    file = tmp_path / "markup.html"
    file.write_text(page_of(store(tmp_path / "store", [graded(agent=AgentIdentity(name=name))])), encoding="utf-8")
    with Watched(browser, file) as page:
        for figure in ("score_by_level", "score_bands", "below_do_nothing"):
            tick = page.locator(f"#figure-{figure} .ytick text")
            tick.scroll_into_view_if_needed()
            assert tick.text_content() == name


def test_what_others_wrote_is_shown_and_never_run(browser: Browser, hostile: Path, tmp_path: Path) -> None:  # noqa: F811  (the fixture)
    file = tmp_path / "hostile.html"
    file.write_text(page_of(hostile), encoding="utf-8")
    with Watched(browser, file) as page:
        draw_all(page)
        page.locator("button.open").click()
        page.locator("dialog[open]").wait_for()
        assert page.title() == "Deliveries: report of pytest-fdegym"
        visible = HOSTILE.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\u202e", "\\u202e").replace("\x07", "\\u0007")
        assert page.locator("dialog .said").first.text_content() == visible
        assert page.locator("dialog .diff .added").text_content() == f"+{visible}"
        assert page.locator("img, svg a, svg b").count() == 0
