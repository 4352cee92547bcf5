"""Layers laid over each other: what holds in the end, and who said so."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.core.diagnostics import Diagnostic
from equipage.core.path import format_path
from equipage.formats.defect.discovery import find_layer_folders
from equipage.formats.defect.layers import FORMAT, LoadedSettings, Overrides, find_settings
from equipage.record.diff import compare
from equipage.render.json import diagnostic_to_dict
from lab import write

USER = """\
[default]
provider = "openai"
[providers.openai]
default_model = "gpt-user"
models = ["gpt-user", { id = "gpt-b" }]
[providers.litellm]
models = ["x/y"]
[turn]
request_limit = 40
[base_prompt]
text = "user"
"""
PROJECT = """\
[providers.openai]
default_model = "gpt-project"
[base_prompt]
file = "prompts/base.md"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    return tmp_path


def put(folder: Path, layer: str, text: str) -> None:
    places = {"user": "xdg/defect/config.toml", "project": "repo/.defect/config.toml"}
    write(folder, {places.get(layer, "repo/.defect/config.local.toml"): text})


def load(folder: Path, *overrides: str, **options: Any) -> LoadedSettings:
    return equipage.load_settings(
        folder / "repo", xdg_config_home=folder / "xdg", overrides=overrides, **options
    )


@pytest.mark.requirement("ST-05")
def test_every_value_knows_its_layer(folder: Path) -> None:
    put(folder, "user", USER)
    put(folder, "project", PROJECT)
    put(folder, "local", "[turn]\nmax_llm_retries = 1\n")
    loaded = load(folder, "turn.max_hook_continues=2")
    assert loaded.layer("default.provider") == "user"
    assert loaded.layer("providers.openai.default_model") == "project"
    assert loaded.layer("turn.request_limit") == "user"
    assert loaded.layer("turn.max_llm_retries") == "project-local"
    assert loaded.layer("turn.max_hook_continues") == "command line"
    assert loaded.layer("sandbox") is None
    assert [each.name for each in loaded.layers] == [
        "user",
        "project",
        "project-local",
        "command line",
    ]
    explained = loaded.explain("providers.openai.default_model")
    assert [(each.value, each.wins) for each in explained.settings] == [
        ("gpt-user", False),
        ("gpt-project", True),
    ]
    assert "project layer" in str(explained)
    assert str(loaded.explain("turn.max_hook_continues")).endswith("given on the command line")


@pytest.mark.requirement("ST-08")
def test_what_follows(folder: Path) -> None:
    put(folder, "user", USER)
    put(folder, "project", PROJECT)
    loaded = load(folder)
    assert loaded.effective.provider == "openai"
    assert loaded.effective.model == "gpt-project"
    assert loaded.effective.allowed_models == ("gpt-user", "gpt-b", "gpt-project", "x/y")
    assert loaded.effective.request_limit == equipage.formats.defect.profile_model.RequestLimit(
        "adaptive", 40
    )
    assert pickle.loads(pickle.dumps(loaded)).config == loaded.config


@pytest.mark.requirement("ST-08")
def test_an_empty_model_is_one(folder: Path) -> None:
    put(folder, "project", "[default]\nmodel = ''\n[providers.openai]\ndefault_model = ' '\n")
    loaded = load(folder)
    assert loaded.effective.model == ""
    assert [(each.code, each.path) for each in loaded.warnings] == [
        ("text-empty", "default.model"),
        ("text-empty", "providers.openai.default_model"),
    ]


@pytest.mark.requirement("ST-08")
def test_the_models_of_the_echo_are_for_those_who_use_it(folder: Path) -> None:
    put(
        folder, "project", "[default]\nprovider = 'openai'\n[providers.defect]\nmodels = ['loud']\n"
    )
    assert load(folder).effective.allowed_models == ()
    assert load(folder, "default.provider=defect").effective.allowed_models == ("echo", "loud")


@pytest.mark.requirement("ST-03")
def test_the_base_prompt_lies_beside_the_file_that_names_it(folder: Path) -> None:
    put(folder, "user", USER)
    put(folder, "project", PROJECT)
    loaded = load(folder)
    assert loaded.config.base_prompt.text is None
    assert loaded.base_prompt_file == folder / "repo" / ".defect" / "prompts" / "base.md"
    put(folder, "local", "[base_prompt]\ntext = 'local'\n")
    assert load(folder).config.base_prompt.file is None
    assert load(folder).base_prompt_file is None


@pytest.mark.requirement("ST-01")
def test_nothing_at_all_is_fine(folder: Path) -> None:
    loaded = load(folder)
    assert loaded.layers == ()
    assert loaded.sources == ()
    assert loaded.effective.provider == "defect"
    assert loaded.effective.model == "echo"
    assert loaded.effective.allowed_models == ()
    assert loaded.to_dict() == {}
    put(folder, "user", "")
    assert [each.name for each in load(folder).layers] == ["user"]
    assert load(folder, local=True).layers == ()


