"""Findings are values.

The stages yield *facts*: a code, a path and the values involved, no sentences. `loading.findings`
turns facts into `Diagnostic`s, which carry words and places and can be printed, compared, sorted
and sent elsewhere. One exception, `LoadError`, carries them to the caller.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from equipage.core.path import ROOT, Path
from equipage.core.source import Span
from equipage.core.text import visible, visible_at_line_start

#: How bad a finding is: an error prevents loading.
Severity = Literal["error", "warning", "note"]
#: The part of an entry that a finding is about; `nowhere`: no text, such as a limit set outside.
Part = Literal["value", "key", "nowhere"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


class Shown(msgspec.Struct, frozen=True):
    """A value that came from the input and is to be shown.

    Wording shortens it, escapes it, and writes `${NAME}` if it came from the environment.
    `as_found` also names its type, as in “the number 5”. `hidden` shows nothing but the type.
    """

    value: object
    as_found: bool = False
    hidden: bool = False


class Also(msgspec.Struct, frozen=True):
    """Another place needed to understand a fact."""

    message: str
    path: Path = ROOT
    part: Part = "value"
    span: Span | None = None
    origin: Any = None


class Effect(msgspec.Struct, frozen=True):
    """What an edit does to the value of its document, and how that document is read.

    `rename` gives the entry at `path` another key, `replace` another value; `remove` removes it;
    `nothing` leaves the value as it is. `correct` makes a text parse that did not: with all
    corrections of a document, its value is what `value` says as JSON.
    """

    kind: Literal["rename", "replace", "remove", "nothing", "correct"]
    path: Path = ROOT
    value: str | int | float | bool | None = None
    syntax: Literal["yaml", "json", "toml", "text"] = "text"
    window: tuple[int, int] = (0, 0)
    merge: bool = False  #: whether `<<` is applied
    substituted: bool = False  #: whether variables are replaced before parsing


class Change(msgspec.Struct, frozen=True):
    """One change of what the author wrote, at a path: replace the part, or remove the entry.

    `text` is the new value itself, not its spelling: text is quoted if the format needs it, and a
    number or bool stays one; None removes the entry. With a `span`, `path` is that of the document
    around it; with the path of the root, `text` is written there verbatim, and the value of the
    document must stay the same.
    """

    path: Path
    text: str | int | float | bool | None
    part: Part = "value"
    span: Span | None = None
    origin: Any = None
    effect: Effect | None = None  #: what it does to the value, if the path does not tell
    as_written: bool = False  #: the new value is the text that is there: a number becomes text


class Remedy(msgspec.Struct, frozen=True):
    """A fix, not yet placed. A safe one changes nothing but what the finding is about."""

    message: str
    changes: tuple[Change, ...]
    safe: bool = True


class Fact(msgspec.Struct, frozen=True):
    """What a stage found, before it is placed and worded.

    `path` is in the resolved configuration, unless `span` or `origin` (a `tree.Origin`: a path in
    one document) say where. `severity` overrides that of the code.
    """

    code: Code
    path: Path = ROOT
    values: dict[str, object] = {}
    part: Part = "value"
    also: tuple[Also, ...] = ()
    remedy: Remedy | None = None
    severity: Severity | None = None
    span: Span | None = None
    origin: Any = None
    more: int = 0  #: this many further facts of the code were found, and none of them was made


#: Facts of one code beyond this number are only counted: ten thousand findings help no reader, and
#: making them would take more memory than the file.
MAX_FACTS_PER_CODE = 2_000


def limit_facts_per_code(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield up to `MAX_FACTS_PER_CODE` facts per code and severity; one more counts the rest."""
    counts: dict[tuple[str, Severity | None], int] = {}
    last: dict[tuple[str, Severity | None], Fact] = {}
    for each in facts:
        key = each.code.name, each.severity
        counts[key] = counts.get(key, 0) + (each.more or 1)
        if counts[key] <= MAX_FACTS_PER_CODE:
            yield each
        else:
            last[key] = each
    # The rest is one fact per code. It has no place: any single one would be arbitrary.
    for key, each in last.items():
        yield msgspec.structs.replace(
            each, more=counts[key] - MAX_FACTS_PER_CODE, remedy=None, also=(), part="nowhere"
        )


