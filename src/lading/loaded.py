"""The result of a load: the typed, frozen configuration, and everything that can be asked about it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, Generic, TypeVar

import msgspec

from lading.diagnostics import Diagnostic, UsageError
from lading.path import Path, format_path, parse_path
from lading.source import Source, Span
from lading.syntax.document import Document
from lading.tree import Origin, Tree, get, walk

C = TypeVar("C")

#: The version of the canonical form that digests are made of.
CANONICAL = 1


class Setting(msgspec.Struct, frozen=True):
    """One place that had a say in a value: where, what it said, and whether that counts in the end."""

    span: Span | None
    path: str
    how: str  #: `written`, `overridden`, `included from here`, …
    value: Any = None
    wins: bool = False

    @property
    def place(self) -> str | None:
        """Where it stands, as `file:line:column`."""
        return None if self.span is None else f"{self.span.source.name}:{self.span.line}:{self.span.column}"


class Explanation(msgspec.Struct, frozen=True):
    """The story of one value: every place that set it in order, and what the value came through."""

    path: str
    value: Any
    settings: tuple[Setting, ...]
    through: tuple[Setting, ...] = ()
    variables: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.path or '(root)'} = {json.dumps(self.value, ensure_ascii=False, default=str)}"]
        lines += [f"  {each.how} at {each.place or '(default)'}" for each in self.settings]
        lines += [f"  {each.how} at {each.place}" if each.place else f"  {each.how}" for each in self.through]
        lines += [f"  from the environment: {name}" for name in self.variables]
        return "\n".join(lines)


class Loaded(Generic[C]):
    """A loaded configuration. It pickles, and never changes."""

    def __init__(
        self,
        config: C,
        kind: str,
        warnings: tuple[Diagnostic, ...],
        tree: Tree,
        documents: tuple[Document, ...],
        sources: tuple[Source, ...],
        written: Callable[[C], Any] | None = None,
    ) -> None:
        self.config = config
        self.kind = kind
        self.warnings = warnings
        self.sources = sources
        self._tree = tree
        self._documents = documents
        self._written = written or plain_data

    def __repr__(self) -> str:
        return f"Loaded(kind={self.kind!r}, sources={[source.name for source in self.sources]})"

    # ----------------------------------------------------------------------------------------------- values

    def to_dict(self, *, show_env: bool = True) -> Any:
        """The configuration as plain data. Without `show_env`, values from the environment are `${NAME}`."""
        plain = self._written(self.config)
        return plain if show_env else self._hidden(plain)

    @cached_property
    def digest(self) -> str:
        """sha256 over the canonical form: sorted keys, no defaults, values from the environment by name. The
        same on every machine, whatever the order of keys; no secret goes into it."""
        return hashlib.sha256(canonical(self._hidden(plain_data(self.config)))).hexdigest()

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the environment variables this load looked up."""
        names = (
            name
            for document in self._documents
            if document.substituted_text is not None
            for name in document.substituted_text.names
        )
        return tuple(dict.fromkeys(names))

    def _touched(self) -> dict[tuple[int, Path], tuple[tuple[str, ...], str]]:
        return {
            (id(document), touch.path): (touch.names, touch.written)
            for document in self._documents
            for touch in document.touches()
            if not touch.is_key
        }

    def _hidden(self, plain: Any) -> Any:
        """Plain data with every leaf a variable went into as the author wrote it."""
        touched = self._touched()
        keys = {
            str(touch.path[-1]): touch.written
            for document in self._documents
            for touch in document.touches()
            if touch.is_key
        }
        if not touched and not keys:
            return plain

        def hide(value: Any, path: Path) -> Any:
            if isinstance(value, dict):
                return {keys.get(key, key): hide(child, (*path, key)) for key, child in value.items()}
            if isinstance(value, list):
                return [hide(child, (*path, number)) for number, child in enumerate(value)]
            origin = self._tree.story(path).origin
            known = touched.get((id(origin.document), origin.path))
            return value if known is None else known[1]

        return hide(plain, ())

    # ----------------------------------------------------------------------------------------------- places

    def _path(self, path: str | Path) -> Path:
        """A path into the configuration; one the author would write is translated."""
        steps = parse_path(path) if isinstance(path, str) else path
        for start, end in self._tree.moves:
            if steps[: len(start)] == start:
                steps = end + steps[len(start) :]
        return steps

    def locate(self, path: str | Path) -> Span | None:
        """Where the value at `path` is written, None for a default."""
        origin = self._tree.story(self._path(path)).origin
        found = origin.document.locate([origin.path]).get(origin.path)
        return None if found is None else found.value

    def explain(self, path: str | Path) -> Explanation:
        """Who set the value at `path`, what it replaced, and through what it came.

        Raises `UsageError` if there is no such value.
        """
        steps = self._path(path)
        plain = self._written(self.config)
        missing = object()
        value = get(plain, steps, missing)
        if value is missing:
            value = get(self._tree.value, steps, missing)
        if value is missing:
            raise UsageError(f"there is no value at {format_path(steps)!r}")
        story = self._tree.story(steps)
        settings = [self._setting(origin, "replaced") for origin in story.replaced]
        settings.append(self._setting(story.origin, "written", wins=True))
        settings += [self._setting(origin, "merged over it") for origin in story.merged]
        through = [self._setting(via.at, via.how) if via.at else Setting(None, "", via.how) for via in story.via]
        touched = self._touched().get((id(story.origin.document), story.origin.path))
        return Explanation(
            format_path(self._tree.authored(steps)),
            value if touched is None else touched[1],
            tuple(settings),
            tuple(through),
            touched[0] if touched else (),
        )

    def _setting(self, origin: Origin, how: str, *, wins: bool = False) -> Setting:
        found = origin.document.locate([origin.path]).get(origin.path)
        touched = self._touched().get((id(origin.document), origin.path))
        value = touched[1] if touched else get(origin.document.value, origin.path)
        return Setting(found.value if found else None, format_path(origin.path), how, value, wins)

    # --------------------------------------------------------------------------------------------- pickling

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "digest"}


