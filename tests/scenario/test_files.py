"""The folder itself: site, overlays, briefs, and nothing that cannot be laid down."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.scenario.mistakes import problems_after, problems_of


def test_a_site_is_needed(tiny: Path) -> None:
    (tiny / "site").rename(tiny / "sight")
    assert problems_of(tiny) == ["tiny_post/site: is missing; it holds what the customer hands over"]


def test_an_overlay_of_no_variant(tiny: Path) -> None:
    (tiny / "site.v3").mkdir()
    (tiny / "site.v2").write_text("")
    assert problems_of(tiny) == [
        "tiny_post/site.v2: is not a folder",
        "tiny_post/site.v3: 'v3' is not a variant of scenario.yaml. Known: v1, v2.",
    ]


def test_links_and_special_files(tiny: Path) -> None:
    (tiny / "site/docs/hosts").symlink_to("/etc/hosts")
    (tiny / "solutions/reference/all").symlink_to(tiny)
    os.mkfifo(tiny / "site/docs/pipe")
    assert problems_of(tiny) == [
        f"tiny_post/{name}: is a link or a special file; only files and folders can be laid down"
        for name in ("site/docs/hosts", "site/docs/pipe", "solutions/reference/all")
    ]


def test_a_template_beside_the_file_that_it_would_become(tiny: Path) -> None:
    (tiny / "site/docs/post.md").write_text("")
    assert problems_of(tiny) == ["tiny_post/site/docs/post.md.j2: post.md lies beside it; both would be laid down under that name"]


def test_a_template_that_is_no_text(tiny: Path) -> None:
    (tiny / "site/docs/post.md.j2").write_bytes(b"\xff\xfe")
    assert problems_of(tiny) == ["tiny_post/site/docs/post.md.j2: is not UTF-8 text, which a template has to be"]


def test_bytecode_is_looked_at_by_nobody(tiny: Path) -> None:
    cache = tiny / "site/system/__pycache__"
    cache.mkdir()
    (cache / "shipping.j2").write_bytes(b"\xff{{")
    assert problems_of(tiny) == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("L4.md", "is not a brief; L0.md, L1.md, L2.md, L3.md and L3.<variant>.md are accepted"),
        ("L3.txt", "is not a brief; L0.md, L1.md, L2.md, L3.md and L3.<variant>.md are accepted"),
        ("L3.v3.md", "'v3' is not a variant of scenario.yaml. Known: v1, v2."),
        ("L0.v2.md", "L0 to L2 exist for v1 only; L0.md is accepted"),
        ("L3.v2.md", "is empty"),
    ],
)
def test_a_brief_that_is_none(tiny: Path, name: str, problem: str) -> None:
    (tiny / "briefs" / name).write_text(" \n")
    assert problems_of(tiny) == [f"tiny_post/briefs/{name}: {problem}"]


def test_a_brief_that_is_no_text(tiny: Path) -> None:
    (tiny / "briefs/L2.md").write_bytes(b"\xff")
    assert problems_of(tiny) == ["tiny_post/briefs/L2.md: is not UTF-8 text"]


def test_l3_is_needed_for_every_variant_and_the_others_for_none(tiny: Path) -> None:
    for name in ("L0.md", "L1.md", "L2.md"):
        (tiny / "briefs" / name).unlink()
    (tiny / "briefs/L3.md").rename(tiny / "briefs/L3.v2.md")
    assert problems_after(tiny) == ["tiny_post/briefs/L3.md: is missing; L3 exists for every variant, and v1 would be without"]
    (tiny / "briefs/L3.v1.md").write_text("Do it.\n")
    assert problems_of(tiny) == []
