"""Instructions and skills: the files that they import and link, and how long they may be.

Nothing outside the project is looked at, and every text is scanned once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import msgspec

from equipage.clients import codes
from equipage.clients.catalogue import Convention
from equipage.core.diagnostics import Code, Fact, Severity, Shown
from equipage.core.source import Source, Span
from equipage.core.text import lazy_regex
from equipage.loading.session import Session, is_template_or_fixture
from equipage.syntax import Range

#: `@path` at the start of a word; a backslash keeps a blank in the path.
_IMPORT = lazy_regex(r"(?<!\S)@(?P<path>(?:[^\s\\]|\\ )+)")
#: What every such path has in it, between code or not: most texts have none, and are not searched.
_MAY_IMPORT = lazy_regex(r"@(?:[\w./~-]|\\ )*\.(?:md|markdown|txt|json|ya?ml|toml)")
#: What surely is the path of a file, and not a person, a package or a decorator.
_FILE_PATH = lazy_regex(r"(?:~?/|\.{0,2}/)?[\w./ -]+\.(?:md|mdc|markdown|txt|json|ya?ml|toml)\Z")
#: Words that mean a path of the reader.
_PLACEHOLDER = lazy_regex(
    r"[<>{}$*|\\]|\.\.\.|/(?:blob|tree)/"
    r"|(?:^|/)(?:path|your|my|foo|bar|example|xxx?|name|file|relative)(?:[/._-]|\Z)",
    re.IGNORECASE,
)
#: The end of a path that is surely meant as a file or a folder.
_FILE_OR_FOLDER = lazy_regex(r"/\Z|\.\w+\Z")
_PUNCTUATION = ",.;:)!?'\""
#: How many files deep an import may be, and how many bytes of instructions Codex reads.
MAX_IMPORT_DEPTH = 4
MAX_CODEX_BYTES = 32 * 1024
MAX_CLAUDE_CHARACTERS = 40_000
_MAX_FILES = 200


class Import(msgspec.Struct, frozen=True):
    """A file that a text imports, and the place of its path."""

    path: str
    start: int
    end: int


def find_imports(text: str) -> Iterator[Import]:
    """The imports of a text that are surely meant as such."""
    if "@" not in text or not _MAY_IMPORT.search(text):
        return
    for match in _IMPORT.finditer(blank_out_code(text)):
        path = match["path"].replace("\\ ", " ")
        if _FILE_PATH.match(path.rstrip(_PUNCTUATION)) and not _PLACEHOLDER.search(path):
            yield Import(path, *match.span("path"))


def _resolve_in_project(path: str, folder: str, session: Session) -> str | None:
    """The file that a path means from a folder; None if it lies outside the project."""
    if path.startswith("~"):
        return None
    target = os.path.normpath(os.path.join(folder, path))
    return target if session.files.is_within(target, session.root) else None


def transitive_imports(path: str, session: Session, depth: int) -> tuple[str, ...]:
    """The files that a file imports, and those that they import, up to `depth` files deep."""
    trail, found, last = _ImportTrail(session), {path: None}, [path]
    for _ in range(depth):
        last = [each for file in last for each in trail.imports_of(file) if each not in found]
        found |= dict.fromkeys(last)
        if len(found) > _MAX_FILES:
            break
    return tuple(found)[1:]


def imports_exist(_convention: Convention, _config: Any, session: Session) -> Iterator[Fact]:
    """Imported files exist, do not import each other in circles, and are not too deep."""
    source = session.documents[0].source if session.documents else None
    if source is None or not _are_imports_followed(session) or is_template_or_fixture(session):
        return
    folder, trail = os.path.dirname(session.path), _ImportTrail(session)
    for each in find_imports(source.text):
        span = Span(source, each.start, each.end)
        target = _resolve_in_project(each.path, folder, session)
        if target is None:
            yield from _check_outside_import(each, span)
            continue
        if session.files.exists(target):
            yield from trail.follow(target, span, session.path)
            continue
        bare = each.path.rstrip(_PUNCTUATION)
        shorter = _resolve_in_project(bare, folder, session)
        if bare != each.path and shorter is not None and session.files.exists(shorter):
            yield codes.IMPORT_PUNCTUATION.at(
                span=span, written=Shown("@" + each.path), bare=Shown("@" + bare)
            )
        elif bare == each.path:
            yield codes.IMPORT_MISSING.at(span=span, file=Shown(each.path))


def _check_outside_import(each: Import, span: Span) -> Iterator[Fact]:
    """Report an import that leaves the project; whether the file exists is not checked."""
    if each.path != each.path.rstrip(_PUNCTUATION):
        return
    # Below the home, each person is meant to have a file of their own.
    severity: Severity = "note" if each.path.startswith("~") else "warning"
    yield codes.IMPORT_OUTSIDE.at(span=span, severity=severity, file=Shown(each.path))


def _are_imports_followed(session: Session) -> bool:
    """Whether a tool that follows imports reads the file."""
    name = os.path.basename(session.path)
    if name.startswith("AGENTS"):
        folder = os.path.dirname(session.path)
        names = ("CLAUDE.md", os.path.join(".claude", "CLAUDE.md"))
        return not any(session.files.exists(os.path.join(folder, each)) for each in names)
    return name != "copilot-instructions.md"


class _ImportTrail:
    """Follows imports from file to file, each file once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._imports: dict[str, list[str]] = {}
        self._outside: dict[str, list[Import]] = {}

    def follow(self, first: str, span: Span, start: str) -> Iterator[Fact]:
        """Findings about the files behind one import."""
        trails: dict[str, tuple[str, ...]] = {first: (start, first)}
        left = [first]
        while left:
            trail = trails[left.pop(0)]
            found = self.imports_of(trail[-1])
            # Reported once for each file, however many imports lead to it.
            for outer in self._outside.pop(trail[-1], ()):
                yield from _check_outside_import(outer, span)
            for each in found:
                name = os.path.relpath(each, os.path.dirname(start))
                if each in trail:
                    yield codes.IMPORT_CYCLE.at(span=span, file=Shown(name))
                    return
                if each in trails or len(trails) > _MAX_FILES:
                    continue
                if len(trail) > MAX_IMPORT_DEPTH:
                    yield codes.IMPORT_TOO_DEEP.at(
                        span=span, file=Shown(name), limit=MAX_IMPORT_DEPTH
                    )
                    return
                trails[each] = (*trail, each)
                left.append(each)

    def imports_of(self, file: str) -> list[str]:
        """The files in the project that a file imports."""
        if file not in self._imports:
            data = self._session.files.peek(file)
            text = "" if data is None else data.decode("utf-8", "replace")
            folder, exists = os.path.dirname(file), self._session.files.exists
            targets = {
                each: _resolve_in_project(each.path, folder, self._session)
                for each in find_imports(text)
            }
            self._outside[file] = [each for each, target in targets.items() if target is None]
            known = (target for target in targets.values() if target is not None)
            self._imports[file] = [target for target in known if exists(target)]
        return self._imports[file]


