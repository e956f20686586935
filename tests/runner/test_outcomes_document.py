"""docs/outcomes.md and the table in the code are one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fdegym.outcomes import OUTCOMES, main, markdown

DOCUMENT = Path(__file__).parents[2] / "docs" / "outcomes.md"


def test_the_document_says_what_the_table_says() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == markdown(), "run python -m pytest_fdegym.outcomes --write"
    for row in OUTCOMES:
        assert f"| `{row.id}` | {row.what} | {row.lands} | {row.retried} | {row.shown} |" in markdown()


def test_no_row_has_the_name_of_another() -> None:
    assert len({row.id for row in OUTCOMES}) == len(OUTCOMES)


def test_only_what_is_void_is_tried_again() -> None:
    assert {row.lands for row in OUTCOMES if row.retried != "no"} == {"void"}


def test_a_stale_document_is_told_and_written_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "outcomes.md"
    assert main(["--check", str(file)]) == 1
    assert capsys.readouterr().err == f"{file} is missing or stale; run python -m pytest_fdegym.outcomes --write\n"
    assert main(["--write", str(file)]) == 0
    assert main(["--check", str(file)]) == 0
    file.write_text("old")
    assert main(["--check", str(file)]) == 1
