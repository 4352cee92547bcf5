"""A format of one's own: any class, includes, layers, merging, renamed keys and rules."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypedDict, TypeVar

import msgspec
import pytest

import equipage
from equipage import FILE, Format, LoadError, Problem, UsageError
from equipage.loading import rules
from equipage.lsp import documents
from equipage.lsp.protocol import uri_of
from equipage.plugin import Directive, Shape
from lab import in_process, write


@dataclass(frozen=True)
class Tool:
    name: str
    url: str
    timeout: int = 30


@dataclass(frozen=True)
class App:
    name: str
    prompt: str
    tools: tuple[Tool, ...] = ()


FILES = {
    "base.yaml": "tools:\n  - $include: lib/search.yaml\n    override: {timeout: 40}\n",
    "lib/search.yaml": "name: search\nurl: 'https://${HOST:-a.example}'\ntimeout: 10\n",
    "app.yaml": "name: demo\nprompt: {$file: prompt.md}\n",
    "local.yaml": "tools: [{name: search, timeout: 99}]\n",
    "prompt.md": "Be kind.",
}
APP = Format(App, layers=("base.yaml", FILE, "local.yaml"), merge={"tools": equipage.by("name")})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(write(tmp_path, FILES))
    return tmp_path


def findings(format_: Format[Any], path: str = "app.yaml", **options: Any) -> list[str]:
    with pytest.raises(LoadError) as raised:
        format_.load(path, **options)
    return [str(each) for each in raised.value.diagnostics]


# ------------------------------------------------------------------------------------ composing


def test_files_become_one_typed_value(folder: Path) -> None:
    loaded = APP.load("app.yaml", env={"HOST": "b.example"})
    tool = Tool("search", "https://b.example", 99)
    assert loaded.config == App("demo", "Be kind.", (tool,))
    assert loaded.kind == "app"
    names = [each.name for each in loaded.sources]
    assert names == ["app.yaml", "base.yaml", "lib/search.yaml", "prompt.md", "local.yaml"]
    assert str(loaded.explain("tools[0].timeout")).splitlines() == [
        "tools[0].timeout = 99",
        "  replaced at lib/search.yaml:3:10",
        "  replaced at base.yaml:3:25",
        "  written at local.yaml:1:33",
        "  layer local.yaml",
    ]
    assert str(loaded.explain("tools[0].url")).splitlines()[1:] == [
        "  written at lib/search.yaml:2:6",
        "  layer base.yaml",
        "  included from here at base.yaml:2:15",
        "  from the environment: HOST",
    ]
    unset = APP.load("app.yaml", env={}).explain("tools[0].url")
    assert str(unset).splitlines()[-1] == "  default of ${HOST…}: the variable is not set"
    assert (unset.variables, unset.unset) == (("HOST",), ("HOST",))


def test_every_mistake_is_found_where_it_is_written(folder: Path) -> None:
    Path("app.yaml").write_text("name: 5\npromt: x\n")
    Path("lib/search.yaml").write_text("name: search\nurl: https://x\ntimeot: 5\n")
    assert findings(APP) == [
        "app.yaml:1:1: error[missing-field] missing required field `prompt` in `app`",
        "app.yaml:1:7: error[wrong-type] expected text, found the number 5 (at name)",
        "app.yaml:2:1: error[unknown-field] `promt` is not a field of `app` (at promt)",
        (
            "lib/search.yaml:3:1: error[unknown-field] `timeot` is not a field of `tool` "
            "(at tools[0].timeot)"
        ),
    ]


def test_a_class_is_enough(folder: Path) -> None:
    Path("a.toml").write_text("name = 'n'\nprompt = 'p'\n")
    assert equipage.load("a.toml", App).config == App("n", "p")
    assert equipage.loads("{name: n, prompt: p}", App).config == App("n", "p")


def test_names_do_not_leave_the_folder_of_the_file(folder: Path) -> None:
    write(folder, {"in/a.yaml": "name: {$file: ../prompt.md}\nprompt: {$include: ../app.yaml}\n"})
    assert [each.split("] ")[0] for each in findings(Format(App), "in/a.yaml")] == [
        "in/a.yaml:1:15: error[reference-escapes",
        "in/a.yaml:2:20: error[reference-escapes",
    ]


def test_includes_may_have_a_root_and_another_word(folder: Path) -> None:
    stages = (equipage.Includes(root="lib", override="with"),)
    format_ = Format(App, stages=stages)
    write(folder, {"lib/more/t.yaml": "{$include: search.yaml, with: {timeout: 1}}"})
    Path("app.yaml").write_text("{name: a, prompt: p, tools: [{$include: more/t.yaml}]}")
    assert format_.load("app.yaml", env={}).config.tools[0].timeout == 1


def test_an_include_that_is_missing_names_its_neighbour(folder: Path) -> None:
    Path("base.yaml").write_text("tools: [{$include: lib/serach.yaml}]")
    with pytest.raises(LoadError) as raised:
        APP.load("app.yaml")
    (error,) = raised.value.errors
    assert error.code == "include-not-found"
    assert error.help is not None
    assert error.help.startswith("did you mean `lib/search.yaml`?")


def test_a_cycle_across_layers_is_one_finding(folder: Path) -> None:
    Path("base.yaml").write_text("tools: [{$include: app.yaml}]")
    Path("app.yaml").write_text("name: {$include: base.yaml}\nprompt: p\n")
    assert any("error[include-cycle] Circular include detected" in each for each in findings(APP))


def test_variables_that_are_not_set_or_change_the_structure_are_errors(folder: Path) -> None:
    Path("app.yaml").write_text("name: ${WHO}\nprompt: ${TEXT}\n")
    found = findings(Format(App), env={"TEXT": "[a]"})
    for error in ("app.yaml:1:7: error[env-missing]", "app.yaml:2:9: error[env-changes-structure]"):
        assert any(each.startswith(error) for each in found)
    plain = Format(App, reading=equipage.Reading(variables=False))
    assert plain.load("app.yaml").config.name == "${WHO}"


@pytest.mark.parametrize("name", ["app.yaml", "app.json", "app.toml", "app.jsonc"])
@pytest.mark.parametrize("value", ['q"\nprompt="1', 'q", "prompt": "1', '"', 'x"#'])
def test_no_value_adds_a_key_in_any_syntax(folder: Path, name: str, value: str) -> None:
    texts = {".yaml": 'name: "${V}"\nprompt: p\n', ".toml": 'name = "${V}"\nprompt = "p"\n'}
    Path(name).write_text(texts.get(Path(name).suffix, '{"name": "${V}", "prompt": "p"}'))
    (found,) = findings(Format(App), name, env={"V": value})
    assert "error[env-changes-structure]" in found
    assert found.endswith("(at name)")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("app.yaml", "name: '${V}'\nprompt: '${V}'\n"),
        ("app.toml", 'name = "${V}"\nmiddle = 1\nprompt = "${V}"\n'),
        ("app.toml", 'name = "${V}" # a comment """\nprompt = "p"\n'),
        ("app.toml", '${V} = "a"\nprompt = "p"\n'),
    ],
)
@pytest.mark.parametrize("value", ["'", '"', "name.other"])
def test_what_a_value_swallows_is_a_change_too(
    folder: Path, name: str, text: str, value: str
) -> None:
    Path(name).write_text(text)
    harmless = {"'": name == "app.toml", '"': name == "app.yaml", "name.other": text[0] != "$"}
    model = TypedDict("Any", {"name": str, "middle": int, "prompt": str}, total=False)  # noqa: UP013
    if harmless[value] and not text.startswith("$"):
        Format(model).load(name, env={"V": value})
    else:
        found = findings(Format(model), name, env={"V": value})
        assert any("error[env-changes-structure]" in each for each in found)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("app.yaml", "name: ${A}\nprompt: ${B:?say what}\ntools: ${C}\n"),
        ("app.toml", 'name = "${A}"\nprompt = "${B:?say what}"\ntools = ${C}\n'),
        ("app.json", '{"name": "${A}", "prompt": "${B:?say what}", "tools": ${C}}'),
    ],
)
def test_a_variable_without_value_is_one_finding(folder: Path, name: str, text: str) -> None:
    Path(name).write_text(text)
    found = findings(Format(App), name, env={"C": "[5, 6]"})
    codes = [each.partition("[")[2].partition("]")[0] for each in found]
    assert codes == ["env-missing", "env-required", "env-changes-structure"]
    included = "{name: a, prompt: p, tools: [{$include: part.yaml}]}"
    write(folder, {"whole.yaml": included, "part.yaml": "{name: '${A}', url: u, timeout: '${A}'}"})
    found = findings(Format(App), "whole.yaml", env={})
    assert [each.partition(" ")[0] for each in found] == ["part.yaml:1:9:", "part.yaml:1:34:"]