def links_lead_somewhere(convention: Convention, _config: Any, session: Session) -> Iterator[Fact]:
    """The files of the project that a text links to exist.

    Links into a missing folder are one finding, and so are all that leave the project.
    """
    source = session.documents[0].source if session.documents else None
    if source is None or is_template_or_fixture(session):
        return
    # A skill that lies in no folder of a tool is installed elsewhere, with other neighbours.
    moves = convention.kind == "skill" and convention.tool == "Agent Skills"
    missing: dict[str, list[Link]] = {}
    bases: list[str] = []
    outside: list[Link] = []
    for each in file_links(source.text):
        is_path = re.search(r"/|\.\w+\Z", each.path) and not _PLACEHOLDER.search(each.path)
        if not is_path or (moves and each.path.startswith("../")):
            continue
        if _is_quoted(source.text, each.range[0]):
            continue
        # One place after the other: nearly every link leads somewhere from the first one.
        inside: list[str] = []
        bases = bases or _link_bases(source, session)
        for target in _link_targets(each.path, bases, session):
            if session.files.exists(target):
                break
            inside.append(target)
        else:
            if not inside:
                outside.append(each)
                continue
            folders = map(os.path.dirname, inside)
            alone = any(map(session.files.exists, folders))
            # Without a suffix and an existing folder, it is a page of the website of the text.
            if not (alone or _FILE_OR_FOLDER.search(each.path)):
                continue
            key = each.path if alone else os.path.dirname(each.path)
            missing.setdefault(key, []).append(each)
    for key, (first, *others) in missing.items():
        where = "there" if key == first.path else "into the same missing folder"
        yield _link_fact(codes.LINK_MISSING, source, first, others, where)
    # `../../issues` leads to a page of the repository, where it is shown.
    if files := [each for each in outside if _FILE_PATH.match(each.path)]:
        yield _link_fact(codes.LINK_LEAVES, source, files[0], files[1:], "outside")


