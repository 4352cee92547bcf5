"""Agent files: bodies to the last byte, and what headers become."""

from __future__ import annotations

from pathlib import Path

import pytest

import equipage


def agent(text: str) -> equipage.Loaded:  # type: ignore[type-arg] - the config is what the test is about
    return equipage.loads(text, kind="agent_md")


@pytest.mark.requirement("BP-19")
@pytest.mark.parametrize(
    ("body", "digest"),
    [
        ("", "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
        ("b\n", "9d902f9864f3043dca97e40698eee07a2fe6771591c687ed129cde8f6fcc4a79"),
        ("body\n", "b217c57740731dc013e36d999408ad0baeca79c0d5af38f7ee876e3a7ac7a337"),
        ("line1\r\nline2\r\n", "0c8da16293fba0fa1476437fcaff31dcfa010cfafe9f44fe76e13676f7223627"),
        ("本文\n", "14ccfd563dc1a03f1f2f6f5d6b2bb60d8c7793ae8d0e02c03971525e73dfe8bc"),
    ],
)
def test_the_hash_is_that_of_the_body(body: str, digest: str) -> None:
    profile = agent(f"---\nname: x\n---\n{body}").config.profile
    assert (profile.system_prompt, profile.version_hash) == (body, digest)


@pytest.mark.requirement("BP-19")
def test_the_header_does_not_change_the_hash() -> None:
    one = agent("---\nname: x\nmodel: m\n---\nbody\n").config
    two = agent("---\nmodel: m\nname: x\n---\nbody\n").config
    assert one == two


@pytest.mark.requirement("BP-19")
@pytest.mark.parametrize(
    ("written", "tools"),
    [
        pytest.param("Read, Grep", ("Read", "Grep"), id="text with commas"),
        pytest.param("Read", ("Read",), id="one name"),
        pytest.param(
            "[Read, ' Grep ', '', Read]",
            ("Read", "Grep", "Read"),
            id="a list, trimmed, doubles kept",
        ),
        pytest.param("' , ,'", (), id="nothing but commas"),
        pytest.param("", (), id="nothing at all"),
    ],
)
def test_tools(written: str, tools: tuple[str, ...]) -> None:
    assert agent(f"---\nname: x\ntools: {written}\n---\n").config.profile.tools == tools


def test_the_kind_is_the_callers() -> None:
    assert agent("---\nname: x\n---\n").config.kind == "operator"
    assert (
        equipage.loads("---\nname: x\n---\n", kind="agent_md", default_agent_kind="lua").config.kind
        == "lua"
    )


def test_places_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"---\r\nname: x\r\ncolor: teal\r\n---\r\nHello.\r\n")
    loaded = equipage.load(path, kind="agent_md")
    spans = [
        loaded.locate(each) for each in ("name", "profile.extras.color", "profile.system_prompt")
    ]
    assert [(span.line, span.column, span.text()) for span in spans if span] == [
        (2, 7, "x"),
        (3, 8, "teal"),
        (5, 1, "Hello.\r\n"),
    ]


@pytest.mark.parametrize(
    "text",
    ["", "---", "---\n", "---\n---", "---\nname: x", "---\nname: [\n---\n", "\0", "---\n\0\n---"],
)
def test_broken_files_end_in_findings(text: str) -> None:
    with pytest.raises(equipage.LoadError):
        agent(text)


@pytest.mark.parametrize(
    ("tools", "torn"),
    [
        pytest.param("Read, Write", None, id="nothing between brackets"),
        pytest.param("Bash(a), Bash(b)", None, id="commas outside"),
        pytest.param("Bash(a, b)", "Bash(a, b)", id="a call"),
        pytest.param("Read, Bash(a(b), c), Write", "Bash(a(b), c)", id="a call in a call"),
        pytest.param("X[a, b]", "X[a, b]", id="another bracket"),
        pytest.param("Read (one, two)", None, id="a remark behind a name"),
        pytest.param("Bash(a, b", None, id="never closed"),
    ],
)
def test_what_commas_tear_apart(tools: str, torn: str | None) -> None:
    messages = [each.message for each in agent(f"---\nname: x\ntools: {tools}\n---\n").warnings]
    assert messages == (
        [] if torn is None else [f"`{torn}` is split at its commas into several tools"]
    )
