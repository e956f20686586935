"""solutions/: manifests against the rest of the scenario, and how a solution is laid over a workspace."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.scenario.fill import parameters, render_tree
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.solutions import chain, lay
from tests.scenario.mistakes import problems_after, problems_of
from tests.support.tiny_scenario import edit

REFERENCE = "solutions/reference/manifest.yaml"
ALL_LETTERS = "solutions/shortcuts/all_letters/manifest.yaml"
ABLATION = "solutions/ablations/F_LIMIT/guess_250/manifest.yaml"
WHAT = "what: Sends everything as a letter.\n"


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (
            "based_on: referense\n",
            "2: based_on: 'referense' is not a solution. Did you mean 'reference'? Known: ablations/F_LIMIT/guess_250, "
            "bypasses/edits_orders, bypasses/no_approval, literal, reference, shortcuts/all_letters, shortcuts/hard_coded.",
        ),
        (
            "based_on: shortcuts/hard_coded\n",
            "2: based_on: the solution 'shortcuts/hard_coded' does not exist in v1, where it is referred to",
        ),
        ("right_in: [v1, v5]\n", "2: right_in: 'v5' is not a variant of scenario.yaml. Known: v1, v2."),
        ("only_in: [v5]\n", "2: only_in: 'v5' is not a variant of scenario.yaml. Known: v1, v2."),
        (
            "granted_facts: [F_LIMITS]\n",
            "2: granted_facts: 'F_LIMITS' is not a fact of scenario.yaml. Did you mean 'F_LIMIT'? Known: F_LIMIT.",
        ),
        ("expect: [1, 0.5]\n", "2: expect: the range is empty: 1.0 is above 0.5"),
        ("script: make.py\n", "2: script: 'make.py' is not a file of the solution's folder"),
    ],
)
def test_a_mistake_in_a_manifest(tiny: Path, lines: str, problem: str) -> None:
    assert problems_after(tiny, (ALL_LETTERS, WHAT, WHAT + lines)) == [f"tiny_post/{ALL_LETTERS}:{problem}"]


@pytest.mark.parametrize(
    ("granted", "problem"),
    [
        ("mos/approval", "'mos' is not a person of people.yaml. Did you mean 'moss'? Known: moss, pike."),
        ("moss/aproval", "'aproval' is not a topic of moss. Did you mean 'approval'? Known: approval."),
        ("pike/limit", "the topic 'pike/limit' gives no sign-off"),
    ],
)
def test_a_sign_off_that_nobody_gives(tiny: Path, granted: str, problem: str) -> None:
    found = problems_after(tiny, (ALL_LETTERS, "moss/approval", granted))
    assert found == [f"tiny_post/{ALL_LETTERS}:2: granted_signoffs[0].topic: {problem}"]


def of_all_letters(found: list[str]) -> list[str]:
    return [line.removeprefix(f"tiny_post/{ALL_LETTERS}:") for line in found if ALL_LETTERS in line]


def test_a_sign_off_exists_in_every_variant_in_which_it_is_granted(tiny: Path) -> None:
    edit(tiny, "people.yaml", "      approval:\n", "      approval:\n        only_in: [v1]\n")
    assert of_all_letters(problems_of(tiny)) == [
        "2: granted_signoffs[0].topic: the topic 'moss/approval' does not exist in v2, where it is granted; "
        "write {topic: moss/approval, not_in: [v2]}"
    ]
    edit(tiny, ALL_LETTERS, "moss/approval", "moss/approval, not_in: [v2]")
    assert of_all_letters(problems_of(tiny)) == []
    found = problems_after(tiny, (ALL_LETTERS, WHAT, f"{WHAT}only_in: [v2]\n"))
    assert of_all_letters(found) == ["3: granted_signoffs[0]: is granted in none of the variants that have this solution (v2)"]


def test_a_missing_sign_off_that_somebody_else_gives(tiny: Path) -> None:
    edit(tiny, "people.yaml", "facts: [F_LIMIT]\n", "facts: [F_LIMIT]\n        signoff: {id: S_SHIP, reference: SHIP-8}\n")
    edit(tiny, "people.yaml", "      approval:\n", "      approval:\n        not_in: [v2]\n")
    assert of_all_letters(problems_of(tiny)) == [
        "2: granted_signoffs[0].topic: the topic 'moss/approval' does not exist in v2, where it is granted; there 'pike/limit' gives it; "
        "write {topic: moss/approval, not_in: [v2]}"
    ]


def test_a_fact_exists_in_every_variant_in_which_it_is_granted(tiny: Path) -> None:
    """A fact that a variant was robbed of by mistake would otherwise be granted there to nobody, unseen."""
    edit(tiny, "scenario.yaml", "key: true}", "key: true, only_in: [v1]}")
    edit(tiny, ALL_LETTERS, WHAT, f"{WHAT}granted_facts: [F_LIMIT]\n")
    assert of_all_letters(problems_of(tiny)) == [
        "2: granted_facts: the fact 'F_LIMIT' does not exist in v2, where it is granted; write {facts: [F_LIMIT], not_in: [v2]}"
    ]
    edit(tiny, ALL_LETTERS, "[F_LIMIT]", "[{facts: [F_LIMIT], not_in: [v2]}]")
    assert of_all_letters(problems_of(tiny)) == []


@pytest.mark.parametrize(
    ("granted", "problem"),
    [
        (
            "{facts: [F_LIMITS], only_in: [v1]}",
            "granted_facts[0].facts: 'F_LIMITS' is not a fact of scenario.yaml. Did you mean 'F_LIMIT'? Known: F_LIMIT.",
        ),
        ("{facts: [F_LIMIT], only_in: [v3]}", "granted_facts[0].only_in: 'v3' is not a variant of scenario.yaml. Known: v1, v2."),
        (
            "{fact: [F_LIMIT], only_in: [v1]}",
            "granted_facts[0].fact: unknown key. Did you mean 'facts'? Accepted: facts, not_in, only_in.",
        ),
        ("7", "granted_facts: 7 (a number) is not accepted; expected: text or a mapping"),
    ],
)
def test_a_mistake_in_granted_facts(tiny: Path, granted: str, problem: str) -> None:
    found = problems_after(tiny, (ALL_LETTERS, WHAT, f"{WHAT}granted_facts: [{granted}]\n"))
    assert f"2: {problem}" in of_all_letters(found)


def test_what_is_granted_in_a_variant(tiny: Path) -> None:
    edit(tiny, ALL_LETTERS, "{topic: moss/approval}", "{topic: moss/approval, only_in: [v2]}")
    edit(tiny, ALL_LETTERS, WHAT, f"{WHAT}granted_facts: [{{facts: [F_LIMIT], not_in: [v2]}}]\n")
    manifest = load(tiny).solution("shortcuts/all_letters").manifest
    assert (manifest.signoffs_granted_in("v1"), manifest.facts_granted_in("v1")) == ((), frozenset({"F_LIMIT"}))
    assert (manifest.signoffs_granted_in("v2"), manifest.facts_granted_in("v2")) == (("moss/approval",), frozenset())


def test_solutions_based_on_each_other(tiny: Path) -> None:
    found = problems_after(
        tiny, (REFERENCE, "granted_facts", f"based_on: {ABLATION.removeprefix('solutions/').removesuffix('/manifest.yaml')}\ngranted_facts")
    )
    assert found == [
        f"tiny_post/{ABLATION}:2: based_on: the solutions are based on each other: "
        "ablations/F_LIMIT/guess_250 -> reference -> ablations/F_LIMIT/guess_250",
        f"tiny_post/{REFERENCE}:3: based_on: the solutions are based on each other: reference -> ablations/F_LIMIT/guess_250 -> reference",
    ]


def test_folders_that_are_no_solutions(tiny: Path) -> None:
    solutions = tiny / "solutions"
    (solutions / "shortcut").mkdir()
    (solutions / "shortcuts/notes.txt").write_text("")
    (solutions / "bypasses/half_done").mkdir()
    (solutions / "ablations/F_LIMITS/none").mkdir(parents=True)
    (solutions / "ablations/F_LIMITS/none/manifest.yaml").write_text("what: Nothing.\n")
    assert problems_of(tiny) == [
        "tiny_post/solutions/ablations/F_LIMITS/none/manifest.yaml:1: 'F_LIMITS' is not a fact of scenario.yaml. Did you "
        "mean 'F_LIMIT'? Known: F_LIMIT.",
        "tiny_post/solutions/bypasses/half_done/manifest.yaml: is missing; every solution says there what it is",
        "tiny_post/solutions/shortcut: 'shortcut' is not a kind of solution. Did you mean 'shortcuts'? "
        "Accepted: ablations, alternates, bypasses, literal, reference, shortcuts.",
        "tiny_post/solutions/shortcuts/notes.txt: is not a folder; shortcuts/NAME/ is expected",
    ]


def test_reference_and_literal_exist_in_every_variant(tiny: Path) -> None:
    shutil.rmtree(tiny / "solutions/literal")
    found = problems_after(tiny, (REFERENCE, "granted_facts", "not_in: [v2]\ngranted_facts"))
    assert [line for line in found if "based_on" not in line] == [
        "tiny_post/solutions/literal: is missing; every scenario has a reference and a literal solution",
        f"tiny_post/{REFERENCE}:1: does not exist in v2; the reference solution exists in every variant",
    ]


def test_an_ablation_of_a_fact_that_is_not_key(tiny: Path) -> None:
    assert problems_after(tiny, ("scenario.yaml", ", key: true", "")) == [
        f"tiny_post/{ABLATION}:1: the fact 'F_LIMIT' is not a key fact, so it has no ablations"
    ]


def test_a_key_fact_without_ablation_is_a_warning(tiny: Path) -> None:
    shutil.rmtree(tiny / "solutions/ablations")
    shutil.rmtree(tiny / "solutions/shortcuts/hard_coded")
    assert [str(warning) for warning in load(tiny).warnings] == [
        "tiny_post/scenario.yaml:19: facts.F_LIMIT: this key fact has no ablation (solutions/ablations/F_LIMIT/FILL)"
    ]


def laid(tiny: Path, name: str, workspace: Path, variant: str = "v1") -> tuple[dict[str, str], tuple[Path, ...]]:
    """The files of a workspace with the solution laid over it, and the scripts to be run."""
    scenario = load(tiny)
    params = parameters(scenario, variant)
    public = {"orders": 60, "parcels": 40, "overpaid": 25}
    for site in scenario.site_folders(variant):
        render_tree(site, workspace, params, public)
    scripts = lay(scenario, scenario.solution(name), workspace, params, public)
    return {file.relative_to(workspace).as_posix(): file.read_text() for file in sorted(workspace.rglob("*")) if file.is_file()}, scripts


def test_a_solution_is_laid_over_what_it_is_based_on(tiny: Path, tmp_path: Path) -> None:
    files, scripts = laid(tiny, "shortcuts/hard_coded", tmp_path / "workspace", "v2")
    assert list(files) == ["system/labels.py", "system/limit.json", "system/shipping.py"]  # docs/ were removed, no manifest came along
    assert files["system/limit.json"] == "500\n"
    assert "limit.json" in files["system/shipping.py"]
    assert scripts == ()
    scenario = load(tiny)
    assert [each.name for each in chain(scenario.solutions, scenario.solution("shortcuts/hard_coded"))] == [
        "reference",
        "ablations/F_LIMIT/guess_250",
        "shortcuts/hard_coded",
    ]


def test_templates_get_the_variant_s_values(tiny: Path, tmp_path: Path) -> None:
    files, _ = laid(tiny, "reference", tmp_path / "workspace", "v2")
    assert "LETTER_LIMIT_GRAMS = 700\n" in files["system/shipping.py"]


def test_a_script_is_handed_to_the_caller_and_stays_behind(tiny: Path, tmp_path: Path) -> None:
    edit(tiny, ALL_LETTERS, WHAT, f"{WHAT}script: tools/make.py\nbased_on: literal\n")
    (tiny / "solutions/shortcuts/all_letters/tools").mkdir()
    script = tiny / "solutions/shortcuts/all_letters/tools/make.py"
    script.write_text("print('made')\n")
    files, scripts = laid(tiny, "shortcuts/all_letters", tmp_path / "workspace")
    assert scripts == (script,)
    assert "tools/make.py" not in files
    script.write_text("print('made'\n")
    assert problems_of(tiny) == ["tiny_post/solutions/shortcuts/all_letters/tools/make.py:1: is not valid Python: '(' was never closed"]


def test_what_is_not_there_cannot_be_removed(tiny: Path, tmp_path: Path) -> None:
    edit(tiny, ALL_LETTERS, WHAT, f"{WHAT}remove:\n  - system/labels.py\n  - system/label.py\n")
    with pytest.raises(ScenarioError) as caught:
        laid(tiny, "shortcuts/all_letters", tmp_path / "workspace")
    assert str(caught.value) == f"tiny_post/{ALL_LETTERS}:4: remove: 'system/label.py' is not in the workspace, so it cannot be removed"
    assert not (tmp_path / "workspace/system/labels.py").exists()
