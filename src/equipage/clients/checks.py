"""The stages that shape a file of a convention, and the rules that check it.

The stages keep text as text, divide names in one text into a list, and make a field of the text
below the header. The rules are about the file itself; `references` has those about names. All of
them take the table of their convention as the first argument.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.clients import codes
from equipage.clients.catalogue import CompositeType, Convention, Field, Group
from equipage.clients.references import (
    is_pattern,
    locate_names,
    names_in_field,
    parse_references,
    rename_remedy,
    split_names,
)
from equipage.core import codes as core_codes
from equipage.core.codes import HEADER_NOT_FIRST
from equipage.core.diagnostics import Change, Fact, Remedy, Severity, Shown
from equipage.core.path import ROOT, Path, get
from equipage.core.source import Source, Span
from equipage.core.text import lazy_regex, nearest
from equipage.files.reading import require_text
from equipage.files.sandbox import FileProblem
from equipage.formats.defect.codes import NUMBER_AS_TEXT
from equipage.loading import header
from equipage.loading.header import (
    BODY,
    HeaderStyle,
    has_header,
    keep_as_written,
    keep_placeholders,
    look_for_suspicious,
    name_by_path,
    own_name,
    read_header,
    read_text,
)
from equipage.loading.session import Parsed, Session, is_template_or_fixture, read_jsonc
from equipage.loading.tree import Origins, Tree, put
from equipage.loading.type_words import describe, title, type_info
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import Document, EntrySpans, load_value
from equipage.syntax.header import CONVENTION


def read(
    convention: Convention, style: HeaderStyle | None, source: Source, session: Session
) -> Parsed:
    """The document of a file: its header, or all of it where the convention has no header."""
    if convention.syntax == "json" and (convention.comments or convention.trailing_commas):
        commas = convention.trailing_commas
        return read_jsonc(source, session, trailing_commas=commas)
    if convention.syntax == "text":
        return read_text(source, session)
    if convention.syntax != "header":
        return session.parse(source, convention.syntax)
    assert style is not None
    before = _check_text_before_header(convention, source)
    document, facts = read_header(source, session, style)
    return document, facts + before


# The stages, in the order they run.

#: What follows a value up to the end of its line, if it is a comment whose `#` touches its text:
#: then it was most likely meant as text.
_CUT_TEXT = lazy_regex(r"[ \t]*\#(?=\S)[^\r\n]*")
#: What such a text has in it; most comments begin with a space.
_CUT_MARK = lazy_regex(r"\#\S")


def _check_text_before_header(convention: Convention, source: Source) -> list[Fact]:
    """Report what precedes the opening fence.

    Space hides the header from nearly all tools, a byte order mark from two.
    """
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
    document = tree.document
    is_mapping = isinstance(tree.value, dict)
    if document.syntax != "yaml" or not is_mapping or not _may_be_cut(document):
        return tree, []
    paths = [(field.name,) for field in convention.fields if field.name in tree.value]
    facts = (
        _check_cut_text(document, path, located) for path, located in document.locate(paths).items()
    )
    return tree, [each for each in facts if each is not None]


def _may_be_cut(document: Document) -> bool:
    """Whether a text may be cut, which only places can tell. False is certain."""
    text = document.parsed_text()
    # Where variables were replaced, the author's text may have what this one lacks.
    is_written = document.substituted_text is None
    return " #" in text and not (is_written and _CUT_MARK.search(text) is None)


def _check_cut_text(document: Document, path: Path, located: EntrySpans) -> Fact | None:
    text = document.source.text
    start, end = located.value.start, located.value.end
    if start == end and located.key is not None:
        start = end = located.key.end + 1  # no value at all: look behind the colon
    # Quotes, brackets and blocks say where a text ends; only plain text can be cut by mistake.
    match = _CUT_TEXT.match(text, end)
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
#: Kinds whose name has to be text wherever the file lies: Claude Code reads another value as text,
#: but its validator refuses it. With the folder whose files they are, at any depth.
NAMED_BY_TEXT = {"claude-agent": "/agents/", "claude-command": "/commands/"}


def keep_text(convention: Convention, tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Replace a number or bool where text belongs by the text the author wrote.

    Tools that refuse a value of another type refuse it, too.
    """
    if convention.mismatch == "error" or not _has_values_to_keep(tree.value, session):
        return tree, []
    paths = [(field.name,) for field in convention.fields if field.type is str]
    if _is_template(convention, session):
        tree = keep_placeholders(tree, paths)
    tree, facts = keep_as_written(tree, paths, NUMBER_AS_TEXT)
    # A version is shown as it is written, whatever it looks like.
    facts = [each for each in facts if each.origin is None or each.origin.path != ("version",)]
    strict = _text_only_fields(convention, session)
    return tree, [
        msgspec.structs.replace(each, severity="error") if each.origin.path[0] in strict else each
        for each in facts
    ]


