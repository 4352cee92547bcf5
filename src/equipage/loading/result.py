"""The result of a load: the typed, frozen configuration, and what can be asked about it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from equipage.core.diagnostics import Diagnostic, UsageError
from equipage.core.frozen import freeze_plain, omit_defaults, plain_data
from equipage.core.path import ROOT, Path, PathSyntaxError, format_path, get, parse_path
from equipage.core.source import Source, Span
from equipage.core.text import nearest, visible
from equipage.files import wrong_argument
from equipage.loading.tree import MADE_ABSOLUTE, Origin, Provenance, Tree, locate_all
from equipage.loading.type_words import title
from equipage.loading.wording import (
    Spelling,
    VariableMask,
    escape_for_substitution,
    escape_references,
    map_texts,
    written_origin,
)
from equipage.syntax.document import Document

if TYPE_CHECKING:
    from equipage.loading.pipeline import Outcome

C = TypeVar("C")

#: The version of the canonical form that digests are made of.
CANONICAL_VERSION = 1

_MISSING: Any = object()


class Setting(msgspec.Struct, frozen=True):
    """One place that had a say in a value: where, what it said, and whether that counts."""

    span: Span | None
    """The place; None for a default or an argument of the command line."""
    path: str
    """The path of the value there."""
    how: str
    """`written`, `overridden`, `included from here`, …"""
    value: Any = None
    """What it said."""
    wins: bool = False
    """Whether that counts."""

    @property
    def place(self) -> str | None:
        """The place as `file:line:column`."""
        span = self.span
        return None if span is None else f"{span.source.name}:{span.line}:{span.column}"


class Explanation(msgspec.Struct, frozen=True):
    """The story of one value: every place that set it in order, and what the value came through.

    >>> story = loaded.explain("server.name")
    >>> story.path, story.value, [step.place for step in story.steps]
    ('server.name', 'demo', ['server.yaml:1:16'])
    """

    path: str
    """The path of the value."""
    value: Any
    """The value itself; without `show_env`, variables are `${NAME}`."""
    settings: tuple[Setting, ...]
    """Every place that set it, in order; the last one counts."""
    through: tuple[Setting, ...] = ()
    """The directives that it came through, outermost first."""
    variables: tuple[str, ...] = ()
    """The environment variables that are part of it."""
    unset: tuple[str, ...] = ()
    """Those of them that are not set: the default in the file counts."""
    default_of: str | None = None
    """The class whose default it is, in words; None if a file sets it, or if no class has it."""

    @property
    def steps(self) -> tuple[Setting, ...]:
        """Everything that had a say, in order."""
        return (*self.settings, *self.through)

    @property
    def notes(self) -> tuple[str, ...]:
        """What went into it beside its places, in words."""
        return tuple(
            f"default of ${{{name}…}}: the variable is not set"
            if name in self.unset
            else f"from the environment: {name}"
            for name in self.variables
        )

    def __str__(self) -> str:
        value = json.dumps(self.value, ensure_ascii=False, default=str)
        lines = [f"{self.path or '(root)'} = {value}"]
        lines += [
            f"  {each.how} at {each.place}" if each.place else f"  {each.how}"
            for each in self.steps
        ]
        lines += [f"  {each}" for each in self.notes]
        lines += [f"  default of {self.default_of}"] if self.default_of else []
        return "\n".join(lines)


class ValuePlace(msgspec.Struct, frozen=True):
    """Where a value is written, the directives it came through, and the variables in it."""

    span: Span | None
    through: tuple[Span, ...] = ()
    """Outermost first."""
    variables: tuple[str, ...] = ()


class Loaded(Generic[C]):
    """A loaded configuration. It pickles, and never changes."""

    __slots__ = (
        "_derived",
        "_documents",
        "_dump",
        "_replaces_variables",
        "_takes_variables",
        "_tree",
        "config",
        "kind",
        "sources",
        "warnings",
    )

    config: C
    """The configuration, an immutable value of the model of its kind."""
    kind: str
    """The name of its kind, such as `server`."""
    warnings: tuple[Diagnostic, ...]
    """What was found. None of it prevents loading."""
    sources: tuple[Source, ...]
    """Every text that was read, the file itself first."""
    _tree: Tree
    _documents: tuple[Document, ...]
    _dump: Callable[[C], Any]
    _takes_variables: bool
    """Whether files of the kind hold variables."""
    _replaces_variables: bool
    """Whether this load replaced them, which an embedded one does not."""
    _derived: dict[str, Any]
    """What was worked out when it was first asked for."""

    def __init__(self, outcome: Outcome) -> None:
        """`outcome` is that of a load without errors; with some, only stories can be told."""
        dump = None if outcome.config is None else outcome.kind.presentation.dump
        takes_variables = bool(outcome.kind.reading.variables)
        self._fill(
            config=outcome.config,
            kind=outcome.kind.name,
            warnings=outcome.diagnostics,
            sources=outcome.sources,
            _tree=outcome.tree,
            _documents=outcome.documents,
            _dump=dump or plain_data,
            _takes_variables=takes_variables,
            _replaces_variables=takes_variables and not outcome.session.embedded,
            _derived={},
        )

    def _fill(self, **values: Any) -> None:
        """Set what has no value yet: a second `__init__` must change nothing."""
        for name, value in values.items():
            if hasattr(self, name):
                raise AttributeError(f"a loaded configuration never changes: cannot set {name!r}")
            object.__setattr__(self, name, value)

    def _compute_once(self, name: str, make: Callable[[], Any]) -> Any:
        """Call `make` once and keep what it returns."""
        if name not in self._derived:
            self._derived[name] = make()
        return self._derived[name]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a loaded configuration never changes: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a loaded configuration never changes: cannot delete {name!r}")

    def __repr__(self) -> str:
        return f"Loaded(kind={self.kind!r}, sources={[source.name for source in self.sources]})"

    # Values.

    def to_dict(self, *, show_env: bool = True, escaped: bool = False) -> Any:
        """The configuration as plain data. Without `show_env`, variables are `${NAME}`.

        With `escaped`, as a file would hold it: where this load replaced variables, text that only
        looks like one has its `$` doubled, so that loading the data gives the same text again.
        """
        plain = self._dump(self.config)
        literal = escape_for_substitution if escaped and self._replaces_variables else None
        if show_env:
            return plain if literal is None else map_texts(plain, literal)
        return self._mask_variables(self._restore_written_paths(plain), literal=literal)

    @property
    def value(self) -> Any:
        """The configuration as plain data that never changes, whatever its class."""
        return self._compute_once("value", lambda: freeze_plain(self._dump(self.config)))

    def lock(self) -> dict[str, Any]:
        """What to keep to see whether the configuration is still the same: plain data.

        It has the digest of the meaning, the hash of every file that was read, and the names of the
        variables that were looked up.
        """
        return {
            "kind": self.kind,
            "digest": self.digest,
            "files": {each.name: each.sha256 for each in self.sources},
            "variables": list(self.variables),
        }

    @property
    def digest(self) -> str:
        """sha256 over the canonical form: sorted keys, no defaults, variables by name.

        It is the same on every machine, whatever the order of keys; no secret goes into it. Text
        that merely looks like a variable is written as its author would, so that it differs.
        """
        return str(self._compute_once("digest", self._digest))

    def _digest(self) -> str:
        import hashlib  # slow to import, and most loads never ask

        # Defaults are left out, so that a new field with a default does not change the digests that
        # people have stored.
        plain = self._restore_written_paths(omit_defaults(self.config))
        text = canonical_json(plain)
        # `$${X}` in a file is the text `${X}`, and a variable is written `${X}` here: only then
        # must the two be distinguished, which costs a walk over the value.
        alike = self._takes_variables and b"${" in text
        hidden = self._mask_variables(plain, literal=escape_references if alike else None)
        return hashlib.sha256(text if hidden is plain else canonical_json(hidden)).hexdigest()

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the environment variables this load looked up."""
        texts = (document.substituted_text for document in self._documents)
        names = (name for text in texts if text is not None for name in text.names)
        return tuple(dict.fromkeys(names))

    @property
    def _variable_mask(self) -> VariableMask:
        """Masks the values of variables in this load."""
        found: VariableMask = self._compute_once("hiding", lambda: VariableMask(self._documents))
        return found

    def _restore_written_paths(self, plain: Any) -> Any:
        """Plain data with paths as written: absolute ones differ from machine to machine."""
        for path in self._tree.origins.paths_brought_by(MADE_ABSOLUTE):
            origin = self._tree.provenance(path).origin
            holder = get(plain, path[:-1])
            if isinstance(holder, dict) and path[-1] in holder:
                holder[path[-1]] = get(origin.document.value, origin.path)
        return plain

    def _mask_variables(
        self, plain: Any, path: Path = ROOT, literal: Spelling | None = None
    ) -> Any:
        """Plain data at `path` with each leaf that has a variable in it as the author wrote it.

        `literal` spells text without variables.
        """
        if not literal and not (self._takes_variables and self._variable_mask.is_needed):
            return plain  # nothing is copied
        return self._variable_mask.mask_value(
            plain, lambda at: self._tree.provenance(path + at).origin, literal
        )

    # Places.

    def _resolve_path(self, path: str | Path) -> Path:
        """A path into the configuration; one that only the author would write is translated."""
        steps = self._variable_mask.unmask_path(_parse_given_path(path))
        if get(self._tree.value, steps, _MISSING) is not _MISSING:
            return steps
        # A kind may move what the author wrote, `tools` to `baseline.tools` for example: both are
        # answered.
        for start, end in self._tree.moves:
            if steps[: len(start)] == start and steps[: len(end)] != end:
                steps = end + steps[len(start) :]
        return steps

    def _keys_moved_from(self, path: Path) -> Path:
        """The keys that an author may write at `path` and that are moved elsewhere."""
        return tuple(start[-1] for start, _ in self._tree.moves if start and start[:-1] == path)

    def locate(self, path: str | Path) -> Span | None:
        """Where the value at `path` is written, None for a default.

        Raises `UsageError` if there is no such value.

        >>> loaded.locate("server.name").line, loaded.locate("unknown_methods")
        (1, None)
        """
        steps = self._resolve_path(path)
        self._require_value(steps)
        return self._locate_all([steps])[steps].span

    def _locate_all(self, paths: Iterable[Path]) -> dict[Path, ValuePlace]:
        """Where the values at many paths are written; each document is searched once."""
        stories = {path: self._provenance_of(path) for path in paths}
        spans = _spans_of(
            each
            for story in stories.values()
            for each in (story.origin, *_directive_origins(story))
        )
        return {path: self._place_of(path, story, spans) for path, story in stories.items()}

    def _provenance_of(self, path: Path) -> Provenance:
        """The provenance of the value at `path`, with the place it is written at."""
        story = self._tree.provenance(path)
        return msgspec.structs.replace(story, origin=written_origin(story.origin))

    def _place_of(
        self, path: Path, story: Provenance, spans: dict[tuple[int, Path], Span]
    ) -> ValuePlace:
        ways = (spans.get((id(at.document), at.path)) for at in _directive_origins(story))
        here = (id(story.origin.document), story.origin.path)
        # A default has no place of its own, although the mapping around it has one.
        if here not in spans or not _is_written(story.origin, get(self._tree.value, path)):
            return ValuePlace(None)
        names = self._variable_mask.variables_at(story.origin)
        return ValuePlace(spans[here], tuple(each for each in ways if each is not None), names)

    def explain(self, path: str | Path, *, show_env: bool = False) -> Explanation:
        """Who set the value at `path`, what it replaced, and through what it came.

        Values from the environment are `${NAME}` unless `show_env`. Raises `UsageError` for a
        path that leads to no value.
        """
        steps = self._resolve_path(path)
        return self._explanations((steps,), show_env=show_env)[steps]

    def _explanations(
        self, paths: Iterable[Path], *, show_env: bool = False
    ) -> dict[Path, Explanation]:
        """The explanations of the values at many paths; each document is searched once."""
        paths = tuple(paths)
        plain = self._dump(self.config)
        stories = {path: self._provenance_of(path) for path in paths}
        replaced = {path: tuple(self._replaced_origins(path)) for path in paths}
        spans = _spans_of(
            each
            for path, story in stories.items()
            for each in (story.origin, *story.merged, *replaced[path], *_directive_origins(story))
        )
        found: dict[Path, Explanation] = {}
        for path, story in stories.items():
            value = get(plain, path, _MISSING)
            if value is _MISSING:
                value = get(self._tree.value, path, _MISSING)
            if value is _MISSING:
                found[path] = self._explain_default(path)
            else:
                found[path] = self._explanation(path, value, story, replaced[path], spans, show_env)
        return found

    def _explanation(
        self,
        path: Path,
        value: Any,
        story: Provenance,
        replaced: tuple[Origin, ...],
        spans: Mapping[tuple[int, Path], Span],
        show_env: bool,
    ) -> Explanation:
        authored, mask = self._tree.path_as_written(path), self._variable_mask
        if not _is_written(story.origin, value):
            return self._default_at(path, authored, value)

        def setting(origin: Origin, how: str, *, wins: bool = False) -> Setting:
            value, at = get(origin.document.value, origin.path), origin.path
            # In place of a variable without a value is a word that no author wrote.
            if not show_env or at in origin.document.failed_paths():
                value, at = mask.mask_value(value, origin.child), mask.mask_path(at)
            span = spans.get((id(origin.document), origin.path))
            return Setting(span, format_path(at), how, value, wins)

        # In the order in which they were applied, so that the last one that wins is what holds.
        settings = [setting(each, "replaced") for each in replaced]
        settings.append(setting(story.origin, "written", wins=True))
        settings += [setting(each, "merged over it", wins=True) for each in story.merged]
        through = [
            setting(via.at, via.how) if via.at else Setting(None, "", via.how) for via in story.via
        ]
        return Explanation(
            format_path(authored if show_env else mask.mask_path(authored)),
            value if show_env else self._mask_variables(value, path),
            tuple(settings),
            tuple(through),
            mask.variables_at(story.origin),
            mask.variables_at(story.origin, unset=True),
        )

    def _replaced_origins(self, path: Path) -> Iterator[Origin]:
        """The origins of what the value at `path` replaced, alone or with a value around it."""
        # A value may have gone with a mapping around it that was replaced as a whole.
        for depth in range(len(path) + 1):
            for origin in self._tree.provenance(path[:depth]).replaced:
                before = origin.child(path[depth:])
                if get(before.document.value, before.path, _MISSING) is not _MISSING:
                    yield before

    def _require_value(self, steps: Path) -> None:
        """Raise `UsageError`, with the nearest name, if there is no value at a path."""
        written = get(self._tree.value, steps, _MISSING) is not _MISSING
        if not written and get(self._dump(self.config), steps, _MISSING) is _MISSING:
            self._explain_default(steps)

    def _explain_default(self, steps: Path) -> Explanation:
        """The explanation of a default. Raises `UsageError` if there is no such value."""
        value: Any = self.config
        mask = self._variable_mask.mask_path
        for number, step in enumerate(steps):
            known = children_of(value)
            if step not in known:
                beside = mask((*known, *self._keys_moved_from(steps[:number])))
                authored = self._tree.path_as_written(steps[: number + 1])
                raise no_value_error(mask(authored), beside)
            value = known[step]
        return self._default_at(steps, self._tree.path_as_written(steps), plain_data(value))

    def _default_at(self, path: Path, authored: Path, value: Any) -> Explanation:
        """The explanation of a value that no file sets."""
        holder: Any = self.config
        for step in path[:-1]:
            holder = children_of(holder).get(step)
        owner = None if isinstance(holder, dict | list | tuple | None) else title(type(holder))
        shown = format_path(self._variable_mask.mask_path(authored))
        return Explanation(shown, value, (), default_of=owner)

    # Pickling.

    def __reduce__(self) -> tuple[Any, ...]:
        # Derived values were looked up by the identity of documents: they mean nothing elsewhere.
        # A subclass has slots of its own, such as the layers of settings.
        names = (name for each in type(self).__mro__ for name in getattr(each, "__slots__", ()))
        return _restore_loaded, (
            type(self),
            {name: getattr(self, name) for name in names} | {"_derived": {}},
        )


