"""What the command line asks for: which files, and how to load them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from equipage.cli.arguments import HERE
from equipage.cli.output import Output
from equipage.core import codes
from equipage.core.diagnostics import LoadError, UsageError
from equipage.core.path import Path, PathSyntaxError, parse_path
from equipage.core.text import nearest
from equipage.files import MAX_BYTES, config_home
from equipage.files.disk import Disk
from equipage.files.reading import read_file
from equipage.files.sandbox import FileProblem
from equipage.loading.pipeline import Outcome
from equipage.loading.session import Request
from equipage.project.registry import format_named, rules_named
from equipage.project.settings import NO_LAYERS_MESSAGE, load_in_project

if TYPE_CHECKING:
    from equipage.loading.result import Loaded
    from equipage.workspace import Workspace

#: The note of a command that finds no file to work on.
NOTHING_FOUND = "equipage: no configuration found; name a file, or use --kind"


def request_of(options: argparse.Namespace) -> Request:
    """How to load, as the command line says it. A load ignores the options of other kinds.

    Raises `UsageError` for a root that is not a folder: it would allow nothing, silently.
    """
    for root in options.root:
        if not os.path.isdir(root):
            raise UsageError(f"--root {root}: no such folder")
    written = {
        "library": options.library,
        "allow_absolute": options.allow_absolute,
        "include_roots": options.include_root,
        "default_agent_kind": options.default_agent_kind,
        "local": options.local,
        "config": options.config,
        "home": getattr(options, "home", None),
        "managed": getattr(options, "managed", None),
    }
    # Only what was written is passed on: each kind has its own defaults.
    given = {name: value for name, value in written.items() if value not in (None, False, [])}
    roots = tuple(os.path.abspath(root) for root in options.root)
    disk = Disk()
    rules = [*_own_rules(disk), *getattr(options, "rules", ())]
    return Request(
        env=disk.variables(),
        system=disk,
        options=given,
        embedded=options.embedded,
        isolated=getattr(options, "isolated", False),
        shared=True,
        roots=roots,
        # These two are about one file that the user named; all others judge a tree, and a check
        # judges named files as well.
        confined=options.command not in ("show", "explain"),
        reads_named=options.command == "check",
        rules=rules_named(rules) if rules else {},
    )


def _own_rules(disk: Disk) -> list[str]:
    """The rules that the settings of the user name: `rules` in `equipage/config.toml`.

    Raises `UsageError` if they cannot be read.
    """
    home = config_home(disk.variables())
    data = None if home is None else disk.peek(os.path.join(home, "equipage", "config.toml"))
    if data is None:
        return []
    import tomllib  # few users have any

    try:
        rules = tomllib.loads(data.decode()).get("rules", [])
    except ValueError as error:
        raise UsageError(f"your own settings, equipage/config.toml: {error}") from None
    if not isinstance(rules, list) or not all(isinstance(each, str) for each in rules):
        raise UsageError("your own settings, equipage/config.toml: `rules` must be a list of names")
    return rules


def workspace_of(options: argparse.Namespace, paths: Sequence[str] | None = None) -> Workspace:
    """The workspace that the command line names, or that of other paths."""
    from equipage.workspace import Workspace  # not for a command about one file

    chosen = paths_of(options) if paths is None else paths
    return Workspace(chosen, request_of(options), kind=options.kind)


def outcome_of(options: argparse.Namespace) -> Outcome:
    """The load of the file that the command line names, merged with its layers.

    Raises `LoadError` if its kind is unknown, `UsageError` if there is no such file, and for
    `--config` without layers.
    """
    request = request_of(options)
    if not os.path.lexists(options.file):
        raise UsageError(f"`{options.file}`: no such file{_suggestion(options.file)}")
    outcome = load_in_project(options.file, request, kind=options.kind)
    # Kinds without layers have no `stack`; it returns None for a file outside of all layers.
    stack = outcome.kind.layering.stack
    merged = stack(options.file, request) if stack is not None else None
    if options.config and merged is None:
        raise UsageError(NO_LAYERS_MESSAGE)
    return outcome if merged is None else merged


def loaded_of(outcome: Outcome, options: argparse.Namespace, output: Output) -> Loaded[object]:
    """The configuration of a load, with a note if there are warnings. Raises `LoadError`."""
    loaded = outcome.loaded_or_none()
    if loaded is None:
        # A kind of another package may read nothing, and only warn: that is said, too.
        raise LoadError(outcome.errors or outcome.diagnostics)
    # A check would not say this: it judges a layer as a part.
    said = [each for each in outcome.diagnostics if each.code == codes.LAYER_LOADED]
    for each in said:
        output.note(f"equipage: {each.message}; {each.help}")
    count = len(outcome.diagnostics) - len(said)
    if count:
        # `check` merges only the layers it is given, so the advice names every one of them.
        kind = format_named(outcome.kind.name if options.kind is None else options.kind)
        has_layers = kind.layering.stacks is not None
        names = [each.name for each in outcome.sources] if has_layers else []
        what = "1 finding" if count == 1 else f"{count} findings"
        command = f"equipage check {' '.join(names or [options.file])}{kind_flags(options)}"
        output.note(f"equipage: {what}; run `{command}`")
    return loaded


def note_unseen_layers(outcome: Outcome, options: argparse.Namespace, output: Output) -> None:
    """Say which layers were not looked at: what is in effect here may be replaced there."""
    unseen = outcome.kind.layering.unseen
    missing = [f"{unseen[name]} (--{name})" for name in unseen if not getattr(options, name)]
    if missing:
        output.note(f"equipage: not looked at, and may decide: {', '.join(missing)}")


def kind_flags(options: argparse.Namespace) -> str:
    """What a command that is recommended needs to read files as this one does."""
    kind = "" if options.kind is None else f" --kind {options.kind}"
    return kind + "".join(f" --python-path {each}" for each in options.python_path)


def path_of(written: str) -> Path:
    """A path from the command line. Raises `UsageError`."""
    try:
        return parse_path(written)
    except PathSyntaxError as error:
        raise UsageError(str(error)) from None


def unknown_code_error(code: str, known: Iterable[str]) -> UsageError:
    """The error for a code that does not exist, with the nearest one that does."""
    guess = nearest(code, known)
    hint = (
        f"did you mean `{guess}`?"
        if guess
        else "run `equipage rule` for all but those of your own rules"
    )
    return UsageError(f"unknown code `{code}`; {hint}")


# Which files a check looks at: paths, globs, lists of paths, and a text on standard input.


class CheckInput(msgspec.Struct, frozen=True):
    """The paths to check, and the text that takes the place of the only one, if there is one."""

    paths: tuple[str, ...]
    text: bytes | None = None

    def overlay(self, request: Request, text: bytes) -> Request:
        """A request whose system has a text in place of the file."""
        from equipage.files.memory import Overlay  # few texts come from elsewhere

        under = request.system
        path = under.real(self.paths[0]).replace(os.sep, "/")
        return msgspec.structs.replace(request, system=Overlay({path: text}, under))


def check_input_of(options: argparse.Namespace) -> CheckInput:
    """What the command line names. Raises `UsageError` for a path or a glob without a file."""
    stdin = options.stdin_filename
    # The default path counts only if nothing else was named.
    named = [] if options.paths is HERE and (stdin or options.files_from) else options.paths
    if stdin is None and "-" in named:
        raise UsageError("to check standard input, name its file: --stdin-filename NAME -")
    if stdin is not None:
        if [each for each in named if each != "-"] or options.files_from:
            raise UsageError("--stdin-filename checks one text; name no other files")
        return CheckInput((stdin,), _read_stdin())
    paths = [*named, *(_read_path_list(options.files_from) if options.files_from else ())]
    return CheckInput(tuple(each for path in paths for each in _expand_path(path)))


def _read_stdin() -> bytes:
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UsageError(f"standard input is larger than {MAX_BYTES:,} bytes")
    return data


def read_named(path: str) -> bytes:
    """A file that the command line names beside those to work on. Raises `FileProblem`."""
    return read_file(path, Disk()).data


def _read_path_list(file: str) -> Iterator[str]:
    """The paths in a file, one on each line, or divided by NUL as `git diff -z` writes them."""
    try:
        data = _read_stdin() if file == "-" else read_named(file)
    except FileProblem as problem:
        reason = problem.code.replace("-", " ")
        raise UsageError(f"--files-from {file}: {reason}") from None
    lines = data.split(b"\0") if b"\0" in data else data.splitlines()
    yield from (os.fsdecode(line) for line in lines if line.strip())


def paths_of(options: argparse.Namespace) -> list[str]:
    """The paths that the command line names, globs expanded. Raises `UsageError`."""
    return [each for path in options.paths for each in _expand_path(path)]


def _expand_path(path: str) -> Iterator[str]:
    """The path, or what it matches as a glob. Raises `UsageError` with the nearest path."""
    if os.path.lexists(path):
        yield path
        return
    import glob  # few command lines have a pattern

    found = sorted(glob.glob(path, recursive=True, include_hidden=True))
    if not found:
        word = "matches no file" if glob.has_magic(path) else "no such file or folder"
        raise UsageError(f"`{path}`: {word}{_suggestion(path)}")
    yield from found


def _suggestion(path: str) -> str:
    """The nearest name in the folder of a path, or in the nearest folder above that exists."""
    folder, name = os.path.split(path.rstrip("/"))
    while folder and not os.path.isdir(folder):
        folder, name = os.path.split(folder)
    try:
        guess = nearest(name, os.listdir(folder or "."))
    except OSError:
        guess = None
    return f"; did you mean `{os.path.join(folder, guess)}`?" if guess else ""
