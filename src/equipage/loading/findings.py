"""Facts to diagnostics: every finding gets its place in the text that somebody can edit.

Places are looked up once per document for all facts that need one. A finding behind includes is placed in
the file that wrote the value; the way there is told by related places. Equal findings are told once, with a
count, so that a slip in a file included a thousand times is one finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from equipage.core import codes as core_codes
from equipage.core.diagnostics import (
    Also,
    Change,
    Code,
    Diagnostic,
    Edit,
    Fact,
    Fix,
    Label,
    Part,
    Remedy,
    Severity,
)
from equipage.core.path import Path, pointer
from equipage.core.source import Source, Span
from equipage.core.text import Guesses, expression
from equipage.loading.tree import Origin, Story, Tree, Undone
from equipage.loading.wording import Redactor, help_of, message_of, path_of
from equipage.syntax.document import Document, Located

#: Texts without it ignore nothing, and need not be searched.
IGNORE_MARK = "equipage:"
_IGNORE = expression(r"(?:#|//|<!--)\s*equipage:\s*ignore\[(?P<codes>[^\]]*)\]")


class Placer:
    """Turns the facts of one load into diagnostics."""

    def __init__(
        self, tree: Tree | None, documents: Iterable[Document], *, file: str | None = None
    ) -> None:
        self.tree = tree
        self.undone = Undone(tree.moves if tree is not None else ())
        self.file = file  #: named when a finding has no place at all
        self.documents = tuple(documents)
        self.redactor = Redactor()
        self.located: dict[tuple[int, Path], Located] = {}

    def place(self, facts: Sequence[Fact]) -> list[Diagnostic]:
        """The diagnostics of `facts`, sorted by place, equal ones counted."""
        sources = [document.source for document in self.documents]
        sources += [each.span.source for each in facts if each.span is not None]
        self.redactor = Redactor(self.documents, dict.fromkeys(sources))
        self._locate_all(facts)
        return deduplicated(self._diagnostic(each) for each in facts)

    def _locate_all(self, facts: Iterable[Fact]) -> None:
        """One pass per document for everything any fact will ask about."""
        wanted: dict[int, tuple[Document, dict[Path, None]]] = {}
        for origin in self._origins_needed(facts):
            document, paths = wanted.setdefault(id(origin.document), (origin.document, {}))
            for depth in range(len(origin.path) + 1):
                paths[origin.path[:depth]] = None
        for number, (document, paths) in wanted.items():
            for path, located in document.locate(paths).items():
                self.located[number, path] = located

    def _origins_needed(self, facts: Iterable[Fact]) -> Iterable[Origin]:
        for each in facts:
            yield from self._story_origins(each)
            for also in each.also:
                yield from self._story_origins(also)
            for change in each.remedy.changes if each.remedy else ():
                yield from self._story_origins(change)

    def _story_origins(self, each: Fact | Also | Change) -> Iterable[Origin]:
        story = self._story(each)
        if story is not None:
            yield story.origin
            yield from (via.at for via in story.via if via.at is not None)
            yield from story.merged

    def _story(self, each: Fact | Also | Change) -> Story | None:
        """Where a fact's subject came from, unless the fact already says its span."""
        if each.span is not None or each.part == "nowhere":
            return None
        if each.origin is not None:
            return Story(each.origin)
        if self.tree is None:
            return None
        story = self.tree.story(each.path)
        if each.part == "key" and each.path and not story.origin.path:
            # The value is a whole other file; its key stands where the file was brought in.
            above = self.tree.story(each.path[:-1])
            return Story(above.origin.child(each.path[-1:]), above.via)
        return story

    def _authored(self, each: Fact | Also) -> Path:
        if each.origin is not None:
            path: Path = each.origin.path
            return path
        return (
            each.path if each.span is not None or self.tree is None else self.undone.path(each.path)
        )

    def _diagnostic(self, each: Fact) -> Diagnostic:
        code = each.code
        story = self._story(each)
        span = each.span or (self._span(story.origin, each.part) if story else None)
        authored = self._authored(each)
        severity = each.severity or code.severity
        words = code.words.at(severity)
        return Diagnostic(
            code=code.name,
            severity=severity,
            message=message_of(words, each.values, self.redactor),
            path=path_of(authored, self.redactor),
            pointer=pointer(self.redactor.path(authored)),
            span=span,
            help=help_of(words, each.values, self.redactor),
            fix=self._fix(each.remedy) if each.remedy else None,
            related=(*map(self._label, each.also), *(self._chain(story) if story else ())),
            file=None if span or each.part == "nowhere" else self.file,
        )

    def _label(self, also: Also) -> Label:
        story = self._story(also)
        span = also.span or (self._span(story.origin, also.part) if story else None)
        return Label(span, also.message, path_of(self._authored(also), self.redactor))

    def _chain(self, story: Story) -> Iterable[Label]:
        """The directives a value came through, the innermost first, and what was laid over a merged mapping."""
        for via in reversed(story.via):
            if via.at is not None:
                yield Label(
                    self._span(via.at, "value"), via.how, path_of(via.at.path, self.redactor)
                )
        for origin in story.merged:
            yield Label(
                self._span(origin, "value"), "overridden here", path_of(origin.path, self.redactor)
            )

    def _span(self, origin: Origin, part: Part) -> Span:
        """The narrowest span for a part; for one that does not exist, that of the entry it would belong to."""
        number = id(origin.document)
        for depth in range(len(origin.path), -1, -1):
            found = self.located.get((number, origin.path[:depth]))
            if found is None:
                continue
            if found.key is not None and (
                part == "key" or depth < len(origin.path) or _spans_lines(found.value)
            ):
                return found.key
            return found.value if depth == len(origin.path) and depth else _first_line(found.value)
        return Span(origin.document.source, origin.document.window[0], origin.document.window[0])

    def _fix(self, remedy: Remedy) -> Fix | None:
        edits = [self._edit(change) for change in remedy.changes]
        known = tuple(each for each in edits if each is not None)
        return (
            Fix(remedy.message, known, remedy.safe) if known and len(known) == len(edits) else None
        )

    def _edit(self, change: Change) -> Edit | None:
        """The edit of a change to something that exists as written, else None: nothing is edited on a guess."""
        from equipage.loading.editing import edit_at, edit_of_span  # only some findings have a fix

        if change.span is not None and change.effect is not None:
            return Edit(change.span, str(change.text), change.effect)
        if change.span is not None:
            source = change.span.source
            document = next((each for each in self.documents if each.source is source), None)
            return None if document is None else edit_of_span(document, change.span, change)
        story = self._story(change)
        if story is None:
            return None
        found = self.located.get((id(story.origin.document), story.origin.path))
        return (
            None
            if found is None
            else edit_at(story.origin.document, story.origin.path, found, change)
        )