def test_what_went_into_toml_and_json_is_explained(folder: Path) -> None:
    for name, text in (("a.toml", 'name = "${A}"'), ("a.json", '{"name": "\\ud83d\\ude00 ${A}"}')):
        Path(name).write_text(text)
        loaded = Format(Settings).load(name, env={"A": "b c"})
        assert str(loaded.explain("name")).splitlines()[-1] == "  from the environment: A"


def test_comments_of_jsonc(folder: Path) -> None:
    Path("a.jsonc").write_text('// "${NOT}"\n{"name": "${A}", /* { */ "prompt": "//p",}\n')
    assert Format(App).load("a.jsonc", env={"A": "x"}).config == App("x", "//p")
    Path("a.jsonc").write_text('// {"\n{"name": 5, /* { */ "promt": "p",}\n')
    places = [each.partition(" ")[0] for each in findings(Format(App), "a.jsonc")]
    assert places == ["a.jsonc:2:1:", "a.jsonc:2:10:", "a.jsonc:2:21:"]


def test_an_alias_bomb_is_refused(folder: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    Path("app.yaml").write_text("\n".join(lines))
    assert any("alias-bomb" in each for each in findings(Format(App)))


# --------------------------------------------------------------------------------------- layers


class Settings(TypedDict, total=False):
    name: str
    tags: list[str]
    more: dict[str, Any]


def test_layers_lie_where_the_format_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layers = (
        equipage.user_layer("tool/config.yaml"),
        equipage.project_layer(".tool/config.yaml"),
        FILE,
        "config.{STAGE}.yaml",
    )
    format_ = Format(Settings, layers=layers, merge={"tags": "append"})
    files = {
        "xdg/tool/config.yaml": "tags: [user]\nname: user",
        "repo/.git/HEAD": "",
        "repo/.tool/config.yaml": "tags: [project]",
        "repo/sub/config.yaml": "tags: [file]",
        "repo/sub/config.test.yaml": "tags: [test]",
    }
    monkeypatch.chdir(write(tmp_path, files) / "repo" / "sub")
    env = {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    for more, tags in (({}, []), ({"STAGE": "test"}, ["test"]), ({"STAGE": "no"}, [])):
        loaded = format_.load("config.yaml", env={**env, **more})
        assert loaded.config == {"name": "user", "tags": ["user", "project", "file", *tags]}
    assert format_.load("config.yaml", env={}).config["tags"] == ["project", "file"]


def test_words_of_merging(folder: Path) -> None:
    write(
        folder,
        {
            "base.yaml": "name: base\ntags: [a]\nmore: {x: {a: 1, b: 2}, y: {a: 1}, z: 1}\n",
            "app.yaml": "tags: [b]\nmore: {x: {a: 3}, y: {c: 3}, z: null}\n",
        },
    )
    merge: dict[str, Any] = {"more.y": "replace", "more.z": "remove"}
    format_ = Format(Settings, layers=("base.yaml", FILE), merge=merge)
    assert format_.load("app.yaml").config == {
        "name": "base",
        "tags": ["b"],
        "more": {"x": {"a": 3, "b": 2}, "y": {"c": 3}},
    }


def test_layers_that_contradict_each_other_are_an_error_of_the_higher_one(folder: Path) -> None:
    Path("local.yaml").write_text("tools: {search: 5}\n")
    assert findings(APP, env={}) == [
        "local.yaml:1:8: error[wrong-type] expected a list, found a mapping (at tools)"
    ]


@pytest.mark.parametrize(
    ("base", "own", "said"),
    [
        ("tools: {$include: lib/no.yaml}", "", "base.yaml:1:19: error[include-not-found]"),
        ("tools: {$include: base.yaml}", "", "base.yaml:1:19: error[include-cycle]"),
        ("tools: {$include: 5}", "", "base.yaml:1:19: error[wrong-type]"),
        ("tools: {}", "", "base.yaml:1:8: error[wrong-type]"),
        ("tools: {}", "tools: [{name: other}]", "base.yaml:1:8: error[wrong-type]"),
        ("tools: [{$include: lib/no.yaml}]", "", "base.yaml:1:20: error[include-not-found]"),
        ("tools: [{name: '${NO}', url: u}]", "", "base.yaml:1:17: error[env-missing]"),
        ("tools: [", "", "base.yaml:1:9: error[yaml-syntax]"),
    ],
)
def test_what_cannot_be_had_makes_no_entry_incomplete(
    folder: Path, base: str, own: str, said: str
) -> None:
    """`local.yaml` changes an entry by its name, and says nothing else of it."""
    write(folder, {"base.yaml": base, "app.yaml": f"name: a\nprompt: p\n{own}\n"})
    assert [each.partition(" ")[0] + " " + each.split()[1] for each in findings(APP)] == [said]


def test_a_type_that_a_class_allows_is_replaced_as_a_whole(folder: Path) -> None:
    model = TypedDict("Loose", {"tools": list[Tool] | str})  # noqa: UP013
    write(folder, {"base.yaml": "tools: none", "app.yaml": "tools: [{name: a}]"})
    layered = Format(model, layers=("base.yaml", FILE), merge={"tools": equipage.by("name")})
    assert findings(layered) == [
        "app.yaml:1:9: error[missing-field] missing required field `url` in `tool` (at tools[0])"
    ]


class Nested(TypedDict, total=False):
    parts: dict[str, dict[str, int]]
    either: str | dict[str, int]
    entries: list[int]


@pytest.mark.parametrize(
    ("base", "own", "local", "found"),
    [
        ("parts: {x: {a: 1}}", "parts: {x: 5}", "parts: {x: {b: 2}}", "app.yaml:1:12: a mapping"),
        ("parts: [1]", "parts: {x: {a: 1}}", "", "base.yaml:1:8: a mapping"),
        ("entries: {a: 1}", "entries: [5]", "", "base.yaml:1:10: a list"),
        ("entries: x", "parts: {}", "entries: [5]", "base.yaml:1:10: a list"),
        ("either: a", "either: {b: 1}", "either: c", None),
        ("parts: null", "parts: {x: {a: 1}}", "", None),
    ],
)
@pytest.mark.parametrize("sort", ["class", "pydantic"])
def test_a_type_that_a_higher_layer_hides_is_told_where_it_is(
    folder: Path, base: str, own: str, local: str, found: str | None, sort: str
) -> None:
    write(folder, {"base.yaml": base, "app.yaml": own, "local.yaml": local})
    model: Any = Nested
    if sort == "pydantic":
        pydantic = pytest.importorskip("pydantic")
        hints = {name: (hint, None) for name, hint in Nested.__annotations__.items()}
        model = pydantic.create_model("Nested", **hints)
    merge: dict[str, Any] = {"entries": "append"}
    format_ = Format(model, "nested", layers=("base.yaml", FILE, "local.yaml"), merge=merge)
    if found is None:
        format_.load("app.yaml")
    else:
        place, _, expected = found.rpartition(": ")
        (said,) = findings(format_)
        assert said.startswith(f"{place}: error[wrong-type] expected {expected}, found")


def test_layers_of_a_class_with_a_path(folder: Path) -> None:
    write(folder, {"base.yaml": "{name: a, where: [1]}", "app.yaml": "where: x"})
    layered = Format(Tree, layers=("base.yaml", FILE), merge={"children": "append"})
    assert findings(layered) == [
        "base.yaml:1:18: error[wrong-type] expected null or text, found a list (at where)"
    ]


def test_an_empty_file_is_an_empty_mapping_where_the_format_says_so(folder: Path) -> None:
    for text in ("", "# only a comment\n", "---\n"):
        Path("app.yaml").write_text(text)
        assert findings(Format(Settings)) == [
            "app.yaml:1:1: error[document-empty] Configuration file is empty"
        ]
        allowed = Format(Settings, strictness={"document-empty": None})
        loaded = allowed.load("app.yaml")
        assert (loaded.config, loaded.warnings) == ({}, ())
        needed = Format(App, strictness={"document-empty": "note"})
        codes = [each.partition(" ")[2].partition("]")[0] for each in findings(needed)]
        assert sorted(codes) == [
            "error[missing-field",
            "error[missing-field",
            "note[document-empty",
        ]


def test_another_mark_before_the_default_of_a_variable(folder: Path) -> None:
    Path("app.yaml").write_text("name: ${WHO:me}\nprompt: '${WHO:}'\n")
    assert "did you mean `${WHO:-me}`?" in str(raised_by(Format(App)).errors[0].help)
    colon = Format(App, reading=equipage.Reading(variables=":"))
    assert colon.load("app.yaml", env={}).config == App("me", "")
    assert colon.load("app.yaml", env={"WHO": "you"}).config == App("you", "you")


def raised_by(format_: Format[Any]) -> LoadError:
    with pytest.raises(LoadError) as raised:
        format_.load("app.yaml", env={})
    return raised.value


def test_a_schema_that_says_nothing_of_a_value_takes_any_path(folder: Path) -> None:
    for schema in ({}, {"properties": {"tools": {"type": "array"}}}, {"type": "object"}):
        merge = {"tools": equipage.by("name"), "tools[*].a.b": "append"}
        format_ = Format(schema, "any", merge=merge)  # type: ignore[arg-type]
        assert format_.loads("tools: []").config == {"tools": []}


@pytest.mark.parametrize("name", ["base.yaml", "app.yaml", "local.yaml"])
def test_a_layer_that_is_no_mapping_is_an_error(folder: Path, name: str) -> None:
    Path(name).write_text("- 1")
    said = f"{name}:1:1: error[wrong-type] expected a mapping, found a list"
    assert findings(APP, env={}) == [said]


def test_a_layer_that_cannot_be_read_is_a_finding(folder: Path) -> None:
    Path("local.yaml").write_bytes(b"\xff")
    assert [each.split("] ")[0] for each in findings(APP)] == ["local.yaml:1:1: error[not-utf8"]
    Path("local.yaml").unlink()
    Path("local.yaml").mkdir()
    assert [each.split("] ")[0] for each in findings(APP)] == [
        "app.yaml:1:1: error[file-is-directory"
    ]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: Format(App, layers=("../a.yaml",)), "layer `../a.yaml` of format app: name a"),
        (
            lambda: Format(App, merge={"tool": "append"}),
            "no value at `tool`; did you mean `tools`?",
        ),
        (lambda: Format(App, merge={"tools[*].nam": "append"}), "did you mean `tools[*].name`?"),
        (
            lambda: Format(App, merge={"name": "append"}),
            "`merge` of format app: `name` is not a li",
        ),
        (
            lambda: Format(App, merge={"tools": equipage.by("nam")}),
            "no value at `tools[*].nam`; did you mean `tools[*].name`?",
        ),
        (lambda: Format(App, rules=("no",)), "`rules` of format app: 'no' is not a function"),
        (lambda: Format(App, rules=len), "`rules`: expected a tuple, found builtin"),
        (lambda: Format(App, layers="a.yaml"), "`layers`: expected a tuple, found str"),
        (lambda: Format(App, layers=(5,)), "`layers` of format app: 5 is not a name or a `Layer`"),
        (lambda: Format(App, merge={"tools": "apend"}), "'apend' is not `append`, `replace`, `re"),
        (lambda: Format(App, renamed={"title": 5}), "`renamed` of format app: 5 is not a new name"),
        (lambda: Format(App, renamed={"title": "nam"}), "no value at `nam`; did you mean `name`?"),
        (lambda: Format(App, renamed={"name": "name"}), "format app renames `name` to itself"),
        (
            lambda: Format(App, strictness={"wrong-type": "loud"}),
            "'loud' is not `error`, `warning`",
        ),
        (
            lambda: Format(App, strictness={"unknown-feild": None}),
            "cannot change the severity of `unknown-feild`; did you mean `unknown-field`?",
        ),
        (
            lambda: Format(App, strictness={"jsn:duplicate-key": "error"}),
            "cannot change the severity of `jsn:duplicate-key`",
        ),
        (
            lambda: Format(App, strictness={"wrong-type": "warning"}),
            "cannot change the severity of `wrong-type`",
        ),
        (lambda: Format(App, layers=("",)), "layer `` of format app: name a file below the folder"),
        (lambda: Format(App, stages=(equipage.Includes,)), "Includes'> is not a stage"),
        (lambda: Format(App, stages=(equipage.Files(root=5),)), "Files(root=5) is not a stage"),
        (lambda: Format(App, stages=equipage.Files()), "`stages`: expected a tuple, found Files"),
        (lambda: Format(App, name=5), "`name`: expected a str, found int"),
    ],
)
def test_what_a_format_cannot_be(folder: Path, made: Any, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        made().load("app.yaml")
    assert said in str(raised.value)


# ----------------------------------------------------------------------------------- renamed keys


def test_an_old_key_counts_and_has_a_fix(folder: Path) -> None:
    renamed = equipage.Renamed("timeout", since="2.0", help="it is in seconds now")
    format_ = Format(App, renamed={"tools[*].secs": renamed, "title": "name"})
    Path("app.yaml").write_text("title: a\nprompt: p\ntools: [{name: t, url: u, secs: 5}]\n")
    loaded = format_.load("app.yaml")
    assert loaded.config == App("a", "p", (Tool("t", "u", 5),))
    assert [(str(each), each.help, each.fix and each.fix.message) for each in loaded.warnings] == [
        (
            "app.yaml:1:1: warning[renamed-key] `title` is called `name` now (at title)",
            None,
            "rename to `name`",
        ),
        (
            (
                "app.yaml:3:27: warning[renamed-key] `secs` is called `timeout` now, since 2.0 "
                "(at tools[0].secs)"
            ),
            "it is in seconds now",
            "rename to `timeout`",
        ),
    ]
    Path("app.yaml").write_text("title: a\nname: b\nprompt: p\n")
    assert findings(format_)[0].startswith("app.yaml:1:1: error[renamed-twice] `title` and `name`")


def test_a_key_without_a_meaning_is_left_out_with_a_fix(folder: Path) -> None:
    removed = {"tools[*].retries": equipage.Renamed(None, since="2.0", help="use `timeout`")}
    format_ = Format(App, renamed={**removed, "legacy": None, "legacy.x": None})
    text = "name: a\nlegacy: {x: 1}\nprompt: p\ntools:\n  - name: t\n    url: u\n    retries: 5\n"
    Path("app.yaml").write_text(text)
    loaded = format_.load("app.yaml")
    assert loaded.config == App("a", "p", (Tool("t", "u"),))
    assert [(str(each), each.help, each.fix and each.fix.message) for each in loaded.warnings] == [
        (
            "app.yaml:2:1: warning[removed-key] `legacy` has no meaning any more (at legacy)",
            "remove it",
            "remove `legacy`",
        ),
        (
            (
                "app.yaml:7:5: warning[removed-key] `retries` has no meaning any more, since 2.0 "
                "(at tools[0].retries)"
            ),
            "remove it; use `timeout`",
            "remove `retries`",
        ),
    ]
    kind = ("--kind", "loading.test_own_formats:WITHOUT_LEGACY")
    assert in_process(["check", "app.yaml", *kind, "--fix"]).code == 0
    fixed = "name: a\nprompt: p\ntools:\n  - name: t\n    url: u\n"
    assert Path("app.yaml").read_text() == fixed


# ------------------------------------------------------------------------------------------ rules


def uses_https(app: App) -> Iterator[Problem]:
    for number, each in enumerate(app.tools):
        if not each.url.startswith("https:"):
            path = f"tools[{number}].url"
            yield Problem(path, f"must use https, not {each.url}", fix="https://a", code="no-https")


def test_a_rule_is_a_function_of_the_configuration(folder: Path) -> None:
    format_ = Format(App, rules=(uses_https,))
    Path("app.yaml").write_text("name: a\nprompt: p\ntools:\n  - {name: t, url: '${URL}'}\n")
    (finding,) = findings(format_, env={"URL": "http://user:secret@b"})
    assert finding == (
        "app.yaml:4:20: error[no-https] must use https, not ${URL} (at tools[0].url)"
    )
    assert format_.load("app.yaml", env={"URL": "https://b"}).config.tools[0].url == "https://b"
    text = Path("app.yaml").read_text().replace("}\n", "}  # equipage: ignore[no-https]\n")
    Path("app.yaml").write_text(text)
    assert format_.load("app.yaml", env={"URL": "http://b"}).warnings == ()


def test_a_sentence_is_enough(folder: Path) -> None:
    Path("app.yaml").write_text("name: a\nprompt: p\n")
    assert findings(Format(App, rules=(lambda _app: ["too short"],))) == [
        "app.yaml:1:1: error[rule] too short"
    ]


def never_ends(_app: App) -> Iterator[str]:
    while True:
        time.sleep(0.001)
    yield ""


def finds_too_much(_app: App) -> Iterator[Problem]:
    while True:
        yield Problem("name", "again")


def raises(_app: App) -> None:
    raise KeyError("secret")


RAISED_IN = raises.__code__.co_firstlineno + 1


def stops_half_way(_app: App) -> Iterator[str]:
    yield "the first"
    raise KeyError("secret")


def has_odd_code(_app: App) -> Iterator[Problem]:
    yield Problem("name", "odd", code="Odd Code!")


def has_odd_severity(_app: App) -> Iterator[Problem]:
    yield Problem("name", "odd", severity="fatal")  # type: ignore[arg-type]


def has_odd_path(_app: App) -> Iterator[Problem]:
    yield Problem("na me..", "odd")


def quits(_app: App) -> None:
    raise SystemExit(3)


def yields_numbers(_app: App) -> list[int]:
    return [5]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (never_ends, "the rule `never_ends` took more than 0.2 seconds"),
        (finds_too_much, "the rule `finds_too_much` found more than 1,000 problems"),
        (raises, f"the rule `raises` raised KeyError in line {RAISED_IN} of test_own_formats.py"),
        (stops_half_way, "the rule `stops_half_way` raised KeyError"),
        (quits, "the rule `quits` raised SystemExit"),
        (has_odd_code, "the rule `has_odd_code` gave a problem whose code is not a name in kebab"),
        (has_odd_severity, "the rule `has_odd_severity` gave a problem whose severity is not"),
        (has_odd_path, "the rule `has_odd_path` gave a problem at `na me..`, which cannot"),
        (yields_numbers, "the rule `yields_numbers` gave int in place of a problem or a sentence"),
    ],
)
def test_a_rule_that_goes_wrong_is_a_finding(
    folder: Path, monkeypatch: pytest.MonkeyPatch, rule: Any, said: str
) -> None:
    monkeypatch.setattr(rules, "MAX_SECONDS", 0.2)
    Path("app.yaml").write_text("name: a\nprompt: p\n")
    found = findings(Format(App, rules=(rule,)))
    assert any(each.startswith(f"app.yaml:1:1: error[rule-failed] {said}") for each in found)
    assert ("app.yaml:1:1: error[rule] the first" in found) is (rule is stops_half_way)


