"""One load: how the caller wants it, what may be read, what was parsed so far.

A `Request` holds the variables, options and roots of a caller, checked at the door. A `Session` is
what the stages and rules of a kind get beside the value: it reads and parses each file once, and
collects the facts of the load. Several loads share a `Run`, so that they read and parse nothing
twice.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, islice
from typing import Any, TypeVar

import msgspec

from equipage.core.diagnostics import (
    MAX_FACTS_PER_CODE,
    Code,
    Fact,
    UsageError,
    limit_facts_per_code,
)
from equipage.core.frozen import convert
from equipage.core.source import Source, Span
from equipage.core.text import Guesses, lazy_regex, nearest
from equipage.files import (
    System,
    folders_argument,
    number_argument,
    variables_argument,
    wrong_argument,
)
from equipage.files.disk import Disk
from equipage.files.reading import Files, Referred, require_text
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.format import Format, Limits, Rule
from equipage.loading.model import build
from equipage.loading.shape import Shape
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import Document, Syntax, load_value, parse
from equipage.syntax.json import blank_comments
from equipage.syntax.variables import USUAL_MARK, Substituted

#: Every code that a comment in a file of a format may name.
KnownCodes = Callable[[Format], Mapping[str, Code]]


class Request(msgspec.Struct, frozen=True):
    """How to load: everything but the what."""

    env: Mapping[str, str]
    system: System = msgspec.field(default_factory=Disk)  #: where the files are
    options: Mapping[str, object] = {}
    embedded: bool = False
    roots: tuple[str, ...] = ()  #: reference roots the caller allows beside the project's
    project: str | None = None  #: the project root, if the caller knows it
    #: folders the caller named: each is the root of what has no other
    folders: tuple[str, ...] = ()
    shared: bool = False  #: the options serve several kinds; each takes those it knows
    limits: Limits | None = None  #: the caller's own, in place of those of the environment
    isolated: bool = False  #: whether the settings of projects and `.gitignore` have no say
    confined: bool = False  #: whether absolute paths outside the roots are left unread
    reads_named: bool = False  #: whether they are read for a file that the caller named, even so
    #: options that the settings of the project give; each kind takes those it knows
    defaults: Mapping[str, object] = {}
    #: kind → keys that the settings of the project declare, which are not unknown
    own_keys: Mapping[str, tuple[str, ...]] = {}
    errors_only: bool = False  #: whether the caller asks for errors alone, whatever their codes
    #: the codes that a comment in a file of a format may name; None: those of the format alone
    known_codes: KnownCodes | None = None
    #: rules of installed packages that the caller asks for, by the name of the format
    rules: Mapping[str, tuple[Rule, ...]] = {}

    def new_run(self, around: Run | None = None) -> Run:
        """A new run; it knows what `around` knows about folders, and shares no other result."""
        return Run(self, around)

    def __repr__(self) -> str:
        """Without the environment: tracebacks with local variables end up in logs."""
        options, count = dict(self.options), len(self.env)
        return f"Request(options={options!r}, roots={self.roots!r}, env={count} variables)"


def options_of(kind: Format, request: Request) -> Any:
    """The options of a kind, checked by its own Struct. Raises `UsageError`."""
    known = kind.reading.options.__struct_fields__
    given = {
        name: value
        for name, value in request.options.items()
        if name in known or not request.shared
    }
    for name in given:
        if name not in known:
            guess = nearest(name, known)
            hint = f"; did you mean `{guess}`?" if guess else ""
            raise UsageError(f"`{name}` is not an option of kind {kind.name}{hint}")
    # Those of the project have names of their own, so they never replace what the caller gives.
    given |= {name: value for name, value in request.defaults.items() if name in known}
    try:
        return convert(given, kind.reading.options)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"options of kind {kind.name}: {_describe_option_problems(given, kind) or error}"
        ) from None


def _describe_option_problems(given: Mapping[str, object], kind: Format) -> str:
    """Describe what is wrong with options, in the words of a finding about a file."""
    from equipage.loading.wording import Redactor, message_of, path_of

    plain = {
        name: list(value) if isinstance(value, tuple) else value for name, value in given.items()
    }
    words = Redactor()
    _, _, facts = build(plain, kind.reading.options, Shape())
    return "; ".join(
        f"`{path_of(each.path, words)}`: {message_of(each.code.words, each.values, words)}"
        for each in facts
    )


def new_request(
    env: Mapping[str, str] | None,
    options: Mapping[str, Any],
    *,
    embedded: bool = False,
    roots: Iterable[str | os.PathLike[str]] = (),
    limits: Limits | None = None,
) -> Request:
    """How to load, as the arguments of a public function say it."""
    if not isinstance(limits, Limits | None):
        raise wrong_argument("limits", limits, "an `equipage.Limits`")
    _check_numbers("limits", limits)
    disk = Disk()
    return Request(
        env=disk.variables() if env is None else variables_argument(env),
        system=disk,
        options={
            name: _plain_option(value)
            for name, value in _merge_options(options).items()
            if value is not None
        },
        embedded=embedded,
        roots=folders_argument("roots", roots),
        limits=limits,
    )


def _check_numbers(name: str, limits: object) -> None:
    """Raise `UsageError` for a limit that is not a number from 0 on: Structs take any value."""
    if not isinstance(limits, msgspec.Struct):
        return
    for field in msgspec.structs.fields(limits):
        value = getattr(limits, field.name)
        if field.type is int:
            number_argument(f"{name}.{field.name}", value)
        _check_numbers(f"{name}.{field.name}", value)


def _merge_options(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options, with those in the Struct `options` merged in."""
    whole = options.get("options")
    if whole is None:
        return options
    if not isinstance(whole, msgspec.Struct):
        raise wrong_argument("options", whole, "a value of the kind's own Struct of options")
    single = {name: value for name, value in options.items() if name != "options"}
    for name in single.keys() & set(whole.__struct_fields__):
        raise UsageError(f"`{name}` is given twice: alone, and in `options`")
    return {**msgspec.structs.asdict(whole), **single}


