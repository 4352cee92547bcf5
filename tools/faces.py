"""Writes what is made from the kinds: where `equipage.models` finds them (`models.json`), what type
checkers read (`models.pyi` and `api.pyi`), and `clients/index.json`, by which files are recognised.

    python tools/faces.py                 write them
    python tools/faces.py --check         fail if they are not what this program would write
    python tools/faces.py --stubs FOLDER  write the stubs there: the build of the wheel does

The stubs are large, so git ignores them.

Kinds, their models and their options are the source. The models of conventions are made at run
time from tables, so the stub is the only place where a type checker can see their fields. The
tables are large, so the index says what is asked of all of them; it keeps its order, in which kinds
are recognised, and a new kind comes last.
"""

from __future__ import annotations

import inspect
import itertools
import json
import keyword
import sys
import textwrap
import types
import typing
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import rtoml

from equipage.clients import format as client_format
from equipage.clients import mcp
from equipage.clients.catalogue import (
    SKILL_TABLES,
    WrongTable,
    client_named,
    convention_in,
    table_file,
)
from equipage.clients.grant_words import subjects_in
from equipage.clients.index import KINDS, Entry
from equipage.formats.defect.mcp import McpJson
from equipage.formats.defect.skill import Skill
from equipage.formats.server.compose import ServerLimits
from equipage.formats.server.model import ServerConfig
from equipage.formats.server.payloads import Generated
from equipage.formats.server.payloads.base import GeneratorLimits
from equipage.formats.toolpack.model import Toolpack, ToolpackFile
from equipage.loading.editor_schema import meaning_of
from equipage.loading.format import Limits
from equipage.project.registry import built_in_kinds, format_named

PACKAGE = Path(__file__).parents[1] / "src/equipage"
FROM_KINDS = "made by tools/faces.py from the kinds; `make stubs` renews it."


def entries() -> dict[str, Entry]:
    """What the tables say of each kind. Those of skills of single clients are left out."""
    folder = PACKAGE / "clients"
    paths = (path.relative_to(folder) for path in sorted(folder.glob("*/*.toml")))
    names = [path.with_suffix("").as_posix() for path in paths]
    others = {"mcp/dialects", *(name for name in names if name.endswith("/client"))}
    tables = {name: table_file(name) for name in names if name not in others}
    bases = {each.content["like"] for each in tables.values() if "like" in each.content}
    found: dict[str, Entry] = {}
    for name, table in tables.items():
        subjects_in(name)  # a mistake stops this, and not people who ask what agents may do
        if name in bases or (name in SKILL_TABLES and name != SKILL_TABLES[0]):
            continue
        with table.locate():
            kind = table.content["kind"]
            if kind in found:
                raise SystemExit(f"{name}.toml and {found[kind].file}.toml are both of {kind}")
            found[kind] = entry_of(name)
    found["mcp"] = msgspec.structs.replace(found["mcp"], paths=mcp.PATHS)
    return {kind: found[kind] for kind in (*KINDS, *found) if kind in found}


def entry_of(name: str) -> Entry:
    content = table_file(name).content
    if "title" not in content:
        if other := content.keys() - {"kind", "tool", "grants"}:
            raise SystemExit(f"{name}.toml has no title, so it cannot have {', '.join(other)}")
        return Entry(name, content.get("tool") or client_named(name.partition("/")[0]).name)
    table = convention_in(name)
    return Entry(
        name,
        table.tool,
        table.paths,
        table.title,
        table.sort,
        table.syntax,
        tuple(each.name for each in table.fields),
        tuple(sorted(table.restricting_fields)),
    )


# The tables count here, not what was made of them before: a new kind must be known below.
try:
    MADE = entries()
    FOLDERS = sorted(path.parent.name for path in (PACKAGE / "clients").glob("*/client.toml"))
    CLIENTS = {client_named(folder).name: folder for folder in FOLDERS}
    SKILLS = tuple(map(convention_in, SKILL_TABLES))
except WrongTable as wrong:
    raise SystemExit(str(wrong)) from None
KINDS.clear()
KINDS.update(MADE)

