"""What must hold in a file of a convention beyond its shape, and between files.

The rules of every convention are these functions with its table as their first argument. A name is
looked up where equipage knows the set: skills, servers and agents, if the workspace holds at least
one of that sort. The user's own folders may hold others, so an unknown name is only a warning.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Change, Fact, Remedy, Shown
from equipage.core.source import Span
from equipage.core.text import Guesses
from equipage.kinds.conventions import codes
from equipage.kinds.conventions.stages import BODY, Reference, is_pattern, references, words_of
from equipage.kinds.headers import has_header
from equipage.kinds.shared import KnownNames, path_of
from equipage.kinds.tables import Convention, Field, Sort
from equipage.loading.kind import Offer
from equipage.loading.model import describe, type_info
from equipage.loading.session import Session
from equipage.loading.tree import get

if TYPE_CHECKING:
    from equipage.loading.outcome import Outcome

Finding = tuple["Outcome", Fact]


def required_fields_are_there(
    convention: Convention, config: Any, session: Session
) -> Iterator[Fact]:
    """Every field is there that the tool needs, or that makes the file useful."""
    document = session.documents[0] if session.documents else None
    if not isinstance(config, dict) or document is None:
        return
    if convention.ignores_headerless and not has_header(document):
        return
    for field in convention.fields:
        if field.required is None:
            continue
        # A value that does not fit was left out with a finding; it is not missing as well.
        value = config.get(field.name, get(document.value, (field.name,)))
        if value is None or (isinstance(value, str) and not value.strip()):
            yield core_codes.MISSING_FIELD.at(
                part="key",
                severity=field.required,
                field=field.name,
                owner=convention.one,
                expected=describe(type_info(field.type)),
            )


def name_is_valid(convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """A name has the form that the tool wants, and equals that of its file or folder."""
    rule, name = convention.name, get(config, ("name",))
    if rule is None or not isinstance(name, str) or not name.strip():
        return
    normal = unicodedata.normalize("NFKC", name)
    if not rule.allows(normal):
        # A suggestion: everything but letters and digits becomes a hyphen.
        better = re.sub(r"[\W_]+", "-", normal.casefold()).strip("-")
        words = f"{rule.words}, at most {rule.longest} of them" if rule.longest else rule.words
        yield codes.NAME_FORM.at(
            ("name",),
            severity=rule.severity,
            name=Shown(name),
            tool=convention.tool,
            rule=words,
            better=better if rule.allows(better) and better != name else None,
        )
    other = _name_of_place(rule.equals, session)
    if other and unicodedata.normalize("NFKC", other) != normal:
        yield codes.NAME_DIFFERS.at(
            ("name",),
            severity=rule.severity,
            remedy=Remedy(f"rename to `{other}`", (Change(("name",), other),), safe=False),
            name=Shown(name),
            place=rule.equals,
            other=other,
        )


def _name_of_place(place: str | None, session: Session) -> str | None:
    """The name of the file or of its folder, None for a text without a file."""
    source = session.documents[0].source if session.documents else None
    if place is None or source is None or source.path is None:
        return None
    folder, file = os.path.split(session.path)  # links in it are not followed
    return os.path.basename(folder) if place == "folder" else file.partition(".")[0]


def texts_fit(convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """No text is longer than the tool takes, and the prompt is not empty."""
    if not isinstance(config, dict):
        return
    limits = {name: (name, limit) for name, limit in convention.longest.items()}
    if convention.longest_body is not None:
        limits[BODY] = ("the prompt", convention.longest_body)
    for name, (shown, limit) in limits.items():
        text = config.get(name)
        if isinstance(text, str) and len(text) > limit:
            yield codes.TEXT_TOO_LONG.at(
                (name,), field=shown, length=len(text), limit=limit, tool=convention.tool
            )
    body = config.get(BODY) if convention.syntax == "header" else None
    is_empty = isinstance(body, str) and not body.strip()
    if convention.needs_body and is_empty and session.documents:
        source = session.documents[0].source
        yield codes.TEXT_MISSING.at(span=Span(source, len(source.text), len(source.text)))


def extension_is_read(convention: Convention, _config: Any, session: Session) -> Iterator[Fact]:
    """The file has the extension that the tool reads in its folder."""
    extension = convention.suffixes[0]
    source = session.documents[0].source if session.documents else None
    if extension == ".mdc" and source is not None and source.name.endswith(".md"):
        yield codes.EXTENSION_NOT_READ.at(
            span=Span(source, 0, 0), tool=convention.tool, extension=extension
        )


RULES = (required_fields_are_there, name_is_valid, texts_fit, extension_is_read)


# Names that refer to other files.

#: The kinds of files that define the agents which a file of a kind may name.
_AGENT_KINDS = {
    "claude-agent": ("claude-agent",),
    "claude-command": ("claude-agent",),
    "skill": ("claude-agent",),
    "copilot-agent": ("copilot-agent", "claude-agent"),
    "copilot-prompt": ("copilot-agent", "claude-agent"),
    "opencode-agent": ("opencode-agent",),
    "opencode-command": ("opencode-agent",),
}
_WORDS: dict[Sort, str] = {"skill": "skill", "server": "MCP server", "agent": "agent"}


def references_exist(
    convention: Convention, own: Sequence[Outcome], offers: Sequence[Offer]
) -> Iterator[Finding]:
    """The skills, servers and agents exist that a file names."""
    agents = _AGENT_KINDS.get(convention.kind, ())
    kinds: dict[Sort, tuple[str, ...]] = {
        "skill": ("skill",),
        "server": ("mcp", "settings"),
        "agent": agents,
    }
    defined = {sort: KnownNames(offers, those) for sort, those in kinds.items()}
    for outcome in own:
        path, guesses = path_of(outcome), Guesses()
        known: dict[Sort, frozenset[str]] = {}
        for field, reference, span in _references(convention, outcome):
            sort = reference.sort
            if sort not in known:
                known[sort] = defined[sort].seen_from(path)
            # Where no file defines any, the names come from elsewhere.
            if not known[sort] or _is_known(reference, known[sort], convention):
                continue
            guess = None
            if not guesses.are_spent:  # sorting all names costs more than the rest
                names = sorted({*known[sort], *convention.built_in.get(sort, ())})
                guess = guesses.nearest(reference.name, names)
            fact = codes.UNKNOWN_REFERENCE.at(
                (field.name,),
                span=span,
                sort=_WORDS[sort],
                name=Shown(reference.name),
                where=" in this workspace",
                nearest=guess,
            )
            yield outcome, fact


def refers(convention: Convention, outcome: Outcome) -> bool:
    """Whether a file names anything to look up."""
    return next(_references(convention, outcome), None) is not None


def _is_known(reference: Reference, names: frozenset[str], convention: Convention) -> bool:
    """Plugins put their own name before the names of what they bring: `plugin:skill`."""
    return (
        reference.name in names
        or reference.name.rpartition(":")[2] in names
        or reference.name in convention.built_in.get(reference.sort, frozenset())
        or is_pattern(reference.name)
    )


def _references(
    convention: Convention, outcome: Outcome
) -> Iterator[tuple[Field, Reference, Span]]:
    """What a file names, except tools and servers that it defines itself."""
    document = outcome.documents[0] if outcome.documents else None
    if document is None or not isinstance(document.value, dict):
        return
    own = document.value.get("mcpServers")
    inline = frozenset(own) if isinstance(own, dict) else frozenset[str]()
    for field in convention.fields:
        if field.refers is None or field.name not in document.value:
            continue
        for name, span in words_of(field, document.value[field.name], document):
            for each in references(name, field.refers):
                if each.sort != "tool" and each.name not in inline:
                    yield field, each, span


def names_in(outcome: Outcome) -> Iterator[str]:
    """The names by which other files may refer to a file."""
    name = get(outcome.tree.value, ("name",)) if outcome.tree is not None else None
    if isinstance(name, str):
        yield name
    source = outcome.sources[0] if outcome.sources else None
    if source is not None:
        folder, file = os.path.split(source.path or source.name)
        yield os.path.basename(folder) if outcome.kind.name == "skill" else file.partition(".")[0]


def own_name(convention: Convention, outcome: Outcome) -> tuple[str, str] | None:
    """The folder within which a file's name must be unique, and the name itself.

    That is everything below one `agents` folder.
    """
    if convention.identity != "field" or convention.syntax == "json" or not outcome.sources:
        return None
    name = get(outcome.tree.value, ("name",)) if outcome.tree is not None else None
    folder = path_of(outcome).rpartition("/")[0]
    head, found, _ = f"{folder}/".rpartition("/agents/")
    return (head + found if found else folder, name) if isinstance(name, str) else None


def names_are_unique(convention: Convention, own: Sequence[Outcome]) -> Iterator[Finding]:
    """No two files below one folder have the same name."""
    seen: dict[tuple[str, str], Outcome] = {}
    for outcome in own:
        named = own_name(convention, outcome)
        if named is None:
            continue
        first = seen.setdefault(named, outcome)
        if first is not outcome:
            place = (
                first.documents[0].locate([("name",)]).get(("name",)) if first.documents else None
            )
            also = () if place is None else (Also("the other one", span=place.value),)
            yield outcome, codes.NAME_TAKEN.at(("name",), also=also, name=Shown(named[1]))