def _merge_limits(given: Limits, usual: Limits) -> Limits:
    """The caller's limits; a plain `Limits` leaves those that only this kind has as usual."""
    if isinstance(given, type(usual)):
        return given
    return msgspec.structs.replace(usual, max_file_bytes=given.max_file_bytes)


def _plain_option(option: Any) -> Any:
    """The value of an option with paths as text, also in a list of them."""
    if isinstance(option, list | tuple):
        return [_plain_option(each) for each in option]
    return os.fspath(option) if isinstance(option, os.PathLike) else option


C = TypeVar("C")
#: A parsed source with what was found in its text; None if it is not text or does not parse.
Parsed = tuple[Document | None, list[Fact]]


class Run:
    """What the loads of one run share. They must have the same environment and options."""

    def __init__(self, request: Request, around: Run | None = None) -> None:
        self.request = request
        self.files = Files(request.system)
        #: the run that knows projects, plugins and folders: of a walk in parts, that of the walk
        self.around = around or self
        self.documents: dict[tuple[int, Syntax, str], Parsed] = {}
        self._prepared: dict[str, tuple[Request, Any, Limits, list[Fact]]] = {}
        self._caches: dict[Callable[..., Any], Any] = {}

    def cache(self, cls: Callable[..., C], *arguments: object) -> C:
        """The one object of a class in this run, where directives keep their results."""
        found: C | None = self._caches.get(cls)
        if found is None:
            found = self._caches[cls] = cls(*arguments)
        return found

    def inherit(self, other: Run) -> None:
        """Know what another run found out about folders, as if this one had looked at them."""
        self._caches = other._caches
        record, known = self.files.record, other.files.record
        if record is not None and known is not None:
            record.paths, record.folders = known.paths, known.folders
            record.ways = known.ways

    def prepare(self, kind: Format, request: Request) -> tuple[Any, Limits, list[Fact]]:
        """The options and limits of a kind and the facts about them. Raises `UsageError`."""
        # Thousands of loads have one request: its options are checked once for each kind.
        known = self._prepared.get(kind.name)
        # A run usually has one request, so identity is enough; a second one is prepared anew.
        if known is None or known[0] is not request:
            options, limits_in = options_of(kind, request), kind.reading.limits
            limits, facts = (Limits(), []) if limits_in is None else limits_in(request.env)
            if request.limits is not None:
                limits, facts = _merge_limits(request.limits, limits), []
            known = self._prepared[kind.name] = (request, options, limits, facts)
        return known[1:]