class Words(msgspec.Struct, frozen=True):
    """What a code says. `message` and `help` are templates over the values of a fact."""

    message: str  #: one line, names the thing at fault, no final period
    about: str  #: what it means, why it matters, how to fix it
    help: str | None = None  #: shown only when every value it names is present
    refusal: str | None = None  #: the message of a warning where a kind makes it an error

    def adapt_to_severity(self, severity: Severity) -> Words:
        """The words for a finding of that severity: an error gets `refusal`, if there is one."""
        if self.refusal is None or severity != "error":
            return self
        return msgspec.structs.replace(self, message=self.refusal)


class Code(str):
    """One sort of finding; as text, its name."""

    severity: Severity
    _catalogue: Catalogue

    def __new__(cls, name: str, severity: Severity, catalogue: Catalogue) -> Code:
        code = super().__new__(cls, name)
        code.severity, code._catalogue = severity, catalogue
        return code

    @property
    def name(self) -> str:
        return str(self)

    @property
    def words(self) -> Words:
        return self._catalogue.words(self)

    def at(
        self,
        path: Path = ROOT,
        *,
        part: Part = "value",
        also: Iterable[Also] = (),
        remedy: Remedy | None = None,
        severity: Severity | None = None,
        span: Span | None = None,
        origin: Any = None,
        **values: object,
    ) -> Fact:
        """A fact at a path; every further argument is a value its sentence may use."""
        return Fact(self, path, values, part, tuple(also), remedy, severity, span, origin)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (self.name,)  # findings travel between processes by the names of their codes


class Catalogue:
    """The codes one module declares, and their words in `codes.toml` beside it."""

    def __init__(self, module_file: str) -> None:
        self._file = os.path.splitext(module_file)[0] + ".toml"
        self._codes: list[Code] = []
        self._words: dict[str, Words] | None = None

    def error(self, name: str) -> Code:
        """A code of what prevents loading."""
        return self._declare(name, "error")

    def warning(self, name: str) -> Code:
        """A code of what does not prevent loading."""
        return self._declare(name, "warning")

    def note(self, name: str) -> Code:
        """A code of what is worth knowing."""
        return self._declare(name, "note")

    def _declare(self, name: str, severity: Severity) -> Code:
        code = Code(name, severity, self)
        self._codes.append(code)
        return code

    def declared(self, since: Code | None = None) -> tuple[Code, ...]:
        """Every code declared so far, or from one of them on."""
        return tuple(self._codes[0 if since is None else self._codes.index(since) :])

    def words(self, code: Code) -> Words:
        if self._words is None:
            import rtoml  # only runs with findings need it

            with open(self._file, encoding="utf-8") as file:
                found = rtoml.loads(file.read())
            self._words = {name: Words(**words) for name, words in found.items()}
        return self._words[code]


class Label(msgspec.Struct, frozen=True):
    """A place with a word about it.

    >>> twice = equipage.check_files({"a.tool.yaml": b"id: a.b\\nid: a.b"}).warnings[0]
    >>> [(label.message, label.span.line) for label in twice.related]
    [('first here', 1)]
    """

    span: Span | None
    """The place; None if it is in no text."""
    message: str
    """The word, such as `first here`."""
    path: str = ""
    """The path of the value there."""

    def without_text_outside(self) -> Label:
        if self.span is None or not self.span.source.outside:
            return self
        return Label(None, f"{self.message}: {visible(self.span.source.name)}", self.path)


class Edit(msgspec.Struct, frozen=True):
    """Replace the text of a span. An edit without its effect cannot be proven, nor applied.

    >>> wrong = equipage.check_files({"a.tool.yaml": b"id: a.b\\nverison: 1.0.0"}).warnings[0]
    >>> [(edit.span.line, edit.span.text(), edit.text) for edit in wrong.fix.edits]
    [(2, 'verison', 'version')]
    """

    span: Span
    """What is replaced."""
    text: str
    """What is written there instead."""
    effect: Effect | None = None
    """What the edit does to the value of the document."""


class Fix(msgspec.Struct, frozen=True):
    """A change that resolves a finding.

    >>> wrong = equipage.check_files({"a.tool.yaml": b"id: a.b\\nverison: 1.0.0"}).warnings[0]
    >>> wrong.fix.message, wrong.fix.safe
    ('rename to `version`', True)
    """

    message: str
    """What it does, in a few words."""
    edits: tuple[Edit, ...]
    """The changes of the text. They belong together."""
    safe: bool = True
    """Whether it changes nothing but what the finding is about."""