def _link_fact(code: Code, source: Source, first: Link, others: list[Link], where: str) -> Fact:
    """A finding about the first of some links, which says how many others are like it."""
    links_lead = "link leads" if len(others) == 1 else "links lead"
    more = f"; {len(others)} more {links_lead} {where}" if others else ""
    return code.at(span=Span(source, *first.range), file=Shown(first.path), more=more)


def _is_quoted(text: str, start: int) -> bool:
    """Whether quotes around a link make it an example of one."""
    return text.count('"', text.rfind("\n", 0, start) + 1, start) % 2 == 1


def _link_bases(source: Source, session: Session) -> list[str]:
    """Where links may begin: at the file, at the file that it is a link to, or at the root of the
    project, which is as good for an agent."""
    folders = [os.path.dirname(session.path), session.root]
    if source.filename is not None:
        folders.append(os.path.dirname(session.files.system.real(source.filename)))
    return list(dict.fromkeys(folders))


def _link_targets(path: str, bases: list[str], session: Session) -> Iterator[str]:
    """Where a link may lead inside the project."""
    for base in bases:
        target = _resolve_in_project(path.lstrip("/"), base, session)
        if target is not None:
            yield target


def instructions_fit(_convention: Convention, _config: Any, session: Session) -> Iterator[Fact]:
    """Instructions are not longer than the tools read."""
    source = session.documents[0].source if session.documents else None
    if source is None:
        return
    name, span = os.path.basename(session.path), Span(source, 0, 0)
    if name.startswith("CLAUDE") and len(source.text) > MAX_CLAUDE_CHARACTERS:
        limit, length = f"{MAX_CLAUDE_CHARACTERS:,} characters well", f"{len(source.text):,}"
        yield codes.FILE_TOO_LONG.at(
            span=span, tool="Claude Code", limit=limit, what="this file has", length=length
        )
    # Codex starts in folders with code, never in the folder of a tool.
    if name == "AGENTS.md" and "/." not in os.path.dirname(session.path)[len(session.root) :]:
        yield from _check_codex_chain(source, session)


def _check_codex_chain(source: Source, session: Session) -> Iterator[Fact]:
    """Codex joins the files from the root of the project down to the folder it works in."""
    before = 0
    folder = os.path.dirname(session.path)
    while len(folder) > len(session.root):
        folder = os.path.dirname(folder)
        data = session.files.peek(os.path.join(folder, "AGENTS.md"))
        before += len(data or b"")
    if before <= MAX_CODEX_BYTES < before + len(source.data):
        with_others = "this file and those above it have" if before else "this file has"
        yield codes.FILE_TOO_LONG.at(
            span=Span(source, 0, 0),
            tool="Codex",
            limit=f"the first {MAX_CODEX_BYTES:,} bytes of instructions",
            what=with_others,
            length=f"{before + len(source.data):,}",
        )


def instructions_are_read(
    _convention: Convention, _config: Any, session: Session
) -> Iterator[Fact]:
    """Claude Code reads AGENTS.md only without a CLAUDE.md, which may import it."""
    source = session.documents[0].source if session.documents else None
    if source is None or os.path.basename(session.path) != "AGENTS.md":
        return
    other = os.path.join(os.path.dirname(session.path), "CLAUDE.md")
    data = session.files.peek(other)
    if data is None or data == source.data or b"AGENTS.md" in data:
        return
    if session.files.is_within(other, session.root):
        yield codes.FILE_HIDDEN.at(span=Span(source, 0, 0), severity="note", other="CLAUDE.md")


