"""Keys given twice, names that only look right and invisible characters are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

import equipage
from lab import repository

from . import world
from .world import Sample, load

#: Letters of other alphabets that look like the Latin ones.
TWINS = {
    "a": "\u0430",
    "e": "\u0435",
    "o": "\u043e",
    "c": "\u0441",
    "p": "\u0440",
    "i": "\u0456",
    "s": "\u0455",
    "x": "\u0445",
}
INVISIBLE = ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u180e"]
BIDIRECTIONAL = ["\u202e", "\u202d", "\u2066", "\u2067", "\u200f"]

FIELDS = {
    "server": ["server", "tools", "name"],
    "toolpack": ["description", "execution", "deterministic", "inputSchema"],
    "blueprint": ["agents", "flow", "profile", "system_prompt"],
    "profile": ["description"],
    "settings": ["default", "provider"],
}  # fmt: skip
TEXTS = [
    world.SERVER,
    world.TOOLPACK,
    world.BLUEPRINT,
    world.BLUEPRINT_JSON,
    world.PROFILE,
    world.PROFILE_FOLDER,
    world.SETTINGS,
]


@pytest.mark.parametrize(
    ("sample", "text"),
    [
        (world.SERVER, "server: {name: a}\ntools: []\nserver: {name: b}\n"),
        (world.SERVER, "server: {name: a, name: b}\ntools: []\n"),
        (world.SERVER, "server: {name: a, 'name': b}\ntools: []\n"),
        (world.SERVER, 'server: {name: a, "n\\u0061me": b}\ntools: []\n'),
        (world.SERVER, "server: {name: a}\ntools: []\n? server\n: {name: b}\n"),
        (world.TOOLPACK, world.TOOLPACK.text + "id: other\n"),
        (world.BLUEPRINT, world.BLUEPRINT.text + "id: other\n"),
        (world.BLUEPRINT_JSON, world.BLUEPRINT_JSON.text.replace('"id": "team"', '"id": "team", "id": "other"')),
        (world.BLUEPRINT_JSON, world.BLUEPRINT_JSON.text.replace('"id": "team"', '"id": "team", "\\u0069d": "other"')),
        (world.AGENT_MD, "---\nname: a\nname: b\n---\nText.\n"),
        (world.PROFILE, "---\ndescription: a\ndescription: b\n---\nText.\n"),
        (world.PROFILE_TOML_HEADER, '+++\ndescription = "a"\ndescription = "b"\n+++\nText.\n'),
        (world.PROFILE_FOLDER, 'description = "a"\n"description" = "b"\n'),
        (world.SETTINGS, '[default]\nprovider = "a"\n[default]\nprovider = "b"\n'),
        (world.SETTINGS, 'default.provider = "a"\n[default]\nprovider = "b"\n'),
    ],
)  # fmt: skip
def test_a_key_given_twice(sample: Sample, text: str, tmp_path: Path) -> None:
    assert world.codes(load(sample, tmp_path, text)) & {"duplicate-key", "toml-syntax"}


def renamed(sample: Sample, field: str, other: str) -> str:
    """The sample with a key spelt in another way, quoted where the syntax needs it."""
    quoted = f'"{other}"'
    if sample.file.endswith(".json"):
        return sample.text.replace(f'"{field}":', f"{quoted}:", 1)
    if sample.file.endswith(".toml"):
        return sample.text.replace(f"[{field}]", f"[{quoted}]", 1).replace(
            f"{field} =", f"{quoted} =", 1
        )
    return sample.text.replace(f"{field}:", f"{quoted}:", 1)


@pytest.mark.parametrize("sample", TEXTS, ids=lambda each: each.file)
def test_a_field_that_only_looks_right(sample: Sample, tmp_path: Path) -> None:
    """A look-alike of a field is another field, which a reader of the file does not see."""
    quiet = {str(each) for each in load(sample, tmp_path).diagnostics}
    for field in FIELDS[sample.kind]:
        spellings = [field.replace(letter, TWINS[letter], 1) for letter in field if letter in TWINS]
        spellings += [field[:2] + sign + field[2:] for sign in (*INVISIBLE, *BIDIRECTIONAL)]
        spellings += [
            field + "\u0301",
            field.upper(),
            field.capitalize(),
            f" {field}",
            f"{field} ",
            field + "\u2028",
        ]
        for other in spellings:
            text = renamed(sample, field, other)
            if text == sample.text or other == field:
                continue
            outcome = load(sample, tmp_path, text)
            found = {str(each) for each in outcome.diagnostics} - quiet
            assert found, f"{other!a} for `{field}` is silent"
            assert not any(
                sign in line for line in found for sign in (*INVISIBLE, *BIDIRECTIONAL)
            ), "shown raw"


NAMES = {
    "a tool": (world.SERVER, "server: {name: a}\ntools:\n  - tool: {name: %s, description: d, inputSchema: {type: object}}\n    response: {content: [{type: text, text: t}]}\n"),
    "an agent of a blueprint": (world.BLUEPRINT, world.BLUEPRINT.text.replace("writer", "%s")),
    "a toolpack": (world.TOOLPACK, world.TOOLPACK.text.replace("text.count", "%s")),
}  # fmt: skip


@pytest.mark.parametrize(
    "sign", [*INVISIBLE, *BIDIRECTIONAL, "\U000e0041"], ids=lambda each: f"U+{ord(each):04X}"
)
@pytest.mark.parametrize("where", NAMES)
def test_an_invisible_character_in_a_name(where: str, sign: str, tmp_path: Path) -> None:
    sample, text = NAMES[where]
    outcome = load(sample, tmp_path, text.replace("%s", f'"read{sign}file"'))
    assert outcome.diagnostics, "nobody was told"
    assert not any(sign in str(each) for each in outcome.diagnostics)


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\U000e0041\U000e0042", "\u200b"], ids=ascii)
@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".claude/agents/a.md", "---\nname: a\ndescription: d%s\n---\nDo it.\n"),
        (".claude/agents/a.md", "---\nname: a\ndescription: d\n---\nDo %s it.\n"),
        (".claude/skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\nDo %s it.\n"),
        (".defect/agents/a.md", "---\ndescription: d\n---\nDo %s it.\n"),
        ("team.yaml", world.BLUEPRINT.text.replace("You write.", '"You %s write."')),
        ("main.yaml", world.server_with("1").replace("description: d", 'description: "d %s"')),
        ("a.tool.yaml", world.TOOLPACK.text.replace("Counts words.", '"Counts %s words."')),
    ],
)  # fmt: skip
def test_hidden_text_in_what_an_agent_reads(
    file: str, text: str, sign: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    repository(tmp_path, {file: text.replace("%s", "")})
    quiet = {each.code for each in equipage.check([file], env={}).diagnostics}
    repository(tmp_path, {file: text.replace("%s", sign)})
    found = {each.code for each in equipage.check([file], env={}).diagnostics} - quiet
    assert found, "nobody was told"
