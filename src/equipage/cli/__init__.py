"""The command `equipage`: arguments to a call, its result to output and an exit code.

Only this room prints.

Exit 0 no errors · 1 errors found · 2 wrong usage or nothing to do · 3 a bug in equipage ·
130 interrupted. Findings are data and go to standard output; notes about the run go to standard
error.
"""

from __future__ import annotations

import gc
import os
import sys
from _thread import RLock
from types import ModuleType, SimpleNamespace

from equipage.cli.arguments import colour_in, command_in, read
from equipage.cli.output import Output, Unwritable, flush, silence, tell, wants_colour, write
from equipage.core import interrupts

TYPE_CHECKING = False  # importing `typing` would cost a third of a start
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from typing import Any

# Exit codes.
OK, FOUND, USAGE, BUG, INTERRUPTED = 0, 1, 2, 3, interrupts.INTERRUPTED
#: Modules of commands that have something of their own to clean up: programs they started, private
#: files. For these an interrupt is an exception; every other command ends at once.
_UNWINDING = frozenset({"locking", "lsp", "run", "serve"})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    thresholds = gc.get_threshold()
    # Hardly anything here makes cycles; looking for them often costs a tenth of a run.
    gc.set_threshold(100_000)
    try:
        try:
            code = _run(sys.argv[1:] if arguments is None else arguments)
        except SystemExit as leaving:  # argparse exits by itself: after help, and on wrong usage
            code = leaving.code if isinstance(leaving.code, int) else OK
        try:
            # Flush now: when Python flushes at exit, it can only complain about a closed pipe.
            flush(sys.stdout)
            tell("")
        except BrokenPipeError:
            _leave_quietly()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _leave_quietly()
        return OK
    except Unwritable as error:
        silence(sys.stdout)  # the disk is full, for example; Python must not try again
        try:
            tell(f"equipage: cannot write the output: {error}\n")
        except BrokenPipeError:
            _leave_quietly()
        return USAGE
    finally:
        gc.set_threshold(*thresholds)


def _leave_quietly() -> None:
    """The reader of our output is gone; keep Python from reporting it when it flushes at exit."""
    silence(sys.stdout)
    silence(sys.stderr)


def _run(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    if options is None:
        return USAGE
    if options.command == "help":
        parsing = _parsing()
        text = parsing.help_of(options.about)
        colour = wants_colour(options.color, sys.stdout)
        write(sys.stdout, parsing.coloured(text) if colour else text)
        return OK
    # Imported this late, because help and usage errors need none of it.
    import_msgspec()
    with rarely_used(), LateExpressions(*_WITH_EXPRESSIONS):
        return _call(options)


def _call(options: Any) -> int:
    """Run the command that the options name."""
    from importlib import import_module

    module, _, function = options.runs.partition(":")
    command = getattr(import_module(f"equipage.cli.{module}"), function)
    output = Output(colour=options.color, path=getattr(options, "output", None))
    from equipage.core.diagnostics import LoadError, UsageError

    if module in _UNWINDING:
        interrupts.raise_instead()
    try:
        code = command(options, output)
        output.finish()
    except UsageError as error:
        output.note(f"equipage: {error}")
        return USAGE
    except LoadError as error:
        output.findings(error.diagnostics)
        return FOUND
    except BrokenPipeError:
        _leave_quietly()
        return output.code  # what was found counts, even if the reader has seen enough
    except (KeyboardInterrupt, Unwritable):
        raise
    except Exception as error:
        return _failed(error, output)
    assert isinstance(code, int)
    return code


def _options(arguments: Sequence[str]) -> Any:
    """The arguments as attributes; None if there is no command, and then the help is printed."""
    wanted = command_in(arguments)
    if wanted is not None:
        values = read(arguments)
        if values is not None:
            return SimpleNamespace(**values)
    parser = _parsing().parser
    colour = wants_colour(colour_in(arguments), sys.stdout)
    options = parser(wanted, colour=colour, commands_whole=wanted is not None).read(arguments)
    if options.command is not None:
        return options
    # The parser above may know one command only.
    parser(colour=colour, commands_whole=False).print_help()
    return None


def _parsing() -> Any:
    """The module that reads every argument, with argparse; most runs need neither."""
    import_argparse()
    from equipage.cli.arguments import parsing

    return parsing


def _failed(error: Exception, output: Output) -> int:
    """The exit code of a run that an exception ended.

    It is not a bug if the working directory was removed: then nearly every call may raise.
    """
    from equipage.core.diagnostics import UsageError
    from equipage.core.text import raised
    from equipage.files import working_directory

    try:
        working_directory()
    except UsageError as gone:
        output.note(f"equipage: {gone}")
        return USAGE
    if os.environ.get("EQUIPAGE_TRACEBACK"):
        raise error
    # The message of the exception may contain a value of the environment, so it is not shown.
    output.note(
        f"equipage: a bug in equipage: {raised(error)}",
        "Please report it with the output of EQUIPAGE_TRACEBACK=1, "
        "which may contain values of your environment.",
    )
    return BUG


# ----------------------------------------------------------------------------------------- imports
# The command starts anew for every file that is saved, so it imports some modules in a cheaper way.
# Each import gives what it always gives; a program that imports `equipage` never comes here, and
# what is already imported is left as it is.


class Instead:
    """Until it is left, an import of the named modules finds these names, or fails for None.

    For imports that a module makes in vain, or for a word or two.
    """

    def __init__(self, **modules: dict[str, Any] | None) -> None:
        self._names = {name: modules[name] for name in modules if name not in sys.modules}

    def __enter__(self) -> None:
        for name, names in self._names.items():
            module = None
            if names is not None:
                module = ModuleType(name)
                module.__dict__.update(names)
            sys.modules[name] = module  # type: ignore[assignment]  # None makes the import fail

    def __exit__(self, *_error: object) -> None:
        for name in self._names:
            del sys.modules[name]


class Later:
    """Until it is left, the named modules are found, but executed when something of them is used.

    `importlib.util.LazyLoader` does so, too, but costs as much as it saves: it imports `threading`.
    """

    def __init__(self, *names: str) -> None:
        self._names = names

    def __enter__(self) -> None:
        sys.meta_path.insert(0, self)

    def __exit__(self, *_error: object) -> None:
        sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """As every finder on `sys.meta_path`."""
        if name not in self._names:
            return None
        for finder in sys.meta_path:
            found = finder.find_spec(name, path, target) if finder is not self else None
            if found is not None:
                if hasattr(found.loader, "exec_module"):
                    found.loader = self.wrapped(found.loader)
                return found
        return None

    def wrapped(self, loader: Any) -> Any:
        """The loader that is used in place of one."""
        return _Lazily(loader)


class _Lazily:
    """A loader that executes a module when one of its names is first asked for."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Unexecuted(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__[_LOADER] = self.loader


_LOADER = "__loader_of_equipage__"
_EXECUTING = RLock()


class _Unexecuted(ModuleType):
    """A module without its names."""

    def __getattr__(self, name: str) -> Any:
        with _EXECUTING:  # another thread may have begun: wait until it has executed all of it
            loader = self.__dict__.pop(_LOADER, None)
            if loader is not None:
                self.__loader__ = loader
                if self.__spec__ is not None:
                    self.__spec__.loader = loader
                try:
                    loader.exec_module(self)
                except BaseException:  # an interrupt, for example: the next use tries again
                    self.__dict__[_LOADER] = loader
                    raise
                self.__class__ = ModuleType  # type: ignore[assignment]
        return ModuleType.__getattribute__(self, name)


class LateExpressions(Later):
    """Until it is left, expressions of the named modules are compiled when they are used.

    PyYAML compiles one for its own reader, which takes longer than all of a small check, and uses
    libyaml's. The modules see another `re`; all others see the usual one.
    """

    def __enter__(self) -> None:
        from equipage.core.text import expression

        _LATE.compile = expression  # type: ignore[attr-defined]
        super().__enter__()

    def wrapped(self, loader: Any) -> Any:
        return _WithLateExpressions(loader) if hasattr(loader, "get_code") else loader


class _WithLateExpressions:
    """A loader that executes a module with another `re`."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        created: ModuleType | None = self.loader.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        code = self.loader.get_code(module.__name__)
        if code is None:  # not written in Python
            self.loader.exec_module(module)
            return
        import builtins

        # Functions keep the names that are built in when they are defined.
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import_late}
        exec(code, module.__dict__)


