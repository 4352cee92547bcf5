"""What is done with each input, and what must hold whatever it is.

A load returns a report; no exception but `LoadError`; every span lies inside its file; a frozen
result holds no plain dict or list.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

import equipage
from equipage.core.diagnostics import Diagnostic, LoadError
from equipage.core.frozen import FrozenDict, FrozenList
from equipage.core.path import walk
from equipage.core.source import Span
from equipage.files.memory import Memory
from equipage.loading.pipeline import Outcome, load_text
from equipage.loading.session import Request
from equipage.project.registry import format_named
from equipage.render import json as json_render
from equipage.render import text as text_render
from equipage.syntax import Irregularity, SyntaxProblem, toml, yaml
from equipage.syntax import header as header_module
from equipage.syntax import json as json_syntax
from equipage.syntax.variables import structure_changes, substitute
from fuzz.corpus import KINDS, conventions, seeds
from fuzz.mutating import mutated
from fuzz.surfaces import Surface

Target = Callable[[str, random.Random], None]
ENV = {"A": "value", "B": "a: b\nc", "PORT": "80", "S": "s3cr3t-c4n4ry"}


# --- engines -------------------------------------------------------------------------------------


def _inside(text: str, found: Iterable[Irregularity]) -> None:
    for each in found:
        for start, end in (each.range, *(place for _, place in each.also)):
            assert 0 <= start <= end <= len(text), f"{each.code}: {start}…{end} of {len(text)}"


def _engine(load: Callable[[str], Any], locate: Callable[..., Any]) -> Target:
    def run(text: str, rng: random.Random) -> None:
        try:
            parsed = load(text)
        except SyntaxProblem as problem:
            assert problem.problems
            _inside(text, problem.problems)
            return
        _inside(text, parsed.irregularities)
        paths = [path for path, _ in walk(parsed.value)]
        for place in locate(text, rng.sample(paths, min(20, len(paths)))).values():
            for start, end in (place.value, place.key or place.value):
                assert 0 <= start <= end <= len(text)

    return run


def env(text: str, _rng: random.Random) -> None:
    try:
        replaced = substitute(text, ENV)
    except SyntaxProblem as problem:
        _inside(text, problem.problems)
        return
    _inside(text, replaced.irregularities)
    _inside(text, structure_changes(replaced))
    position = 0
    for piece in replaced.pieces:
        assert position <= piece.written[0] <= piece.written[1] <= len(text)
        position = piece.written[1]
    for offset in range(0, len(replaced.text) + 1, 7):
        start, end = replaced.to_written(offset, min(offset + 3, len(replaced.text)))
        assert 0 <= start <= end <= len(text)


def header(text: str, _rng: random.Random) -> None:
    for grammar in (header_module.PROFILE, header_module.AGENT_MD, header_module.CONVENTION):
        found = header_module.split(text, grammar)
        if isinstance(found, header_module.NoHeader):
            assert 0 <= found.range[0] <= found.range[1] <= len(text)
        else:
            body = header_module.body_range(text, found.end, grammar)
            assert 0 <= found.start <= found.end <= body[0] <= body[1] <= len(text)


# --- kinds ---------------------------------------------------------------------------------------


def _spans(each: Diagnostic) -> Iterable[Span]:
    yield from (
        span for span in (each.span, *(label.span for label in each.related)) if span is not None
    )
    yield from (edit.span for edit in (each.fix.edits if each.fix else ()))


def check_findings(diagnostics: Iterable[Diagnostic]) -> None:
    for each in diagnostics:
        assert each.code != "internal-error", each.message
        assert each.message
        assert "{" not in each.code
        str(each)
        for span in _spans(each):
            assert 0 <= span.start <= span.end <= len(span.source.text), f"{each.code}: {span}"
            assert span.line >= 1
            assert span.column >= 1


def check_frozen(config: Any) -> None:
    stack = [config]
    while stack:
        node = stack.pop()
        if isinstance(node, msgspec.Struct):
            stack += [getattr(node, name) for name in node.__struct_fields__]
        elif isinstance(node, dict):
            assert type(node) is FrozenDict, f"a plain {type(node).__name__}"
            stack += node.values()
        elif isinstance(node, list):
            assert type(node) is FrozenList, f"a plain {type(node).__name__}"
            stack += node
        elif isinstance(node, tuple):
            stack += node


def check_outcome(outcome: Outcome, rng: random.Random) -> None:
    check_findings(outcome.diagnostics)
    loaded = outcome.loaded_or_none()
    assert loaded is None or not outcome.errors
    assert loaded is not None or outcome.errors
    if loaded is not None:
        check_frozen(loaded.config)
        assert len(loaded.digest) == 64
        hidden = json.dumps(loaded.to_dict(show_env=False), default=str)
        assert ENV["S"] not in hidden
    if rng.random() < 0.1:
        report = equipage.Report((), outcome.diagnostics)
        said = "".join(
            text_render.render(report, text_render.Style(width=100))
        ) + json_render.render(report)
        assert "\x1b" not in said.replace("\x1b[", "") or "\x1b" not in said
        said.encode("utf-8")


def _kind(name: str) -> Target:
    kind = format_named(name)
    memory = Memory(
        {
            "/p/library/a.yaml": b"tool: {name: t, description: d, inputSchema: {}}\nresponse: {content: []}\n",
            "/p/b.txt": b"text\n",
            "/p/agents/a.md": b"---\nname: a\n---\nText.\n",
        },
        root="/p",
    )

    def run(text: str, rng: random.Random) -> None:
        written = KINDS[name]
        if name == "blueprint" and rng.random() < 0.3:
            written = "team.json"
        if name == "profile" and not text.lstrip("\ufeff\n ").startswith(("---", "+++")):
            written = ".defect/agents/writer/config.toml"
        options = {"library": "library"} if name == "server" else {}
        request = Request(env=ENV, system=memory, project="/p", options=options)
        try:
            check_outcome(load_text(text, kind, request, name=written, base="/p"), rng)
        except LoadError as error:
            check_findings(error.diagnostics)

    return run


def _conventions() -> Surface:
    """Files of other tools, each as its own kind under its own name."""
    texts: dict[tuple[str, str], list[str]] = {}
    for kind, name, text in conventions():
        texts.setdefault((kind, name), []).append(text)
    chosen = sorted(texts)
    memory = Memory({"/p/b.txt": b"text\n"}, root="/p")

    def make(rng: random.Random) -> tuple[str, str, str]:
        kind, name = rng.choice(chosen)
        return kind, name, mutated(texts[kind, name], rng)

    def run(value: tuple[str, str, str], rng: random.Random) -> None:
        kind, name, text = value
        request = Request(env=ENV, system=memory, project="/p")
        try:
            found = load_text(text, format_named(kind), request, name=name, base="/p")
        except LoadError as error:
            check_findings(error.diagnostics)
        else:
            check_outcome(found, rng)

    return Surface(make, run, ("clients/*.py", "clients/claude/*.py"))


def surfaces() -> dict[str, Surface]:
    """The syntaxes, and the kinds through the front door."""
    texts = seeds()

    def surface(name: str, run: Target, *code: str) -> Surface:
        return Surface(lambda rng: mutated(texts[name], rng), run, code)

    kinds = {
        "server": ("formats/server/**/*.py", "directives/*.py"),
        "blueprint": ("formats/blueprint/*.py",),
        "toolpack": ("formats/toolpack/*.py", "schemas/*.py"),
        "profile": ("formats/defect/profile*.py",),
        "settings": ("formats/defect/settings.py", "formats/defect/hooks.py"),
        "agent_md": ("formats/blueprint/agent.py", "loading/header.py"),
        "skill": ("clients/checks.py", "loading/header.py"),
        "mcp": ("clients/mcp/*.py", "formats/defect/mcp.py"),
    }
    return {
        "env": surface("env", env, "syntax/variables.py"),
        "yaml": surface("yaml", _engine(yaml.load, yaml.locate), "syntax/yaml/*.py"),
        "json": surface("json", _engine(json_syntax.load, json_syntax.locate), "syntax/json.py"),
        "toml": surface("toml", _engine(toml.load, toml.locate), "syntax/toml*.py"),
        "header": surface("header", header, "syntax/header.py"),
        **{name: surface(name, _kind(name), *code) for name, code in kinds.items()},
        "convention": _conventions(),
    }
