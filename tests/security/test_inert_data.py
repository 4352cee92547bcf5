"""Tags construct nothing, templates expand nothing, names in data import nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from . import world
from .world import Sample, load, run_script

TAGS = [
    "!!python/object/apply:os.system ['touch pwned']",
    "!!python/object/apply:subprocess.check_output [['touch', 'pwned']]",
    "!!python/object/new:os.system ['touch pwned']",
    "!!python/name:os.system ''",
    "!!python/module:antigravity ''",
    "!!python/object:collections.Counter {}",
    "!!python/tuple [1, 2]",
    "!<tag:yaml.org,2002:python/object/apply:os.system> ['touch pwned']",
    "!!binary aGk=",
    "!!timestamp 2001-01-01",
    "!!set {a, b}",
    "!!omap [a: 1]",
    "!ruby/object:Gem::Installer {}",
    "!!javax.script.ScriptEngineManager []",
    "!include /etc/passwd",
    "!ENV ${HOME}",
    "!env HOME",
    "!Ref x",
    "!!js/function 'function () { return 1 }'",
]

TEMPLATES = [
    "{{ 7*7 }}",
    "{% include '/etc/passwd' %}",
    "<%= `touch pwned` %>",
    "$(touch pwned)",
    "`touch pwned`",
    "%(x)s %s %d",
    "{0.__class__.__mro__[1].__subclasses__()}",
    "{x!r:>{y}}",
    "${jndi:ldap://127.0.0.1/a}",
    "#{1+1}",
    "=cmd|' /C calc'!A0",
    "__import__('os').system('touch pwned')",
    "{code} {severity} {message}",
    "\\x24{HOME}",
    "$HOME $USER",
    "~root",
]


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize(
    "sample", [world.SERVER, world.TOOLPACK, world.BLUEPRINT], ids=lambda each: each.kind
)
def test_a_tag_is_a_finding_and_makes_nothing(tag: str, sample: Sample, tmp_path: Path) -> None:
    outcome = load(sample, tmp_path, f"{sample.text}metadata: {tag}\n")
    assert world.codes(outcome) & {"unknown-tag", "yaml-syntax"}, outcome.diagnostics
    assert not (tmp_path / "pwned").exists()
    _only_plain(outcome.tree.value if outcome.tree else None)


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("sample", [world.PROFILE, world.AGENT_MD], ids=lambda each: each.kind)
def test_a_tag_in_a_header(tag: str, sample: Sample, tmp_path: Path) -> None:
    outcome = load(sample, tmp_path, f"---\nname: x\ndescription: {tag}\n---\nText.\n")
    assert not outcome.ok
    assert world.codes(outcome) & {"unknown-tag", "yaml-syntax"}, outcome.diagnostics


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_stays_what_it_is(template: str, tmp_path: Path) -> None:
    """Only `${NAME}`, in kinds that say so, means anything; `$$` means `$` there."""
    quoted = json.dumps(template.replace("$", "$$"))
    outcome = load(world.SERVER, tmp_path, world.server_with(f"{{key: {quoted}}}"))
    assert world.free_form(outcome) == {"key": template}
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_in_a_message_is_shown_as_it_is(template: str, tmp_path: Path) -> None:
    outcome = load(
        world.BLUEPRINT,
        tmp_path,
        f"{world.BLUEPRINT.text}{json.dumps(template)}: {json.dumps(template)}\n",
    )
    found = [each for each in outcome.diagnostics if each.code == "unknown-field"]
    assert found
    assert template[:60] in found[0].message.replace("\\\\", "\\")


@pytest.mark.parametrize("template", [each for each in TEMPLATES if "${" not in each])
def test_a_template_in_a_prompt(template: str, tmp_path: Path) -> None:
    outcome = load(world.PROFILE, tmp_path, f"---\ndescription: Writes.\n---\n{template}\n")
    assert outcome.config is not None
    assert outcome.config.prompt.text == template


def test_no_load_executes_imports_or_starts_anything(tmp_path: Path) -> None:
    """Python itself tells of every execution: nothing is started, compiled or imported because of a
    file."""
    done = run_script("watched.py", "execution", str(tmp_path), cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    assert json.loads(done.out) == []


def _only_plain(value: object) -> None:
    stack = [value]
    while stack:
        node = stack.pop()
        assert isinstance(node, dict | list | str | int | float | bool | None) or type(
            node
        ).__module__.startswith("equipage"), node
        if isinstance(node, dict):
            stack += [*node, *node.values()]
        elif isinstance(node, list):
            stack += node
