"""The generated pages that are kept in the repository: one for each family of codes, one for each
client. Each of them has the pages of its codes or kinds, one below the other.

A family are the codes whose words are in one `codes.toml`. The site has a page for each code and
each kind, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from equipage.core.diagnostics import Code
from equipage.project.registry import all_codes, built_in_kinds
from generate import codes, kinds

#: What a family is called, by the folder of its `codes.toml`; others are those of one format.
FAMILIES = {
    "core": ("every-kind", "Findings in every kind of file"),
    "clients": ("clients", "Findings in files of clients"),
    "directives": ("directives", "Findings of includes and references"),
    "schemas": ("schemas", "Findings in JSON Schemas"),
    "server": ("server", "Findings in server configurations"),
    "blueprint": ("blueprint", "Findings in blueprints and their agents"),
    "toolpack": ("toolpack", "Findings in toolpacks"),
    "defect": ("defect", "Findings in files of defect"),
}
#: Families that every format may have: the page of a kind says how severe they are in it.
SHARED = {"every-kind", "directives", "schemas"}
#: Kinds whose name does not begin with that of the client they belong to.
CLIENTS = {
    "agentic-workflow": "copilot",
    "instructions": "all-clients",
    "mcp": "all-clients",
    "skill": "all-clients",
    "profile": "defect",
    "settings": "defect",
    "server": "thoughtjack",
    "blueprint": "mlua-swarm",
    "agent_md": "mlua-swarm",
    "toolpack": "ragx",
}
TITLES = {
    "all-clients": "Files that every client reads",
    "mlua-swarm": "Files of mlua_swarm",
    "opencode": "Files of OpenCode",
    "openhands": "Files of OpenHands",
    "ragx": "Files of RAGX",
    "thoughtjack": "Files of ThoughtJack",
    "defect": "Files of defect",
    "claude": "Files of Claude Code",
    "gemini": "Files of Gemini CLI",
}
_KIND = r"\[?`[\w-]+`(?:\]\([^)]*\))?"
#: More than six kinds in a row. Such a list says little, and grows with every kind.
_MANY = re.compile(rf"^(\*\*\w+\*\* · ){_KIND}(?:, {_KIND}){{6,}}", re.MULTILINE)
_FENCE = re.compile(r"^`{3,}")
_LINK = re.compile(r"\]\((?P<folder>\.\./)?(?P<room>kinds/|codes/)?(?P<name>[\w-]+)\.md\)")


def pages() -> Iterator[tuple[str, str]]:
    """The path below `reference` and the text of each page."""
    of_kinds = {name.removesuffix(".md"): text for name, text in kinds.pages()}
    for family, title in dict.fromkeys(map(family_of, all_codes())):
        names = sorted(name for name in all_codes() if family_of(name) == (family, title))
        about = "Every finding has a code, and `equipage rule CODE` prints what is here."
        texts = {name: codes.page(name, about_kinds=family not in SHARED) for name in names}
        yield f"findings/{family}.md", _merge(title, about, names, texts, "codes/")
    for client in dict.fromkeys(map(client_of, built_in_kinds())):
        names = [name for name in built_in_kinds() if client_of(name) == client]
        title = TITLES.get(client, f"Files of {client.capitalize()}")
        about = "How each kind of file is known, a first file, its fields, and its findings."
        yield f"clients/{client}.md", _merge(title, about, names, of_kinds, "kinds/")


@cache
def family_of(name: str) -> tuple[str, str]:
    """The page that a code is on, and its title."""
    code: Code = all_codes()[name]
    folder = Path(code._catalogue._file).parent.name
    return FAMILIES.get(folder, (folder, f"Findings in files of kind `{folder}`"))


def client_of(kind: str) -> str:
    return CLIENTS.get(kind, kind.partition("-")[0])


def _merge(title: str, about: str, names: list[str], texts: Mapping[str, str], room: str) -> str:
    """One page of several. A section has the name of its code or kind, so that links are short."""
    lines = [f"# {title}", "", about, ""]
    for name in names:
        head, _, text = _MANY.sub(r"\1many kinds", texts[name]).partition("\n")
        lines += [f"## {name}", ""]
        if head != f"# {name}":
            lines += [f"*{head.removeprefix('# ')}*", ""]
        lines += [_one_level_down(_LINK.sub(lambda link: _target(link, room), text)).strip(), ""]
    return "\n".join(lines)


def _target(link: re.Match[str], room: str) -> str:
    """Where the page leads that a link names, which may be a section of this page."""
    name, folder = link["name"], link["room"] or ("" if link["folder"] else room)
    if folder == "kinds/" and name in built_in_kinds():
        return f"](../clients/{client_of(name)}.md#{name})"
    if folder == "codes/" and name in all_codes():
        return f"](../findings/{family_of(name)[0]}.md#{name})"
    return link[0]


def _one_level_down(text: str) -> str:
    lines, inside = [], ""
    for line in text.split("\n"):
        if fence := _FENCE.match(line):
            inside = "" if inside == fence[0] else inside or fence[0]
        lines.append(f"#{line}" if line.startswith("#") and not inside else line)
    return "\n".join(lines)