#: What `Loaded.config` is, where that is not the model of the kind, or the file decides.
RESULTS: dict[str, tuple[type[Any], ...]] = {
    "server": (ServerConfig,),
    "toolpack": (Toolpack,),
    "skill": (Skill, *map(client_format.model_of, SKILLS)),
    "mcp": (format_named("mcp").model, McpJson),
}
#: Parts that no result refers to by its types, and people need.
BESIDE: tuple[type[Any], ...] = (Generated, Limits, ServerLimits, GeneratorLimits, ToolpackFile)
#: Unions of parts, by their names: what a field holds that may be one of several things.
ALIASES = {
    "equipage.formats.blueprint.model": ("AgentKind", "Expression", "Node", "Runner"),
    "equipage.formats.server.model": ("ContentItem", "ContentValue"),
    "equipage.formats.toolpack.model": ("Execution",),
}
#: Parts of different kinds have the same name: this is what `equipage.models` calls one of them.
OTHER_NAMES = {
    ("equipage.formats.blueprint.model", "AgentProfile"): "BlueprintAgentProfile",
    ("equipage.formats.defect.profile_model", "Prompt"): "ProfilePrompt",
    ("equipage.formats.defect.hooks", "CommandHandler"): "HookCommandHandler",
    ("equipage.formats.defect.settings", "Capabilities"): "SettingsCapabilities",
    ("equipage.formats.defect.mcp", "McpServer"): "DefectMcpServer",
    ("equipage.formats.toolpack.model", "Limits"): "ToolpackLimits",
}


@cache
def results() -> dict[str, tuple[type[Any], ...]]:
    """What each kind gives to a program."""
    return {
        name: RESULTS.get(name, (format_named(name).model,)) for name in sorted(built_in_kinds())
    }


def parts_of(model: Any, found: dict[type[Any], None]) -> None:
    """Every Struct that a model is made of, itself included."""
    is_model = isinstance(model, type) and issubclass(model, msgspec.Struct)
    if is_model and model not in found:
        found[model] = None
        for hint in typing.get_type_hints(model, include_extras=True).values():
            parts_of(hint, found)
    for each in typing.get_args(model):
        parts_of(each, found)


@cache
def exported() -> dict[str, type[Any]]:
    """Every model and part by the name that `equipage.models` gives it."""
    found: dict[type[Any], None] = {}
    for each in itertools.chain(*results().values(), BESIDE):
        found.setdefault(each) if not issubclass(each, msgspec.Struct) else parts_of(each, found)
    by_name: dict[str, type[Any]] = {}
    for cls in found:
        name = OTHER_NAMES.get((cls.__module__, cls.__name__), cls.__name__)
        if by_name.setdefault(name, cls) is not cls:
            raise SystemExit(f"two models are called {name}: give one a name in OTHER_NAMES")
    return dict(sorted(by_name.items()))


# ----------------------------------------------------------------------- models.json, models.pyi


def wrapped(words: list[str]) -> str:
    text = ", ".join(f'"{each}"' for each in words) + ","
    return textwrap.fill(text, 96, initial_indent="    ", subsequent_indent="    ")


def all_names() -> list[str]:
    known = [*exported(), *itertools.chain(*ALIASES.values()), "Config", "KindName"]
    return ["KINDS", *sorted(known), "fields", "kind_of_model"]


def models_json() -> str:
    homes = {name: f"{cls.__module__}:{cls.__name__}" for name, cls in exported().items()}
    homes |= {name: f"{module}:{name}" for module, names in ALIASES.items() for name in names}
    kinds = {kind: [named(each) for each in models] for kind, models in results().items()}
    return json.dumps({"kinds": kinds, "homes": dict(sorted(homes.items()))}, indent=1) + "\n"


def named(cls: type[Any]) -> str:
    return next(name for name, each in exported().items() if each is cls)


def is_made(cls: type[Any]) -> bool:
    """Whether a model is made at run time from a table."""
    return cls.__module__ == client_format.__name__


def models_pyi() -> str:
    lines = [
        f"# {FROM_KINDS}", "",
        "from typing import Any, Literal, TypeAlias", "",
        "from msgspec import Struct", "",
    ]  # fmt: skip
    imported: dict[str, list[str]] = {}
    for name, cls in exported().items():
        if not is_made(cls):
            imported.setdefault(cls.__module__, []).append(f"{cls.__name__} as {name}")
    for module, aliases in ALIASES.items():
        imported.setdefault(module, []).extend(f"{each} as {each}" for each in aliases)
    for module, known in sorted(imported.items()):
        lines += [f"from {module} import ("]
        lines += [f"    {each}," for each in sorted(known)] + [")"]
    lines += ["", "__all__ = [", wrapped(all_names()), "]  # fmt: skip", ""]
    lines += ["KINDS: dict[str, tuple[str, ...]]", ""]
    lines += ["KindName: TypeAlias = Literal["]
    lines += [f'    "{each}",' for each in results()] + ["]", ""]
    union = [named(each) for models in results().values() for each in models]
    lines += ["Config: TypeAlias = ("]
    lines += [f"    {'| ' if number else ''}{each}" for number, each in enumerate(union)]
    lines += [")", "", "def fields(model: type[Any]) -> dict[str, str]: ..."]
    lines += ["def kind_of_model(model: type[Any]) -> str | None: ...", ""]
    for cls in exported().values():
        if is_made(cls):
            lines += [*class_lines(cls), ""]
    return "\n".join(lines).rstrip() + "\n"