def breaks(tree: Any, _session: Any) -> Any:
    raise KeyError("secret")


class BrokenDirective(Directive):
    key = "$broken"

    def expand(self, node: Any, _expansion: Any) -> Any:
        return node.reference["secret"]


def breaks_late(_value: Any, _session: Any) -> Iterator[Any]:
    yield from ()
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (Format(App, stages=(breaks,)), "stage `breaks` raised KeyError in line {line} of test_"),
        (
            Format(App, stages=(breaks,), layers=("base.yaml",)),
            "stage `breaks` raised KeyError in line {line} of test_",
        ),
        (Format(App, stages=(lambda _tree, _session: None,)), "stage `<lambda>` raised TypeError"),
        (
            Format(App, stages=(equipage.Directives((BrokenDirective,)),)),
            "stage `Directives` raised Type",
        ),
        (Format(App, checks=(breaks_late,)), "check `breaks_late` raised SystemExit in line"),
    ],
)
def test_a_stage_or_a_check_that_raises_is_a_finding(folder: Path, made: Any, said: str) -> None:
    line = breaks.__code__.co_firstlineno + 1
    Path("app.yaml").write_text("name: a\nprompt: {$broken: 5}\n")
    (found,) = [each for each in findings(made) if "[rule-failed]" in each]
    start = "app.yaml:1:1: error[rule-failed] the "
    assert found.startswith(start + said.format(line=line))
    assert "secret" not in found


