"""What a loaded scenario tells, and the cheap first look that collection may take instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fdegym.errors import UsageError
from pytest_fdegym.scenario.loader import Scenario, load, peek
from tests.support.tiny_scenario import edit, write_tiny_scenario


def test_identity_people_and_solutions(scenario: Scenario) -> None:
    assert (scenario.id, scenario.variants, scenario.sponsor.name) == ("tiny_post", ("v1", "v2"), "Ada Moss")
    assert {name: (each.kind, each.fact) for name, each in scenario.solutions.items()} == {
        "reference": ("reference", None),
        "literal": ("literal", None),
        "shortcuts/all_letters": ("shortcut", None),
        "shortcuts/hard_coded": ("shortcut", None),
        "bypasses/no_approval": ("bypass", None),
        "bypasses/edits_orders": ("bypass", None),
        "ablations/F_LIMIT/guess_250": ("ablation", "F_LIMIT"),
    }
    assert "shortcuts/hard_coded" not in scenario.solutions_in("v1")
    assert "shortcuts/hard_coded" in scenario.solutions_in("v2")
    assert scenario.warnings == ()


def test_variants_come_in_the_order_of_their_numbers(tiny: Path) -> None:
    edit(tiny, "scenario.yaml", "  v2:\n", "  v10: {title: Late}\n  v2:\n")
    assert load(tiny).variants == ("v1", "v2", "v10")
    assert [variant.id for variant in peek(tiny).variants] == ["v1", "v2", "v10"]


def test_levels_and_which_brief_is_whose(tiny: Path) -> None:
    (tiny / "briefs/L3.v2.md").write_text("Heavier letters, please.\n")
    scenario = load(tiny)
    assert scenario.levels("v1") == ("L0", "L1", "L2", "L3")
    assert scenario.levels("v2") == ("L3",)
    assert {key: brief.file.name for key, brief in scenario.briefs.items()} == {
        ("L0", "v1"): "L0.md",
        ("L1", "v1"): "L1.md",
        ("L2", "v1"): "L2.md",
        ("L3", "v1"): "L3.md",
        ("L3", "v2"): "L3.v2.md",
    }


def test_names_that_do_not_exist(scenario: Scenario) -> None:
    with pytest.raises(UsageError) as variant:
        scenario.levels("v3")
    with pytest.raises(UsageError) as solution:
        scenario.solution("shortcuts/all_leters")
    assert str(variant.value) == "the scenario tiny_post has no variant 'v3'. Known: v1, v2."
    assert str(solution.value) == (
        "the scenario tiny_post has no solution 'shortcuts/all_leters'. Did you mean 'shortcuts/all_letters'? Known: "
        "ablations/F_LIMIT/guess_250, bypasses/edits_orders, bypasses/no_approval, literal, reference, shortcuts/all_letters, "
        "shortcuts/hard_coded."
    )


def test_site_folders_in_the_order_in_which_they_are_laid_down(tiny: Path) -> None:
    (tiny / "site.v2").mkdir()
    scenario = load(tiny)
    assert scenario.site_folders("v1") == (tiny / "site",)
    assert scenario.site_folders("v2") == (tiny / "site", tiny / "site.v2")


def test_the_first_look_tells_what_collection_needs(tiny: Path) -> None:
    outline = peek(tiny)
    assert outline == peek(tiny / "scenario.yaml")
    assert (outline.folder, outline.id, outline.sector, outline.title, outline.problems) == (
        tiny,
        "tiny_post",
        "Retail",
        "Letters and parcels",
        (),
    )
    assert [(each.id, each.title, each.line, each.levels) for each in outline.variants] == [
        ("v1", "As told", 29, ("L0", "L1", "L2", "L3")),
        ("v2", "Heavier letters", 30, ("L3",)),
    ]


def test_the_first_look_reads_nothing_but_scenario_yaml(tiny: Path) -> None:
    before = peek(tiny)
    (tiny / "people.yaml").unlink()
    (tiny / "world.py").write_text("def (")
    (tiny / "briefs/L0.md").write_bytes(b"\xff{{ nothing }}")
    assert peek(tiny) == before


@pytest.mark.parametrize("name", ["scenario.yaml", "briefs/L3.md"])
def test_the_first_look_at_something_broken_says_what_load_says(tiny: Path, name: str) -> None:
    (tiny / name).unlink()
    outline = peek(tiny)
    assert (outline.id, outline.variants) == ("tiny_post", ())
    expected = {
        "scenario.yaml": "tiny_post/scenario.yaml: is missing",
        "briefs/L3.md": "tiny_post/briefs/L3.md: is missing; L3 exists for every variant, and v1, v2 would be without",
    }
    assert [str(problem) for problem in outline.problems] == [expected[name]]


class TestDigest:
    def test_it_is_the_same_for_the_same_content_elsewhere(self, tiny: Path, tmp_path: Path) -> None:
        other = write_tiny_scenario(tmp_path / "elsewhere")
        assert load(other).digest("v1") == load(tiny).digest("v1")

    def test_variants_differ(self, scenario: Scenario) -> None:
        assert scenario.digest("v1") != scenario.digest("v2")

    @pytest.mark.parametrize(
        "name", ["world.py", "people.yaml", "briefs/L2.md", "site/system/labels.py", "solutions/literal/system/labels.py", "new.py"]
    )
    def test_whatever_can_change_the_outcome_changes_it(self, tiny: Path, scenario: Scenario, name: str) -> None:
        before = scenario.digest("v1")
        file = tiny / name
        file.write_text((file.read_text() if file.exists() else "") + "\n")
        assert scenario.digest("v1") != before
        assert load(tiny).digest("v1") != before

    def test_a_file_that_moves_changes_it(self, tiny: Path, scenario: Scenario) -> None:
        before = scenario.digest("v1")
        (tiny / "site/docs/post.md.j2").rename(tiny / "site/post.md.j2")
        assert scenario.digest("v1") != before

    @pytest.mark.parametrize("name", ["README.md", "__pycache__/world.cpython-311.pyc", "site/system/old.pyc"])
    def test_what_cannot_change_the_outcome_does_not_change_it(self, tiny: Path, scenario: Scenario, name: str) -> None:
        before = scenario.digest("v1")
        (tiny / name).parent.mkdir(exist_ok=True)
        (tiny / name).write_text("something else")
        assert scenario.digest("v1") == before

    def test_a_readme_that_the_agent_reads_counts(self, tiny: Path, scenario: Scenario) -> None:
        before = scenario.digest("v1")
        (tiny / "site/README.md").write_text("# Fernhill")
        assert scenario.digest("v1") != before
