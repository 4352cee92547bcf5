"""Facts to diagnostics: every finding gets its place in a text that people can edit.

Places are looked up once per document for all facts that need one. A finding behind includes is
placed in the file that wrote the value; related places show the way there. Equal findings are
reported once, with a count, so that a slip in a file included a thousand times is one finding.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

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
from equipage.core.text import Guesses, lazy_regex, split_lines
from equipage.loading.edits import edit_at, edit_of_span, touches_variable
from equipage.loading.tree import Origin, Provenance, Tree, locate_all
from equipage.loading.wording import Redactor, help_of, message_of, path_of
from equipage.syntax.document import Document, EntrySpans

#: A comment of YAML, TOML, JSON with comments or Markdown that names codes to ignore on its line.
_IGNORE_COMMENT = lazy_regex(r"(?:#|//|<!--)\s*equipage:\s*ignore\[(?P<codes>[^\]]*)\]")

#: Codes for what parsing refuses → the part of an entry that each is about.
_REFUSED_PARTS: dict[str, Part] = {
    core_codes.NON_STRING_KEY: "key",
    core_codes.NOT_FINITE: "value",
    core_codes.UNKNOWN_TAG: "value",
}


#: How many findings of one code are shown in a file; the others are counted in one more.
MAX_FINDINGS_PER_CODE = 100
#: Findings that are counted together: a code, a severity, and the name of a file.
Family = tuple[str, Severity, str | None]


class PendingIgnore(msgspec.Struct, frozen=True):
    """A comment that ignores a finding about several files, if there is one."""

    code: str
    unused: Diagnostic  #: the finding about the comment if there is none

    def silences(self, each: Diagnostic) -> bool:
        """Whether it is at the finding, or at another file that the finding is about."""
        own = self.unused.span
        if each.code != self.code or own is None:
            return False
        spans = (each.span, *(label.span for label in each.related))
        # Not by identity: a file may have been read twice.
        return any(
            span is not None and span.source.name == own.source.name and span.line == own.line
            for span in spans
        )


class Placer:
    """Turns the facts of one load into diagnostics."""

    def __init__(
        self,
        tree: Tree | None,
        documents: Iterable[Document],
        *,
        file: str | None = None,
        sources: Iterable[Source] = (),
        layered: bool = False,
    ) -> None:
        """`layered` says that what one file says may be elsewhere in the whole: layers merge."""
        self.tree, self.layered = tree, layered
        self.file = file  #: named when a finding has no place at all
        self.documents = tuple(documents)
        self.sources = tuple(sources)  #: everything the load read
        self.redactor = Redactor()
        self.located: dict[tuple[int, Path], EntrySpans] = {}
        self._came_to: dict[Source, dict[Path, Path]] | None = None

    def place(self, facts: Sequence[Fact]) -> list[Diagnostic]:
        """The diagnostics of `facts`, sorted by place, equal ones counted."""
        return limit_findings(*self.place_and_count(facts))

    def place_and_count(
        self, facts: Sequence[Fact], commented: Collection[str] = ()
    ) -> tuple[list[Diagnostic], Counter[Family]]:
        """The diagnostics of `facts`, and how many more of each family were left out.

        Findings of codes in `commented` are all built: only then is it known which are silenced.
        """
        # Anything the load read may hold a value of the environment that a sentence must not show.
        sources = [*self.sources, *(document.source for document in self.documents)]
        sources += [each.span.source for each in facts if each.span is not None]
        self.redactor = Redactor(self.documents, dict.fromkeys(sources))
        facts = list(self._drop_facts_of_refused_parts(facts))
        shown, more = self._limit_facts(facts, commented)
        # The entries around each, too: what is missing is shown where it should be.
        self.located |= locate_all(
            Origin(origin.document, origin.path[:depth])
            for origin in self._origins_needed(shown)
            for depth in range(len(origin.path) + 1)
        )
        return merge_duplicates(map(self._diagnostic, shown)), more

    def _limit_facts(
        self, facts: Sequence[Fact], commented: Collection[str]
    ) -> tuple[list[Fact], Counter[Family]]:
        """The facts to show, and how many others of each family there are.

        Facts about one place count once, so that a slip in a file that is included a thousand times
        stays one finding.
        """
        families: dict[Family, list[Fact]] = {}
        for each in facts:
            severity = each.severity or each.code.severity
            families.setdefault((each.code.name, severity, self._file_of(each)), []).append(each)
        hidden: set[int] = set()
        more: Counter[Family] = Counter()
        for family, found in families.items():
            # Which of them a comment silences is known only once each has its line.
            most = len(found) if family[0] in commented else MAX_FINDINGS_PER_CODE
            if len(found) <= most and not any(each.more for each in found):
                continue
            places: dict[object, None] = {}
            for each in found:
                place = id(each) if each.more else self._place_of(each)
                if each.more or (place not in places and len(places) >= most):
                    hidden.add(id(each))
                    more[family] += each.more or 1
                else:
                    places[place] = None
        return [each for each in facts if id(each) not in hidden], more

    def _file_of(self, each: Fact) -> str | None:
        """The name of the file that a fact will be placed in."""
        if each.span is not None:
            return each.span.source.name
        # A fact that only counts others has no place of its own, but belongs to a file.
        story = self._provenance_of(
            msgspec.structs.replace(each, part="value") if each.more else each
        )
        return self.file if story is None else story.origin.document.source.name

    def _place_of(self, each: Fact) -> object:
        if each.span is not None:
            return id(each.span.source), each.span.start, each.span.end
        story = self._provenance_of(each)
        return each.path if story is None else (id(story.origin.document), story.origin.path)

    def _drop_facts_of_refused_parts(self, facts: Sequence[Fact]) -> Iterator[Fact]:
        """Drop the facts about a key or value that parsing already refused.

        Both findings would have the same cause and the same correction.
        """
        refused = {
            (id(each.span.source), each.path, _REFUSED_PARTS[each.code]): each
            for each in facts
            if each.span is not None
            and each.code in _REFUSED_PARTS
            and (each.severity or each.code.severity) == "error"
        }
        also_wrong: set[int] = set()
        left: list[Fact] = []
        for each in facts:
            story = self._provenance_of(each) if refused else None
            if story is not None:
                origin = story.origin
                refusal = refused.get((id(origin.document.source), origin.path, each.part))
                if refusal is not None:
                    also_wrong.add(id(refusal))
                    continue
            left.append(each)
        # Quotes would only lead to the next error.
        for each in left:
            values = {**each.values, "quoted": None, "instead": "remove it, or write another name"}
            yield msgspec.structs.replace(each, values=values) if id(each) in also_wrong else each

    def _origins_needed(self, facts: Iterable[Fact]) -> Iterator[Origin]:
        for fact in facts:
            changes = fact.remedy.changes if fact.remedy else ()
            subjects: list[Fact | Also | Change] = [fact, *fact.also, *changes]
            for each in subjects:
                story = self._provenance_of(each)
                if story is not None:
                    yield story.origin
                    yield from (via.at for via in story.via if via.at is not None)
                    yield from story.merged

    def _provenance_of(self, each: Fact | Also | Change) -> Provenance | None:
        """Where a fact's subject came from, unless the fact already says its span."""
        if each.span is not None or each.part == "nowhere":
            return None
        if each.origin is not None:
            return Provenance(each.origin)
        if self.tree is None:
            return None
        story = self.tree.provenance(each.path)
        if each.part == "key" and each.path and not story.origin.path:
            # The value is a whole other file; its key is where the file was brought in.
            above = self.tree.provenance(each.path[:-1])
            return Provenance(above.origin.child(each.path[-1:]), above.via)
        return story

    def _path_as_written(self, each: Fact | Also) -> Path:
        """The path in the whole configuration, whichever file a fact is about."""
        if each.origin is not None:
            return self._path_of_origin(each.origin)
        if each.span is not None:
            return self._path_of_part(each.span.source, each.path)
        return each.path if self.tree is None else self.tree.path_as_written(each.path)

    def _path_of_origin(self, origin: Origin) -> Path:
        return self._path_of_part(origin.document.source, origin.path)

    def _path_of_part(self, source: Source, path: Path) -> Path:
        """The path in the whole configuration of what a source has at a path of its own.

        A file that came to several places counts where it came first.
        """
        if self.tree is None or (source is self.tree.document.source and not self.layered):
            return path
        if self._came_to is None:
            self._came_to = self.tree.origins.places_by_source(every=self.layered)
        places = self._came_to.get(source, {})
        known = next((n for n in range(len(path), -1, -1) if path[:n] in places), None)
        if known is None:
            return path  # nothing of it is left in the configuration
        return self.tree.path_as_written(places[path[:known]] + path[known:])

    def _diagnostic(self, each: Fact) -> Diagnostic:
        code, redactor = each.code, self.redactor
        story = self._provenance_of(each)
        span = each.span or (self._span(story.origin, each.part) if story else None)
        authored = self._path_as_written(each)
        # A finding about a file outside the allowed folders shows none of its text.
        redactor.blind = span is not None and span.source.outside
        severity = each.severity or code.severity
        words = code.words.adapt_to_severity(severity)
        fix = self._fix(each.remedy) if each.remedy else None
        advice = help_of(words, each.values, redactor)
        if fix is None and each.remedy and any(map(self._holds_variable, each.remedy.changes)):
            why = "there is no fix, because a variable is part of the value"
            advice = f"{advice}; {why}" if advice else why
        found = Diagnostic(
            code=code.name,
            severity=severity,
            message=message_of(words, each.values, redactor),
            path=path_of(authored, redactor),
            pointer=pointer(redactor.redact_path(authored)),
            span=span,
            help=advice,
            fix=fix,
            related=(
                *map(self._label, each.also),
                *(self._provenance_labels(story) if story else ()),
            ),
            file=None if span or each.part == "nowhere" else self.file,
        )
        return found.without_text_outside()

    def _label(self, also: Also) -> Label:
        story = self._provenance_of(also)
        span = also.span or (self._span(story.origin, also.part) if story else None)
        return Label(span, also.message, path_of(self._path_as_written(also), self.redactor))

    def _provenance_labels(self, story: Provenance) -> Iterator[Label]:
        """Labels for the `<<`, the directives and the overrides that a value came through.

        The innermost directive comes first.
        """
        located = self.located.get((id(story.origin.document), story.origin.path))
        if located is not None and located.through is not None:
            merged_at = path_of(self._path_of_origin(story.origin), self.redactor)
            yield Label(located.through, "merged here", merged_at)
        places = [(via.at, via.how) for via in reversed(story.via) if via.at is not None]
        places += [(origin, "overridden here") for origin in story.merged]
        for origin, words in places:
            span = self._span(origin, "value")
            yield Label(span, words, path_of(self._path_of_origin(origin), self.redactor))

    def _span(self, origin: Origin, part: Part) -> Span:
        """The narrowest span for a part; for one that is missing, that of the entry around it."""
        number, path = id(origin.document), origin.path
        for depth in range(len(path), -1, -1):
            found = self.located.get((number, path[:depth]))
            if found is None:
                continue
            is_part = depth == len(path)
            if found.key is not None and (
                part == "key" or not is_part or _spans_lines(found.value)
            ):
                return found.key
            return found.value if is_part and depth else _first_line(found.value)
        start = origin.document.window[0]
        return Span(origin.document.source, start, start)

    def _fix(self, remedy: Remedy) -> Fix | None:
        """The fix of a remedy, if every change of it can be made."""
        edits = [self._edit(change) for change in remedy.changes]
        known = tuple(each for each in edits if each is not None)
        complete = known and len(known) == len(edits)
        return Fix(remedy.message, known, remedy.safe) if complete else None

    def _edit(self, change: Change) -> Edit | None:
        """The edit of a change to what exists as written; nothing is edited on a guess."""
        if change.span is not None and change.effect is not None:
            return Edit(change.span, str(change.text), change.effect)
        if change.span is not None:
            source = change.span.source
            document = next((each for each in self.documents if each.source is source), None)
            return None if document is None else edit_of_span(document, change.span, change)
        story = self._provenance_of(change)
        if story is None:
            return None
        document, path = story.origin.document, story.origin.path
        found = self.located.get((id(document), path))
        if found is not None and change.as_written:
            change = msgspec.structs.replace(change, text=found.value.text())
        return None if found is None else edit_at(document, path, found, change)

    def _holds_variable(self, change: Change) -> bool:
        """Whether a variable is part of the value that a change would replace."""
        story = self._provenance_of(change) if change.part == "value" else None
        if story is None:
            return False
        found = self.located.get((id(story.origin.document), story.origin.path))
        return found is not None and touches_variable(story.origin.document, found.value)