def test_places_in_layers_are_those_of_the_whole(folder: Path) -> None:
    Path("base.yaml").write_text("tools: [{name: a, url: u}]")
    Path("app.yaml").write_text(
        "name: a\nprompt: {$file: no.md}\ntools:\n"
        "- {name: search, url: u, url: v, nme: {$file: no.md}}\n"
    )
    Path("local.yaml").write_text("tools: [{name: search, timeout: 1, timeout: 2}]")
    found = [(each.partition("[")[2].split("]")[0], each.split()[-1]) for each in findings(APP)]
    assert found == [
        ("file-not-found", "prompt.$file)"),
        ("duplicate-key", "tools[1].url)"),
        ("unknown-field", "tools[1].nme)"),
        ("file-not-found", "tools[1].nme.$file)"),
        ("duplicate-key", "tools[1].timeout)"),
    ]


def test_the_help_says_why_a_rule_has_no_fix(folder: Path) -> None:
    for url, help_ in (("http://b", None), ("'http://${HOST:-b}'", "there is no fix, because")):
        Path("app.yaml").write_text(f"name: a\nprompt: p\ntools: [{{name: t, url: {url}}}]\n")
        (error,) = raised_by(Format(App, rules=(uses_https,))).errors
        assert (error.fix is None, (error.help or "").startswith(help_ or "")) == (
            help_ is not None,
            True,
        )


