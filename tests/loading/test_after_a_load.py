"""What a result holds after a load: values, not texts; what was written, not defaults."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import pytest

import equipage

TOOL = (
    "tool: {name: t%d, description: d, inputSchema: {type: object}}\n"
    "response: {content: [{type: text, text: x}]}\n"
)


@pytest.mark.requirement("NFR-002")
def test_the_texts_of_large_includes_are_let_go(tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    for number in range(10):
        text = TOOL % number + "# " + "c" * 500_000 + "\n"
        (tmp_path / f"library/i{number}.yaml").write_text(text)
    includes = "".join(f"- {{$include: i{number}.yaml}}\n" for number in range(10))
    (tmp_path / "s.yaml").write_text("server: {name: x}\ntools:\n" + includes)
    equipage.loads("server: {name: x}\ntools: []\n", kind="server", env={})
    tracemalloc.start()
    try:
        loaded = equipage.load(tmp_path / "s.yaml", env={})
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept < 2_000_000
    # The files are read again for a place, unless they have changed.
    place = loaded.locate("tools[3].tool.name")
    assert place is not None
    assert place.source.path is not None
    assert place.source.path.name == "i3.yaml"
    assert (place.line, place.column) == (1, 14)
    (tmp_path / "library/i3.yaml").write_text("changed")
    assert loaded.locate("tools[3].tool.name") is None
    assert loaded.config.baseline.tools[3].tool.name == "t3"


@pytest.mark.parametrize("embedded", [True, False])
@pytest.mark.parametrize("show_env", [True, False])
def test_text_that_looks_like_a_variable_survives(show_env: bool, embedded: bool) -> None:
    text = (
        'server: {name: "a$$b $${HOME} $$$$ x$$", version: "${V:-1}"}\n'
        "tools:\n- tool: {name: n, description: 'price $5, $${A:-x}', inputSchema: {type: object}}\n"
        "  response: {content: [{type: text, text: 'cost: $$$$ ${V:-y} $${Q}'}]}\n"
    )
    env = {"V": "z${HOME}$$"}
    loaded = equipage.loads(text, kind="server", env=env, embedded=embedded)
    written = loaded.to_dict(show_env=show_env, escaped=True)
    again = equipage.loads(_yaml(written), kind="server", env=env, embedded=embedded)
    assert again.config == loaded.config


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('"a ${V}"', "a ${V}"),
        ('"a \\\\ \\u00e9 ${V}"', "a \\ é ${V}"),
        ('"\'${V}"', "'${V}"),
        ("'it''s ${V} $$x'", "it's ${V} $$x"),
        ("|\n    one ${V}\n    two\n", "one ${V}\ntwo\n"),
        (">-\n    one\n    ${V}\n", "one ${V}"),
        ("one\n    ${V}\n    two", "one ${V} two"),
    ],
)
def test_text_with_a_variable_is_shown_as_it_means(written: str, shown: str) -> None:
    """Without quotes and escapes, whatever style it has, and without the value."""
    text = f"server: {{name: a}}\nlogging:\n  output: {written}\n"
    loaded = equipage.loads(text, kind="server", env={"V": "s3cr3t value"})
    assert loaded.to_dict(show_env=False)["logging"]["output"] == shown
    assert loaded.explain("logging.output").value == shown
    again = equipage.loads(
        _yaml(loaded.to_dict(show_env=False, escaped=True)),
        kind="server",
        env={"V": "s3cr3t value"},
    )
    assert (again.config, again.digest) == (loaded.config, loaded.digest)


def test_a_value_that_changes_what_is_around_it_is_not_shown() -> None:
    text = 'server: {name: "a\\\\${V}"}\n'
    loaded = equipage.loads(text, kind="server", env={"V": "n s3cr3t \\n"})
    assert "s3cr3t" in loaded.config.server.name
    assert loaded.to_dict(show_env=False) == {"server": {"name": "a\\\\${V}"}}


def test_a_variable_that_is_a_number_is_written_without_quotes() -> None:
    text = 'server: {name: "${N}"}\nbehavior: {delivery: {type: slow_loris, chunk_size: ${N}}}\n'
    loaded = equipage.loads(text, kind="server", env={"N": "5"})
    written = _yaml(loaded.to_dict(show_env=False, escaped=True))
    assert 'name: "${N}"\n' in written
    assert "chunk_size: ${N}\n" in written
    assert equipage.loads(written, kind="server", env={"N": "5"}).config == loaded.config


def _yaml(value: object) -> str:
    from equipage.render.text import dump_yaml

    return dump_yaml(value)


def test_a_default_is_not_called_written(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nname: a\ntools: [x]\n---\nbody\n")
    (tmp_path / "b.json").write_text(
        '{"id": "x", "flow": {"kind": "seq", "children": []}, "agents": [{"$agent_md": "a.md"}]}'
    )
    loaded = equipage.load(tmp_path / "b.json", env={}, default_agent_kind="subprocess")
    for path in ("agents[0].kind", "agents[0].spec", "agents[0].profile.model", "agents[0].meta"):
        assert loaded.explain(path).settings == (), path
    assert loaded.explain("agents[0].name").settings[0].place
