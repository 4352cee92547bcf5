"""What a program gets: one form, immutable, with payloads that are only plans."""

from __future__ import annotations

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

import equipage
from equipage.core.diagnostics import LoadError
from equipage.formats.server.model import ServerConfig, ServerFile
from equipage.formats.server.payloads import Generated
from equipage.formats.server.payloads.base import Buffered, Streamed
from equipage.loading.type_words import type_info
from equipage.project.registry import format_named
from lab import EXAMPLES, command

FULL = """
server: {name: demo, version: "1.0", state_scope: global, capabilities: {tools: {listChanged: true}, logging: {}}}
metadata:
  {id: TJ-1, name: n, description: d, severity: low, mcp_attack_surface: {vectors: [tool_injection], primitives: [flood]},
   created: 2024-02-29, tags: [a], mitre_attack: {tactics: [{id: TA0001, name: x}]}}
baseline:
  tools:
    - tool: {name: echo, description: d, inputSchema: {type: object, properties: {q: {type: string}}}}
      response:
        isError: false
        match:
          - when: {args.q: {contains: secret, gt: 1.5}, args.r: [a*, "regex:b+"], args.s: "x?"}
            content: [{type: text, text: "hit $${args.q}"}]
            handler: {type: http, url: "https://example.com", headers: {X-A: b}}
          - default: true
            sequence: [{content: [{type: text, text: {$generate: {type: garbage, bytes: 16, seed: 7}}}]}]
            on_exhausted: cycle
      behavior: {delivery: {type: nested_json, depth: 3}}
    - tool: {name: image, description: d, inputSchema: {type: object}}
      response: {content: [{type: image, mimeType: image/png, data: AAAA}, {type: resource, resource: {uri: "u:1", blob: AA==}}]}
  resources:
    - resource: {uri: "cfg://a", name: A, mimeType: text/plain}
      response: {content: {$generate: {type: garbage, bytes: 16, seed: 7}}}
    - resource: {uri: "cfg://b", name: B}
  prompts:
    - prompt: {name: p, arguments: [{name: x, required: true}]}
      response: {messages: [{role: user, content: hello}]}
phases:
  - name: calm
    advance: {on: "tools/call:echo", count: 3, timeout: 30s, on_timeout: abort, match: {args.q: {any_of: [1, true, x]}}}
  - name: storm
    on_enter: [{send_notification: a/b}, {send_request: {method: m, id: 1, params: {deep: [1, {x: null}]}}}, {log: x}]
    replace_tools: {echo: {tool: {name: echo, description: other, inputSchema: {type: object}}, response: {content: [{type: text, text: x}]}}}
    remove_resources: ["cfg://b"]
    replace_capabilities: {tools: {listChanged: false}}
    behavior: {side_effects: [{type: notification_flood, params: {a: 1}}, {type: close_connection, trigger: on_connect}]}
logging: {level: debug, on_phase_change: true}
unknown_methods: drop
"""


def load(text: str = FULL, **options: Any) -> Any:
    return equipage.loads(text, kind="server", env={}, **options).config


def parts(value: Any) -> list[Any]:
    """Everything a configuration is made of."""
    found, stack = [], [value]
    while stack:
        each = stack.pop()
        found.append(each)
        if isinstance(each, msgspec.Struct):
            stack += [getattr(each, name) for name in each.__struct_fields__]
        elif isinstance(each, dict):
            stack += each.values()
        elif isinstance(each, list | tuple):
            stack += each
    return found


@pytest.mark.requirement("F-009")
def test_everything_is_immutable() -> None:
    config = load()
    assert isinstance(config, ServerConfig)
    assert not [each for each in parts(config) if type(each) in (dict, list)]
    for each in parts(config):
        if isinstance(each, msgspec.Struct) and each.__struct_fields__:
            with pytest.raises(AttributeError):
                setattr(each, each.__struct_fields__[0], None)
        elif isinstance(each, dict):
            with pytest.raises(TypeError):
                each["x"] = 1


@pytest.mark.requirement("F-009")
def test_no_directive_is_left_but_payloads() -> None:
    plain = equipage.loads(FULL, kind="server", env={}).to_dict()
    keys = {key for each in parts(plain) if isinstance(each, dict) for key in each}
    assert {key for key in keys if key.startswith("$")} == {"$generate"}


