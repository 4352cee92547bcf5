"""The public functions. They only wire the parts together; the parts do the work.

Type checkers read `api.pyi`, which has one signature for each kind; `make stubs` writes it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast, get_origin

import msgspec

from equipage.core.diagnostics import LoadError, UsageError
from equipage.files import (
    contents_argument,
    folder_argument,
    kind_argument,
    number_argument,
    path_argument,
    paths_argument,
    text_argument,
    valid_path_argument,
    wrong_argument,
)
from equipage.loading.format import Format, Limits
from equipage.loading.model import is_struct
from equipage.loading.pipeline import load_text
from equipage.loading.result import Loaded
from equipage.loading.session import new_request
from equipage.project.registry import (
    codes_for_comments,
    default_format,
    format_named,
    require_known_options,
)
from equipage.project.settings import load_in_project

if TYPE_CHECKING:
    from equipage.files import System
    from equipage.workspace.report import Report
    from equipage.workspace.watch import Watch

__all__ = ["check", "check_files", "discover", "example", "load", "loads", "schema", "watch"]


def load(
    path: str | os.PathLike[str],
    model: type[Any] | None = None,
    *,
    kind: str | Format | None = None,
    env: Mapping[str, str] | None = None,
    strict: bool = False,
    embedded: bool = False,
    roots: Iterable[str | os.PathLike[str]] = (),
    limits: Limits | None = None,
    **options: Any,
) -> Loaded[Any]:
    """Read `path` and return its configuration: composed, checked, immutable.

    The kind is recognised, unless `kind` names it or is a `Format`, or `model` is the model of one;
    a class of your own is a format of its own. With each, type checkers know what `config` is.
    Variables come from `env`, by default the environment of the process, and so do limits unless
    `limits` gives them. Further options are the kind's own, such as `library` for servers; those of
    a kind of your own can be given as one value of its Struct, `options=Wanted(…)`, which type
    checkers check.

    Raises `LoadError` with every error found (with `strict`, warnings fail too), and `UsageError`
    for an unknown kind or option.

    >>> loaded = equipage.load("server.yaml", kind="server")
    >>> loaded.config.baseline.tools[0].tool.name
    'echo'
    """
    # Arguments are checked here; the modules below trust their types.
    name, wanted = path_argument("path", path), _requested_kind(kind, model)
    request = new_request(env, options, embedded=embedded, roots=roots, limits=limits)
    return _require_model(load_in_project(name, request, kind=wanted).result(strict=strict), model)


def loads(
    text: str,
    model: type[Any] | None = None,
    *,
    kind: str | Format | None = None,
    env: Mapping[str, str] | None = None,
    strict: bool = False,
    embedded: bool = False,
    base_dir: str | os.PathLike[str] = ".",
    limits: Limits | None = None,
    **options: Any,
) -> Loaded[Any]:
    """Load a configuration from a string; `kind` or `model` says of which kind it is.

    `embedded` means no disk and no environment. Otherwise references start at `base_dir`.

    Raises `LoadError` and `UsageError` like `load`.

    >>> text = "---\\nname: greet\\ndescription: Says hello\\n---\\nSay hello."
    >>> equipage.loads(text, kind="skill", embedded=True).config.name
    'greet'
    """
    written = text_argument("text", text)
    named = _requested_kind(kind, model)
    if not isinstance(named, Format):
        named = text_argument("kind", named, "the name of a kind or a `Format`")
    request = new_request(env, options, embedded=embedded, limits=limits)
    name = "<embedded>" if embedded else "<string>"
    base = folder_argument("base_dir", base_dir)
    request = msgspec.structs.replace(request, known_codes=codes_for_comments)
    outcome = load_text(written, format_named(named), request, name=name, base=base)
    return _require_model(outcome.result(strict=strict), model)


def watch(
    path: str | os.PathLike[str],
    model: type[Any] | None = None,
    *,
    kind: str | Format | None = None,
    env: Mapping[str, str] | None = None,
    strict: bool = False,
    roots: Iterable[str | os.PathLike[str]] = (),
    limits: Limits | None = None,
    on_problem: Callable[[LoadError], object] | None = None,
    **options: Any,
) -> Watch[Any]:
    """The configuration of `path`, now and whenever it changes, as long as it is good.

    Loads like `load`. Problems go to `on_problem`, by default the logger `equipage`; the last good
    configuration stays `current`. Raises `UsageError` if watchfiles is not installed.

    >>> with equipage.watch("server.yaml", kind="server") as configurations:
    ...     next(configurations).config.server.name
    'demo'
    """
    from equipage.workspace.watch import Watch  # few programs need it

    name, wanted = valid_path_argument("path", path), _requested_kind(kind, model)
    request = new_request(env, options, roots=roots, limits=limits)

    # The watch remembers what its system was asked: a change of any of it wakes the watch.
    def reload(system: System) -> Loaded[Any]:
        own = msgspec.structs.replace(request, system=system)
        outcome = load_in_project(name, own, kind=wanted)
        return _require_model(outcome.result(strict=strict), model)

    return Watch(name, reload, request.system, on_problem=on_problem)


def check(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = ".",
    *,
    kind: str | Format | None = None,
    env: Mapping[str, str] | None = None,
    embedded: bool = False,
    jobs: int = 1,
    limits: Limits | None = None,
    **options: Any,
) -> Report:
    """Find and check everything below `paths`, one path or several. Bad files are findings, never
    exceptions.

    With `jobs`, several processes share the work; 0 means as many as are worth it.

    >>> report = equipage.check(["broken", "tools"])
    >>> report.ok, len(report.files), [each.code for each in report.errors]
    (False, 2, ['wrong-type'])
    """
    request = new_request(env, require_known_options(options), embedded=embedded, limits=limits)
    # Each kind takes the options it knows.
    request = msgspec.structs.replace(request, shared=True, reads_named=True)
    several, count = paths_argument("paths", paths), number_argument("jobs", jobs)
    from equipage.workspace import Workspace  # not for a program that only loads

    chosen = _requested_kind(kind, None)
    return Workspace(several, request, kind=chosen, digests=True, jobs=count).report()


def check_files(
    files: Mapping[str, bytes | str],
    *,
    kind: str | Format | None = None,
    env: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> Report:
    """Check files that are in memory, by their paths from the root of a project.

    Nothing is read from the disk, and no variable of the process: a variable has a value only if
    `env` gives it one. References lead to other files of the mapping. `equipage.toml` in it counts
    as it would on the disk. Findings name the files by their keys.

    >>> skill = b"---\\nname: greet\\n---\\nSay hello."
    >>> report = equipage.check_files({"skills/greet/SKILL.md": skill})
    >>> [(each.name, each.code) for each in report.warnings]
    [('skills/greet/SKILL.md', 'missing-field')]
    """
    request = new_request({} if env is None else env, require_known_options(options), limits=limits)
    from equipage.files.memory import Memory
    from equipage.workspace import Workspace

    root = "/project"  # people are not shown it
    contents = {f"{root}/{path}": data for path, data in contents_argument(files).items()}
    request = msgspec.structs.replace(request, shared=True, system=Memory(contents, root=root))
    return Workspace([root], request, kind=_requested_kind(kind, None), digests=True).report()


def discover(
    folder: str | os.PathLike[str] = ".",
    *,
    kind: str | Format,
    env: Mapping[str, str] | None = None,
    roots: Iterable[str | os.PathLike[str]] = (),
    limits: Limits | None = None,
    **options: Any,
) -> dict[str, Loaded[Any]]:
    """Load every file of a kind below a folder, by the names of the files.

    A file that another one reads is a part of it. Raises `LoadError` with the errors of all files.

    >>> [each.config.id for each in equipage.discover("tools", kind="toolpack").values()]
    ['text.count']
    """
    named = path_argument("folder", folder)
    request = new_request(env, options, roots=roots, limits=limits)
    from equipage.workspace import Workspace

    workspace = Workspace([named], request, kind=_requested_kind(kind, None))
    if not workspace.system.is_folder(named):
        raise UsageError(f"`folder`: there is no folder {workspace.system.name_of(named)}")
    loads = workspace.loads()
    outcomes = {workspace.system.name_of(each.path): each.outcome for each in loads}
    problems = [found for each in loads for found in each.diagnostics if found.severity == "error"]
    if problems:
        raise LoadError(problems)
    return {name: each.result(strict=False) for name, each in outcomes.items() if each is not None}


def schema(kind: str | type[Any] | Format) -> dict[str, Any]:
    """The JSON Schema of the files of a kind, for editors and other programs.

    >>> equipage.schema("toolpack")["title"]
    'toolpack'
    """
    from equipage.loading.editor_schema import schema_for

    return schema_for(_format_of(kind))


def example(kind: str | type[Any] | Format) -> str:
    """The text of a good first file of a kind.

    >>> equipage.example("toolpack").splitlines()[1]
    'id: text.WORD'
    """
    from equipage.loading.editor_schema import example_of

    return example_of(_format_of(kind))


def _format_of(kind: str | type[Any] | Format) -> Format:
    """The format of a kind, of a model, or itself. Raises `UsageError`."""
    if isinstance(kind, str | Format):
        return format_named(kind)
    wanted = _requested_kind(None, kind)
    assert wanted is not None
    return format_named(wanted)


def _requested_kind(kind: str | Format | None, model: Any) -> str | Format | None:
    """The kind that a caller names, or whose model it names. Raises `UsageError`."""
    if model is None:
        return kind if isinstance(kind, Format) else kind_argument(kind)
    if kind is not None:
        raise UsageError("`kind` and `model` both say what to load: leave one out")
    if isinstance(model, Format):
        raise UsageError("`model`: expected a class; a format is given as `kind=`")
    if not isinstance(model, type) and get_origin(model) is None:
        raise wrong_argument("model", model, "a class")
    from equipage.models import kind_of_model

    found = kind_of_model(model) if hasattr(model, "__name__") else None
    return found if found is not None else default_format(model)


def _require_model(loaded: Loaded[Any], model: type[Any] | None) -> Loaded[Any]:
    """Return the load if its configuration is of this model. Raises `UsageError`."""
    # Several models share a kind, and what one of them is depends on the file.
    if is_struct(model) and not isinstance(loaded.config, cast(Any, model)):
        found, file = type(loaded.config).__name__, loaded.sources[0].name
        wanted = getattr(model, "__name__", "")
        raise UsageError(f"`model`: {file} gives a {found}, not a {wanted}")
    return loaded