class Session:
    """What the stages of one load share."""

    def __init__(
        self,
        kind: Format,
        request: Request,
        run: Run,
        path: str,
        *,
        base: str | None = None,
        root: str | None = None,
        files: Files | None = None,
    ) -> None:
        self.kind = kind
        self.run = run
        self.options, self.limits, facts = run.prepare(kind, request)
        self.facts = list(facts)  #: everything found so far
        self.env = request.env
        self.embedded = request.embedded
        self.confined = request.confined
        self.errors_only = request.errors_only
        self.roots = request.roots  #: further folders the *caller* allows
        self.more_rules = request.rules.get(kind.name, ())
        self.own_keys = request.own_keys.get(kind.name, ())
        self.files = files if files is not None else run.files.for_next_load()
        self.path = path  #: what the caller named, absolute; links in it are not followed
        self.is_layer = False  #: whether it is judged as a part of the files that it is merged with
        self._base = base
        self.root = request.project or root or self.base  #: the project root
        self._guesses: Guesses | None = None
        self._refused = kind.refused_variables() if kind.reading.variables else ()
        self.documents: list[Document] = []  #: those of this load, in the order of parsing
        self._parsed: dict[int, Parsed] = {}  #: by source
        self._main: Source | None = None  #: what is loaded; all others are what it refers to
        self._is_cut = False  #: whether parts of it are left out, see `Document`

    @property
    def base(self) -> str:
        """Where references start."""
        if self._base is None:
            self._base = os.path.dirname(self.path)
        return self._base

    def add(self, facts: Iterable[Fact]) -> None:
        """Remember what a stage or a rule found."""
        if facts.__class__ is list and not facts:
            return
        facts = map(self.kind.mark_risky_remedy, facts) if self.kind.shape.ignores else iter(facts)
        if self._is_cut:
            # What is said about the whole of a text may come from the part that is left out of it.
            facts = (each for each in facts if each.path or each.span or each.origin)
        first = next(facts, None)
        if first is None:
            return  # nearly always
        few = [first, *islice(facts, MAX_FACTS_PER_CODE - 1)]
        is_few = len(few) < MAX_FACTS_PER_CODE and not any(each.more for each in few)
        self.facts += few if is_few else limit_facts_per_code(chain(few, facts))

    def read(self, source: Source) -> Document | None:
        """The document of the root source; what its text has wrong is added to the facts."""
        self._main, reader = source, self.kind.reading.read
        if facts := text_facts(source):
            self.add(facts)
            return None
        document, facts = reader(source, self) if reader else self.parse(source, keep=False)
        self.add(facts)
        self._is_cut = document is not None and document.is_cut
        return document

    def parse(self, source: Source, syntax: Syntax | None = None, *, keep: bool = True) -> Parsed:
        """The document of a source with the kind's own strictness; facts come with the first call.

        Without `keep`, other loads of the run parse it again: right for what few others read.
        """
        # By identity: a source is read once in a load, and its text may be large.
        known = self._parsed.get(id(source))
        if known is not None:
            return known[0], []
        wanted = syntax or syntax_of(self.kind, source.name)
        # By kind as well: strictness, merge keys and variables differ between kinds.
        key = (id(source), wanted, self.kind.name)
        parsed = self.run.documents.get(key)
        if parsed is None:
            parsed = self._parse(source, wanted)
            if keep:
                self.run.documents[key] = parsed
        if parsed[0] is not None and parsed[0].is_cut and source is not self._main:
            parsed = None, parsed[1]  # others may refer to what is left out
        self._remember(source, parsed)
        return parsed

    def _remember(self, source: Source, parsed: Parsed) -> None:
        self._parsed[id(source)] = parsed
        if parsed[0] is not None:
            self.documents.append(parsed[0])

    def _parse(self, source: Source, wanted: Syntax) -> Parsed:
        if facts := text_facts(source):
            return None, facts
        reading = self.kind.reading
        # An embedded text sees no environment: it may come from anywhere.
        env = self.env if reading.variables and not self.embedded else None
        # A reader of a format's own decides what a file may contain.
        may_comment = wanted == "json" and reading.read is None
        comments = may_comment and source.name.lower().endswith(".jsonc")
        document, facts = parse(
            source,
            wanted,
            env=env,
            merge=reading.merge_keys,
            comments=comments,
            refused=self._refused,
            mark=reading.variables if isinstance(reading.variables, str) else USUAL_MARK,
        )
        return document, self.apply_severities(facts, wanted) if facts else facts

    def adopt(self, document: Document, facts: list[Fact] | None = None) -> Document:
        """Remember a document that a directive made itself, with its variables and oddities."""
        if id(document.source) not in self._parsed:
            self._remember(document.source, (document, facts or []))
        return document

    def apply_severities(self, facts: list[Fact], syntax: Syntax) -> list[Fact]:
        """Facts about a text with the severities of the kind."""
        judged = (self.kind.adjust_severity(each, syntax) for each in facts)
        return [each for each in judged if each is not None]

    def refer(
        self, reference: str, policy: PathPolicy, *, bases: tuple[str, ...], roots: tuple[str, ...]
    ) -> Referred:
        """The file a document names. Raises `FileProblem`.

        An absolute path may lead anywhere in the project, and into the folders the caller allows.
        """
        return self.files.refer(reference, bases, roots, policy, (self.root, *self.roots))

    def has_oddity(self, code: Code) -> bool:
        """Whether the text of any document of this load has this oddity."""
        return any(code in document.odd for document in self.documents)

    @property
    def guesses(self) -> Guesses:
        """For names that a document brings itself: bounds what guessing may cost in one load."""
        if self._guesses is None:
            self._guesses = Guesses()
        return self._guesses