def class_lines(cls: type[Any]) -> Iterator[str]:
    """A model of a convention as a type checker should see it."""
    yield f"class {cls.__name__}(Struct, frozen=True, kw_only=True):"
    title = str(getattr(cls, "TITLE", ""))
    yield f'    """{title[:1].upper()}{title[1:]}."""'
    hints = typing.get_type_hints(cls)
    for name in cls.__struct_fields__:
        assert not keyword.iskeyword(name)
        default = ' = ""' if name == "body" else " = None"
        yield f"    {name}: {written(hints[name])}{default}"
        meaning = meaning_of(cls, name).replace("*", "")  # editors show the asterisks of emphasis
        if meaning:
            text = meaning[:1].upper() + meaning[1:]
            yield from textwrap.wrap(
                f'"""{text}."""', 92, initial_indent="    ", subsequent_indent="    "
            )


def written(hint: Any) -> str:
    """A type as source text."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return "Any"
    if hint is types.NoneType:
        return "None"
    if hint is Ellipsis:
        return "..."
    if origin is typing.Annotated:
        return written(inner[0])
    if origin is typing.Literal:
        return f"Literal[{', '.join(map(repr, inner))}]".replace("'", '"')
    if origin in (typing.Union, types.UnionType):
        return " | ".join(dict.fromkeys(map(written, inner)))
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(written, inner))}]"
    return str(hint.__name__)


# ---------------------------------------------------------------------------------------- api.pyi

API_HEAD = """\
# {made}

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict, TypeVar, Unpack, overload

import equipage.models as _models
from equipage.loading.format import Format, Limits
from equipage.loading.format import DiscoverOptions as _Discover
from equipage.loading.format import LoadOptions as _Load
from equipage.loading.format import LoadsOptions as _Loads
from equipage.loading.format import WatchOptions as _Watch
from equipage.loading.result import Loaded
from equipage.workspace.report import Report
from equipage.workspace.watch import Watch

__all__ = ["check", "check_files", "discover", "example", "load", "loads", "schema", "watch"]

_C = TypeVar("_C")
_Path = str | os.PathLike[str]

