"""Rules about the skills, commands and agents of one project, across clients.

Clients list the skills that they find, and leave out what is too much. People keep copies of one
skill or agent for several clients, which drift apart. Two of one name hide each other. All of it
follows from the offers of the files, so no file is read again.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from equipage.clients import codes
from equipage.clients.checks import BODY
from equipage.core.diagnostics import Fact, Shown
from equipage.core.text import lazy_regex
from equipage.loading.format import Offer
from equipage.loading.outcome import Outcome

#: How many characters Claude Code keeps of a description, and gives the list of all skills: with a
#: context of 200,000 tokens, and the most that was measured with any model.
_MAX_DESCRIPTION = 1536
_SMALL_LISTING, _LARGE_LISTING = 8_000, 30_000
#: The folder of a client in a path, and what lies below it.
_CLIENT_PATTERN = r"/(?P<client>\.(?:claude|agents|codex|gemini|github|opencode|cursor|qwen|kiro))/"
_CLIENT_FOLDER = lazy_regex(_CLIENT_PATTERN)
_COPY_PLACE = lazy_regex(rf"(?P<root>.*){_CLIENT_PATTERN}(?P<sort>skill|agent)s?/(?P<below>.+)\Z")


def size_and_checksum(outcome: Outcome) -> tuple[int, int]:
    """How many characters a file takes in the list of its client, and a checksum of its text."""
    fields: Any = outcome.tree.value if outcome.tree is not None else None
    if not isinstance(fields, dict):
        return 0, 0
    description, body = str(fields.get("description") or ""), str(fields.get(BODY) or "")
    said = zlib.crc32(f"{description}\0".encode("utf-8", "replace"))
    said = zlib.crc32(_encode_body(body.strip(), outcome), said)
    if outcome.kind.name not in ("skill", "claude-command") or _is_hidden(fields):
        return 0, said
    text = description or next(iter(body.strip().splitlines()), "")
    if when := fields.get("when_to_use"):
        text += f" - {when}"
    # Markup is escaped, and each entry is a line `- name: description`.
    text = text[:_MAX_DESCRIPTION].replace("<", "&lt;").replace(">", "&gt;")
    return len(text) + len("- : \n"), said


def _encode_body(body: str, outcome: Outcome) -> bytes:
    """A text in UTF-8. Most are the end of a file, whose bytes are at hand."""
    source = outcome.sources[0] if outcome.sources else None
    if source is not None and _MIN_REUSED_LENGTH < len(body) <= len(source.text):
        text, data = source.text, source.data
        end = len(text) - _MAX_TRAILING_BLANKS + len(text[-_MAX_TRAILING_BLANKS:].rstrip())
        start = end - len(body)
        if text.startswith(body, start):
            if len(data) == len(text):
                return data[start:end]
            behind = len(data) - len(text[end:].encode("utf-8", "replace"))
            return data[len(text[:start].encode("utf-8", "replace")) : behind]
    return body.encode("utf-8", "replace")


#: Shorter texts are encoded directly. So many characters at the end of a file may be blank.
_MIN_REUSED_LENGTH, _MAX_TRAILING_BLANKS = 1000, 64


def _is_hidden(fields: dict[str, Any]) -> bool:
    """Whether the model does not hear of a skill before people call it or touch certain files."""
    switch = fields.get("disable-model-invocation")
    return switch in (True, "true", "yes") or bool(fields.get("paths"))


def _listing_size(offer: Offer) -> int:
    return offer.weight[0]


def _checksum(offer: Offer) -> int:
    return offer.weight[1]


def listing_fits(offers: Sequence[Offer]) -> Iterator[tuple[str, Fact]]:
    """The skills and commands of a project fit into the list that Claude Code gives a model."""
    for entries in _group_by_root(_claude_offers(offers)).values():
        used, shown = 0, 0
        sizes = [
            (_listing_size(each) + len(each.names[-1]), each.path)
            for each in entries
            if _listing_size(each)
        ]
        total = sum(size for size, _ in sizes)
        if total <= _SMALL_LISTING:
            continue
        for size, _ in sizes:
            used += size
            shown += used <= _SMALL_LISTING
        limit, models = (
            (_LARGE_LISTING, "at most")
            if total > _LARGE_LISTING
            else (_SMALL_LISTING, "with some models")
        )
        yield (
            sizes[min(shown, len(sizes) - 1)][1],
            codes.LISTING_TOO_LONG.at(
                severity="warning" if total > _LARGE_LISTING else "note",
                count=len(sizes),
                length=f"{total:,}",
                limit=f"{limit:,}",
                models=models,
            ),
        )


def commands_are_not_hidden(offers: Sequence[Offer]) -> Iterator[tuple[str, Fact]]:
    """No command has the name of a skill, which Claude Code prefers."""
    for entries in _group_by_root(_claude_offers(offers)).values():
        skills = {each.names[-1]: each.path for each in entries if each.kind == "skill"}
        for each in entries:
            skill = skills.get(each.names[-1]) if each.kind == "claude-command" else None
            # A command in a folder is called by the name of the folder, too.
            if skill is not None and re.search(r"/commands/[^/]+\Z", each.path):
                name = skill.rpartition("/.claude/")[2]
                yield each.path, codes.COMMAND_HIDDEN.at(skill=Shown(f".claude/{name}"))


def copies_agree(offers: Sequence[Offer]) -> Iterator[tuple[str, Fact]]:
    """The copies of a skill or an agent for several clients do not differ."""
    for (_, sort, _), copies in _group_copies(offers):
        first, *others = copies
        different = [each for each in others if _checksum(each[1]) != _checksum(first[1])]
        if different and first[0] != different[0][0]:
            client, other = different[0]
            yield (
                other.path,
                codes.COPIES_DIFFER.at(
                    sort=sort, name=Shown(other.names[-1]), client=client, other=first[0]
                ),
            )


def _group_copies(
    offers: Sequence[Offer],
) -> Iterable[tuple[tuple[str, str, str], list[tuple[str, Offer]]]]:
    """Skills and agents of one name and project, each with its client, by project and sort."""
    # Most projects are for one client: a look at all paths at once says so.
    if len(set(_CLIENT_FOLDER.findall("\n".join(each.path for each in offers)))) < 2:
        return ()
    groups: dict[tuple[str, str, str], list[tuple[str, Offer]]] = {}
    for each in offers:
        place = _COPY_PLACE.match(each.path) if _checksum(each) else None
        if place is not None:
            name = re.sub(r"(?:/SKILL)?(?:\.\w+)*\Z", "", place["below"])
            key = place["root"], place["sort"], name
            groups.setdefault(key, []).append((place["client"], each))
    return groups.items()


def _claude_offers(offers: Iterable[Offer]) -> Iterator[Offer]:
    """The skills and commands of a project that Claude Code lists: skills lie one folder deep."""
    for each in offers:
        is_skill = each.kind == "skill" and each.path.rsplit("/", 2)[0].endswith("/.claude/skills")
        if is_skill or (each.kind == "claude-command" and "/.claude/commands/" in each.path):
            yield each


def _group_by_root(offers: Iterable[Offer]) -> dict[str, list[Offer]]:
    found: dict[str, list[Offer]] = {}
    for each in offers:
        found.setdefault(each.path.rpartition("/.claude/")[0], []).append(each)
    return found


RULES = (listing_fits, commands_are_not_hidden, copies_agree)