def _restore_loaded(cls: type[Loaded[Any]], values: dict[str, Any]) -> Loaded[Any]:
    loaded = object.__new__(cls)
    loaded._fill(**values)
    return loaded


class Paths:
    """The paths of a load, for views and commands: as people write them, and where they lead."""

    def __init__(self, loaded: Loaded[Any]) -> None:
        self.steps = loaded._resolve_path
        self.moved = loaded._keys_moved_from
        self.authored = loaded._tree.path_as_written
        self.shown = loaded._variable_mask.mask_path
        self.unshown = loaded._variable_mask.unmask_path
        self.places = loaded._locate_all
        self.explanations = loaded._explanations


def _directive_origins(story: Provenance) -> tuple[Origin, ...]:
    """The origins of the directives that a value came through."""
    return tuple(via.at for via in story.via if via.at is not None)


def _spans_of(origins: Iterable[Origin]) -> dict[tuple[int, Path], Span]:
    """Where values are written, by document and path."""
    return {place: located.value for place, located in locate_all(origins).items()}


def _parse_given_path(path: object) -> Path:
    """The path that a caller wants to know about. Raises `UsageError`."""
    if isinstance(path, str):
        try:
            return parse_path(path)
        except PathSyntaxError as error:
            raise UsageError(f"`path`: {error}") from None
    if isinstance(path, list | tuple) and all(isinstance(step, str | int) for step in path):
        return tuple(path)
    raise wrong_argument("path", path, "a path as str, or a tuple of keys and indexes")


