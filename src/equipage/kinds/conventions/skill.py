"""Skills: `SKILL.md`, strict in the seed's own folders, tolerant where other tools keep them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Change, Fact, Remedy, Shown
from equipage.core.path import ROOT, Path
from equipage.core.source import Source
from equipage.files.reading import Files
from equipage.files.roots import entry_in_layer, find_places, unreadable
from equipage.kinds.conventions import codes
from equipage.kinds.conventions.codes import SKILL_CODES
from equipage.kinds.conventions.kind import hide_body, kind_of
from equipage.kinds.conventions.references import names_in
from equipage.kinds.conventions.stages import BODY, keep_text, kept_as_written, look_for_suspicious
from equipage.kinds.conventions.tools import skills as tables
from equipage.kinds.globs import REASONS as GLOB_REASONS
from equipage.kinds.globs import problem_of
from equipage.kinds.headers import HeaderStyle, body_of, is_unquoted, read_header
from equipage.kinds.shared import Table
from equipage.kinds.tables import Convention, Field
from equipage.loading.kind import Elsewhere, Item, Kind, Layering, Presentation, Reading, Together
from equipage.loading.model import Shape
from equipage.loading.session import Session
from equipage.loading.tree import Origin, Origins, Tree, get, graft, move, put, remove
from equipage.syntax.document import Document

# --- layers ------------------------------------------------------------------------------------
# Where the skills of the `.defect` convention lie, and what counts as one there.

SKILLS, FILE = "skills", "SKILL.md"
_PLACE = re.compile(r"/(?P<layer>\.defect|defect)/skills/[^/]+/SKILL\.md\Z")


def layer_by_path(path: str) -> str | None:
    """The layer of a skill by where it lies; None for those of other tools."""
    match = _PLACE.search(path.replace(os.sep, "/"))
    return None if match is None else "project" if match["layer"].startswith(".") else "user"


def layer(path: str, _env: Mapping[str, str]) -> str | None:
    return layer_by_path(path)


def identity(path: str) -> str:
    """A skill is an entry of its `skills` folder: its name is that of the entry, whatever that leads to."""
    return entry_in_layer(path, depth=2)


def above(folder: str) -> Iterator[Elsewhere]:
    """The skills of the project that a folder belongs to."""
    project = find_places(folder, env={}).project
    if project is not None:
        yield Elsewhere(os.path.join(project, SKILLS), "project")


def elsewhere(env: Mapping[str, str]) -> Iterator[Elsewhere]:
    """The user's own skills."""
    user = find_places(env=env).user
    if user is not None:
        yield Elsewhere(os.path.join(user, SKILLS), "user")


def look_into(folder: str) -> tuple[list[tuple[str, str]], list[Fact]]:
    """The names and files of the skills in a folder, in order, and what the folder alone tells."""
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [unreadable(error)]
    files = [(name, os.path.join(folder, name, FILE)) for name in names]
    return [(name, file) for name, file in files if os.path.isfile(file)], []


def beside(folder: str) -> Iterator[tuple[str, Fact]]:
    """What a `skills` folder tells that none of its skills does."""
    if os.path.isdir(
        os.path.dirname(folder)
    ):  # else the layer as a whole is no folder, which its agents tell
        yield from ((folder, fact) for fact in look_into(folder)[1])


# --- model -------------------------------------------------------------------------------------
# What a skill of the `.defect` convention says.


class SkillTriggers(Table, frozen=True):
    """When a skill is offered: paths that match, words that occur."""

    globs: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


class Skill(Table, frozen=True):
    """One skill."""

    TITLE: ClassVar[str] = "a skill"

    name: str
    description: str
    always: bool = False
    triggers: SkillTriggers = msgspec.field(default_factory=SkillTriggers)
    allowed_tools: tuple[str, ...] = ()
    body: str = ""


# --- skill.kind --------------------------------------------------------------------------------
# The kind `skill` as values: strict as the seed has it, and one for each tool that reads skills.

_TOOLS, _ALIAS = ("allowed_tools",), ("allowed-tools",)
_LISTS: tuple[Path, ...] = (("triggers", "globs"), ("triggers", "keywords"), _TOOLS)
_LONG = 200
_STYLE = HeaderStyle(
    "skill", known=("name", "description", "always", "triggers", "allowed_tools", "allowed-tools")
)

_LAYERS = ("user", "project")

#: Just enough of a table for the checks that all headers share.
_TABLE = Convention("skill", "defect", "skill", (Field("name"), Field("description")))


def _read(source: Source, session: Session) -> tuple[Document | None, list[Fact]]:
    return read_header(source, session, _STYLE)