@pytest.mark.requirement("F-009")
def test_configurations_pickle_hash_copy_and_are_shared_by_threads() -> None:
    config = load()
    assert pickle.loads(pickle.dumps(config)) == config
    assert hash(config) == hash(load())
    assert copy.deepcopy(config) == config
    with ThreadPoolExecutor(4) as pool:
        made = list(
            pool.map(
                lambda _: config.baseline.resources[0].response.content.generator.read(), range(8)
            )
        )
    assert len(set(made)) == 1


@pytest.mark.requirement("F-009")
def test_what_is_written_back_loads_to_the_same() -> None:
    loaded = equipage.loads(FULL, kind="server", env={})
    # Templates and dollars are the author's; a string is not looked at for variables when embedded.
    again = equipage.loads(json.dumps(loaded.to_dict()), kind="server", env={}, embedded=True)
    assert again.config == loaded.config
    assert again.digest == loaded.digest


def test_the_simple_form_is_a_baseline() -> None:
    simple = "server: {name: a, capabilities: {tools: {}}}\nresources: [{resource: {uri: u, name: n}}]\nbehavior: {}\n"
    phased = "server: {name: a}\nbaseline: {capabilities: {tools: {}}, resources: [{resource: {uri: u, name: n}}], behavior: {}}\n"
    assert load(simple) == load(phased)


def test_models_are_frozen_and_closed() -> None:
    seen: set[type] = set()

    def visit(info: Any) -> None:
        cls = getattr(info, "cls", None)
        if isinstance(cls, type) and issubclass(cls, msgspec.Struct):
            if cls in seen:
                return
            seen.add(cls)
            assert cls.__struct_config__.frozen, cls
            assert cls is Generated or cls.__struct_config__.forbid_unknown_fields, cls
            for field in info.fields:
                visit(field.type)
        for name in ("item_type", "value_type"):
            if hasattr(info, name):
                visit(getattr(info, name))
        for each in getattr(info, "types", ()):
            visit(each)

    visit(type_info(ServerFile))
    assert len(seen) > 40


# --- payloads ------------------------------------------------------------------------------------


def payload(params: str, env: dict[str, str] | None = None) -> Generated:
    text = f"server: {{name: a}}\nresources: [{{resource: {{uri: u, name: n}}, response: {{content: {{$generate: {params}}}}}}}]\n"
    content = (
        equipage.loads(text, kind="server", env=env or {})
        .config.baseline.resources[0]
        .response.content
    )
    assert isinstance(content, Generated)
    return content


@pytest.mark.requirement("F-004", "EC-LOAD-022", "NFR-002")
def test_a_payload_is_a_plan_until_it_is_asked_for() -> None:
    huge = payload("{type: garbage, bytes: 1gb}", {"THOUGHTJACK_MAX_PAYLOAD_BYTES": "2gb"})
    assert (huge.type, huge.estimated_size, huge.produces_json) == ("garbage", 2**30, False)
    streamed = huge.generate()
    assert isinstance(streamed, Streamed)
    assert len(next(streamed.chunks)) == 65536
    small = payload("{type: nested_json, depth: 2, key: k}")
    assert small.generate() == Buffered(b'{"k":{"k":null}}')
    assert small.produces_json


@pytest.mark.requirement("F-004", "NFR-001")
def test_equal_payloads_are_one() -> None:
    config = load()
    first = config.baseline.tools[0].response.match[1].sequence[0].content[0].text
    second = config.baseline.resources[0].response.content
    assert first is second
    assert payload("{type: garbage, bytes: 1kb}") == payload(
        "{bytes: 1024, seed: 0, type: garbage}"
    )
    assert payload("{type: nested_json, depth: 1, inner: 1}") != payload(
        "{type: nested_json, depth: 1, inner: true}"
    )


@pytest.mark.requirement("F-004")
def test_a_payload_survives_pickling_without_its_generator() -> None:
    plan = payload("{type: repeated_keys, count: 3, value: [1]}")
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan
    assert hash(again) == hash(plan)
    assert again.generator.read() == plan.generator.read()