def _spans_lines(span: Span) -> bool:
    text = span.text()
    return "\n" in text or "\r" in text


def _first_line(span: Span) -> Span:
    lines = span.text().splitlines()
    return Span(span.source, span.start, span.start + (len(lines[0].rstrip()) if lines else 0))


def deduplicated(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sorted by place; equal code, place and message are one finding with the first chain and a count."""
    seen: dict[tuple[object, ...], Diagnostic] = {}
    counts: dict[tuple[object, ...], int] = {}
    for each in diagnostics:
        place = (
            (id(each.span.source), each.span.start, each.span.end) if each.span else (each.name,)
        )
        key = (each.code, each.severity, place, each.message)
        seen.setdefault(key, each)
        counts[key] = counts.get(key, 0) + each.count
    found = [_counted(each, counts[key]) for key, each in seen.items()]
    return sorted(found, key=Diagnostic.sort_key)


def _counted(each: Diagnostic, count: int) -> Diagnostic:
    if each.count == count:
        return each
    fields = {name: getattr(each, name) for name in each.__struct_fields__}
    return Diagnostic(**{**fields, "count": count})


def apply_ignores(
    diagnostics: Sequence[Diagnostic],
    sources: Iterable[Source],
    codes: Callable[[], Mapping[str, Code]],
    kept: Sequence[Diagnostic] = (),
) -> list[Diagnostic]:
    """The diagnostics without those a `# equipage: ignore[code]` on their line silences, plus one for each such
    comment that silences nothing. `kept` are those that cannot be silenced: whoever tries is told so."""
    left, fixed = _by_line(diagnostics), _by_line(kept)
    known: Mapping[str, Code] | None = None
    guesses = Guesses()
    for source in sources:
        for match in _IGNORE.finditer(source.text):
            line = source.position(match.start())[0]
            start = match.start("codes")
            for part in re.finditer(r"[^,\s]+", match["codes"]):
                key = (id(source), line, part.group())
                if left.pop(key, None) is None:
                    known = codes() if known is None else known
                    span = Span(source, start + part.start(), start + part.end())
                    unused = _unused(part.group(), span, known, guesses, refused=key in fixed)
                    # It stands on a line like any other finding, so that a later comment there can silence it.
                    left.setdefault((id(source), line, unused.code), []).append(unused)
    return sorted((each for found in left.values() for each in found), key=Diagnostic.sort_key)


def _by_line(diagnostics: Iterable[Diagnostic]) -> dict[tuple[int, int, str], list[Diagnostic]]:
    """What a comment can name: by source, line and code."""
    found: dict[tuple[int, int, str], list[Diagnostic]] = {}
    for each in diagnostics:
        place = (id(each.span.source), each.span.line) if each.span is not None else (0, 0)
        found.setdefault((*place, each.code), []).append(each)
    return found


def _unused(
    name: str, span: Span, codes: Mapping[str, Code], guesses: Guesses, *, refused: bool
) -> Diagnostic:
    code = core_codes.UNUSED_IGNORE if name in codes else core_codes.UNKNOWN_CODE
    instead = (
        "an error that keeps the configuration from existing cannot be silenced"
        if refused
        else "remove it"
    )
    guess = guesses.nearest(name, codes) if name not in codes else name
    values: dict[str, object] = {"code": name, "nearest": guess, "instead": instead}
    redactor = Redactor()
    return Diagnostic(
        code.name,
        code.severity,
        message_of(code.words, values, redactor),
        span=span,
        help=help_of(code.words, values, redactor),
    )


def finding(
    code: Code,
    file: str,
    values: Mapping[str, object] | None = None,
    *,
    severity: Severity | None = None,
) -> Diagnostic:
    """A finding about a whole file."""
    values, severity = values or {}, severity or code.severity
    words, redactor = code.words.at(severity), Redactor()
    return Diagnostic(
        code.name,
        severity,
        message_of(words, values, redactor),
        help=help_of(words, values, redactor),
        file=file,
    )