# Markdown, as far as such files need it: what is code, where the links are. Offsets are those of
# the author's text, and every function is linear in its length.

#: A line that opens or closes a block of code, in a list or a quotation perhaps.
_FENCE = lazy_regex(
    r"^[ \t]{0,12}(?:[-*+>][^\S\n]{1,4}|\d{1,3}[.)][^\S\n]{1,4})?"
    r"(?P<fence>`{3,}|~{3,})(?P<rest>[^\n]*)",
    re.MULTILINE,
)
_TICKS = lazy_regex(r"`+")
_PARAGRAPH = lazy_regex(r"\n[ \t]*\n")
#: An inline link with its address; addresses with brackets or blanks are in angle brackets.
_LINK = lazy_regex(
    r"""\]\((?P<open><)?(?P<target>(?(open)[^<>\n]|[^()\s<>])+)(?(open)>)(?:\s+"[^"\n]*")?\)"""
)
_SCHEME_WORDS = r"[A-Za-z][A-Za-z0-9+.-]*:|//|#"
_SCHEME = lazy_regex(_SCHEME_WORDS)
#: How every link to a file begins, whether or not it is in code.
_BEGINS_LINK = lazy_regex(rf"\]\((?:<|(?!{_SCHEME_WORDS})[^()\s<>])")


class Link(msgspec.Struct, frozen=True):
    """A link to a file: the path as it is meant, without a fragment, and its place."""

    path: str
    range: Range


def blank_out_code(text: str) -> str:
    """The text with blanks for code and comments; everything else keeps its place."""
    text = _blank_out_comments(_blank_out_blocks(text))
    parts: list[str] = []
    position = 0
    for start, end in _code_spans(text):
        parts += (text[position:start], _blanks_like(text[start:end]))
        position = end
    return "".join(parts) + text[position:]


def _blanks_like(text: str) -> str:
    if "\n" not in text:
        return " " * len(text)  # nearly every code span
    return "\n".join([" " * len(line) for line in text.split("\n")])


def _blank_out_blocks(text: str) -> str:
    """Blank out the blocks between fences; one that is never closed reaches to the end."""
    if "```" not in text and "~~~" not in text:
        return text
    parts: list[str] = []
    opened, fence, position = 0, "", 0
    for found in _FENCE.finditer(text):
        if not fence:
            # Backticks in the rest of the line make it a code span.
            if found["fence"][0] != "`" or "`" not in found["rest"]:
                opened, fence = found.start(), found["fence"]
        elif found["fence"].startswith(fence) and not found["rest"].strip():
            parts += (text[position:opened], _blanks_like(text[opened : found.end()]))
            fence, position = "", found.end()
    if fence:
        parts += (text[position:opened], _blanks_like(text[opened:]))
        position = len(text)
    return "".join(parts) + text[position:]


def _blank_out_comments(text: str) -> str:
    parts: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts += (text[position:start], _blanks_like(text[start : end + 3]))
        position = end + 3
    return "".join(parts) + text[position:]


def _code_spans(text: str) -> Iterator[Range]:
    """The code spans: from a run of backticks to the next of its length in the paragraph."""
    opened: dict[int, int] = {}
    position = 0
    while (begin := text.find("`", position)) >= 0:
        # Between spans nothing is open, and the end of a paragraph closes nothing.
        if opened and _PARAGRAPH.search(text, position, begin):
            opened.clear()
        ticks = _TICKS.match(text, begin)
        position = begin + 1 if ticks is None else ticks.end()
        start = opened.get(position - begin)
        if start is None:
            opened[position - begin] = begin
            continue
        yield start, position
        # What was opened inside the span was text of it.
        opened = {size: at for size, at in opened.items() if at < start}


def file_links(text: str) -> Iterator[Link]:
    """The links of a text to files, code left out."""
    if "](" not in text or _BEGINS_LINK.search(text) is None:
        return  # nearly every link of most texts is one to the web
    for match in _LINK.finditer(blank_out_code(text)):
        target = match["target"]
        if _SCHEME.match(target) is None:
            path = unquote(re.split(r"[#?]", target, maxsplit=1)[0])
            if path:
                yield Link(path, match.span("target"))