# ----------------------------------------------------------------------------------------- models


@dataclass
class Endless:
    inner: Endless


class Colour(enum.Enum):
    RED = "red"


class Struct(msgspec.Struct, frozen=True):
    name: str
    size: Annotated[int, msgspec.Meta(ge=1)] = 1


T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    entries: tuple[T, ...]


@dataclass
class Tree:
    name: str
    children: list[Tree] = field(default_factory=list)
    colour: Colour = Colour.RED
    where: Path | None = None
    sort: Literal["a", "b"] = "a"


@pytest.mark.parametrize(
    ("model", "text", "value"),
    [
        (Struct, "name: a", Struct("a")),
        (Settings, "name: a", {"name": "a"}),
        (Page[Struct], "entries: [{name: a}]", Page((Struct("a"),))),
        (
            Tree,
            "{name: a, children: [{name: b, where: x/y}]}",
            Tree("a", [Tree("b", where=Path("x/y"))]),
        ),
    ],
)
def test_models(model: Any, text: str, value: Any) -> None:
    loaded = equipage.loads(text, model)
    assert loaded.config == value
    assert equipage.loads(text, model).digest == loaded.digest
    assert pickle.loads(pickle.dumps(loaded)).config == value


@pytest.mark.parametrize(
    ("model", "text", "said"),
    [
        (Struct, "{name: a, size: 0}", "out-of-range"),
        (Settings, "{nam: a}", "`nam` is not a field of `settings` (at nam)"),
        (Page[Struct], "entries: [{name: 5}]", "expected text, found the number 5"),
        (Tree, "{name: a, children: [{nam: b}]}", "`nam` is not a field of `tree`"),
        (Tree, "{name: a, colour: blue}", "`blue` is not a valid value"),
        (Tree, "{name: a, where: [1]}", "expected text"),
    ],
)
def test_what_does_not_fit_a_model_is_said_in_our_words(model: Any, text: str, said: str) -> None:
    with pytest.raises(LoadError) as raised:
        equipage.loads(text, model)
    assert said in str(raised.value)


@dataclass(frozen=True)
class Picky:
    size: int

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("the size must be positive")
        if self.size > 9:
            raise KeyError("secret")


@dataclass(frozen=True)
class Holder:
    inner: Picky
    made: list[int] = field(default_factory=list)


def test_what_a_class_refuses_has_a_place() -> None:
    for size, said in ((-1, "the size must be positive"), (10, "`picky` raises KeyError")):
        with pytest.raises(LoadError) as raised:
            equipage.loads(f"inner:\n  size: {size}", Holder)
        assert str(raised.value) == f"<string>:2:3: error[model-refused] {said} (at inner)"


def boom() -> list[int]:
    raise RuntimeError("secret")


@dataclass
class Factory:
    made: list[int] = field(default_factory=boom)


class StructFactory(msgspec.Struct):
    made: list[int] = msgspec.field(default_factory=boom)


@dataclass
class Quits:
    name: str

    def __post_init__(self) -> None:
        raise SystemExit(3)


@pytest.mark.parametrize("model", [Factory, StructFactory, Quits])
def test_a_class_that_raises_anything_is_a_finding(model: Any) -> None:
    with pytest.raises(LoadError) as raised:
        equipage.loads("name: a" if model is Quits else "{}", model)
    (error,) = raised.value.errors
    assert (error.code, "secret" in str(raised.value)) == ("model-refused", False)
    if model is not Quits:
        loaded = equipage.loads("made: [1]", model)
        assert loaded.to_dict() == {"made": [1]}


class Point(NamedTuple):
    x: int
    y: int


@dataclass
class Bounds:
    part: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.5
    five: Annotated[int, msgspec.Meta(multiple_of=5)] = 5
    word: Annotated[str, msgspec.Meta(min_length=2, max_length=4)] = "aa"
    few: Annotated[list[int], msgspec.Meta(max_length=2)] = field(default_factory=list)
    pair: tuple[int, str] = (1, "a")
    zone: Annotated[datetime.datetime, msgspec.Meta(tz=True)] | None = None
    ports: dict[int, str] = field(default_factory=dict)
    levels: dict[Literal["low", "high"], int] = field(default_factory=dict)
    raw: bytes = b""
    point: Point | None = None
    some: frozenset[int] | None = None


def test_a_mistake_makes_no_others_of_what_is_right() -> None:
    right = "raw: aGk=, point: [1, 2], some: [1], pair: [1, a], ports: {'1': a}"
    assert equipage.loads("{" + right + "}", Bounds).config.point == Point(1, 2)
    with pytest.raises(LoadError) as raised:
        equipage.loads("{" + right + ", wrong: 1}", Bounds)
    assert [each.code for each in raised.value.errors] == ["unknown-field"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("part: 1.5", "1:7: error[out-of-range] 1.5 is out of range, expected a number above 0 "),
        ("five: 7", "1:7: error[out-of-range] 7 is out of range, expected a whole number, a mult"),
        ("word: a", "1:7: error[wrong-length] expected text of at most 4 characters, found 1 "),
        ("few: [1, 2, 3]", "1:6: error[wrong-length] expected a list of at most 2, found 3"),
        ("pair: [1]", "1:7: error[wrong-length] expected a list of a whole number, text, found 1"),
        ("pair: [a, b]", "1:8: error[wrong-type] expected a whole number, found text `a`"),
        ("zone: 2026-01-01T00:00:00", "1:7: error[model-refused] Expected `datetime` with a "),
        ("ports: {'a': b}", "1:9: error[wrong-type] expected a whole number, found text `a`"),
        ("levels: {mid: 1}", "1:10: error[invalid-value] `mid` is not a valid value"),
        ("raw: '###'", "1:6: error[wrong-type] expected bytes in base64, found text `###`"),
        ("point: [1]", "1:8: error[wrong-length] expected a list with `x`, `y`, found 1"),
        ("point: [1, b]", "1:12: error[wrong-type] expected a whole number, found text `b`"),
        ("some: [1, x]", "1:11: error[wrong-type] expected a whole number, found text `x`"),
    ],
)
def test_every_constraint_has_a_place(text: str, said: str) -> None:
    with pytest.raises(LoadError) as raised:
        equipage.loads(text, Bounds)
    assert said in str(raised.value)
    assert equipage.loads("ports: {'80': web}", Bounds).config.ports == {80: "web"}


