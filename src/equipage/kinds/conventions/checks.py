"""What becomes of a file of a convention: the stages that shape it, the rules that check it.

The stages keep text as text, divide names in one text into a list, and make a field of the text
below the header. The rules are about the file itself and about the names it shares with other
files. All of them take the table of their convention as the first argument.

A name is looked up where equipage knows the set: skills, servers and agents, if the workspace holds
at least one of that sort. The user's own folders may hold others, so an unknown name is only a
warning.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Change, Effect, Fact, Remedy, Severity, Shown
from equipage.core.path import ROOT, Path
from equipage.core.source import Source, Span
from equipage.core.text import Guesses, nearest
from equipage.files.reading import require_text
from equipage.files.sandbox import FileProblem
from equipage.kinds.codes import HEADER_NOT_FIRST
from equipage.kinds.conventions import codes
from equipage.kinds.headers import body_of, has_header, keep_as_written
from equipage.kinds.shared import KnownNames, alike, path_of, suspicions
from equipage.kinds.tables import Convention, Field, Group, Of, Sort, groups_in
from equipage.loading.kind import Offer
from equipage.loading.model import describe, type_info
from equipage.loading.session import Session
from equipage.loading.tree import Origin, Origins, Tree, attach, get, put
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import Document, Located, load_value
from equipage.syntax.frontmatter import CONVENTION, Grammar

if TYPE_CHECKING:
    from equipage.loading.outcome import Outcome


#: The key of the text below the header in the loaded configuration.
BODY = "body"

# Lists of names as people write them: with commas, with blanks, as a list.

#: A tool of a server, `mcp__github__search`, or all its tools, `mcp__github`. The name of the
#: server has no `__`.
_SERVER_TOOL = re.compile(r"mcp__(?P<server>[^_*](?:[^_]|_(?!_))*?)(?:__.*)?\Z")
#: A tool with a pattern or with agents in brackets: `Bash(git log:*)`, `Agent(reviewer)`.
_CALLED = re.compile(r"(?P<tool>[^()]+)\((?P<inside>.*)\)\Z", re.DOTALL)


class Reference(msgspec.Struct, frozen=True):
    """Something that a file names."""

    sort: Sort
    name: str


def divided(text: str, separators: str) -> Iterator[str]:
    """The names in a text, divided at any of `separators` outside brackets."""
    start = depth = 0
    # One more separator at the end closes the last name, even if a bracket is still open.
    for offset, letter in enumerate(text + separators[0]):
        depth = max(0, depth + (letter in "([{") - (letter in ")]}"))
        if offset == len(text) or (letter in separators and not depth):
            name = text[start:offset].strip()
            if name:
                yield name
            start = offset + 1


def references(name: str, sort: Sort) -> Iterator[Reference]:
    """What a name refers to: the name of a tool may also name a server or agents."""
    if sort != "tool":
        yield Reference(sort, name)
        return
    server = _SERVER_TOOL.match(name)
    if server is not None:
        yield Reference("server", server["server"])
        return
    called = _CALLED.match(name)
    tool = called["tool"].rstrip() if called else name
    yield Reference("tool", tool)
    if called and tool in ("Agent", "Task"):
        yield from (Reference("agent", each) for each in divided(called["inside"], ","))


def is_pattern(name: str) -> bool:
    """Whether a name may match many."""
    return not {"*", "?", "$", "{"}.isdisjoint(name) or name.startswith("mcp_")


def words_of(field: Field, value: Any, document: Document) -> Iterator[tuple[str, Span]]:
    """The names in a field, each with its place in the text the author wrote."""
    if isinstance(value, str):
        located = document.locate([(field.name,)]).get((field.name,))
        if located is not None:
            yield from _words_in_text(value, field.split or ",", located.value)
        return
    if not isinstance(value, list | dict):
        return
    # The names in a list are its values, in a mapping its keys.
    steps = range(len(value)) if isinstance(value, list) else value
    places = document.locate((field.name, step) for step in steps)
    for step in steps:
        place = places.get((field.name, step))
        name = value[step] if isinstance(value, list) else step
        if isinstance(name, str) and place is not None:
            yield name, place.value if isinstance(value, list) else place.key or place.value


def _words_in_text(value: str, separators: str, place: Span) -> Iterator[tuple[str, Span]]:
    """The names in a text; the whole text is the place of a name that is written otherwise."""
    written, position = place.text(), 0
    for name in divided(value, separators):
        offset = written.find(name, position)
        if offset < 0:
            yield name, place
            continue
        position = offset + len(name)
        yield name, Span(place.source, place.start + offset, place.start + position)


# The stages, in the order they run.

#: What follows a value up to the end of its line, if it is a comment whose `#` touches its text:
#: then it was most likely meant as text.
_CUT = re.compile(r"[ \t]*\#(?=\S)[^\r\n]*")


def before_header(convention: Convention, source: Source) -> list[Fact]:
    """What precedes the opening fence: space hides the header from nearly all tools, a byte order
    mark from two."""
    text = source.text.lstrip("\ufeff")
    if text != source.text and convention.tool in ("Codex", "Gemini CLI"):
        span = Span(source, 0, len(source.text) - len(text))
        remedy = Remedy("remove the byte order mark", (Change(ROOT, "", span=span),))
        return [HEADER_NOT_FIRST.at(span=span, remedy=remedy)]
    space = len(text) - len(text.lstrip())
    if not space or not text[space:].startswith("---"):
        return []
    start = len(source.text) - len(text)
    span = Span(source, start, start + space)
    is_measured = convention.reader not in ("lenient", "lines")
    remedy = Remedy("remove the space before it", (Change(ROOT, "", span=span),))
    severity: Severity = "error" if is_measured else "warning"
    return [HEADER_NOT_FIRST.at(span=span, remedy=remedy, severity=severity)]


def find_cut_text(convention: Convention, tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Report text behind ` #`, which is a comment in YAML: `color: #FF0000` has no value."""
    document = tree.story(ROOT).origin.document
    is_mapping = isinstance(tree.value, dict)
    if document.format != "yaml" or not is_mapping or " #" not in document.parsed_text():
        return tree, []
    paths = [(field.name,) for field in convention.fields if field.name in tree.value]
    facts = (_cut(document, path, located) for path, located in document.locate(paths).items())
    return tree, [each for each in facts if each is not None]