@pytest.mark.requirement("F-004")
def test_a_payload_has_members_in_the_order_of_its_author() -> None:
    inner = "{type: nested_json, depth: 0, inner: {b: 1, a: [{d: 1, c: 2}]}}"
    assert payload(inner).read() == b'{"b":1,"a":[{"d":1,"c":2}]}'
    batch = payload("{type: batch_notifications, count: 1, params: {b: 1, a: 2}}")
    assert batch.read().endswith(b'"params":{"b":1,"a":2}}]')


# --- finding out ---------------------------------------------------------------------------------


@pytest.mark.requirement("F-001", "F-008")
def test_findings_have_a_file_a_line_and_a_column() -> None:
    with pytest.raises(LoadError) as error:
        equipage.loads("server:\n  name: 5\n", kind="server", env={})
    (finding,) = error.value.errors
    assert (finding.name, finding.span.line, finding.span.column, finding.path) == (
        "<string>",
        2,
        9,
        "server.name",
    )


@pytest.mark.requirement("F-008", "EC-LOAD-020")
def test_warnings_come_beside_the_configuration() -> None:
    loaded = equipage.loads("server: {name: a}\nnonsense: 1\n", kind="server", env={})
    assert [each.code for each in loaded.warnings] == ["unknown-field"]
    with pytest.raises(LoadError):
        equipage.loads("server: {name: a}\nnonsense: 1\n", kind="server", env={}, strict=True)


def test_the_first_file_is_a_good_one() -> None:
    example = format_named("server").presentation.example
    assert example is not None
    loaded = equipage.loads(example, kind="server", env={})
    assert loaded.warnings == ()
    assert loaded.config.baseline.tools[0].response.content[0].text == "You said: ${args.text}"


@pytest.mark.requirement("F-010")
def test_the_path_of_a_handler_starts_at_the_file_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "t.yaml").write_text(
        "tool: {name: t, description: d, inputSchema: {type: object}}\n"
        "response: {handler: {type: command, cmd: [./run], working_dir: scripts}}\n"
    )
    (tmp_path / "main.yaml").write_text(
        "server: {name: a}\ntools: [{$include: t.yaml}]\nlogging: {output: log.txt}\n"
    )
    monkeypatch.chdir(tmp_path)
    loaded = equipage.load("main.yaml", env={})
    assert loaded.config.baseline.tools[0].response.handler.working_dir == str(
        tmp_path / "library" / "scripts"
    )
    assert loaded.config.logging.output == str(tmp_path / "log.txt")
    assert loaded.to_dict(show_env=False)["logging"] == {"output": "log.txt"}


# --- the command ---------------------------------------------------------------------------------


@pytest.mark.requirement("F-011")
@pytest.mark.parametrize(
    ("text", "arguments", "code", "words"),
    [
        pytest.param("server: {name: a}\ntools: []\n", [], 0, "", id="valid"),
        pytest.param("server: {name: 5}\ntools: []\n", [], 1, "wrong-type", id="invalid"),
        pytest.param(
            "server: {nme: a}\ntools: []\nx: 1\n", [], 1, "unknown-field", id="all findings"
        ),
        pytest.param(
            "server: {name: a}\ntools: []\nx: 1\n", ["--strict"], 1, "unknown-field", id="strict"
        ),
        pytest.param(
            "server: {name: a}\ntools: []\nx: 1\n", ["--json"], 0, '"version": 1', id="json"
        ),
    ],
)
def test_validation_command(
    text: str, arguments: list[str], code: int, words: str, tmp_path: Path
) -> None:
    (tmp_path / "config.yaml").write_text(text)
    done = command("check", "config.yaml", *arguments, cwd=tmp_path)
    assert done.code == code, done.out + done.err
    assert words in done.out


@pytest.mark.requirement("F-011")
def test_quiet_suppresses_warnings(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("server: {name: a}\ntools: []\nx: 1\n")
    assert "unknown-field" in command("check", "config.yaml", cwd=tmp_path).out
    assert "unknown-field" not in command("check", "config.yaml", "--quiet", cwd=tmp_path).out


def test_the_example_is_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES / "server")
    config = equipage.load("server.yaml", env={}, strict=True).config
    assert [tool.tool.name for tool in config.baseline.tools] == [
        "echo",
        "forecast",
        "forecast_slowly",
        "deep",
    ]
    assert [phase.name for phase in config.phases] == ["as announced", "renamed"]