def _spans_lines(span: Span) -> bool:
    text = span.text()
    return "\n" in text or "\r" in text


def _first_line(span: Span) -> Span:
    line = split_lines(span.text())[0].rstrip()
    return Span(span.source, span.start, span.start + len(line))


def merge_duplicates(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Merge equal findings into one with a count, and sort them by place."""
    seen: dict[tuple[object, ...], Diagnostic] = {}
    counts: Counter[tuple[object, ...]] = Counter()
    for each in diagnostics:
        key = each.identity()
        seen.setdefault(key, each)
        counts[key] += each.count
    found = [
        each if each.count == counts[key] else msgspec.structs.replace(each, count=counts[key])
        for key, each in seen.items()
    ]
    return sorted(found, key=Diagnostic.sort_key)


def limit_findings(
    diagnostics: Iterable[Diagnostic], more: Mapping[Family, int]
) -> list[Diagnostic]:
    """The findings to show, sorted by place; of each family, one says how many others there are."""
    shown: list[Diagnostic] = []
    counts, hidden = Counter[Family](), Counter(more)
    for each in diagnostics:
        family = each.code, each.severity, each.name
        counts[family] += 1
        if counts[family] <= MAX_FINDINGS_PER_CODE:
            shown.append(each)
        else:
            hidden[family] += 1
    shown += [_hidden_findings_summary(*family, count) for family, count in hidden.items() if count]
    return sorted(shown, key=Diagnostic.sort_key)


def _hidden_findings_summary(
    code: str, severity: Severity, file: str | None, count: int
) -> Diagnostic:
    """The finding that says how many others of a family are not shown."""
    s = "" if count == 1 else "s"
    message = f"{count:,} more finding{s} of this code in the file, not shown"
    advice = "fix those that are shown; a check shows the next ones then"
    return Diagnostic(code, severity, message, help=advice, file=file, count=count)


def merge_across_loads(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Merge the findings of several loads: one in a file that several read is reported once."""
    seen: dict[tuple[object, ...], Diagnostic] = {}
    for each in diagnostics:
        seen.setdefault(each.identity(), each)
    return sorted(seen.values(), key=Diagnostic.sort_key)


def apply_ignores(
    diagnostics: Sequence[Diagnostic],
    sources: Iterable[Source],
    codes: Callable[[], Mapping[str, Code]],
    fixed: Sequence[Diagnostic] = (),
    later: Collection[str] = (),
    hidden: Collection[str] = (),
    *,
    others: bool = False,
) -> tuple[list[Diagnostic], list[PendingIgnore]]:
    """The diagnostics without those that a `# equipage: ignore[code]` on their line silences.

    Each comment that silences nothing adds a finding. If its code is one of `later`, which only
    rules about several files report, the comment is returned as pending instead. Findings in
    `fixed` cannot be silenced. A comment about a code of `hidden`, not all of whose findings were
    built, is never reported as unused. With `others` there are more codes than `codes` knows, those
    of rules that say them only when they find something: then only a misspelt code is unknown.
    """
    waiting: list[PendingIgnore] = []
    left, refused = _group_by_line(diagnostics), _group_by_line(fixed)
    known: Mapping[str, Code] | None = None
    guesses = Guesses()
    for source in sources:
        for match in _IGNORE_COMMENT.finditer(source.text):
            line = source.position(match.start())[0]
            start = match.start("codes")
            for part in re.finditer(r"[^,\s]+", match["codes"]):
                # Once for each comment: a second one on the line has nothing left to silence.
                key = (id(source), line, part.group())
                if left.pop(key, None) is None and part.group() not in hidden:
                    known = codes() if known is None else known
                    if others and not _is_or_resembles(part.group(), known, guesses):
                        continue
                    span = Span(source, start + part.start(), start + part.end())
                    unused = _unused_ignore_finding(
                        part.group(), span, known, guesses, refused=key in refused
                    )
                    if part.group() in later and key not in refused:
                        waiting.append(PendingIgnore(part.group(), unused))
                        continue
                    # It is a finding of this line, so that a later comment there can silence it.
                    left.setdefault((id(source), line, unused.code), []).append(unused)
    found = (each for those in left.values() for each in those)
    return sorted(found, key=Diagnostic.sort_key), waiting


def _is_or_resembles(name: str, codes: Mapping[str, Code], guesses: Guesses) -> bool:
    return name in codes or guesses.nearest(name, codes) is not None


def codes_in_comments(sources: Iterable[Source]) -> set[str]:
    """The codes that comments name, whether there are such codes or not."""
    written = (codes for each in sources for codes in _IGNORE_COMMENT.findall(each.text))
    return {code for codes in written for code in re.findall(r"[^,\s]+", codes)}


def _group_by_line(
    diagnostics: Iterable[Diagnostic],
) -> dict[tuple[int, int, str], list[Diagnostic]]:
    """Group findings by source, line and code, which is how a comment names them."""
    found: dict[tuple[int, int, str], list[Diagnostic]] = {}
    for each in diagnostics:
        place = (id(each.span.source), each.span.line) if each.span is not None else (0, 0)
        found.setdefault((*place, each.code), []).append(each)
    return found


def _unused_ignore_finding(
    name: str, span: Span, codes: Mapping[str, Code], guesses: Guesses, *, refused: bool
) -> Diagnostic:
    instead = "an error that prevents loading cannot be ignored" if refused else "remove it"
    values: dict[str, object] = {"code": name, "nearest": name, "instead": instead}
    if name in codes:
        return finding(core_codes.UNUSED_IGNORE, None, values, span=span)
    values["nearest"] = guesses.nearest(name, codes)
    return finding(core_codes.UNKNOWN_CODE, None, values, span=span)


def finding(
    code: Code,
    file: str | None,
    values: Mapping[str, object] = {},
    *,
    severity: Severity | None = None,
    span: Span | None = None,
) -> Diagnostic:
    """A finding about a whole file, or about a span."""
    severity, redactor = severity or code.severity, Redactor()
    words = code.words.adapt_to_severity(severity)
    message, advice = message_of(words, values, redactor), help_of(words, values, redactor)
    return Diagnostic(code.name, severity, message, span=span, help=advice, file=file)
