"""The tables of clients are good data: all of it is read, all of it is used, a mistake has a place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import rtoml

import equipage
from equipage.clients.catalogue import (
    SKILL_TABLES,
    TableFile,
    WrongTable,
    client_named,
    convention_in,
    table_file,
)
from equipage.clients.file_grants import subjects_of
from equipage.clients.grant_words import WORDS, parse_rows, parse_subjects
from equipage.clients.index import CLIENTS, KINDS
from lab import REPOSITORY, matching

FOLDER = Path(equipage.__file__).parent / "clients"
FILES = {
    path.relative_to(FOLDER).with_suffix("").as_posix(): rtoml.loads(path.read_text("utf-8"))
    for path in matching(FOLDER, "*/*.toml")
    if path.stem != "dialects"
}
TABLES = [name for name in FILES if not name.endswith("/client")]


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_read(name: str) -> None:
    """Each is that of a kind, of skills as one client reads them, or what others are `like`."""
    assert table_file(name).content["kind"] in KINDS
    if "title" in table_file(name).content:
        assert convention_in(name).fields or convention_in(name).syntax == "text"
    assert list(parse_subjects(table_file(name))) or "grants" not in FILES[name]
    bases = {each.get("like") for each in FILES.values()}
    files = {each.file for each in KINDS.values()}
    assert name in files or name in SKILL_TABLES or name in bases


@pytest.mark.parametrize("folder", [*CLIENTS.values()])
def test_every_client_is_read(folder: str) -> None:
    client, file = client_named(folder), table_file(f"{folder}/client")
    for name, group in client.groups.items():
        assert list(file.fields(group["fields"], name))
    for name, rows in client.rows.items():
        assert list(parse_rows(file, rows, name))
    for words in client.types.values():
        assert file.parse_type(words) is not None


@pytest.mark.parametrize("folder", [*CLIENTS.values()])
def test_every_tool_and_agent_that_a_client_names_is_one(folder: str) -> None:
    """A client that says neither `tools` nor `other_tools` has more than it names."""
    client = client_named(folder)
    acting = {*chain(*client.tools_by_activity.values())}
    named = {*client.unasked_tools, *chain(*client.unasked_by_mode.values())} - {"*"}
    if client.tools or client.other_tools is not None:
        named |= {*client.aliases.values()} | ({client.skill_tool} - {None})
    if client.tools:
        named |= acting
    assert named <= ({*client.tools} or acting | {*(client.other_tools or ())})
    assert {*client.wide_agents} <= {*client.agents}


def test_every_word_of_rows_is_used() -> None:
    used = {next(iter(row)) for each in FILES.values() for row in rows_of(each)}
    assert {*WORDS} <= used


def rows_of(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for each in (*(each["rows"] for each in content.get("grants", ())), *content.get("rows", {}).values()):  # fmt: skip
        yield from each


def test_clients_and_kinds_have_one_folder_each() -> None:
    assert {name.partition("/")[0] for name in FILES} == set(CLIENTS.values())
    assert all(each.file in FILES for each in KINDS.values())


def definitions() -> Iterator[tuple[str, str, str]]:
    for name, content in FILES.items():
        for part in ("groups", "types", "rows"):
            yield from ((name, part, each) for each in content.get(part, {}))


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else ():
        yield from texts_in(each)
    for each in value if isinstance(value, list) else ():
        yield from texts_in(each)


def references(folder: str) -> set[str]:
    """Every word by which the files of a folder may refer to something."""
    texts = [text for name, each in FILES.items() if name.startswith(f"{folder}/") for text in texts_in(each)]  # fmt: skip
    words = (re.sub(r"(list|map) of ", "", part) for text in texts for part in text.split(" or "))
    return {word.removeprefix("group:") for word in words}


@pytest.mark.parametrize(("file", "part", "name"), [*definitions()])
def test_what_is_shared_is_used(file: str, part: str, name: str) -> None:
    folder = file.partition("/")[0]
    others = set().union(*(references(each) for each in CLIENTS.values() if each != folder))
    assert name in references(folder) or f"{folder}:{name}" in others


#: What is wrong in a table of Claude Code: the text, and what is said about it.
WRONG = [
    ("titel = 'x'", "the whole of it: Object contains unknown field `titel`"),
    ("syntax = 'xml'", "the whole of it: Invalid enum value 'xml' - at `$.syntax`"),
    ("tools = 'toolz'", "the whole of it: there is no 'toolz'"),
    ("[example]\ntxt = 'x'", "the whole of it: Object contains unknown field `txt`"),
    ("like = 'claude/skil'", "like: [Errno 2] No such file or directory"),
    ("version = '1'", "the whole of it: Object contains unknown field `version`"),
    ("example_place = 'x'", "the whole of it: Object contains unknown field `example_place`"),
    ("servers = 'Zedd'", "the whole of it: there is no dialect of `Zedd`"),
    ("fields = 5", "the whole of it: 'int' object has no attribute 'items'"),
    ("[fields]\na = 5", "fields.a: Expected "),
    ("[fields]\na = { meaning = 5 }", "fields.a: 'int' object has no attribute 'replace'"),
    ("[fields]\na = { meaning = 'x', type = 5 }", "fields.a: Expected `str`, got `int`"),
    ("[fields]\na = { meaning = 'x', name = 'b' }", "fields.a: Object contains unknown field `name`"),
    ("[fields]\na = { meaning = 'x', type = 'names', at_least = 1 }", "fields.a: Can only set `ge` on a numeric type"),
    ("[fields]\na = { mening = 'x' }", "fields.a: there is no 'meaning'"),
    ("[fields]\na = { meaning = 'x', restrict = true }", "fields.a: Object contains unknown field `restrict`"),
    ("[fields]\na = { meaning = 'x', required = 'fatal' }", "fields.a: Invalid enum value 'fatal' - at `$.required`"),
    ("[fields]\na = { meaning = 'x', type = 'txt' }", "fields.a: there is no `txt` in `types`"),
    ("[fields]\na = { meaning = 'x', type = 'list of txt' }", "fields.a: there is no `txt` in `types`"),
    ("[fields]\na = { meaning = 'x', type = 'group:b' }", "fields.a: there is no `b` in `groups`"),
    ("[fields]\na = { fields_of = 'b' }", "fields.a: there is no `b` in `groups`"),
    ("[fields]\na = { fields_of = 'invocable', but = [] }", "fields.a: Object contains unknown field `but`"),
    ("[fields]\na = { meaning = 'x', type = 'group:b' }\n[groups.b]\ntitle = 'a b'\nunknwon = 'error'\n[groups.b.fields]\nc = 'd'", "groups.b: Object contains unknown field `unknwon`"),
    ("[fields]\na = { meaning = 'x', type = 'group:b' }\n[groups.b]\ntitle = 'a b'\n[groups.b.fields]\nc = { meaning = 'x', type = 'd' }", "groups.b.fields.c: there is no `d` in `types`"),
    ("[fields]\na = { meaning = 'x', type = 'group:b' }\n[groups.b]\ntitle = 'b'\n[groups.b.fields]\nc = 'd'", "groups.b: Expected `str` matching regex"),
    ("grants = 5", "grants: Expected `array`, got `int`"),
    ("[[grants]]\nrows = ['allows']", "grants[1].rows[1]: Expected `object`, got `str`"),
    ("[[grants]]\nrows = [{ allows = 'x', at = 'y' }]", "grants[1].rows[1]: Object contains unknown field `at`"),
    ("[[grants]]\nrows = [{ allows = 'x', read = 'y' }]", "grants[1].rows[1]: Object contains unknown field `read`"),
    ("[[grants]]\nrows = [{ mode = 'x' }]", "grants[1].rows[1]: `mode` needs `order`"),
    ("[[grants]]\nrows = [{ rules = 'x' }]", "grants[1].rows[1]: `rules` needs `rule`"),
    ("[[grants]]\nrows = [{ runs_commands_in = 'x' }]", "grants[1].rows[1]: `runs_commands_in` needs `pattern`"),
    ("[[grants]]\nrows = [{ usually = 'tool' }]", "grants[1].rows[1]: `usually` needs `absent`"),
    ("[[grants]]\nrow = []", "grants[1]: there is no 'rows'"),
    ("[[grants]]\nrows = []\nat = 'agents'", "grants[1]: Expected `array`, got `str` - at `$.at`"),
    ("[[grants]]\nrows = [{ alows = 'x' }]", "grants[1].rows[1]: there is no row `alows`"),
    ("[[grants]]\nrows = [{ allows = 'x' }, { allows = 'y', sort = 'tols' }]", "grants[1].rows[2]: Invalid enum value 'tols' - at `$.sort`"),
    ("[[grants]]\nrows = [{ allows = 'x', srt = 'tool' }]", "grants[1].rows[1]: Object contains unknown field `srt`"),
    ("[[grants]]\nrows = [{ rows_of = 'x' }]", "grants[1].rows[1]: there is no `x` in `rows`"),
    ("[[grants]]\nrows = [{ rows_of = 'invocable', above = 'x' }]", "grants[1].rows[1]: `rows_of` takes no `above`"),
]  # fmt: skip


def read(text: str) -> None:
    table = TableFile("claude/x", rtoml.loads(text))
    _ = table.convention(), list(parse_subjects(table))


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_a_mistake_has_a_file_and_a_place(text: str, said: str) -> None:
    head = "kind = 'x'\n" if text.startswith("titel") else "kind = 'x'\ntitle = 'x'\n"
    with pytest.raises(WrongTable) as raised:
        read(head + text)
    assert str(raised.value).startswith(f"claude/x.toml, {said}")


def test_the_table_that_is_explained_is_one() -> None:
    """CONTRIBUTING.md shows it."""
    text = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
    (shown,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    table = TableFile("common/tug", rtoml.loads(shown))
    names = [each.name for each in table.convention().fields]
    assert names == ["model", "maxTurns", "tools", "hooks", "skills", "rules"]
    (subject,) = parse_subjects(table)
    assert [each.at for each in subject.rows] == [("tools",), ("hooks", "*", "command")]


def test_grants_of_a_kind_are_those_of_its_table() -> None:
    subjects = subjects_of("claude-agent")
    assert subjects is not None
    assert [row.at for row in subjects[0].rows][:2] == [("tools",), ("disallowedTools",)]
    assert subjects_of("claude-output-style") is None