def no_value_error(path: Path, known: Iterable[str | int]) -> UsageError:
    """The error for a missing value at `path`; the hint is the nearest of the `known` names."""
    guess = nearest(str(path[-1]), map(str, known)) if path else None
    hint = f"; did you mean `{visible(format_path((*path[:-1], guess)))}`?" if guess else ""
    return UsageError(f"there is no value at `{visible(format_path(path))}`{hint}")


def _is_written(origin: Origin, value: Any) -> bool:
    """Whether an author wrote a value at its origin; a default has the origin of what is around it.

    What a reference brings may have values that are neither in its file nor beside it.
    """
    written = get(origin.document.value, origin.path, _MISSING)
    if written is _MISSING or (value is None and written is not None):
        return False
    # What a reference brought has the place of the reference, and another value.
    is_reference = bool(origin.path) and str(origin.path[-1]).startswith("$")
    return not is_reference or written == value


def children_of(value: Any) -> dict[str | int, Any]:
    """The children of a part of a typed configuration by written name, defaults included."""
    if isinstance(value, msgspec.Struct):
        info = msgspec.structs.fields(value)
        return {field.encode_name: getattr(value, field.name) for field in info}
    if isinstance(value, dict):
        return value
    if hasattr(value, "__pydantic_fields__"):
        known = type(value).__pydantic_fields__.items()
        return {field.alias or name: getattr(value, name) for name, field in known}
    fields = [each.name for each in getattr(value, "__attrs_attrs__", ())]
    fields = fields or [*getattr(value, "__dataclass_fields__", ())]
    if fields:
        return {name: getattr(value, name) for name in fields if hasattr(value, name)}
    return dict(enumerate(value)) if isinstance(value, list | tuple) else {}


def canonical_json(plain: Any) -> bytes:
    """Plain data as canonical JSON."""
    written = json.dumps(
        plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return written.encode()