@pytest.mark.requirement("ST-02")
def test_lists_replace_each_other(folder: Path) -> None:
    put(folder, "user", "[http.proxy]\nno_proxy = ['a', 'b']\n")
    put(folder, "project", "[http.proxy]\nno_proxy = ['c']\n")
    assert load(folder).config.http.proxy.no_proxy == ("c",)


@pytest.mark.requirement("ST-06")
def test_hooks_of_all_layers(folder: Path) -> None:
    def hook(name: str) -> str:
        return f"[[hooks.before_ingest]]\nname = '{name}'\nhandler = {{ type = 'builtin', name = '{name}' }}\n"

    put(folder, "user", hook("tracing-audit") + hook("redact-secrets"))
    put(folder, "project", hook("skill-manifest") + hook("tracing-audit"))
    disable = "[[hooks.disable]]\nevent = 'before_ingest'\nhandler = { type = 'builtin', name = 'redact-secrets' }\n"
    put(folder, "local", hook("skill-triggers") + disable)
    loaded = load(folder)
    found = [(each.name, each.source) for each in loaded.config.hooks.before_ingest]
    assert found == [
        ("tracing-audit", "user"),
        ("skill-manifest", "project"),
        ("skill-triggers", "project-local"),
    ]
    assert loaded.config.hooks.disable == ()
    assert [loaded.layer(f"hooks.before_ingest[{number}].name") for number in range(3)] == [
        each for _, each in found
    ]
    place = loaded.locate("hooks.before_ingest[1].name")
    assert place is not None
    assert place.text() == "'skill-manifest'"


@pytest.mark.requirement("ST-06")
@pytest.mark.parametrize(
    ("user", "project", "count"),
    [
        pytest.param(
            "shell={program='zsh'}, command='x'",
            "shell={program='zsh', args=[]}, command='x'",
            1,
            id="inner",
        ),
        pytest.param("argv=['x']", "argv=['x'], env={}", 1, id="an empty table"),
        pytest.param("argv=['x']", "argv=['x'], argv_windows=[]", 2, id="nothing on Windows"),
        pytest.param("argv=['x'], timeout_sec=5", "argv=['x']", 2, id="another time"),
    ],
)
def test_hooks_are_equal_if_a_program_gets_the_same(
    folder: Path, user: str, project: str, count: int
) -> None:
    hook = "[[hooks.before_ingest]]\nhandler = {{ type = 'command', {} }}\n".format
    put(folder, "user", hook(user))
    put(folder, "project", hook(project))
    assert len(load(folder).config.hooks.before_ingest) == count
    disable = (
        "[[hooks.disable]]\nevent = 'before_ingest'\nhandler = {{ type = 'command', {} }}\n".format
    )
    put(folder, "project", disable(project))
    assert len(load(folder).config.hooks.before_ingest) == count - 1


@pytest.mark.requirement("ST-06")
def test_a_hook_that_another_layer_disables_too_is_disabled(folder: Path) -> None:
    handler = "handler = { type = 'builtin', name = 'tracing-audit' }\n"
    disable = f"[[hooks.disable]]\nevent = 'before_ingest'\n{handler}"
    put(folder, "user", f"[[hooks.before_ingest]]\n{handler}{disable}")
    put(folder, "project", disable)
    assert load(folder).warnings == ()
    put(folder, "user", disable)
    assert [each.code for each in load(folder).warnings] == [
        "hook-disable-idle",
        "hook-disable-idle",
    ]


@pytest.mark.requirement("ST-10")
@pytest.mark.parametrize(
    ("written", "becomes"),
    [
        ("a=9", {"a": 9}),
        ("a=1.5", {"a": 1.5}),
        ("a=true", {"a": True}),
        ('a="x"', {"a": "x"}),
        ("a='x'", {"a": "x"}),
        ('a=["a","b"]', {"a": ["a", "b"]}),
        ("a={b=1}", {"a": {"b": 1}}),
        ("a=anthropic", {"a": "anthropic"}),
        ("a=1.2.3", {"a": "1.2.3"}),
        ("a=http://x/y?a=b", {"a": "http://x/y?a=b"}),
        ("a=", {"a": ""}),
        ("a=[a,b]", {"a": "[a,b]"}),
        ("a=True", {"a": "True"}),
        ("a=5 # note", {"a": 5}),
        ("a=foo # note", {"a": "foo # note"}),
        ("a=1\nb=2", {"a": "1\nb=2"}),
        ("a.b.c=1", {"a": {"b": {"c": 1}}}),
        ('a."b.c"=1', {"a": {"b.c": 1}}),
        (" a.b = 1 ", {"a": {"b": 1}}),
        ('a."b\\"c".d=1', {"a": {'b"c': {"d": 1}}}),
        ('a."\\u00e9"=1', {"a": {"é": 1}}),
        ("a.'b\\c'=1", {"a": {"b\\c": 1}}),
        ('a."b\\q"=1', {}),
        ("a.b.=1", {}),
        ("a=\udcff", {}),
        ("novalue", {}),
        ("=1", {}),
        ("a..b=1", {}),
    ],
)
def test_settings_of_the_command_line(written: str, becomes: dict[str, Any]) -> None:
    assert Overrides([written]).document.value == becomes