"""


def options_of(kind: str) -> type[Any]:
    options = format_named(kind).reading.options
    assert isinstance(options, type)
    return options


def option_lines(classes: list[type[Any]]) -> Iterator[str]:
    """The entries of the options of kinds. A path may be given where a file has text."""
    hints: dict[str, list[str]] = {}
    meanings: dict[str, str] = {}
    for cls in classes:
        for name, hint in typing.get_type_hints(cls).items():
            text = written(hint)
            if name in ("library", "include_roots"):
                text = text.replace("tuple[str, ...]", "Iterable[_Path]").replace("str", "_Path")
            hints.setdefault(name, []).append(text)
            meanings.setdefault(name, meaning_of(cls, name))
    for name, texts in hints.items():
        yield f"    {name}: {' | '.join(dict.fromkeys(texts))}"
        yield f'    """{meanings[name][:1].upper()}{meanings[name][1:]}."""'


def api_pyi() -> str:
    lines = API_HEAD.format(made=FROM_KINDS).splitlines()
    kinds = {kind: options_of(kind) for kind in results()}
    classes = dict.fromkeys(each for each in kinds.values() if each.__struct_fields__)
    for cls in classes:
        lines += [f"class _{cls.__name__}(TypedDict, total=False):"]
        lines += [f'    """{inspect.getdoc(cls)}"""', "", *option_lines([cls]), ""]
        for call in ("Load", "Loads", "Watch"):
            bases = f"_{call}, _{cls.__name__}, total=False"
            lines += [f"class _{call}{cls.__name__}({bases}): ...", ""]
    lines += ["class _AnyOptions(TypedDict, total=False):"]
    lines += ['    """The options of all kinds."""', "", *option_lines([*classes]), ""]
    for call in ("Load", "Loads", "Watch", "Discover"):
        lines += [f"class _{call}AnyOptions(_{call}, _AnyOptions, total=False): ...", ""]
    for function, call in (("load", "Load"), ("loads", "Loads"), ("watch", "Watch")):
        lines += overloads(function, call, kinds)
    lines += [
        "def check(",
        '    paths: _Path | Iterable[_Path] = ".",',
        "    *,",
        "    kind: _models.KindName | Format[Any] | None = None,",
        "    env: Mapping[str, str] | None = None,",
        "    embedded: bool = False,",
        "    jobs: int = 1,",
        "    limits: Limits | None = None,",
        "    **options: Unpack[_AnyOptions],",
        ") -> Report: ...",
        "def check_files(",
        "    files: Mapping[str, bytes | str],",
        "    *,",
        "    kind: _models.KindName | Format[Any] | None = None,",
        "    env: Mapping[str, str] | None = None,",
        "    limits: Limits | None = None,",
        "    **options: Unpack[_AnyOptions],",
        ") -> Report: ...",
    ]
    for kind, result in (("Format[_C]", "_C"), ("_models.KindName", "_models.Config")):
        lines += [
            "@overload",
            "def discover(",
            '    folder: _Path = ".",',
            "    *,",
            f"    kind: {kind},",
            "    **options: Unpack[_DiscoverAnyOptions],",
            f") -> dict[str, Loaded[{result}]]: ...",
        ]
    asked = "kind: _models.KindName | type[Any] | Format[Any]"
    lines += [f"def schema({asked}) -> dict[str, Any]: ...", f"def example({asked}) -> str: ..."]
    return "\n".join(lines).rstrip() + "\n"


def overloads(function: str, call: str, kinds: dict[str, type[Any]]) -> Iterator[str]:
    result = "Watch" if function == "watch" else "Loaded"
    first = "text: str" if function == "loads" else "path: _Path"
    head = f"def {function}(\n    {first},"
    for kind, options in kinds.items():
        mine = options.__name__ if options.__struct_fields__ else ""
        union = " | ".join(f"_models.{named(each)}" for each in results()[kind])
        yield "@overload"
        yield f'{head}\n    *,\n    kind: Literal["{kind}"],'
        yield f"    **options: Unpack[_{call}{mine}],"
        yield f") -> {result}[{union}]: ..."
    yield "@overload"
    yield f"{head}\n    model: type[_C],\n    **options: Unpack[_{call}AnyOptions],"
    yield f") -> {result}[_C]: ..."
    yield "@overload"
    yield f"{head}\n    *,\n    kind: Format[_C],\n    **options: Unpack[_{call}AnyOptions],"
    yield f") -> {result}[_C]: ..."
    yield "@overload"
    yield f"{head}\n    *,\n    kind: _models.KindName,\n    **options: Unpack[_{call}],"
    yield f") -> {result}[_models.Config]: ..."
    if function != "loads":
        yield "@overload"
        yield f"{head}\n    **options: Unpack[_{call}AnyOptions],"
        yield f") -> {result}[_models.Config]: ..."


# --------------------------------------------------------------------------- clients/index.json


def index_json() -> str:
    """The index, a line for each kind."""
    unread = rtoml.loads((PACKAGE / "clients/unread.toml").read_text(encoding="utf-8"))["unread"]
    rows = [f"{dumped(kind)}: {dumped(msgspec.to_builtins(each))}" for kind, each in MADE.items()]
    kinds, others = ",\n".join(rows), ",\n".join(map(dumped, unread))
    head = f'"clients": {dumped(CLIENTS)}'
    return f'{{{head}, "kinds": {{\n{kinds}\n}}, "unread": [\n{others}\n]}}\n'


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def files() -> dict[Path, str]:
    """Every file that this program writes, and its text as the formatter leaves it."""
    made = {
        "models.json": models_json(),
        "models.pyi": models_pyi(),
        "api.pyi": api_pyi(),
        "clients/index.json": index_json(),
    }
    return {
        PACKAGE / name: text if name.endswith(".json") else formatted(text, name)
        for name, text in made.items()
    }


def write_stubs(folder: Path) -> None:
    """Write the stubs as they come: where a wheel is built, there is no formatter."""
    for name, text in (("models.pyi", models_pyi()), ("api.pyi", api_pyi())):
        (folder / name).write_text(text, encoding="utf-8")


def formatted(text: str, name: str) -> str:
    import subprocess

    command = [sys.executable, "-m", "ruff", "format", "-", "--stdin-filename", PACKAGE / name]
    return subprocess.run(
        command, input=text, capture_output=True, text=True, check=True, cwd=PACKAGE.parents[1]
    ).stdout


def main() -> int:
    if sys.argv[1:2] == ["--stubs"]:
        write_stubs(Path(sys.argv[2]))
        return 0
    made = files()
    stale = [path for path in made if not path.exists() or path.read_text() != made[path]]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.name} is out of date: run `make stubs`")
        return bool(stale)
    for path, text in made.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