def _cut(document: Document, path: Path, located: Located) -> Fact | None:
    text = document.source.text
    start, end = located.value.start, located.value.end
    if start == end and located.key is not None:
        start = end = located.key.end + 1  # no value at all: look behind the colon
    # Quotes, brackets and blocks say where a text ends; only plain text can be cut by mistake.
    match = _CUT.match(text, end)
    if match is None or text[start : start + 1] in tuple("\"'[{|>") or "\n" in text[start:end]:
        return None
    whole = text[start : match.end()].lstrip()
    begin = match.end() - len(whole)
    quoted = "'" + whole.strip().replace("'", "''") + "'"
    change = Change(ROOT, quoted, span=Span(document.source, begin, match.end()))
    return codes.TEXT_CUT.at(
        path,
        span=Span(document.source, text.index("#", end), match.end()),
        remedy=Remedy("put quotes around the text", (change,), safe=False),
        field=path[0],
    )


#: Tools that drop a skill whose name or description is anything but text.
_STRICT_ABOUT_TEXT = ("GitHub Copilot", "OpenCode")


def keep_text(convention: Convention, tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Replace a number or bool where text belongs by the text the author wrote.

    Tools that refuse a value of another type refuse it, too.
    """
    if convention.mismatch == "error":
        return tree, []
    paths = [(field.name,) for field in convention.fields if field.type is str]
    tree, facts = keep_as_written(tree, paths, codes.NUMBER_AS_TEXT)
    if convention.kind == "skill":
        refused = convention.tool in _STRICT_ABOUT_TEXT
    else:
        # Claude Code does so with agents, but not with those of a plugin.
        is_project = "/.claude/" in session.path.replace(os.sep, "/")
        refused = convention.kind == "claude-agent" and is_project
    if not refused:
        return tree, facts
    return tree, [
        msgspec.structs.replace(each, severity="error")
        if each.origin.path[0] in ("name", "description")
        else each
        for each in facts
    ]


#: What YAML 1.1 reads as a date; the parsers of two clients do.
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?:[Tt \t].*)?\Z")


def refuse_values(convention: Convention, tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Report what is text or nothing to us, and makes a client refuse the file."""
    is_opencode = convention.reader == "opencode"
    dates = is_opencode or convention.kind == "gemini-agent"
    nothing = is_opencode or (convention.kind, convention.tool) == ("skill", "GitHub Copilot")
    document = tree.story(ROOT).origin.document
    if not (dates or nothing) or not isinstance(tree.value, dict) or not has_header(document):
        return tree, []
    texts = [(field.name,) for field in convention.fields if field.type is str]
    texts = [path for path in texts if path[0] in tree.value]
    facts: list[Fact] = []
    for path, place in document.locate(texts).items():
        value = get(tree.value, path)
        if nothing and value is None:
            found: Any = Shown(None, as_found=True)
            facts.append(
                core_codes.WRONG_TYPE.at(
                    path, severity="error", expected="text", found=found, hint=None
                )
            )
        elif dates and isinstance(value, str) and _DATE.match(place.value.text()):
            remedy = Remedy("put quotes around it", (Change(path, value),))
            facts.append(
                core_codes.WRONG_TYPE.at(
                    path,
                    severity="error",
                    remedy=remedy,
                    expected="text",
                    found="a date",
                    hint="put quotes around it",
                )
            )
    return tree, facts


def divide_names(convention: Convention, tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Make a list of the names in one text, and report tools that do not exist."""
    facts: list[Fact] = []
    if not isinstance(tree.value, dict):
        return tree, facts
    document = tree.story(ROOT).origin.document
    for field in convention.fields:
        if field.name not in tree.value:
            continue
        path, value = (field.name,), tree.value[field.name]
        # No value at all: most tools read that as no restriction.
        if value is None or value == "":
            if field.restricts and field.split is not None:
                # An agent of Claude Code then starts without any tool.
                nothing = convention.kind == "claude-agent" and field.name == "tools"
                effect = "gives it no tool at all" if nothing else "applies no restriction"
                facts.append(
                    codes.RESTRICTION_EMPTY.at(
                        path, part="key", field=field.name, tool=convention.tool, effect=effect
                    )
                )
        elif field.refers == "tool" and convention.tools is not None:
            facts += _unknown_tools(convention, convention.tools, field, value, document)
        if isinstance(value, str) and field.split is not None:
            tree = put(tree, path, list(divided(value, field.split)), how="")
    return tree, facts


#: So many unknown tools of one field are reported one by one.
_FEW = 3


def _unknown_tools(
    convention: Convention, known: frozenset[str], field: Field, value: Any, document: Document
) -> Iterator[Fact]:
    unknown = [
        (each.name, span)
        for name, span in words_of(field, value, document)
        for each in references(name, "tool")
        if each.sort == "tool" and each.name not in known and not is_pattern(each.name)
    ]
    # Many of them have one cause: the field was written for another tool.
    more = len(unknown) - 1 if len(unknown) > _FEW else 0
    where = f" in {convention.tool}"
    if more:
        where += f", nor the {more} others that it does not know in `{field.name}`"
    for name, span in unknown[:1] if more else unknown:
        guess = nearest(name, known)
        yield codes.UNKNOWN_REFERENCE.at(
            (field.name,),
            span=span,
            remedy=_renamed(name, guess, field, span, document),
            sort="tool",
            name=Shown(name),
            where=where,
            nearest=guess,
        )


def _renamed(
    name: str, guess: str | None, field: Field, span: Span, document: Document
) -> Remedy | None:
    """Write another name in place of one; never safe, because it is a guess about what was meant.

    None where the name is not written as it is, with escapes for example.
    """
    value = document.value.get(field.name)
    span = _without_quotes(span)
    if guess is None or span.text() != name or document.substituted_text is not None:
        return None
    paths: list[Path] = [(field.name,)]
    paths += [(field.name, number) for number in range(len(value)) if isinstance(value, list)]
    places = document.locate(paths)
    path = next((each for each in reversed(paths) if _holds(places.get(each), span)), None)
    place = None if path is None else _without_quotes(places[path].value)
    if path is None or place is None or get(document.value, path) != place.text():
        return None
    text = place.source.text
    new = text[place.start : span.start] + guess + text[span.end : place.end]
    effect = Effect("replace", path, new, document.format, document.window, document.merge)
    change = Change(ROOT, guess, span=span, effect=effect)
    return Remedy(f"change to `{guess}`", (change,), safe=False)


def _without_quotes(span: Span) -> Span:
    """The text between the quotes of a scalar, if it has some."""
    text = span.text()
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return Span(span.source, span.start + 1, span.end - 1) if is_quoted else span


def _holds(place: Located | None, span: Span) -> bool:
    return place is not None and place.value.start <= span.start and span.end <= place.value.end


def bring_body(
    convention: Convention, tree: Tree, _session: Session, *, grammar: Grammar = CONVENTION
) -> tuple[Tree, list[Fact]]:
    """Add the text below the header as a field; a key of that name in the header is unknown."""
    if convention.syntax not in ("header", "text") or not isinstance(tree.value, dict):
        return tree, []
    facts: list[Fact] = []
    if BODY in tree.value:
        facts.append(
            core_codes.UNKNOWN_FIELD.at(
                part="key",
                origin=tree.story((BODY,)).origin,
                severity=convention.unknown or "warning",
                field=BODY,
                owner=convention.one,
                nearest=None,
            )
        )
    body = body_of(tree.story(ROOT).origin.document, grammar)
    return attach(tree, (BODY,), Tree(body.value, Origins(Origin(body)))), facts


def look_for_suspicious(
    _convention: Convention, tree: Tree, _session: Session
) -> tuple[Tree, list[Fact]]:
    """Report secrets, and names whose letters only look alike."""
    source = tree.story(ROOT).origin.document.source
    name = get(tree.value, ("name",))
    if not isinstance(name, str):
        name = os.path.basename(source.path or source.name).partition(".")[0]
    return tree, [*suspicions(source), *alike(name)]


def wrap(convention: Convention, tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Make the whole file the one field that it is; nothing of it if it is of another tool."""
    if convention.wraps is None or not isinstance(tree.value, dict):
        return tree, []
    origin = tree.story(ROOT).origin
    entries = [each for each in tree.value.values() if isinstance(each, dict)]
    if not any(len(convention.signs & each.keys()) > 1 for each in entries):
        return Tree({}, Origins(origin)), []
    origins = Origins(origin, below={convention.wraps: tree.origins})
    return Tree({convention.wraps: tree.value}, origins), []


def check_servers(convention: Convention, tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Report what is wrong with the MCP servers in the settings of a tool."""
    if convention.servers is None:
        return tree, []
    from equipage.kinds.mcp.servers import findings_in  # few files have servers

    return tree, findings_in(convention.servers, tree)


STAGES = (
    wrap,
    check_servers,
    find_cut_text,
    keep_text,
    refuse_values,
    divide_names,
    bring_body,
    look_for_suspicious,
)


Finding = tuple["Outcome", Fact]


def required_fields_are_there(
    convention: Convention, config: Any, session: Session
) -> Iterator[Fact]:
    """Every field is there that the tool needs, or that makes the file useful."""
    document = session.documents[0] if session.documents else None
    if not isinstance(config, dict) or document is None:
        return
    if convention.syntax == "header" and not (convention.header_optional or has_header(document)):
        return  # reported where the header is needed
    # A value that does not fit was left out with a finding; it is not missing as well.
    written = document.value if isinstance(document.value, dict) else {}
    fields = convention.fields
    if convention.kind == "claude-agent" and "/.claude/" not in session.path.replace(os.sep, "/"):
        # In a plugin, the agent has the name of its file, and loads without a description.
        fields = tuple(
            msgspec.structs.replace(field, required="warning" if field.name != "name" else None)
            for field in fields
            if field.required
        )
    if convention.wraps is not None:
        written = {convention.wraps: written} if config else {}
    declared = roles_in(session) if convention.kind == "codex-agent" else {}
    yield from _missing(fields, {**declared, **written, **config}, convention.one, ROOT)
    for group, path, table in groups_in(convention.fields, written):
        yield from _missing(group.fields, table, group.title, path)


def roles_in(session: Session) -> dict[str, Any]:
    """What the configuration of Codex says of the agent whose file this is: name, description."""
    folder, file = os.path.split(session.path)
    path = os.path.join(os.path.dirname(folder), "config.toml")
    try:
        text = require_text(session.files.again().read(path)).text
        roles = get(load_value("toml", text), ("agents",))
    except (FileProblem, SyntaxProblem):
        return {}
    for name, role in roles.items() if isinstance(roles, dict) else ():
        config = get(role, ("config_file",))
        if isinstance(config, str) and os.path.basename(config) == file:
            return {"name": name, "description": get(role, ("description",))}
    return {}


def _missing(
    fields: tuple[Field, ...], table: dict[str, Any], owner: str, path: Path
) -> Iterator[Fact]:
    for field in fields:
        # A key that was written instead has a finding of its own.
        is_asked = field.required is not None and table.keys().isdisjoint(field.instead)
        value = table.get(field.name) if is_asked else True
        if value is None or (isinstance(value, str) and not value.strip()):
            yield core_codes.MISSING_FIELD.at(
                path,
                part="value" if path else "key",
                severity=field.required,
                field=field.name,
                owner=owner,
                expected=_expected(field.type),
            )


def _expected(part: Any) -> str:
    """The type of a field in words."""
    if isinstance(part, Of) and part.how == "either":
        return " or ".join(dict.fromkeys(map(_expected, part.parts)))
    if isinstance(part, Group | Of):
        return "a list" if isinstance(part, Of) and part.how == "list" else "a mapping"
    return describe(type_info(part))


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
    if place == "folder" and os.path.dirname(session.path) == session.root:
        return None  # people choose the name of a folder that they clone into
    return _name_by_path(session.path, by_folder=place == "folder")  # links are not followed


def _name_by_path(path: str, *, by_folder: bool) -> str:
    folder, file = os.path.split(path)
    return os.path.basename(folder) if by_folder else file.partition(".")[0]


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
    needs_body = convention.syntax == "header" and not convention.body_optional
    body = config.get(BODY) if needs_body else None
    if isinstance(body, str) and not body.strip() and session.documents:
        source = session.documents[0].source
        yield codes.TEXT_MISSING.at(span=Span(source, len(source.text), len(source.text)))


def extension_is_read(convention: Convention, _config: Any, session: Session) -> Iterator[Fact]:
    """The file has the extension that the tool reads in its folder."""
    extension = convention.suffixes[0]
    document = session.documents[0] if session.documents else None
    # Cursor reads other Markdown files, too, if they have a header.
    if extension != ".mdc" or document is None or has_header(document):
        return
    source = document.source
    if source.name.endswith(".md") and not source.name.endswith("README.md"):
        yield codes.EXTENSION_NOT_READ.at(
            span=Span(source, 0, 0), tool=convention.tool, extension=extension
        )


def place_is_read(convention: Convention, _config: Any, session: Session) -> Iterator[Fact]:
    """The tool reads files in this place."""
    if convention.unread is not None and session.documents:
        span = Span(session.documents[0].source, 0, 0)
        yield codes.PLACE_NOT_READ.at(span=span, tool=convention.tool, reason=convention.unread)


RULES = (place_is_read, required_fields_are_there, name_is_valid, texts_fit, extension_is_read)


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
                remedy=_renamed(reference.name, guess, field, span, outcome.documents[0]),
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
        by_folder = outcome.kind.name == "skill"
        yield _name_by_path(source.path or source.name, by_folder=by_folder)


def own_name(convention: Convention, outcome: Outcome) -> tuple[str, str] | None:
    """The folder within which a file's name must be unique, and the name itself.

    That is everything below one `agents` folder of a tool, or `skills` folder. People choose from
    other folders what they install, so two files of one name need not meet there.
    """
    if convention.identity != "field" or convention.syntax == "json" or not outcome.sources:
        return None
    name = get(outcome.tree.value, ("name",)) if outcome.tree is not None else None
    folder = path_of(outcome).rpartition("/")[0]
    head, found, _ = f"{folder}/".rpartition(f"/{convention.sort}s/")
    if not found or "/." not in f"/{head}" or not isinstance(name, str):
        return None
    return head + found, name


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