class Tagged(msgspec.Struct, tag="a"):
    size: int = 1


class HasTagged(msgspec.Struct):
    part: Tagged | None = None


def test_the_wrong_tag_is_an_error_also_where_there_is_one() -> None:
    assert equipage.loads("part: {type: a, size: 2}", HasTagged).config.part == Tagged(2)
    with pytest.raises(LoadError, match="`b` is not a valid value, expected one of `a`"):
        equipage.loads("part: {type: b, size: 2}", HasTagged)


def test_the_default_of_any_class_is_explained() -> None:
    story = equipage.loads("inner: {size: 1}", Holder).explain("made")
    assert str(story) == "made = []\n  default of `holder`"
    pydantic = pytest.importorskip("pydantic")
    inner = pydantic.create_model("Inner", size=(int, 1))
    outer = pydantic.create_model("Outer", parts=(list[inner], ...))
    story = equipage.loads("parts: [{}]", outer).explain("parts[0].size")
    assert (story.value, story.default_of) == (1, "`inner`")


def test_what_is_frozen_is_frozen_deeply() -> None:
    config = equipage.loads("{inner: {size: 1}, made: [1]}", Holder).config
    with pytest.raises(TypeError, match="immutable"):
        config.made.append(2)


@dataclass(frozen=True)
class Holders:
    listed: list[Holder] = field(default_factory=list)
    named: dict[str, list[Holder]] = field(default_factory=dict)


def test_what_lists_and_mappings_hold_is_frozen_too() -> None:
    held = "{inner: {size: 1}, made: [1]}"
    config = equipage.loads(f"{{listed: [{held}], named: {{a: [{held}]}}}}", Holders).config
    for change in (config.listed[0].made.append, config.named["a"][0].made.append):
        with pytest.raises(TypeError, match="immutable"):
            change(2)


class Plain:
    pass


@dataclass
class Untagged:
    part: Tool | App


@dataclass
class Outer:
    inner: list[Untagged]


@dataclass
class Forward:
    part: "Nothing"  # type: ignore[name-defined]  # noqa: F821, UP037


@dataclass
class Custom:
    part: Plain


@dataclass
class Derived:
    part: int = field(init=False)


@dataclass
class OwnInit:
    part: int

    def __init__(self, part: int, other: int) -> None:
        self.part = part + other


@dataclass
class NeedsMore:
    part: int
    other: dataclasses.InitVar[int]


@dataclass
class Broken:
    fine: int
    part: "1 / 0"  # type: ignore[valid-type]  # noqa: UP037


class Limit:
    """A constraint as the annotated types have them."""


Limit.__module__ = "annotated_types"


