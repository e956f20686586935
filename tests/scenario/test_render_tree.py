"""One folder laid over another."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.scenario.fill import render_tree


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "overlay").mkdir()
    return tmp_path / "overlay"


def tree(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_templates_are_filled_in_and_everything_else_is_copied(source: Path, tmp_path: Path) -> None:
    (source / "docs/empty").mkdir(parents=True)
    (source / "docs/a.md.j2").write_text("{{ allow }} h for {% for rig in world.rigs %}{{ rig }};{% endfor %}\n")
    (source / "docs/b.md").write_text("{{ allow }}\r\n")
    (source / "picture.png").write_bytes(bytes(range(256)))
    target = tmp_path / "workspace"
    render_tree(source, target, {"allow": 10}, {"rigs": ["A", "B"]})
    assert tree(target) == {"docs/a.md": b"10 h for A;B;\n", "docs/b.md": b"{{ allow }}\r\n", "picture.png": bytes(range(256))}
    assert (target / "docs/empty").is_dir()


def test_white_space_is_jinja_s_own_affair(source: Path, tmp_path: Path) -> None:
    (source / "log.md.j2").write_text("| rig |\n{% for rig in world.rigs -%}\n| {{ rig }} |\n{% endfor %}\nend")
    render_tree(source, tmp_path / "workspace", {}, {"rigs": ["A", "B"]})
    assert tree(tmp_path / "workspace") == {"log.md": b"| rig |\n| A |\n| B |\n\nend"}


def test_it_lies_over_what_is_there(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "workspace"
    (target / "system").mkdir(parents=True)
    (target / "system/old.py").write_text("old")
    (target / "system/new.py").write_text("a much longer old text")
    (source / "system").mkdir()
    (source / "system/new.py").write_text("new")
    render_tree(source, target, {}, {})
    assert tree(target) == {"system/old.py": b"old", "system/new.py": b"new"}


def test_the_manifest_stays_behind_and_only_the_one_at_the_top(source: Path, tmp_path: Path) -> None:
    (source / "system/__pycache__").mkdir(parents=True)
    (source / "system/__pycache__/a.cpython-311.pyc").write_bytes(b"")
    (source / "system/manifest.yaml").write_text("delivered")
    (source / "manifest.yaml").write_text("what: x")
    (source / "make.py").write_text("")
    render_tree(source, tmp_path / "one", {}, {})
    render_tree(source, tmp_path / "two", {}, {}, skip=("manifest.yaml", "make.py"))
    assert list(tree(tmp_path / "one")) == ["make.py", "system/manifest.yaml"]
    assert list(tree(tmp_path / "two")) == ["system/manifest.yaml"]
    assert not (tmp_path / "two/system/__pycache__").exists()


def test_execute_permission_is_kept(source: Path, tmp_path: Path) -> None:
    (source / "run.sh").write_text("")
    (source / "run.sh").chmod(0o700)
    (source / "data.csv").write_text("")
    (source / "data.csv").chmod(0o600)
    render_tree(source, tmp_path / "workspace", {}, {})
    assert oct((tmp_path / "workspace/run.sh").stat().st_mode & 0o777) == "0o755"
    assert oct((tmp_path / "workspace/data.csv").stat().st_mode & 0o777) == "0o644"


@pytest.mark.parametrize("link_to", ["/etc/hosts", "/etc", "nowhere"])
def test_a_link_is_refused(source: Path, tmp_path: Path, link_to: str) -> None:
    (source / "link").symlink_to(link_to)
    with pytest.raises(ScenarioError) as caught:
        render_tree(source, tmp_path / "workspace", {}, {})
    assert str(caught.value) == "overlay/link: is a link or a special file; only files and folders can be laid down"


@pytest.mark.parametrize("linked", ["system", "system/new.py"])
def test_nothing_is_written_through_a_link_of_the_workspace(source: Path, tmp_path: Path, linked: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "new.py").write_text("safe")
    (source / "system").mkdir()
    (source / "system/new.py").write_text("new")
    link = tmp_path / "workspace" / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(outside if linked == "system" else outside / "new.py")
    with pytest.raises(ScenarioError) as caught:
        render_tree(source, tmp_path / "workspace", {}, {})
    assert str(caught.value) == f"{link} is a link; nothing is written through it"
    assert (outside / "new.py").read_text() == "safe"


def test_a_file_over_a_folder(source: Path, tmp_path: Path) -> None:
    (tmp_path / "workspace/docs").mkdir(parents=True)
    (source / "docs").write_text("")
    with pytest.raises(ScenarioError) as caught:
        render_tree(source, tmp_path / "workspace", {}, {})
    assert str(caught.value) == "overlay/docs: a file cannot be laid over the folder docs"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"a\n{{ world.rig }}\n",
            "overlay/a.md.j2:2: 'world.rig' is not defined: neither prepare nor build planted it. Did you mean 'rigs'? Known: rigs.",
        ),
        (b"a\n{% if %}\n", "overlay/a.md.j2:2: the template cannot be read: Expected an expression, got 'end of statement block'"),
        (b"\xff{{ a }}", "overlay/a.md.j2: is not UTF-8 text, which a template has to be"),
        (
            b"\n\n{{ world.rigs + 1 }}",
            'overlay/a.md.j2:3: the template cannot be filled in: TypeError: can only concatenate list (not "int") to list',
        ),
    ],
)
def test_a_template_that_cannot_be_filled_in(source: Path, tmp_path: Path, content: bytes, message: str) -> None:
    (source / "a.md.j2").write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        render_tree(source, tmp_path / "workspace", {}, {"rigs": []})
    assert str(caught.value) == message


@given(content=st.binary(max_size=200))
def test_plain_files_arrive_byte_by_byte(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("plain")
    (folder / "from").mkdir()
    (folder / "from/file").write_bytes(content)
    render_tree(folder / "from", folder / "to", {}, {})
    assert tree(folder / "to") == {"file": content}