@pytest.mark.requirement("ST-10")
def test_later_settings_win_and_make_room() -> None:
    assert Overrides(["a=1", "a.b=2", "a.b=3"]).document.value == {"a": {"b": 3}}
    assert Overrides(["a.b=2", "a=1"]).document.value == {"a": 1}


@pytest.mark.requirement("ST-10")
def test_a_finding_about_the_command_line_has_no_file(folder: Path) -> None:
    with pytest.raises(equipage.LoadError) as caught:
        load(folder, "turn.max_llm_retries=many")
    (finding,) = caught.value.diagnostics
    assert isinstance(finding, Diagnostic)
    as_json = diagnostic_to_dict(finding)
    assert (as_json["file"], as_json["line"]) == (None, None)
    assert as_json["path"] == "turn.max_llm_retries"
    assert finding.related[0].message == "from the command line: turn.max_llm_retries=many"


def test_strict_fails_on_warnings(folder: Path) -> None:
    idle = "handler = { type = 'builtin', name = 'redact-secrets' }\n"
    put(folder, "project", f"[[hooks.disable]]\nevent = 'before_tool_apply'\n{idle}")
    assert [each.code for each in load(folder).warnings] == ["hook-disable-idle"]
    with pytest.raises(equipage.LoadError):
        load(folder, strict=True)


def test_an_unreadable_layer_is_an_error(folder: Path) -> None:
    (folder / "xdg" / "defect" / "config.toml").mkdir(parents=True)
    with pytest.raises(equipage.LoadError) as caught:
        load(folder)
    assert [(each.code, each.name) for each in caught.value.errors] == [
        ("file-is-directory", str(folder / "xdg" / "defect" / "config.toml"))
    ]


@pytest.mark.requirement("ST-01")
@pytest.mark.parametrize("where", ["repo/.defect", "xdg/defect", "xdg"])
def test_a_file_where_a_folder_of_layers_should_be_is_an_error(folder: Path, where: str) -> None:
    (folder / where).parent.mkdir(exist_ok=True)
    (folder / where).write_text("")
    with pytest.raises(equipage.LoadError) as caught:
        load(folder)
    assert [(each.code, each.name) for each in caught.value.errors] == [
        ("file-unreadable", str(folder / where))
    ]


@pytest.mark.requirement("ST-11")
@pytest.mark.parametrize(
    ("text", "codes"),
    [
        pytest.param(
            '{"mcpServers": {"a": {"command": "c", "args": null}}}', [], id="null is absent"
        ),
        pytest.param(
            '{"mcpServers": {"a": null}}', ["mcp-needs-command-or-url"], id="a null is no server"
        ),
        pytest.param(
            '{"mcpServers": {"a": {"command": "c"}, "a": {"command": "d"}}}',
            ["duplicate-key"],
            id="twice",
        ),
        pytest.param(
            '{"mcpServers": {"a": {"command": "c", "args": "x"}}}', ["wrong-type"], id="no list"
        ),
    ],
)
def test_the_servers_of_a_project_are_judged_alike_with_and_without_the_settings(
    folder: Path, text: str, codes: list[str]
) -> None:
    put(folder, "project", "")
    (folder / "repo" / ".mcp.json").write_text(text)
    alone = equipage.check([folder / "repo" / ".mcp.json"])
    assert [each.code for each in alone.errors] == codes
    merged = find_settings(find_layer_folders(folder / "repo", local=True))
    assert [each.code for each in merged.outcome.errors] == codes
    together = equipage.check([folder / "repo"])
    assert [each.code for each in together.errors] == codes


def test_changed_prompts_and_headers_are_seen_first() -> None:
    before = {"prompt": {"text": "a"}, "providers": {"x": {"headers": {"a": "1"}}}}
    after = {
        "prompt": {"text": "b"},
        "providers": {"x": {"headers": {"a": "2"}, "auth_header": "y"}},
    }
    found = [
        (format_path(each.path), each.meaning)
        for each in compare(before, after, FORMAT.presentation.sensitive)
    ]
    assert found == [
        ("providers.x.auth_header", "permission widened"),
        ("providers.x.headers.a", "permission widened"),
        ("prompt.text", "prompt changed"),
    ]
