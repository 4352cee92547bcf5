"""A format of one's own: any class, includes, layers, merging, renamed keys and rules."""

from __future__ import annotations

import enum
import pickle
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypedDict, TypeVar

import msgspec
import pytest

import equipage
from equipage import FILE, Format, LoadError, Problem, UsageError
from equipage.loading import rules
from lab import write


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
    format_ = Format(App, strictness={"duplicate-key": "error"})
    missing, changing, *_ = findings(format_, env={"TEXT": "[a]"})
    assert missing.startswith("app.yaml:1:7: error[env-missing] environment variable WHO is not")
    assert changing.startswith("app.yaml:2:9: error[env-changes-structure]")
    # It has no value, so nothing more is said about it.
    assert len(findings(format_, env={"TEXT": "a"})) == 1
    plain = Format(App, reading=equipage.Reading(variables=False))
    assert plain.load("app.yaml").config.name == "${WHO}"


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


def test_a_layer_that_is_no_mapping_is_an_error(folder: Path) -> None:
    for name in ("app.yaml", "base.yaml"):
        Path(name).write_text("- a\n")
        (finding,) = findings(APP, env={})
        assert finding == f"{name}:1:1: error[wrong-type] expected a mapping, found a list"
        Path(name).write_text("name: a\nprompt: b\n")


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
        (lambda: Format(App, merge={"tools[*].nam": "append"}), "did you mean `tools.*.name`?"),
        (lambda: Format(App, rules=("no",)), "a rule of format app is 'no', and not a function"),
        (lambda: Format(App, rules=print), "`rules`: expected a tuple, found builtin"),
        (lambda: Format(App, layers="base.yaml"), "`layers`: expected a tuple, found str"),
        (lambda: Format(App, layers=(1,)), "a layer of format app is 1, and not the name of one"),
        (lambda: Format(App, reading={}), "`reading`: expected a `Reading`, found dict"),
        (
            lambda: Format(App, merge={"tools": "apend"}),
            "format app merges `tools` by 'apend': write one of `append`, `replace`, `remove`, `by(…)`",
        ),
        (lambda: Format(App, merge={"tools": equipage.by("nme")}), "did you mean `tools.*.name`?"),
        (lambda: Format(App, renamed={"title": "nme"}), "no value at `nme`; did you mean `name`?"),
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
    (unused,) = format_.load("app.yaml", env={"URL": "https://b"}).warnings
    assert unused.code == "unused-ignore"


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
NO_PROBLEM = "gives no proper problem: "


def yields_numbers(_app: App) -> list[int]:
    return [5]


def gives_a_number(_app: App) -> int:
    return 5


def knows_no_severity(_app: App) -> Iterator[Problem]:
    yield Problem("name", "bad", severity="fatal")  # type: ignore[arg-type]


def knows_no_code(_app: App) -> Iterator[Problem]:
    yield Problem("name", "bad", code="Very bad")


def knows_no_path(_app: App) -> Iterator[Problem]:
    yield Problem("name[", "bad")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (never_ends, "the rule `never_ends` took more than 0.2 seconds"),
        (finds_too_much, "the rule `finds_too_much` found more than 1,000 problems"),
        (raises, f"the rule `raises` raised KeyError in test_own_formats.py, line {RAISED_IN}"),
        (yields_numbers, f"the rule `yields_numbers` {NO_PROBLEM}expected a `Problem` or a "),
        (gives_a_number, f"the rule `gives_a_number` {NO_PROBLEM}expected a `Problem` or a "),
        (knows_no_severity, f"{NO_PROBLEM}`severity`: 'fatal' is not error, warning or note"),
        (knows_no_code, f"{NO_PROBLEM}`code`: 'Very bad' is not a name such as `tool-not-https`"),
        (knows_no_path, f"{NO_PROBLEM}`path`: cannot read the path `name[` at character 5"),
    ],
)
def test_a_rule_that_goes_wrong_is_a_finding(
    folder: Path, monkeypatch: pytest.MonkeyPatch, rule: Any, said: str
) -> None:
    monkeypatch.setattr(rules, "MAX_SECONDS", 0.2)
    Path("app.yaml").write_text("name: a\nprompt: p\n")
    found = findings(Format(App, rules=(rule,)))
    assert any("app.yaml:1:1: error[rule-failed]" in each and said in each for each in found)


# ----------------------------------------------------------------------------------------- models


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


class Cat(msgspec.Struct, tag="cat"):
    lives: int = 9


class Dog(msgspec.Struct, tag="dog"):
    tricks: tuple[str, ...] = ()


class House(msgspec.Struct):
    pets: list[Cat | Dog]


class Closed(msgspec.Struct, forbid_unknown_fields=True):
    open: Cat


@pytest.mark.parametrize(
    ("model", "text", "said"),
    [
        (Struct, "{name: a, size: 0}", "out-of-range"),
        (Struct, "{name: a, sise: 5}", "`sise` is not a field of `struct` (at sise)"),
        (House, "pets: [{type: dog, lives: 1}]", "`lives` is not a field of `dog`"),
        (Closed, "{open: {type: cat}, opn: 5}", "`opn` is not a field of `closed`"),
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


def test_a_struct_that_forbids_unknown_keys_says_where_they_are_allowed() -> None:
    assert equipage.loads("open: {type: cat, lifes: 5}", Closed).config.open.lives == 9
    mild = Format(House, strictness={"unknown-field": "warning"})
    loaded = mild.loads("pets: [{type: dog, tricks: [sit]}, {type: dog, trick: [sit]}]")
    assert loaded.config.pets == [Dog(("sit",)), Dog()]
    assert [each.code for each in loaded.warnings] == ["unknown-field"]


def test_what_a_class_refuses_has_a_place() -> None:
    for size, said in ((-1, "the size must be positive"), (10, "`picky` raises KeyError")):
        with pytest.raises(LoadError) as raised:
            equipage.loads(f"inner:\n  size: {size}", Holder)
        assert str(raised.value) == f"<string>:2:3: error[model-refused] {said} (at inner)"


def test_what_is_frozen_is_frozen_deeply() -> None:
    config = equipage.loads("{inner: {size: 1}, made: [1]}", Holder).config
    with pytest.raises(TypeError, match="immutable"):
        config.made.append(2)


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


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (int, "`int` cannot be a model: write a dataclass"),
        (Plain, "`Plain` cannot be a model: write a dataclass"),
        (Untagged, "field `part`: TypeError: Type unions may not contain more than one"),
        (Outer, "field `inner.part`: TypeError: Type unions may not contain more than one"),
        (Forward, "NameError: name 'Nothing' is not defined"),
        (Custom, "field `part`: `Plain` is a class that no text can be read as"),
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


def test_models_of_attrs() -> None:
    attrs = pytest.importorskip("attrs")

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


def test_the_schema_takes_what_a_load_takes(folder: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    import yaml

    schema = Format(App, renamed={"title": "name"}).schema()
    for text in ("{title: a, prompt: {$file: x}}", "{name: a, prompt: p, tools: [{$include: x}]}"):
        jsonschema.validate(yaml.safe_load(text), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"nam": "a"}, schema)


def test_the_example_loads() -> None:
    for model in (App, Struct, Holder, Tree):
        format_ = Format(model)
        assert format_.loads(format_.example()).kind == format_.name