def _has_values_to_keep(value: Any, session: Session) -> bool:
    """Whether a file has anything to keep as it is written: in most, every value is text."""
    types = set(map(type, value.values())) if isinstance(value, dict) else {dict}
    return not types.isdisjoint(_NUMBER_TYPES) or (
        not types <= _TEXT_TYPES and is_template_or_fixture(session)
    )


def _is_template(convention: Convention, session: Session) -> bool:
    """Whether a file is a template whose gaps are filled in where it is copied to. One below a
    folder of commands or agents is not: Claude Code loads everything below it as it is."""
    if convention.kind not in NAMED_BY_TEXT:
        return is_template_or_fixture(session)
    above, loaded, _ = session.path.replace(os.sep, "/").rpartition(NAMED_BY_TEXT[convention.kind])
    return is_template_or_fixture(session, above + loaded if loaded else None)


#: Types of values that may be meant as text; and of those that are text, or nothing.
_NUMBER_TYPES = frozenset({bool, int, float})
_TEXT_TYPES = frozenset({str, type(None)})


def _text_only_fields(convention: Convention, session: Session) -> tuple[str, ...]:
    """The fields that the tool refuses if they are anything but text."""
    is_project = "/.claude/" in session.path.replace(os.sep, "/")
    if convention.kind == "claude-agent" and is_project:
        return ("name", "description")
    if convention.kind == "skill" and convention.tool in _STRICT_ABOUT_TEXT:
        return ("name", "description")
    is_of_claude = convention.kind in NAMED_BY_TEXT or (
        convention.kind == "skill" and (is_project or _is_in_claude_plugin(session))
    )
    return ("name",) if is_of_claude else ()


#: What YAML 1.1 reads as a date; the parsers of two clients do.
_DATE = lazy_regex(r"\d{4}-\d\d?-\d\d?(?:[Tt \t].*)?\Z")