def plain_data(config: Any) -> Any:
    """A frozen configuration as plain dicts, lists and scalars, without defaults.

    A value that equals its default is left out whoever wrote it, so that spelling a default out changes no digest.
    """
    if isinstance(config, msgspec.Struct):
        result: dict[str, Any] = {}
        tag, fields = _layout(type(config))
        if tag is not None:
            result[tag[0]] = tag[1]
        for name, written, default in fields:
            value = getattr(config, name)
            if value is not default and value != default:
                result[written] = plain_data(value)
        return result
    if isinstance(config, dict):
        return {key: plain_data(each) for key, each in config.items()}
    if isinstance(config, list | tuple):
        return [plain_data(each) for each in config]
    if config is None or isinstance(config, str | int | float):
        return config
    to_dict = getattr(config, "to_dict", None)
    return to_dict() if to_dict is not None else str(config)


_REQUIRED = object()


@cache
def _layout(cls: type[msgspec.Struct]) -> tuple[tuple[str, Any] | None, tuple[tuple[str, str, Any], ...]]:
    """The tag of a Struct, and for each field its name, how it is written, and its default."""
    info = cls.__struct_config__
    fields = tuple((each.name, each.encode_name, _default(each)) for each in msgspec.structs.fields(cls))
    return (None if info.tag_field is None else (info.tag_field, info.tag)), fields


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default is not msgspec.NODEFAULT:
        return field.default
    return field.default_factory() if field.default_factory is not msgspec.NODEFAULT else _REQUIRED


def canonical(plain: Any) -> bytes:
    """Plain data as canonical JSON."""
    return json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def leaves(plain: Any) -> dict[Path, Any]:
    """Every scalar of plain data by its path."""
    return {path: value for path, value in walk(plain) if not isinstance(value, dict | list)}