@dataclass
class Constrained:
    part: list[Annotated[int, Limit()]]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (int, "`int` cannot be a model: write a dataclass"),
        (Plain, "`Plain` cannot be a model: write a dataclass"),
        (Untagged, "field `part`: TypeError: Type unions may not contain more than one"),
        (Outer, "field `inner.part`: TypeError: Type unions may not contain more than one"),
        (Forward, "field `part`: NameError: name 'Nothing' is not defined"),
        (OwnInit, "its `__init__` is not called: write `__post_init__` in its place"),
        (NeedsMore, "field `other`: TypeError: Type 'dataclasses.InitVar[int]' is not supported"),
        (Broken, "field `part`: ZeroDivisionError: division by zero"),
        (Custom, "field `part`: `Plain` is a class that no text can be read as"),
        (Derived, "field `part`: it has `init=False`: give it a default"),
        (Constrained, "is not read here: write `msgspec.Meta(…)`"),
    ],
)
def test_a_class_that_cannot_be_a_model_says_which_field_and_why(model: Any, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        equipage.loads("a: 1", model)
    assert said in str(raised.value)


# ---------------------------------------------------------------------------------- models of others


def test_models_of_pydantic(folder: Path) -> None:
    pydantic = pytest.importorskip("pydantic")

    class Inner(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        name: str
        url: str
        timeout: int = 30

        @pydantic.field_validator("url")
        @classmethod
        def uses_https(cls, value: str) -> str:
            if not value.startswith("https"):
                raise ValueError("must use https")
            return value

    class Model(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        name: str
        prompt: str
        tools: tuple[Inner, ...] = ()

    format_ = Format(Model, layers=("base.yaml", FILE))
    loaded = format_.load("app.yaml", env={})
    assert loaded.config == Model(
        name="demo",
        prompt="Be kind.",
        tools=(Inner(name="search", url="https://a.example", timeout=40),),
    )
    assert loaded.to_dict()["tools"] == [
        {"name": "search", "url": "https://a.example", "timeout": 40}
    ]
    Path("app.yaml").write_text("name: 5\npromt: x\n")
    Path("lib/search.yaml").write_text("name: search\nurl: http://x\ntimeot: 5\n")
    assert findings(format_) == [
        "app.yaml:1:1: error[missing-field] missing required field `prompt` in `model`",
        "app.yaml:1:7: error[model-refused] input should be a valid string (at name)",
        "app.yaml:2:1: error[unknown-field] `promt` is not a field of `model` (at promt)",
        "lib/search.yaml:2:6: error[model-refused] must use https (at tools[0].url)",
        (
            "lib/search.yaml:3:1: error[unknown-field] `timeot` is not a field of `inner` "
            "(at tools[0].timeot)"
        ),
    ]


def test_what_pydantic_says_of_choices_and_odd_validators() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Cat(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        kind: Literal["cat"]

    class Dog(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        kind: Literal["dog"]

    class Model(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        pet: Cat | Dog | None = None
        call: Callable[[], int] | None = None
        size: int = 1

        @pydantic.field_validator("size")
        @classmethod
        def refuse(cls, value: int) -> int:
            raise {2: ValueError(""), 3: KeyError("secret"), 4: SystemExit(1)}[value]

    for text, said in (
        ("pet: {kind: dog, m: 1}", "1:18: error[unknown-field] `m` is not a field of `dog`"),
        ("size: 2", "1:7: error[model-refused] the model refuses the value (at size)"),
        ("size: 3", "1:1: error[model-refused] `model` raises KeyError"),
        ("size: 4", "1:1: error[model-refused] `model` raises SystemExit"),
    ):
        with pytest.raises(LoadError) as raised:
            equipage.loads(text, Model)
        assert str(raised.value) == f"<string>:{said}" or said in str(raised.value)


def test_a_class_of_pydantic_inside_another_class_is_refused() -> None:
    pydantic = pytest.importorskip("pydantic")

    @pydantic.dataclasses.dataclass
    class Inner:
        name: str

    class Late(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        part: "Nowhere"  # type: ignore[name-defined]  # noqa: F821, UP037

    Outer = dataclasses.make_dataclass("Outer", [("part", Inner)])  # noqa: N806
    with pytest.raises(UsageError, match="field `part`: `Inner` is of pydantic"):
        equipage.loads("part: {name: a}", Outer)
    with pytest.raises(UsageError, match=r"field `part`: .*name 'Nowhere' is not defined"):
        equipage.loads("part: 1", Late)
    limit = Annotated[int, msgspec.Meta(gt=3)]
    with pytest.raises(UsageError, match=r"field `size`: .*Meta\(gt=3\)` is not read by pydantic"):
        equipage.loads("size: 1", pydantic.create_model("Limited", size=(limit, ...)))
    loaded = equipage.loads("name: a", Inner)
    assert loaded.to_dict() == {"name": "a"}
    with pytest.raises(LoadError, match="`other` is not a field of `inner`"):
        equipage.loads("{name: a, other: 1}", Inner)


@pytest.mark.parametrize("sort", ["pydantic", "schema"])
def test_what_cannot_be_had_hides_no_other_mistake(sort: str) -> None:
    """What validates on its own knows no holes; a variable without a value leaves one."""
    model: Any = {
        "properties": {
            "name": {"type": "string"},
            "size": {"type": "integer"},
            "parts": {"items": {"type": "string"}},
        },
        "required": ["name", "size", "more"],
    }
    if sort == "pydantic":
        pydantic = pytest.importorskip("pydantic")
        fields = {"name": (str, ...), "size": (int, ...), "parts": (list[str], ...)}
        model = pydantic.create_model("Model", **fields, more=(int, ...))
    text = "{name: '${NOT}', size: big, parts: ['${NOT}', 5]}"
    with pytest.raises(LoadError) as raised:
        Format(model, "model").loads(text, env={})
    found = [(each.code, each.path) for each in raised.value.errors]
    refused = "model-refused" if sort == "pydantic" else "schema-mismatch"
    assert sorted(found) == sorted(
        [
            *(("env-missing", path) for path in ("name", "parts[0]")),
            ("missing-field", ""),
            *((refused, path) for path in ("size", "parts[1]")),
        ]
    )


def test_a_frozen_model_of_pydantic_is_frozen_deeply() -> None:
    pydantic = pytest.importorskip("pydantic")
    fields = {"names": (list[str], ...), "more": (dict[str, list[int]], {})}
    frozen = pydantic.create_model("Frozen", __config__={"frozen": True}, **fields)
    loaded = equipage.loads("{names: [a], more: {x: [1]}}", frozen)
    assert loaded.config == frozen(names=["a"], more={"x": [1]})
    for change in (loaded.config.names.append, loaded.config.more["x"].append):
        with pytest.raises(TypeError, match="immutable"):
            change(2)
    assert loaded.to_dict() == {"names": ["a"], "more": {"x": [1]}}
    open_ = pydantic.create_model("Open", **fields)
    equipage.loads("names: [a]", open_).config.names.append("b")


def test_models_of_attrs() -> None:
    attrs = pytest.importorskip("attrs")

    @attrs.define
    class Converted:
        size: int = attrs.field(converter=int)

    with pytest.raises(UsageError, match="field `size`: converters and aliases of attrs"):
        equipage.loads("size: 1", Converted)

    @attrs.define(frozen=True)
    class Model:
        size: int = attrs.field(validator=attrs.validators.gt(3))
        names: list[str] = attrs.Factory(list)

    assert equipage.loads("size: 4", Model).config == Model(4)
    for text, said in (
        ("size: 1", "<string>:1:1: error[model-refused] 'size' must be > 3: 1"),
        ("{size: 4, name: []}", "<string>:1:11: error[unknown-field] `name` is not a field"),
    ):
        with pytest.raises(LoadError) as raised:
            equipage.loads(text, Model)
        assert str(raised.value).startswith(said)


def test_a_json_schema_is_a_model(folder: Path) -> None:
    schema = {
        "title": "Crew",
        "properties": {"name": {"type": "string"}, "size": {"minimum": 1}},
        "additionalProperties": False,
    }
    write(folder, {"base.yaml": "size: 5", "app.yaml": "name: a"})
    format_ = Format(schema, layers=("base.yaml", FILE))
    loaded = format_.load("app.yaml")
    assert (loaded.kind, loaded.config) == ("crew", {"size": 5, "name": "a"})
    with pytest.raises(TypeError, match="immutable"):
        loaded.config["size"] = 1
    Path("app.yaml").write_text("nam: a\nsize: 0\n")
    assert [each.split(" expected")[0] for each in findings(format_)] == [
        "app.yaml:1:1: error[unknown-field] `nam` is not a field of what `Crew` describes (at nam)",
        "app.yaml:2:7: error[schema-mismatch]",
    ]
    with pytest.raises(UsageError, match="the schema cannot be a model"):
        Format({"type": "objekt"}).loads("a: 1")


# ------------------------------------------------------------------------------ the rest for free


def test_a_check_leaves_out_what_is_a_part_of_another_file(folder: Path) -> None:
    report = APP.check(".", env={})
    assert [(each.path, each.kind) for each in report.files if each.kind] == [("app.yaml", "app")]
    assert report.ok
    named = Format(App, paths=("*.app.yaml",))
    write(folder, {"x.app.yaml": "name: 5\nprompt: p\n", "y.yaml": "z: 1"})
    assert [each.path for each in named.check(".").files] == ["x.app.yaml"]


#: `base.yaml` comes before what reads it, as `a/part.yaml` does.
LATE = {
    "late.yaml": "name: n\nprompt: p\ntools: {$include: a/part.yaml}\n",
    "a/part.yaml": "[{name: b, url: u}]",
    "base.yaml": "tools: []",
    "local.yaml": "tools: [{name: b, timeout: 5}]",
    "app.schema.json": "{}",
}


def test_a_check_knows_a_layer_and_a_part_whatever_their_names(tmp_path: Path) -> None:
    write(tmp_path, {**LATE, "app.prod.yaml": "tools: [{name: b, timout: 5}]"})
    layers = ("base.yaml", FILE, "local.yaml", "app.{STAGE}.yaml")
    format_ = Format(App, layers=layers, merge={"tools": equipage.by("name")})
    report = format_.check(tmp_path, env={})
    # A layer that no file has now is a part all the same.
    assert [each.message for each in report.errors] == ["`timout` is not a field of `tool`"]
    assert {Path(each.path).name for each in report.files if each.kind} == {
        "app.prod.yaml",
        "late.yaml",
    }
    found = format_.check(tmp_path, env={"STAGE": "prod"})
    assert [each.path for each in found.errors] == ["tools[0].timout"]
    assert [Path(each).name for each in format_.discover(tmp_path, env={})] == ["late.yaml"]


LAYER_FILES = {
    "local.yaml": ["local.yaml:1:1: error[unknown-field] `nam` is not a field of `app` (at nam)"],
    "base.yaml": [],
    "app.test.yaml": [
        (
            "app.test.yaml:1:19: error[wrong-type] expected a whole number, found text `x` "
            "(at tools[0].timeout)"
        )
    ],
}


@pytest.mark.parametrize("name", LAYER_FILES)
def test_a_layer_that_is_named_is_judged_as_a_part(folder: Path, name: str) -> None:
    """What it lacks, others have; and its rules are about the whole."""
    write(
        folder,
        {
            "local.yaml": "nam: a\ntools: [{name: search}]\nprompt: null\n",
            "base.yaml": "# nothing yet\n",
            "app.test.yaml": "tools: [{timeout: x}]",
        },
    )
    format_ = Format(
        App,
        layers=("base.yaml", FILE, "app.{STAGE}.yaml", "local.yaml"),
        merge={"tools": equipage.by("name"), "prompt": "remove"},
        rules=(uses_https,),
    )
    assert [str(each) for each in format_.check(name).diagnostics] == LAYER_FILES[name]


@pytest.mark.parametrize("base", [object, msgspec.Struct])
def test_what_a_field_without_default_cannot_have_is_an_error_however_mild_the_format(
    base: type,
) -> None:
    class Server(base):  # type: ignore[misc]
        name: str
        port: int = 80

    model = Server if base is msgspec.Struct else dataclass(Server)
    mild = Format(model, "server", shape=Shape(mismatch="warning"))
    assert mild.loads("{name: a, port: x}").config.port == 80
    with pytest.raises(LoadError) as raised:
        mild.loads("{name: [], port: x}")
    assert [str(each) for each in raised.value.diagnostics] == [
        "<string>:1:8: error[wrong-type] expected text, found a list (at name)",
        "<string>:1:18: warning[wrong-type] expected a whole number, found text `x` (at port)",
    ]


def test_a_layer_that_is_loaded_says_so(folder: Path) -> None:
    write(folder, {"base.yaml": "name: a\nprompt: p\n", "local.yaml": "prompt: q\n"})
    loaded = APP.load("local.yaml")
    assert loaded.config == App("a", "q")
    says = (
        "`local.yaml` is a layer of app, and it is loaded as the file that layers are merged with"
    )
    assert [(each.code, each.message) for each in loaded.warnings] == [("layer-loaded", says)]
    kind = ("--kind", "loading.test_own_formats:APP")
    shown = in_process(["show", "local.yaml", *kind])
    assert (shown.code, shown.err) == (
        0,
        f"equipage: {says}; load that file: its layers come with it\n",
    )
    assert in_process(["check", "local.yaml", *kind]).code == 0


@pytest.mark.parametrize("surveyed", [True, False])
def test_a_layer_that_is_open_in_an_editor_is_judged_as_a_part(
    folder: Path, surveyed: bool
) -> None:
    workspace = documents.EditorWorkspace([str(folder)], env={}, kind=APP)
    if surveyed:
        survey = workspace.snapshot()
        survey.run()
        assert workspace.take(survey)
    text = "tools: [{name: search, timeout: x}]"
    opened = workspace.did_open(uri_of(str(folder / "local.yaml")), text)
    assert opened is not None
    assert [each.code for each in workspace.check(opened)] == ["wrong-type"]


@pytest.mark.parametrize("sort", ["pydantic", "schema"])
def test_a_layer_of_what_validates_on_its_own(folder: Path, sort: str) -> None:
    fields = {"name": {"type": "string"}, "tags": {"items": {"type": "integer"}, "minItems": 2}}
    model: Any = {"properties": fields, "required": ["name"], "minProperties": 2}
    if sort == "pydantic":
        pydantic = pytest.importorskip("pydantic")
        tags = (Annotated[list[int], pydantic.Field(min_length=2)], ...)
        model = pydantic.create_model("Model", name=(str, ...), tags=tags)
    format_ = Format(model, "model", layers=("base.yaml", FILE), merge={"tags": "append"})
    Path("base.yaml").write_text("tags: [1]")
    assert format_.check("base.yaml").ok
    Path("base.yaml").write_text("tags: [a, 1]")
    assert [each.path for each in format_.check("base.yaml").errors] == ["tags[0]"]


def test_layers_elsewhere_are_known_by_their_place(tmp_path: Path) -> None:
    layers = (equipage.user_layer("tool/a.yaml"), equipage.project_layer(".tool/a.yaml"), FILE)
    format_ = Format(App, layers=layers)
    env = {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    places = {"xdg/tool/a.yaml": True, "repo/.tool/a.yaml": True, "repo/a.yaml": False}
    write(tmp_path, {"repo/.git/HEAD": "", **dict.fromkeys(places, "tools: []")})
    for place, is_layer in places.items():
        assert format_.check(tmp_path / place, env=env).ok is is_layer, place


def test_the_schema_takes_what_a_load_takes(folder: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    import yaml

    schema = Format(App, renamed={"title": "name", "old": None}).schema()
    for text in (
        "{title: a, prompt: {$file: x}, old: 1}",
        "{name: a, prompt: p, tools: [{$include: x}]}",
    ):
        jsonschema.validate(yaml.safe_load(text), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"nam": "a"}, schema)


def test_the_schema_says_what_the_stages_take() -> None:
    usual = Format(App).schema()["$defs"]
    assert usual["include"]["properties"].keys() == {"$include", "override"}
    words = json.dumps(usual)
    assert "from the folder of this file" in words
    assert "library" not in words
    stages = (equipage.Includes(root="lib", override="with"), equipage.Files(root="texts"))
    other = Format(App, stages=stages).schema()["$defs"]
    assert other["include"]["properties"].keys() == {"$include", "with"}
    assert "from the folder lib" in json.dumps(other["include"])
    assert "else from the folder texts" in json.dumps(other["file"])


def test_the_example_loads() -> None:
    for model in (App, Struct, Holder, Tree):
        format_ = Format(model)
        assert format_.loads(format_.example()).kind == format_.name


def test_a_class_that_needs_itself_has_no_example() -> None:
    with pytest.raises(UsageError, match="no file has an end that fits `Endless`"):
        Format(Endless).example()
    assert Format(Endless).schema()["$defs"]["Endless"]["required"] == ["inner"]


def test_a_comment_may_name_the_code_of_a_rule_that_has_nothing_to_say(folder: Path) -> None:
    format_ = Format(App, rules=(uses_https,))
    Path("a.yaml").write_text("name: a # equipage: ignore[no-https]\nprompt: p\n")
    assert format_.load("a.yaml").warnings == ()
    Path("a.yaml").write_text("name: a # equipage: ignore[unknown-fild]\nprompt: p\n")
    assert [each.code for each in format_.load("a.yaml").warnings] == ["unknown-code"]


def test_the_command_knows_a_format_by_module_and_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = ("--kind", "loading.test_own_formats:COMMANDED")
    Path("app.yaml").write_text("title: a\nprompt: p\ntools: [{name: t, url: http://x}]\n")
    done = in_process(["check", "app.yaml", *kind, "-f", "sarif"])
    results = json.loads(done.out)["runs"][0]["results"]
    assert {each["ruleId"] for each in results} == {"no-https", "renamed-key"}
    done = in_process(["check", "app.yaml", *kind, "--fix"])
    assert Path("app.yaml").read_text().startswith("name: a\n")
    done = in_process(["check", ".", *kind, "-j", "2", "-f", "concise"])
    assert "app.yaml:3:24: error[no-https] must use https, not http://x" in done.out
    done = in_process(["new", kind[1], "first"])
    assert done.code == 0, done.err
    assert f"--kind {kind[1]}" in done.err
    assert in_process(["check", "first.yaml", *kind]).code == 0


WITHOUT_LEGACY = Format(App, renamed={"tools[*].retries": None, "legacy": None})
COMMANDED = Format(App, rules=(uses_https, lambda _app: []), renamed={"title": "name"})
