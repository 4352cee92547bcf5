"""The strict skill: a `SKILL.md` in a `.defect` folder, and the skills of all layers.

`discover_skills` returns a mapping of names to skills, or raises every error; `find_skills` returns
each skill with its layer and its findings.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import msgspec

from equipage.core import codes as core_codes
from equipage.core.frozen import StrictTable
from equipage.core.text import glob_problem
from equipage.files import Entry as FolderEntry
from equipage.files import entries_of
from equipage.formats.defect import codes
from equipage.formats.defect.discovery import (
    Discovery,
    Entry,
    Found,
    LayeredFolder,
    LayeredMapping,
    LayerFolders,
    LayerName,
    StrPath,
    discover,
    find_layer_folders,
    resolve_parent_links,
)
from equipage.loading.header import (
    BODY,
    STRICT_YAML,
    HeaderStyle,
    add_body,
    keep_as_written,
    keep_placeholders,
    look_for_suspicious,
    names_of_file,
    own_name,
    read_header,
)
from equipage.loading.session import Parsed, is_template_or_fixture
from equipage.plugin import (
    Also,
    Change,
    Fact,
    Format,
    Item,
    Layering,
    Path,
    Presentation,
    Reading,
    Remedy,
    Session,
    Shape,
    Shown,
    Source,
    System,
    Together,
    Tree,
    entries_at,
    get,
    move,
    remove,
)
from equipage.syntax.header import PROFILE


class SkillTriggers(StrictTable, frozen=True):
    """When a skill is offered."""

    globs: tuple[str, ...] = ()
    """Offered if a path that the user names matches one of these."""
    keywords: tuple[str, ...] = ()
    """Offered if the user writes one of these words."""


class Skill(StrictTable, frozen=True):
    """One skill.

    >>> equipage.load(".defect/skills/greet/SKILL.md", equipage.Skill).config.always
    False
    """

    TITLE: ClassVar[str] = "a skill"

    name: str
    """The name of the skill and of its folder."""
    description: str
    """What the skill does and when to use it, in one sentence."""
    always: bool = False
    """Whether the text is part of the prompt from the start."""
    triggers: SkillTriggers = msgspec.field(default_factory=SkillTriggers)
    """When the skill is offered."""
    allowed_tools: tuple[str, ...] = ()
    """The tools that the skill may use."""
    body: str = ""
    """The text below the header: what to do."""


# Where the skills of the `.defect` convention are.


_FILE = "SKILL.md"


def _find_skill(entry: FolderEntry, system: System) -> Entry | Fact | None:
    """The skill in an entry of a `skills` folder; a finding if the entry is nearly one."""
    file = os.path.join(entry.path, _FILE)
    if system.is_file(file):
        return Entry(entry.name, file)
    names = [each.name for each in entries_of(entry.path, system)]
    found = next((name for name in names if name.lower() == _FILE.lower()), None)
    return None if found is None else codes.SKILL_OVERLOOKED.at(found=Shown(found), name=_FILE)


SKILLS = LayeredFolder("skills", r"[^/]+/SKILL\.md", _find_skill)
SKILL_LAYERS = ("user", "project")


def _identity(path: str, system: System) -> str:
    """A skill is an entry of its `skills` folder, which names it even if it is a link."""
    return resolve_parent_links(path, 2, system)


def check_skill_folder(folder: str, system: System) -> Iterator[tuple[str, Fact]]:
    # If the layer itself is not a folder, the `agents` folder in it reports that.
    if system.is_folder(os.path.dirname(folder)):
        yield from SKILLS.check_folder(folder, system)


# The strict reading.

_TOOLS, _ALIAS = ("allowed_tools",), ("allowed-tools",)
_LISTS: tuple[Path, ...] = (("triggers", "globs"), ("triggers", "keywords"), _TOOLS)
_MAX_DESCRIPTION_BYTES = 200
_STYLE = HeaderStyle(
    "skill", known=("name", "description", "always", "triggers", "allowed_tools", "allowed-tools")
)
_TEXTS: tuple[Path, ...] = (("name",), ("description",))


def _read(source: Source, session: Session) -> Parsed:
    return read_header(source, session, _STYLE)


def _keep_text(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Replace a number or bool in the place of text by the text the author wrote."""
    if is_template_or_fixture(session):
        tree = keep_placeholders(tree, _TEXTS)
    return keep_as_written(tree, _TEXTS, codes.NUMBER_AS_TEXT)


