"""The kind `skill`: a `SKILL.md` is read as the client in whose folder it lies reads it.

In a `.defect` folder it must follow the seed to the letter, see `formats.defect.skill`.
"""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from equipage.clients.catalogue import SKILL_TABLES, convention_in
from equipage.clients.codes import SKILL_CODES
from equipage.clients.format import format_of
from equipage.core.text import lazy_regex
from equipage.files.reading import Files
from equipage.formats.defect.skill import SKILL_LAYERS, SKILLS, STRICT_SKILL, check_skill_folder
from equipage.loading.format import Format, Layering

# The reading of other tools, by the folder that a skill lies in.


@cache
def _tolerant_format(table: str) -> Format:
    layering = Layering(layers=SKILL_LAYERS)
    return replace(format_of(convention_in(table)), codes=SKILL_CODES, layering=layering)


_OPENCODE_FOLDER = lazy_regex(r"/\.?(?:opencode|config/opencode)/skills?/")
#: The first tool whose folder is part of the path; several tools read `.agents`, Codex first.
_TABLE_BY_FOLDER = {
    "/.claude/skills/": "claude/skill",
    "/.github/skills/": "copilot/skill",
    "/.agents/skills/": "codex/skill",
    "/.codex/skills/": "codex/skill",
    "/.gemini/skills/": "gemini/skill",
}
_OPEN_FORMAT = _tolerant_format(SKILL_TABLES[0])


def variant_of(path: str, _files: Files) -> Format:
    """The kind of a skill by its path, which says whose it is."""
    if SKILLS.layer_of(path) is not None:
        return STRICT_SKILL
    for folder, table in _TABLE_BY_FOLDER.items():
        if folder in path:
            return _tolerant_format(table)
    return _tolerant_format("opencode/skill") if _OPENCODE_FOLDER.search(path) else _OPEN_FORMAT


FORMAT = replace(
    _OPEN_FORMAT,
    reading=replace(_OPEN_FORMAT.reading, variant=variant_of),
    layering=Layering(
        layers=SKILL_LAYERS,
        layer=SKILLS.layer_of,
        beside=check_skill_folder,
        above=SKILLS.project_folder,
        elsewhere=SKILLS.user_folder,
    ),
)
