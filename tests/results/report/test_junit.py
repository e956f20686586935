"""JUnit XML from a store: suites by scenario, what failed and what is void, and only what XML can hold."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from pytest_fdegym.results.record import Record, Scores
from pytest_fdegym.results.report.junit import junit
from tests.results.report.support import HOSTILE, several_agents
from tests.support.records import graded

pytest.importorskip("junitparser")


def suites(records: list[Record]) -> list[ET.Element]:
    return list(ET.fromstring(junit(records, _resolved, "0.8 without incident")).iter("testsuite"))


def _resolved(scores: Scores) -> bool:
    return scores.resolved


def test_a_suite_for_each_scenario_with_its_means() -> None:
    its = [record for record in several_agents() if record.agent.name == "first"]
    oil, tolls = suites(its)
    assert (oil.attrib["name"], oil.attrib["tests"], oil.attrib["failures"], oil.attrib["errors"]) == ("oil_npt", "4", "2", "0")
    assert (tolls.attrib["name"], tolls.attrib["tests"], tolls.attrib["failures"], tolls.attrib["errors"]) == ("tolls", "2", "1", "1")
    found = {each.attrib["name"]: each.attrib["value"] for each in tolls.findall("properties/property")}
    assert (found["fde.sector"], found["fde.mean_score"], found["fde.void"], found["fde.mean_usd"]) == ("Transport", "-0.05", "1", "")
    (error,) = tolls.iter("error")
    assert (error.attrib["message"], error.text) == ("VOID: the sandbox failed", "the sandbox failed")
    (failure,) = tolls.iter("failure")
    assert failure.attrib["message"] == "score -0.050, asked for 0.8 without incident (tolls.v1 at L3)"


def test_suites_of_several_agents_are_told_apart() -> None:
    assert [each.attrib["name"] for each in suites(several_agents())] == [
        "oil_npt (first)",
        "tolls (first)",
        "oil_npt (second)",
        "tolls (second)",
    ]


def test_what_xml_cannot_hold() -> None:
    (suite,) = suites([graded(uplift=0.1, notes=(HOSTILE, "\x00\ufffe"))])
    (failure,) = suite.iter("failure")
    assert failure.text is not None
    assert HOSTILE.replace("\x07", "#x07") in failure.text
    assert "#x00#xFFFE" in failure.text