def text_facts(source: Source) -> list[Fact]:
    """The finding that the bytes of a source are not text; none if they are."""
    try:
        require_text(source)
    except FileProblem as problem:
        return [Fact(problem.code, values=problem.values, span=Span(source, 0, 0))]
    return []


def syntax_of(kind: Format, name: str) -> Syntax:
    """The format of a file by its extension; a name without one (a string) takes the first."""
    formats = kind.reading.syntaxes
    extension = os.path.splitext(name)[1].lower()
    return formats.get(extension, next(iter(formats.values())))


def read_jsonc(source: Source, session: Session, *, trailing_commas: bool) -> Parsed:
    """The document of a JSON file with comments; errors are placed in the file as it is written."""
    start = 1 if source.text.startswith("\ufeff") else 0
    text = blank_comments(source.text[start:], trailing_commas=trailing_commas)
    if text == source.text[start:]:
        return session.parse(source, "json")
    try:
        value = load_value("json", text)
    except SyntaxProblem:
        bare = Source(source.name, source.data, source.text[:start] + text, source.filename)
        return session.parse(bare, "json")
    return session.adopt(Document(source, "json", value, substituted_text=Substituted(text))), []


#: Folders that files are copied from: where they arrive, they have other names and neighbours.
_COPIED_FOLDER = lazy_regex(
    r"/(?:[\w-]*templates?|[\w-]*fixtures?_*|testdata|scaffold(?:s|ing)?|skeletons?)/",
    re.IGNORECASE,
)


def is_template_or_fixture(session: Session, path: str | None = None) -> bool:
    """Whether the file of a session, or `path`, lies in a folder of templates or test fixtures."""
    inside = (path or session.path).removeprefix(session.root).replace(os.sep, "/")
    return _COPIED_FOLDER.search(inside) is not None