def refuse_values(convention: Convention, tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Report values that are text or null here, but make a client refuse the file."""
    is_opencode = convention.reader == "opencode"
    dates = is_opencode or convention.kind == "gemini-agent"
    nothing = is_opencode or (convention.kind, convention.tool) == ("skill", "GitHub Copilot")
    if not (dates or nothing) or not isinstance(tree.value, dict):
        return tree, []
    document = tree.document
    if not has_header(document):
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


def split_name_lists(
    convention: Convention, tree: Tree, _session: Session
) -> tuple[Tree, list[Fact]]:
    """Make a list of the names in one text, and report tools that do not exist."""
    facts: list[Fact] = []
    if not isinstance(tree.value, dict):
        return tree, facts
    document, written = tree.document, tree.value
    for field in convention.fields:
        if field.name not in written:
            continue
        path, value = (field.name,), written[field.name]
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
                # The value becomes what the tool makes of it: digests and reach depend on that.
                tree = put(tree, path, [] if nothing else None, how="")
                continue
        elif field.refers == "tool" and convention.tools is not None:
            facts += _unknown_tools(convention, convention.tools, field, value, document)
        if isinstance(value, str) and field.split is not None:
            tree = put(tree, path, list(split_names(value, field.split)), how="")
    return tree, facts


#: Up to so many unknown tools of one field are reported one by one.
_MAX_UNKNOWN_LISTED = 3
#: Of more than these, so many are named in one finding, the last of them as the rest.
_MAX_UNKNOWN_NAMED = 4


def _unknown_tools(
    convention: Convention, known: frozenset[str], field: Field, value: Any, document: Document
) -> Iterator[Fact]:
    names = names_in_field(field, value)
    if known.issuperset(names) or not any(_unknown_tools_in(name, known) for name in names):
        return  # the usual field: no place of any name is needed
    unknown = [
        (tool, span)
        for name, span in locate_names(field, value, document)
        for tool in _unknown_tools_in(name, known)
        # A bracket that is not closed has a finding of its own, see `claude.permissions`.
        if "(" not in tool or convention.reader != "claude"
    ]
    where = f" in {convention.tool}"
    # Many of them have one cause: the field was written for another tool.
    if len(unknown) > _MAX_UNKNOWN_LISTED:
        tools = list(dict.fromkeys(tool for tool, _ in unknown))
        shown = tools if len(tools) <= _MAX_UNKNOWN_NAMED else tools[: _MAX_UNKNOWN_NAMED - 1]
        if len(shown) < len(tools):
            where = f" or any of {len(tools) - len(shown)} more" + where
        unknown = [("`, `".join(shown), unknown[0][1])]
    is_empty = all(_unknown_tools_in(name, known) for name in names)
    where += f", so nothing is left of `{field.name}`" if is_empty else ""
    # The tools that were meant stay allowed; an agent that is to have none of them is refused.
    denies = field.name.startswith("disallowed")
    is_grave = is_empty and (denies or convention.kind == "claude-agent")
    for name, span in unknown:
        first = name.partition("`")[0]
        guess = nearest(first, known)
        yield codes.UNKNOWN_REFERENCE.at(
            (field.name,),
            span=span,
            severity="error" if is_grave or (denies and guess is not None) else None,
            remedy=rename_remedy(first, guess, field, span, document),
            sort="tool",
            name=Shown(name),
            where=where,
            nearest=guess,
        )


def _unknown_tools_in(name: str, known: frozenset[str]) -> list[str]:
    """The tools that a name refers to and that do not exist."""
    if name in known:
        return []
    return [
        each.name
        for each in parse_references(name, "tool")
        # A bracket that is never closed has a finding of its own.
        if each.sort == "tool" and each.name not in known and not is_pattern(each.name)
        if not each.name.startswith("[")
    ]


def add_body(convention: Convention, tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Add the text below the header as a field; a key of that name in the header is unknown."""
    if convention.syntax not in ("header", "text") or not isinstance(tree.value, dict):
        return tree, []
    severity = convention.unknown or "warning"
    return header.add_body(tree, CONVENTION, session.kind, severity)


def report_suspicious(
    _convention: Convention, tree: Tree, session: Session
) -> tuple[Tree, list[Fact]]:
    return look_for_suspicious(tree, session)


def wrap_in_field(convention: Convention, tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Put the whole file under the one field that its convention names."""
    if convention.wraps is None or not isinstance(tree.value, dict):
        return tree, []
    origin = tree.provenance(ROOT).origin
    origins = Origins(origin, below={convention.wraps: tree.origins})
    return Tree({convention.wraps: tree.value}, origins), []


def check_servers(convention: Convention, tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Report what is wrong with the MCP servers in the settings of a tool."""
    if convention.servers is None:
        return tree, []
    from equipage.clients.mcp.servers import server_findings  # few files have servers

    return tree, server_findings(convention.servers, tree, session)


STAGES = (
    wrap_in_field,
    check_servers,
    find_cut_text,
    keep_text,
    refuse_values,
    split_name_lists,
    add_body,
    report_suspicious,
)


def required_fields_are_there(
    convention: Convention, config: Any, session: Session
) -> Iterator[Fact]:
    """Every field is there that the tool needs, or that makes the file useful."""
    document = session.documents[0] if session.documents else None
    if not isinstance(config, dict) or document is None:
        return
    is_needed = not convention.header_optional or convention.kind == "skill"
    if convention.syntax == "header" and is_needed and not has_header(document):
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
    if convention.kind == "skill" and written.get("name") is None and _is_in_claude_plugin(session):
        # In a plugin of Claude Code, as in its own folder, the folder names the skill.
        fields = tuple(field for field in fields if field.name != "name")
    if convention.wraps is not None:
        written = {convention.wraps: written} if config else {}
    declared = codex_role(session) if convention.kind == "codex-agent" else {}
    table = {**declared, **written, **config}
    missing = [*_missing_fields(fields, table, session.kind.model, ROOT)]
    for group, path, table in _groups_in(convention.fields, written):
        missing += _missing_fields(group.fields, table, group.title, path)
    # What a template lacks is filled in where it arrives.
    graves = [each for each in missing if each.severity == "error"]
    yield from graves if missing and is_template_or_fixture(session) else missing


def _groups_in(
    fields: tuple[Field, ...], value: Any, path: Path = ROOT
) -> Iterator[tuple[Group, Path, dict[str, Any]]]:
    """Every table inside a value that a group describes, with its path, the outer ones first."""
    if isinstance(value, dict):
        for field in fields:
            # Text holds no table.
            if field.name in value and value[field.name].__class__ is not str:
                yield from _groups_at(field.type, value[field.name], (*path, field.name))


def _groups_at(part: Any, value: Any, path: Path) -> Iterator[tuple[Group, Path, dict[str, Any]]]:
    if isinstance(part, Group) and isinstance(value, dict):
        yield part, path, value
        yield from _groups_in(part.fields, value, path)
    elif isinstance(part, CompositeType) and part.how == "either":
        for each in part.parts:
            yield from _groups_at(each, value, path)
    elif isinstance(part, CompositeType):
        expected = list if part.how == "list" else dict
        if isinstance(value, expected):
            entries = enumerate(value) if isinstance(value, list) else value.items()
            for step, each in entries:
                yield from _groups_at(part.parts[0], each, (*path, step))


def _is_in_claude_plugin(session: Session) -> bool:
    """Whether a skill lies in the `skills` folder of a plugin of Claude Code."""
    folder, name = os.path.split(os.path.dirname(os.path.dirname(session.path)))
    return name == "skills" and session.files.exists(os.path.join(folder, ".claude-plugin"))


def codex_role(session: Session) -> dict[str, Any]:
    """The name and description that the configuration of Codex gives to the agent of the file."""
    folder, file = os.path.split(session.path)
    path = os.path.join(os.path.dirname(folder), "config.toml")
    try:
        text = require_text(session.files.for_next_load().read(path)).text
        roles = get(load_value("toml", text), ("agents",))
    except (FileProblem, SyntaxProblem):
        return {}
    for name, role in roles.items() if isinstance(roles, dict) else ():
        config = get(role, ("config_file",))
        if isinstance(config, str) and os.path.basename(config) == file:
            return {"name": name, "description": get(role, ("description",))}
    return {}


def _missing_fields(
    fields: tuple[Field, ...], table: dict[str, Any], owner: Any, path: Path
) -> Iterator[Fact]:
    for field in fields:
        if field.required is None:
            continue
        # A key that was written instead has a finding of its own.
        value = table.get(field.name) if table.keys().isdisjoint(field.instead) else True
        if value is None or (isinstance(value, str) and not value.strip()):
            yield core_codes.MISSING_FIELD.at(
                path,
                part="value" if path else "key",
                severity=field.required,
                field=field.name,
                owner=owner if isinstance(owner, str) else title(owner),
                expected=_describe_type(field.type),
            )


def _describe_type(part: Any) -> str:
    """The type of a field in words."""
    if isinstance(part, CompositeType) and part.how == "either":
        return " or ".join(dict.fromkeys(map(_describe_type, part.parts)))
    if isinstance(part, Group | CompositeType):
        return "a list" if isinstance(part, CompositeType) and part.how == "list" else "a mapping"
    return describe(type_info(part))


#: A name that is filled in before anybody reads the file.
_PLACEHOLDER = re.compile(r"<[^<>]+>|\{\{.+?\}\}|\$\{.+?\}|\A\[.*\]\Z", re.DOTALL)


def name_is_valid(convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """A name has the form that the tool wants, and equals that of its file or folder."""
    rule, name = convention.name, own_name(config)
    if rule is None or name is None or not name.strip():
        return
    if _PLACEHOLDER.search(name):
        return
    normal = name if name.isascii() else unicodedata.normalize("NFKC", name)
    other = _name_of_place(rule.equals, normal, session)
    if not rule.allows(normal):
        # The name that it must have; else everything but letters and digits becomes a hyphen.
        better = re.sub(r"[\W_]+", "-", normal.casefold()).strip("-")
        is_folder = other is not None and rule.allows(other)
        better = other if other is not None and is_folder else better
        remedy = Remedy(f"rename to `{better}`", (Change(("name",), better),), safe=False)
        words = f"{rule.words}, at most {rule.longest} of them" if rule.longest else rule.words
        yield codes.NAME_FORM.at(
            ("name",),
            severity=rule.severity,
            remedy=remedy if is_folder else None,
            name=Shown(name),
            # The specification asks for the form; most tools take any name.
            tool="Agent Skills" if convention.kind == "skill" else convention.tool,
            rule=words,
            better=better if rule.allows(better) and better != name else None,
        )
    # One cause, one finding: a name of the right form may still be another than the folder's.
    elif other and other != normal and unicodedata.normalize("NFKC", other) != normal:
        yield codes.NAME_DIFFERS.at(
            ("name",),
            severity=rule.severity,
            remedy=Remedy(f"rename to `{other}`", (Change(("name",), other),), safe=False)
            if rule.allows(other)
            else None,
            name=Shown(name),
            place=rule.equals,
            other=other,
        )


def _name_of_place(place: str | None, name: str, session: Session) -> str | None:
    """The name of the file or of its folder; None if that does not matter to `name`."""
    source = session.documents[0].source if session.documents else None
    if place is None or source is None or source.filename is None:
        return None
    path = session.path.replace(os.sep, "/")  # links are not followed
    other = name_by_path(path, by_folder=place == "folder")
    if place == "folder" and other != name and _is_folder_name_arbitrary(session):
        return None
    return other


#: Folders named after the sort of thing in them, not after the thing itself.
_GENERIC_FOLDERS = frozenset({"skill", "skills", "public", "static"})
#: A folder with one of these is installed under the name that it gives.
_MANIFESTS = (".claude-plugin", ".codex-plugin", ".cursor-plugin", "gemini-extension.json")


def _is_folder_name_arbitrary(session: Session) -> bool:
    """Whether the folder may have any name: it says nothing about the skill, or is not kept."""
    folder = os.path.dirname(session.path)
    if folder == session.root or is_template_or_fixture(session):
        return True  # people choose the name of a folder that they clone or copy
    above, name = os.path.split(folder)
    if name in _GENERIC_FOLDERS and os.path.basename(above) != "skills":
        return True
    return any(session.files.exists(os.path.join(folder, each)) for each in _MANIFESTS)


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


def patterns_are_unquoted(convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """Cursor reads `globs` to the end of the line: quotes become a part of the pattern."""
    globs = config.get("globs") if isinstance(config, dict) else None
    if convention.kind != "cursor-rule" or not isinstance(globs, str) or not session.documents:
        return
    located = session.documents[0].locate([("globs",)]).get(("globs",))
    written = located.value.text() if located is not None else ""
    if located is not None and len(written) > 2 and written[0] == written[-1] in ("'", '"'):
        change = Change(ROOT, written[1:-1], span=located.value)
        remedy = Remedy("remove the quotes", (change,), safe=False)
        yield codes.PATTERN_QUOTED.at(("globs",), remedy=remedy, tool=convention.tool)


def place_is_read(convention: Convention, _config: Any, session: Session) -> Iterator[Fact]:
    """The tool reads files in this place."""
    if convention.unread is not None and session.documents:
        span = Span(session.documents[0].source, 0, 0)
        yield codes.PLACE_NOT_READ.at(span=span, tool=convention.tool, reason=convention.unread)


def workflow_is_compiled(_convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """A workflow of GitHub with `on` has its compiled form beside it, `name.lock.yml`, which GitHub
    runs; without `on`, others import it."""
    if not isinstance(config, dict) or config.get("on") is None:
        return
    folder, file = os.path.split(session.path)
    lock = file.removesuffix(".md") + ".lock.yml"
    if os.path.basename(folder) == "workflows" and not session.files.exists(f"{folder}/{lock}"):
        yield codes.WORKFLOW_NOT_COMPILED.at(("on",), part="key", lock=Shown(lock))


RULES = (
    place_is_read,
    required_fields_are_there,
    name_is_valid,
    texts_fit,
    extension_is_read,
    patterns_are_unquoted,
)
