"""Run a package and print what one load or one check of it touches, for `tools/measure.py`.

    python -P tools/measure_probes.py PROBE PACKAGE [FILE]

It runs in a process of its own, so that it starts cold. The numbers are on the last line.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from importlib import import_module
from types import CodeType, FrameType
from typing import Any


def print_load_modules(package: str, file: str) -> None:
    """How many modules one load imports, and how many a second one runs."""
    load = import_module(package).load
    load(file, env={})
    imported = _count_of_package(package, sys.modules)
    run = _modules_by_code(lambda: load(file, env={}))
    print(imported, _count_of_package(package, set(run.values())))


def print_check_modules(package: str, file: str) -> None:
    """How many modules a check imports."""
    _check(package, file)
    print(_count_of_package(package, sys.modules))


def print_opens(package: str, file: str) -> None:
    """How often a load opens the file by its name, whatever folder the name is relative to."""
    opens = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal opens
        if event == "open" and isinstance(arguments[0], str):
            opens += os.path.basename(arguments[0]) == os.path.basename(file)

    load = import_module(package).load
    sys.addaudithook(hook)
    load(file, env={})
    print(opens)


def print_visits(package: str, file: str) -> None:
    """How many modules a second check enters, and how often it switches between them."""
    if _check(package, file):
        sys.exit("the check was meant to find nothing")
    visited = _modules_by_code(lambda: _check(package, file))
    order = [each for each in visited.values() if each.partition(".")[0].startswith(package)]
    print(len(set(order)), sum(order[at] != order[at - 1] for at in range(1, len(order))))


def print_looks(package: str, file: str) -> None:
    """How often a check looks for `pyproject.toml`: most in one folder, and in all."""
    looks = Counter[tuple[int, int]]()
    real_stat = os.stat

    def count_looks(real: Callable[..., Any]) -> Callable[..., Any]:
        def look(path: Any, *arguments: Any, **options: Any) -> Any:
            if isinstance(path, str | os.PathLike):
                folder, name = os.path.split(os.fspath(path))
                if name == "pyproject.toml":
                    found = real_stat(folder or ".", dir_fd=options.get("dir_fd"))
                    looks[found.st_dev, found.st_ino] += 1
            return real(path, *arguments, **options)

        for able in (os.supports_dir_fd, os.supports_effective_ids, os.supports_follow_symlinks):
            if real in able:
                able.add(look)
        return look

    asking = [(os, name) for name in ("access", "lstat", "open", "readlink", "stat")]
    for module, name in [*asking, (io, "open"), (builtins, "open")]:
        setattr(module, name, count_looks(getattr(module, name)))
    _check(package, file)
    print(max(looks.values(), default=0), looks.total())


def print_public_names(*modules: str) -> None:
    """The public functions, classes and methods of modules: a line for each, with its module."""
    for module in map(import_module, modules):
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if hasattr(value, "__qualname__"):
                print(value.__module__, value.__qualname__)
            if isinstance(value, type):
                for each in value.__mro__:
                    for inner in vars(each):
                        if not inner.startswith("_"):
                            print(each.__module__, f"{each.__qualname__}.{inner}")


def _check(package: str, file: str) -> int:
    code: int = import_module(f"{package}.cli").main(["check", file])
    return code


def _count_of_package(package: str, modules: Iterable[str]) -> int:
    return sum(each.partition(".")[0] == package for each in modules)


def _modules_by_code(run: Callable[[], object]) -> dict[CodeType, str]:
    """The module of each function that is called, in the order of their first calls."""
    modules = dict[CodeType, str]()

    def notice(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            modules.setdefault(frame.f_code, frame.f_globals.get("__name__", ""))

    sys.setprofile(notice)
    run()
    sys.setprofile(None)
    return modules


PROBES: dict[str, Callable[..., None]] = {
    "check-modules": print_check_modules,
    "load-modules": print_load_modules,
    "looks": print_looks,
    "opens": print_opens,
    "public-names": print_public_names,
    "visits": print_visits,
}

if __name__ == "__main__":
    PROBES[sys.argv[1]](*sys.argv[2:])