def _one_spelling(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """`allowed-tools` is `allowed_tools`."""
    if not isinstance(tree.value, dict) or _ALIAS[0] not in tree.value:
        return tree, []
    if _TOOLS[0] in tree.value:
        also = Also("and here", part="key", origin=tree.story(_TOOLS).origin)
        place = tree.story(_ALIAS).origin
        return remove(tree, _ALIAS), [
            Fact(codes.SKILL_TOOLS_GIVEN_TWICE, part="key", origin=place, also=(also,))
        ]
    return move(tree, _ALIAS, _TOOLS), []


def _keep_entries(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """In a YAML header, a number in a list of texts is the text it is written as."""
    document = tree.story(ROOT).origin.document
    if document.format != "yaml" or not isinstance(tree.value, dict):
        return tree, []
    facts: list[Fact] = []
    for field in _LISTS:
        entries = get(tree.value, field)
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            if is_unquoted(entry):
                tree, found = kept_as_written(tree, (*field, number), entry)
                facts += found
    return tree, facts


def _bring_body(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    if not isinstance(tree.value, dict):
        return tree, []
    facts = [_body_in_header(tree)] if BODY in tree.value else []
    body = body_of(tree.story(ROOT).origin.document)
    tree = put(tree, (BODY,), "", how="")
    return graft(tree, {(BODY,): Tree(body.value, Origins(Origin(body)))}), facts


def _body_in_header(tree: Tree) -> Fact:
    values: dict[str, object] = {"field": BODY, "owner": "a skill", "nearest": None}
    return Fact(
        core_codes.UNKNOWN_FIELD,
        values=values,
        part="key",
        severity="error",
        origin=tree.story((BODY,)).origin,
    )


def name_is_that_of_the_folder(config: Any, session: Session) -> Iterator[Fact]:
    """The name equals the name of the directory, to the letter."""
    name = config.get("name") if isinstance(config, dict) else None
    source = session.documents[0].source if session.documents else None
    if not isinstance(name, str) or source is None or source.path is None:
        return
    directory = os.path.basename(
        os.path.dirname(session.path)
    )  # as it was found, whatever a link leads to
    if name != directory:
        remedy = Remedy(f"rename to `{directory}`", (Change(("name",), directory),), safe=False)
        yield codes.SKILL_NAME_DIFFERS.at(
            ("name",), remedy=remedy, name=Shown(name), directory=directory
        )


def globs_can_match(config: Any, _session: Session) -> Iterator[Fact]:
    """Every pattern can be read."""
    triggers = config.get("triggers") if isinstance(config, dict) else None
    globs = triggers.get("globs") if isinstance(triggers, dict) else None
    for number, glob in enumerate(globs if isinstance(globs, list) else ()):
        reason = problem_of(glob) if isinstance(glob, str) else None
        if reason is not None:
            values = {"glob": Shown(glob), "reason": GLOB_REASONS[reason]}
            yield Fact(codes.SKILL_INVALID_GLOB, ("triggers", "globs", number), values)


def description_is_short(config: Any, _session: Session) -> Iterator[Fact]:
    """The description says something, in a line."""
    text = config.get("description") if isinstance(config, dict) else None
    if not isinstance(text, str):
        return
    length = len(text.encode("utf-8", "surrogatepass"))
    if length > _LONG:
        yield codes.SKILL_DESCRIPTION_LONG.at(("description",), length=length, limit=_LONG)
    elif not text.strip():
        yield codes.SKILL_DESCRIPTION_EMPTY.at(("description",))


def _listed(plain: Any, file: str) -> Iterator[Item]:
    fields: dict[str, Any] = plain if isinstance(plain, dict) else {}
    yield Item("skill", str(fields.get("name") or file), fields.get("description"))


#: Skills of the `.defect` convention: every key is known, and nothing is forgiven.
STRICT = Kind(
    name="skill",
    title="skill",
    model=Skill,
    reading=Reading(formats={".md": "yaml"}, read=_read),
    strictness={
        core_codes.DUPLICATE_KEY: "error",
        core_codes.EXTRA_DOCUMENT: "error",
        core_codes.UNKNOWN_TAG: "error",
        core_codes.MERGE_KEY: "error",
    },
    shape=Shape(unknown="error", null_is_absent=True),
    stages=(
        partial(keep_text, _TABLE),
        _one_spelling,
        _keep_entries,
        _bring_body,
        partial(look_for_suspicious, _TABLE),
    ),
    rules=(name_is_that_of_the_folder, globs_can_match, description_is_short),
    codes=SKILL_CODES,
    presentation=Presentation(schema=hide_body, listing=_listed),
    together=Together(offers=names_in),
    layering=Layering(layers=_LAYERS, layer=layer, identity=identity),
)


def _tolerant(convention: Convention) -> Kind:
    layering = Layering(layers=_LAYERS)
    return msgspec.structs.replace(kind_of(convention), codes=SKILL_CODES, layering=layering)


_CLAUDE, _OPENCODE = _tolerant(tables.CLAUDE), _tolerant(tables.OPENCODE)
_CLAUDE_PLACE = re.compile(r"/\.claude/skills/")
_OPENCODE_PLACE = re.compile(r"/\.?(?:opencode|config/opencode)/skills?/")


def variant_of(path: str, _files: Files) -> Kind:
    """Whose skill a file is, by its place."""
    if layer_by_path(path) is not None:
        return STRICT
    if _CLAUDE_PLACE.search(path):
        return _CLAUDE
    return _OPENCODE if _OPENCODE_PLACE.search(path) else _OPEN


_OPEN = _tolerant(tables.OPEN)
KIND = msgspec.structs.replace(
    _OPEN,
    reading=msgspec.structs.replace(_OPEN.reading, variant=variant_of),
    layering=Layering(layers=_LAYERS, layer=layer, beside=beside, above=above, elsewhere=elsewhere),
)


__all__ = ["KIND", "STRICT"]
