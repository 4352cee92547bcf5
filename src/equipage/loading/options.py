"""What the public functions take beside the file, for type checkers. Nothing imports it to run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TypedDict

from msgspec import Struct

from equipage.core.diagnostics import LoadError
from equipage.loading.format import Limits

Path = str | os.PathLike[str]


class CommonOptions(TypedDict, total=False):
    """What every load takes."""

    env: Mapping[str, str] | None
    strict: bool
    limits: Limits | None
    options: Struct
    """The options of a kind of your own, as a value of its Struct."""


class LoadOptions(CommonOptions, total=False):
    """What `load` takes."""

    embedded: bool
    roots: Iterable[Path]


class LoadsOptions(CommonOptions, total=False):
    """What `loads` takes."""

    embedded: bool
    base_dir: Path


class WatchOptions(CommonOptions, total=False):
    """What `watch` takes."""

    roots: Iterable[Path]
    on_problem: Callable[[LoadError], object] | None


class DiscoverOptions(TypedDict, total=False):
    """What `discover` takes."""

    env: Mapping[str, str] | None
    roots: Iterable[Path]
    limits: Limits | None
    options: Struct


class CheckOptions(TypedDict, total=False):
    """What `check` takes."""

    env: Mapping[str, str] | None
    embedded: bool
    jobs: int
    limits: Limits | None