def _import_late(name: str, *others: Any, **named: Any) -> Any:
    """As an import, but for `re`."""
    return _LATE if name == "re" else __import__(name, *others, **named)


class _LateRe(ModuleType):
    """`re`, whose expressions are compiled when they are used."""

    def __getattr__(self, name: str) -> Any:
        import re

        return getattr(re, name)


_LATE = _LateRe("re")


def import_msgspec() -> None:
    """Import msgspec without what it imports for types that are rarely used, or for nothing.

    - `typing_extensions`: msgspec imports it where it is installed, for names that `typing` has
      since Python 3.11, and that import costs as much as two starts of Python.
    - `platform`: before Python 3.13, `uuid` imports it to ask for the name of the system.
    - `datetime`: before Python 3.12, that defines classes in Python and then puts those of
      `_datetime` in their places, which are the ones that msgspec gets here.
    - its own modules that describe types: 40 classes, and `textwrap`.
    """
    named: dict[str, dict[str, Any]] = {}
    if sys.version_info < (3, 13):
        named["platform"] = {"system": _system}
    if sys.version_info < (3, 12):
        named["datetime"] = vars(__import__("_datetime"))  # type checkers know nothing of it
    with (
        Instead(typing_extensions=None, **named),
        Later("msgspec.inspect", "msgspec.json", "msgspec.msgpack", "msgspec.toml", "msgspec.yaml"),
    ):
        import msgspec  # noqa: F401


def rarely_used() -> Later:
    """What many modules import of the standard library, for something that most checks never do."""
    files, words = ("glob", "hashlib", "pathlib"), ("json", "string", "textwrap")
    return Later("bisect", "ipaddress", "weakref", *files, *words)


#: Modules with expressions that few runs use, or none.
_WITH_EXPRESSIONS = (
    "json.encoder",
    "json.scanner",
    "yaml.constructor",
    "yaml.reader",
    "yaml.resolver",
)


def _system() -> str:
    """As `platform.system`, where `uuid` asks for it: not on Windows, not on a Mac."""
    import os

    return os.uname().sysname


def _untranslated(singular: str, plural: str, count: int) -> str:
    return singular if count == 1 else plural


def import_argparse() -> None:
    """Import argparse without `gettext`, which searches folders for translations.

    There are none, and the words of equipage are English.
    """
    with Instead(gettext={"gettext": str, "ngettext": _untranslated}):
        import argparse  # noqa: F401