def _add_body(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    return add_body(tree, PROFILE, session.kind, "error")


def _rename_alias(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Rename `allowed-tools` to `allowed_tools`, which means the same."""
    if not isinstance(tree.value, dict) or _ALIAS[0] not in tree.value:
        return tree, []
    if _TOOLS[0] not in tree.value:
        return move(tree, _ALIAS, _TOOLS), []
    also = Also("and here", part="key", origin=tree.provenance(_TOOLS).origin)
    origin = tree.provenance(_ALIAS).origin
    twice = codes.SKILL_TOOLS_GIVEN_TWICE.at(part="key", origin=origin, also=(also,))
    return remove(tree, _ALIAS), [twice]


def _keep_text_in_lists(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """In a list of texts, replace a number by the text the author wrote."""
    paths = [path for field in _LISTS for path, _ in entries_at(tree.value, field)]
    return keep_as_written(tree, paths, codes.NUMBER_AS_TEXT)


def name_equals_folder(config: Any, session: Session) -> Iterator[Fact]:
    """The name equals the name of the folder, to the letter."""
    name = own_name(config)
    source = session.documents[0].source if session.documents else None
    if name is None or source is None or source.filename is None:
        return
    folder = os.path.basename(os.path.dirname(session.path))  # links in it are not followed
    if name != folder:
        remedy = Remedy(f"rename to `{folder}`", (Change(("name",), folder),), safe=False)
        yield codes.SKILL_NAME_DIFFERS.at(
            ("name",), remedy=remedy, name=Shown(name), directory=folder
        )


def globs_can_match(config: Any, _session: Session) -> Iterator[Fact]:
    """Every pattern is valid."""
    for path, glob in entries_at(config, ("triggers", "globs")):
        reason = glob_problem(glob) if isinstance(glob, str) else None
        if reason is not None:
            yield codes.SKILL_INVALID_GLOB.at(path, glob=Shown(glob), reason=reason)


def description_is_short(config: Any, _session: Session) -> Iterator[Fact]:
    """The description is one line, and not an empty one."""
    text = get(config, ("description",))
    if not isinstance(text, str):
        return
    # The seed counts bytes. Lone surrogates, which it cannot have, must not stop the count.
    length = len(text.encode("utf-8", "surrogatepass"))
    if length > _MAX_DESCRIPTION_BYTES:
        yield codes.SKILL_DESCRIPTION_LONG.at(
            ("description",), length=length, limit=_MAX_DESCRIPTION_BYTES
        )
    elif not text.strip():
        yield codes.SKILL_DESCRIPTION_EMPTY.at(("description",))


def _list_skill(plain: Any, file: str) -> Iterator[Item]:
    fields: dict[str, Any] = plain if isinstance(plain, dict) else {}
    description = fields.get("description")
    yield Item(
        "skill",
        str(fields.get("name") or file),
        description if isinstance(description, str) else None,
    )


#: Skills of the `.defect` convention: every key is known, and no mistake is forgiven.
STRICT_SKILL = Format(
    name="skill",
    title="skill",
    model=Skill,
    reading=Reading(syntaxes={".md": "yaml"}, read=_read, variables=False),
    strictness=STRICT_YAML,
    shape=Shape(unknown="error", null_is_absent=True),
    stages=(_keep_text, _rename_alias, _keep_text_in_lists, _add_body, look_for_suspicious),
    checks=(name_equals_folder, globs_can_match, description_is_short),
    codes=(
        *core_codes.HEADER_CODES,
        codes.NUMBER_AS_TEXT,
        *codes.STRICT_SKILL_CODES,
        *core_codes.SUSPICION_CODES,
        core_codes.LAYER_UNREADABLE,
        core_codes.VARIABLE_IGNORED,
    ),
    together=Together(offers=names_of_file),
    layering=Layering(layers=SKILL_LAYERS, layer=SKILLS.layer_of, identity=_identity),
    presentation=Presentation(hidden=BODY, listing=_list_skill),
)

# The skills of all layers.

FoundSkill = Found


class DiscoveredSkill(Skill, frozen=True, kw_only=True):
    """A skill, and where it was found.

    >>> equipage.discover_skills(".", local=True)["greet"].file.parent.name
    'greet'
    """

    file: pathlib.Path
    """Its `SKILL.md`, absolute."""
    layer: LayerName
    """Whose it is: the user's or the project's."""


def _build_discovered_skill(found: Found) -> DiscoveredSkill:
    config: Skill = found.outcome.config
    values = {name: getattr(config, name) for name in Skill.__struct_fields__}
    return DiscoveredSkill(**values, file=found.file, layer=found.layer)


class Skills(LayeredMapping[DiscoveredSkill]):
    """The skills that count, by name, in order of their names.

    >>> equipage.discover_skills(".", local=True)
    Skills(greet)
    """

    what = "skill"

    def __init__(self, discovery: Discovery) -> None:
        super().__init__(discovery, _build_discovered_skill)


def discover_skills(
    cwd: StrPath = ".",
    *,
    local: bool = False,
    xdg_config_home: StrPath | None = None,
    home: StrPath | None = None,
    home_dir: StrPath | None = None,
    env: Mapping[str, str] | None = None,
) -> Skills:
    """The skills that count in `cwd`: the user's, and over them the project's.

    Raises `LoadError` with every error of every skill.

    >>> skills = equipage.discover_skills(".", local=True)
    >>> skills["greet"].description, skills["greet"].layer, skills["greet"].file.name
    ('Says hello', 'project', 'SKILL.md')
    """
    places = find_layer_folders(
        cwd, local=local, xdg_config_home=xdg_config_home, home=home, home_dir=home_dir, env=env
    )
    return Skills(find_skills(places))


def find_skills(places: LayerFolders) -> Discovery:
    """Every skill of every layer, checked. Never raises on bad files."""
    return discover(SKILLS, STRICT_SKILL, places)