class Diagnostic(msgspec.Struct, frozen=True):
    """One finding. The message is complete; related places and help only add to it.

    >>> error = equipage.check("broken").errors[0]
    >>> error.code, error.message
    ('wrong-type', 'expected a name, such as `pkg.tool`, found the number 5')
    >>> error.path, error.span.line, error.span.column
    ('id', 1, 5)
    """

    code: str
    """Kebab-case, stable, documented: `include-cycle`."""
    severity: Severity
    """`error`, `warning` or `note`."""
    message: str
    """One line, names the offending value, no final period."""
    path: str = ""
    """The path in the whole configuration, as its author would write it."""
    pointer: str = ""
    """That path as a JSON Pointer."""
    span: Span | None = None
    """The narrowest place at fault; None: the command line, a limit, a whole load."""
    help: str | None = None
    """What to write instead."""
    fix: Fix | None = None
    """A change that resolves it."""
    related: tuple[Label, ...] = ()
    """Other places needed to understand it."""
    count: int = 1
    """How often it was found, for example through several includes."""
    file: str | None = None
    """The name of the file if there is no span."""
    url: str | None = None
    """The page of its code, if a site has one."""

    @property
    def name(self) -> str | None:
        """The name of the file at fault, as shown to people."""
        return self.span.source.name if self.span is not None else self.file

    def sort_key(self) -> tuple[str, int, int, str]:
        """Sort by place; findings at one place stay in the order they were found."""
        start = self.span.start if self.span is not None else -1
        return self.name or "", start, SEVERITIES.index(self.severity), self.code

    def identity(self) -> tuple[object, ...]:
        """Equal for equal findings at one place, even if a file was read more than once.

        The message counts: one place may have two things wrong in one way.
        """
        place = (self.name, self.span.start, self.span.end) if self.span else (self.name,)
        return self.code, self.severity, place, self.message

    def without_text_outside(self) -> Diagnostic:
        """The finding without places in files outside the allowed folders."""
        # A file outside the allowed folders was read at the caller's wish, but a report may travel
        # further than the file should: only its name remains.
        related = tuple(each.without_text_outside() for each in self.related)
        edits = () if self.fix is None else self.fix.edits
        fix = None if any(edit.span.source.outside for edit in edits) else self.fix
        is_outside = self.span is not None and self.span.source.outside
        span, file = (None, self.name) if is_outside else (self.span, self.file)
        return msgspec.structs.replace(self, span=span, file=file, fix=fix, related=related)

    def __str__(self) -> str:
        place = visible_at_line_start(self.name or "equipage")
        if self.span is not None:
            place = f"{place}:{self.span.line}:{self.span.column}"
        at = f" (at {self.path})" if self.path else ""
        return f"{place}: {self.severity}[{self.code}] {self.message}{at}"


class EquipageError(Exception):
    """Everything equipage raises on purpose.

    >>> try:
    ...     equipage.load("missing.yaml", kind="server")
    ... except equipage.EquipageError as error:
    ...     print(error)
    missing.yaml: error[file-missing] file not found: missing.yaml
    """


class LoadError(EquipageError):
    """Loading found errors; `diagnostics` holds every finding, warnings included, in order.

    >>> try:
    ...     equipage.load("broken/count.tool.yaml")
    ... except equipage.LoadError as error:
    ...     print([each.code for each in error.errors], len(error.warnings))
    ['wrong-type'] 0

    A program that raises one itself may give a text in place of findings.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic] | str = ()) -> None:
        self._text = diagnostics if isinstance(diagnostics, str) else None
        self.diagnostics = () if isinstance(diagnostics, str) else tuple(diagnostics)
        super().__init__(self.diagnostics if self._text is None else self._text)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that are errors."""
        return tuple(each for each in self.diagnostics if each.severity == "error")

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The findings that are warnings."""
        return tuple(each for each in self.diagnostics if each.severity == "warning")

    def __str__(self) -> str:
        if self._text is not None:
            return self._text
        return "\n".join(map(str, self.errors or self.diagnostics))  # strict: warnings alone


class UsageError(EquipageError):
    """The caller named an unknown kind, option or path, or passed an argument of a wrong type.

    >>> try:
    ...     equipage.load("server.yaml", kind="server", libary="library")
    ... except equipage.UsageError as error:
    ...     print(error)
    `libary` is not an option of kind server; did you mean `library`?
    """

    def __str__(self) -> str:
        """The message, in characters that can be printed, whatever the caller passed."""
        return "\n".join(map(visible, super().__str__().split("\n")))
