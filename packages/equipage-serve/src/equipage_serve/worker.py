"""Runs a tool of the kind `python`, a callable or a script, in a fork of the supervisor.

A worker is used for one call. It is made before the call, imports the module, and waits for its
input: so a call pays neither for a start of Python nor for the import. Only the standard library
is used.

The answer of a callable is one line of JSON with one of three keys: `result`, `raised` for an
exception, `unfit` for a value that is not JSON.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

_CHUNK = 1 << 20


class _HashCheckedLoader(importlib.machinery.SourceFileLoader):
    """Runs exactly the text that was hashed; files with compiled code beside it are not used."""

    known: Mapping[str, str] = {}

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        data = self.get_data(path)
        # Hashed and compiled from one reading: a file that changes between the two is never run.
        if self.known.get(os.path.realpath(path)) != hashlib.sha256(data).hexdigest():
            raise ImportError(f"{os.path.basename(path)} is not the code that was checked")
        return self.source_to_code(data, path)


class _HashCheckedExtensionLoader(importlib.machinery.ExtensionFileLoader):
    """Compiled code is compared, too, before it is loaded."""

    def create_module(self, spec: Any) -> Any:
        path = os.path.realpath(self.path)
        with open(path, "rb") as file:
            if (
                _HashCheckedLoader.known.get(path)
                != hashlib.file_digest(file, "sha256").hexdigest()
            ):
                raise ImportError(f"{os.path.basename(path)} is not the code that was checked")
        return super().create_module(spec)


class _Finder(importlib.machinery.FileFinder):
    """Finds modules without a list of the folder, which a jail may not give."""

    def find_spec(self, fullname: str, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        path = os.path.join(self.path, fullname.rpartition(".")[2])
        for stem, inner in ((f"{path}/__init__", [path]), (path, None)):
            for file, loader in ((stem + ending, loader) for ending, loader in _LOADERS.items()):
                if os.path.isfile(file):
                    return importlib.util.spec_from_file_location(
                        fullname, loader=loader(fullname, file), submodule_search_locations=inner
                    )
        spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = [path]
        return spec if os.path.isdir(path) else None


_LOADERS: dict[str, Any] = dict.fromkeys(
    importlib.machinery.EXTENSION_SUFFIXES, _HashCheckedExtensionLoader
)
_LOADERS[".py"] = _HashCheckedLoader


def search_in(folders: Sequence[str], hashes: Mapping[str, str]) -> None:
    """Import from these folders first, and there only files with these hashes."""
    _HashCheckedLoader.known = hashes
    find = _Finder.path_hook()

    def hook(path: str) -> Any:
        # Other folders are left to the finders of Python: the standard library is not covered.
        if not any(path == each or path.startswith(f"{each}/") for each in folders):
            raise ImportError(path)
        return find(path)

    sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.clear()
    sys.path[:0] = folders


def run_callable(module: str, name: str, again: bool) -> None:
    """Import, wait for the input, call, answer, and end the process; or wait `again`."""
    # What the tool prints goes to standard error; only the answer goes to standard output.
    answers = os.dup(1)
    os.dup2(2, 1)
    target, answer = None, None
    try:
        target = _import_callable(module, name)
    except BaseException as error:
        answer = _exception_answer(error)
    for line in _stdin_lines():
        if target is not None:
            answer = _call_and_encode(target, json.loads(line)["input"])
        _flush()
        _write(answers, (answer or "{}").encode() + b"\n")
        # After an exception the process is not used again: what it left behind is not known.
        if not again or answer is None or not answer.startswith('{"result"'):
            break
    # Threads and exit handlers of the tool are not waited for: the answer is given.
    os._exit(0)


def _stdin_lines() -> Iterator[bytes]:
    """The lines of standard input as they come."""
    rest = b""
    while data := os.read(0, _CHUNK):
        *lines, rest = (rest + data).split(b"\n")
        yield from lines


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # closed or replaced by the tool
            continue


def _import_callable(module: str, name: str) -> Callable[[Any], Any]:
    import importlib

    value: Any = importlib.import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    if not callable(value):
        raise TypeError(f"`{name}` of the module `{module}` cannot be called")
    return value  # type: ignore[no-any-return]


def _call_and_encode(target: Callable[[Any], Any], payload: Any) -> str:
    try:
        result = target(payload)
        # asyncio is large, so only a tool that needs it pays for the import.
        if hasattr(result, "__await__"):
            import asyncio

            result = asyncio.run(_await_value(result))
    except BaseException as error:
        return _exception_answer(error)
    try:
        return json.dumps({"result": result}, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return json.dumps({"unfit": str(error)})


async def _await_value(value: Any) -> Any:
    return await value


def _exception_answer(error: BaseException) -> str:
    try:
        # Of an exception only its class and its text leave the process, never a traceback with
        # values.
        text = str(error)
    except BaseException:  # an exception may have a `__str__` that raises
        text = ""
    return json.dumps({"raised": type(error).__name__, "text": text[:2000]})


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def run_script(source: bytes, path: str) -> None:
    """Run the text of a script as `python PATH` would; its bytes are those that were checked."""
    # A module of its own, so that the script finds nothing of the supervisor in its globals.
    main = types.ModuleType("__main__")
    main.__file__ = path
    sys.modules["__main__"] = main
    sys.argv = [path]
    try:
        exec(compile(source, path, "exec", dont_inherit=True), main.__dict__)
    except Exception as error:
        # Only the beginning of stderr is kept, so it must not be about the frames above the script.
        own = error.__traceback__ and error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(own), own)
        sys.exit(1)
