"""What the documentation shows is what happens."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from docs.pages import check_links, pages, play_page
from equipage.project.registry import all_codes, built_in_kinds
from lab import REPOSITORY, environment, settle

sys.path.insert(0, str(REPOSITORY / "docs"))


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
    """People read them there; `make pages` renews them."""
    kept = {
        path.relative_to(REPOSITORY / "docs")
        for folder in ("kinds", "codes")
        for path in (REPOSITORY / "docs/reference" / folder).glob("*.md")
    }
    now = {path.relative_to(made) for path in made.rglob("*.md")}
    assert kept == {path for path in now if path.parent.name in ("kinds", "codes")}
    stale = [
        path.as_posix()
        for path in now
        if (made / path).read_text() != (REPOSITORY / "docs" / path).read_text()
    ]
    assert stale == [], "run `make pages`"


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
