"""The public functions. They only wire the parts together; the parts do the work."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from equipage.files import (
    folder_given,
    kind_given,
    number_given,
    path_given,
    paths_given,
    text_given,
)
from equipage.files.reading import Files
from equipage.loading.pipeline import load_text
from equipage.loading.registry import kind_named, known_options
from equipage.loading.result import Loaded
from equipage.loading.session import request_of
from equipage.workspace.project import load_one
from equipage.workspace.report import Report, check_paths

__all__ = ["check", "load", "loads"]


def load(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    env: Mapping[str, str] | None = None,
    strict: bool = False,
    embedded: bool = False,
    roots: Iterable[str | os.PathLike[str]] = (),
    **options: Any,
) -> Loaded[Any]:
    """Read `path` and return its configuration: composed, checked, immutable.

    The kind is recognised unless `kind` names it. Variables come from `env`, by default the
    environment of the process. Further options are the kind's own, such as `library` for servers.

    Raises `LoadError` with every error found (with `strict`, warnings fail too), and `UsageError`
    for an unknown kind or option.
    """
    name, kind = path_given("path", path), kind_given(kind)
    request = request_of(env, options, embedded=embedded, roots=roots)
    return load_one(name, request, kind=kind).result(strict=strict)


def loads(
    text: str,
    *,
    kind: str,
    env: Mapping[str, str] | None = None,
    strict: bool = False,
    embedded: bool = False,
    base_dir: str | os.PathLike[str] = ".",
    **options: Any,
) -> Loaded[Any]:
    """Load a configuration from a string.

    `embedded` means no disk and no environment. Otherwise references start at `base_dir`.

    Raises `LoadError` and `UsageError` like `load`.
    """
    written, wanted = (
        text_given("text", text),
        kind_named(text_given("kind", kind, "the name of a kind as str")),
    )
    request = request_of(env, options, embedded=embedded)
    name = "<embedded>" if embedded else "<string>"
    base = folder_given("base_dir", base_dir)
    outcome = load_text(written, wanted, request, Files(), name=name, base=base)
    return outcome.result(strict=strict)


def check(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = ".",
    *,
    kind: str | None = None,
    env: Mapping[str, str] | None = None,
    embedded: bool = False,
    jobs: int = 1,
    **options: Any,
) -> Report:
    """Find and check everything below `paths`, one path or several. Bad files are findings, never
    exceptions.

    With `jobs`, several processes share the work; 0 means as many as are worth it.
    """
    request = request_of(env, known_options(options), embedded=embedded)
    request = msgspec.structs.replace(request, shared=True)  # each kind takes those it knows
    several, count = paths_given("paths", paths), number_given("jobs", jobs)
    return check_paths(several, request, kind=kind_given(kind), jobs=count)
