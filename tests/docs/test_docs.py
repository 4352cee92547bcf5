"""What the documentation shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs.pages import check_links, pages, play_page
from equipage.project.registry import all_codes, built_in_kinds
from lab import REPOSITORY, environment, matching, settle

DOCS = REPOSITORY / "docs"
sys.path.insert(0, str(DOCS))


@pytest.mark.parametrize(
    "path", list(pages()), ids=lambda path: path.relative_to(REPOSITORY).as_posix()
)
def test_page(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if "$ pip install ./examples/plugin" in path.read_text(encoding="utf-8"):
        request.getfixturevalue("playbook_installed")
    settle(monkeypatch, tmp_path, environment())
    play_page(path, tmp_path)


@pytest.mark.parametrize(
    "path", list(pages()), ids=lambda path: path.relative_to(REPOSITORY).as_posix()
)
def test_links_lead_somewhere(path: Path) -> None:
    check_links(path)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generated pages. Making them runs every example in them."""
    import build

    target: Path = tmp_path_factory.mktemp("pages")
    build.make_pages(target)
    return target


def test_every_kind_and_every_code_has_a_page(made: Path) -> None:
    kinds = {path.stem for path in (made / "reference/kinds").glob("*.md")}
    codes = {path.stem for path in (made / "reference/codes").glob("*.md")}
    assert kinds == {*built_in_kinds(), "index"}
    assert codes == {*all_codes(), "index"}


def test_the_pages_in_the_repository_are_those_that_are_made(made: Path) -> None:
    """People read them there; `make pages` renews them. The others are made for the site."""
    import build

    for folder in build.KEPT:
        here = {path.name: path.read_text() for path in matching(made / folder, "*.md")}
        kept = {path.name: path.read_text() for path in matching(DOCS / folder, "*.md")}
        assert kept.keys() == here.keys()
        assert [name for name in kept if kept[name] != here[name]] == [], "run `make pages`"
        assert f"({Path(folder).name}/)" in (DOCS / "reference/index.md").read_text()


def test_the_repository_has_few_pages() -> None:
    """What is made from the code is read on the site, or on one page per client and family."""
    listed = subprocess.check_output(["git", "ls-files", "docs/**.md", "docs/*.md"], cwd=REPOSITORY)
    assert len(set(listed.split())) <= 120


def test_a_family_has_every_code_and_a_client_every_kind(made: Path) -> None:
    sections = {
        folder: [
            line.removeprefix("## ")
            for path in matching(made / "reference" / folder, "*.md")
            for line in path.read_text().splitlines()
            if line.startswith("## ")
        ]
        for folder in ("findings", "clients")
    }
    # A heading in an example is a section for this test, so there may be more.
    assert set(sections["findings"]) >= all_codes().keys()
    assert set(sections["clients"]) >= {*built_in_kinds()}


def test_links_between_generated_pages_lead_somewhere(made: Path) -> None:
    for path in made.rglob("*.md"):
        text = re.sub(r"^(`{3,}).*?^\1", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)\)", text):
            # Pages that people write are not among those that are made.
            page = (path.parent / target).resolve()
            written = REPOSITORY / "docs" / os.path.relpath(page, made.resolve())
            assert page.exists() or written.exists(), (path.name, target)


def test_every_field_says_what_it_means() -> None:
    from generate.kinds import structs_of

    from equipage.loading.editor_schema import meaning_of
    from equipage.loading.type_words import type_info
    from equipage.project.registry import format_named

    silent = []
    for name in built_in_kinds():
        kind = format_named(name)
        options: Any = type_info(kind.reading.options)
        for struct in (*structs_of(kind), options):
            fields = {field.name for field in struct.fields}
            silent += [
                (name, struct.cls.__name__, field)
                for field in fields
                if not meaning_of(struct.cls, field)
            ]
    assert silent == []


def test_the_pictures_show_what_the_command_prints() -> None:
    import picture

    for name, drawn in picture.pictures().items():
        assert (REPOSITORY / "docs/assets" / name).read_text(encoding="utf-8") == drawn, (
            "run docs/picture.py"
        )


def test_the_demo_says_first_what_the_readme_says_first() -> None:
    """And shows the agent of its picture: what is wrong with it, what it may do, and the gate."""
    import picture

    done = subprocess.run(
        [sys.executable, "examples/demo.py"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    first = (REPOSITORY / "README.md").read_text("utf-8").splitlines()[2]
    assert done.stdout.startswith(f"{first}\n")
    assert (REPOSITORY / "examples/demo/written" / picture.FILE).read_text("utf-8") == picture.AGENT
    shown = ("is not a field of a Claude Code agent", "yes*   yes*    yes*", "permission widened")
    assert [each in done.stdout for each in shown] == [True, True, True]
