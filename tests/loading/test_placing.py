"""A finding points to the text to edit, through includes and variables (design D1, D3)."""

from __future__ import annotations

from pathlib import Path

import pytest

import equipage
from lab import write_file

TOOL = "tool:\n  name: {name}\n  description: d\n  inputSchema: {{type: object}}\nresponse: {{content: [{{type: text, text: hi}}]}}\n"
ENV = {"LONG": "a much longer value than its name", "ONE": "1"}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "library").mkdir()


def errors(env: dict[str, str] | None = None) -> list[str]:
    """The errors of main.yaml as `file:line:column text-at-the-place`."""
    found = equipage.check(["main.yaml"], kind="server", env=ENV if env is None else env).errors
    return [
        f"{each.name}:{each.span.line}:{each.span.column} {each.span.text()}"
        for each in found
        if each.span
    ]


MAIN = "server: {name: demo}\ntools:\n  - $include: a.yaml\n"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param(TOOL.format(name="5"), "library/a.yaml:2:9 5", id="plain"),
        pytest.param(
            TOOL.format(name="5").replace("\n", "\r\n"), "library/a.yaml:2:9 5", id="CRLF"
        ),
        pytest.param(
            TOOL.format(name="5").replace("\n", "\r"), "library/a.yaml:2:9 5", id="CR alone"
        ),
        pytest.param(
            "\ufeff" + TOOL.format(name="5"), "library/a.yaml:2:9 5", id="a byte order mark"
        ),
        pytest.param(
            "# 😀\n" + TOOL.format(name="5"),
            "library/a.yaml:3:9 5",
            id="an astral character before",
        ),
        pytest.param(
            "tool: {description: '😀é', name: 5, inputSchema: {type: object}}\nresponse: {content: [{type: text, text: hi}]}\n",
            "library/a.yaml:1:33 5",
            id="an astral character on the line",
        ),
        pytest.param(
            'tool: {description: "${LONG}", name: 5, inputSchema: {type: object}}\nresponse: {content: [{type: text, text: hi}]}\n',
            "library/a.yaml:1:38 5",
            id="a longer variable earlier on the line",
        ),
        pytest.param(
            'tool: {description: "${LONG:-x} $$ ${ONE}", name: 5, inputSchema: {type: object}}\nresponse: {content: [{type: text, text: hi}]}\n',
            "library/a.yaml:1:51 5",
            id="several variables earlier on the line",
        ),
        pytest.param(
            TOOL.format(name="${ONE}"), "library/a.yaml:2:9 ${ONE}", id="the value is a variable"
        ),
        pytest.param("x: &n 5\n" + TOOL.format(name="*n"), "library/a.yaml:3:9 *n", id="an alias"),
        pytest.param(
            "x: &t {name: 5, description: d, inputSchema: {type: object}}\ntool: *t\nresponse: {content: [{type: text, text: hi}]}\n",
            "library/a.yaml:1:14 5",
            id="behind an alias",
        ),
        pytest.param(
            "x: &t {name: fine}\ny: &t {name: 5, description: d, inputSchema: {type: object}}\ntool: *t\nresponse: {content: [{type: text, text: hi}]}\n",
            "library/a.yaml:2:14 5",
            id="behind the second anchor of that name",
        ),
        pytest.param(
            "tool: {name: ok, description: d, inputSchema: {type: object}, name: 5}\nresponse: {content: [{type: text, text: hi}]}\n",
            "library/a.yaml:1:69 5",
            id="under a duplicate key",
        ),
        pytest.param(
            TOOL.format(name="5") + TOOL.format(name="7"),
            "library/a.yaml:7:9 7",
            id="in the later of two equal blocks",
        ),
    ],
)
def test_the_exact_place(text: str, place: str) -> None:
    write_file("library/a.yaml", text)
    write_file("main.yaml", MAIN)
    assert errors() == [place]


def test_the_same_file_included_twice_with_different_overrides() -> None:
    write_file("library/a.yaml", TOOL.format(name="fine"))
    write_file(
        "main.yaml",
        "server: {name: demo}\ntools:\n"
        "  - {$include: a.yaml, override: {tool: {name: 1}}}\n"
        "  - $include: a.yaml\n"
        "    override: {tool: {description: 2}}\n",
    )
    assert errors() == ["main.yaml:3:48 1", "main.yaml:5:36 2"]


def test_a_slip_in_a_file_included_often_is_told_once() -> None:
    write_file("library/a.yaml", TOOL.format(name="5"))
    write_file("main.yaml", "server: {name: demo}\ntools:\n" + "  - $include: a.yaml\n" * 1000)
    (found,) = [
        each for each in equipage.check(["main.yaml"], env={}).errors if each.code == "wrong-type"
    ]
    assert found.count == 1000
    assert str(found).startswith("library/a.yaml:2:9")


def test_a_missing_field_is_placed_at_the_mapping_it_belongs_to() -> None:
    write_file(
        "library/a.yaml",
        "tool:\n  name: x\n  inputSchema: {type: object}\nresponse: {content: [{type: text, text: hi}]}\n",
    )
    write_file("main.yaml", MAIN)
    assert errors() == ["library/a.yaml:1:1 tool"]


def test_findings_come_in_the_order_of_files_and_lines() -> None:
    write_file("main.yaml", "server: {name: 1, version: 2}\ntools: [{tool: 5}]\n")
    found = equipage.check(["main.yaml"], env={}).diagnostics
    assert list(found) == sorted(found, key=equipage.Diagnostic.sort_key)
    assert len(found) >= 3


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        pytest.param('  versoin: "1"', {"unknown-field"}, id="without the comment"),
        pytest.param('  versoin: "1"  # equipage: ignore[unknown-field]', set(), id="silenced"),
        pytest.param(
            '  versoin: "1"  # equipage: ignore[wrong-type]',
            {"unknown-field", "unused-ignore"},
            id="another code",
        ),
        pytest.param(
            '  versoin: "1"  # equipage: ignore[unkown-field]',
            {"unknown-field", "unknown-code"},
            id="misspelt",
        ),
        pytest.param(
            '  versoin: "1"  # equipage: ignore[unknown-field, wrong-type]',
            {"unused-ignore"},
            id="one of two is used",
        ),
        pytest.param(
            "  version: 1  # equipage: ignore[wrong-type]",
            {"wrong-type", "unused-ignore"},
            id="not what blocks",
        ),
    ],
)
def test_ignore_comments(line: str, codes: set[str]) -> None:
    write_file("main.yaml", f"server:\n  name: demo\n{line}\ntools: []\n")
    assert {each.code for each in equipage.check(["main.yaml"], env={}).diagnostics} == codes


# --- explaining ----------------------------------------------------------------------------------


def test_explain_tells_the_story_of_a_value() -> None:
    write_file("library/a.yaml", TOOL.format(name="plain"))
    write_file("main.yaml", MAIN + "    override: {tool: {name: '${NAME}'}}\n")
    loaded = equipage.load("main.yaml", env={"NAME": "topsecret"})
    story = loaded.explain("tools[0].tool.name")
    assert [
        (each.how, each.span.source.name, each.span.line) for each in story.settings if each.span
    ] == [("replaced", "library/a.yaml", 2), ("written", "main.yaml", 4)]
    assert story.variables == ("NAME",)
    assert "topsecret" not in str(story)
    deeper = loaded.explain("tools[0].tool.description")
    assert [each.how for each in deeper.through] == ["included from here"]
    with pytest.raises(equipage.UsageError):
        loaded.explain("tools[7]")


def wrappers() -> None:
    """Four files, each of which includes the next one and overrides a part of it."""
    tool = "tool: {name: t, description: d, inputSchema: {type: object}}\nresponse: {content: [{type: text, text: hi}]}\n"
    write_file("main.yaml", MAIN + "    override: {tool: {name: n}}\n")
    write_file("library/a.yaml", "$include: b.yaml\noverride: {tool: {description: a}}\n")
    write_file("library/b.yaml", "$include: c.yaml\noverride: {tool: {annotations: {}}}\n")
    write_file("library/c.yaml", tool)


@pytest.mark.parametrize(
    ("path", "written", "through"),
    [
        ("tool.name", ["library/c.yaml:1", "main.yaml:4"], []),
        ("tool.description", ["library/c.yaml:1", "library/a.yaml:2"], ["main.yaml:3"]),
        (
            "tool.inputSchema.type",
            ["library/c.yaml:1"],
            ["main.yaml:3", "library/a.yaml:1", "library/b.yaml:1"],
        ),
        (
            "tool",
            ["library/c.yaml:1", "library/b.yaml:2", "library/a.yaml:2", "main.yaml:4"],
            ["main.yaml:3", "library/a.yaml:1", "library/b.yaml:1"],
        ),
    ],
)
def test_explain_names_every_include_in_order(
    path: str, written: list[str], through: list[str]
) -> None:
    wrappers()
    story = equipage.load("main.yaml", kind="server", env={}).explain(f"tools[0].{path}")

    def places(settings: tuple[equipage.Setting, ...]) -> list[str]:
        return [f"{each.span.source.name}:{each.span.line}" for each in settings if each.span]

    assert places(story.settings) == written
    assert places(story.through) == through


def test_a_finding_names_every_include_the_innermost_first() -> None:
    wrappers()
    write_file("library/b.yaml", "$include: c.yaml\noverride: {response: 5}\n")
    write_file("library/c.yaml", "tool: {name: t, description: d, inputSchema: 5}\n")
    found = equipage.check(["main.yaml"], kind="server", env={}).errors
    (schema,) = [each for each in found if each.path.endswith("inputSchema")]
    chain = ["library/b.yaml", "library/a.yaml", "main.yaml"]
    assert [each.span.source.name for each in schema.related if each.span] == chain
    assert {each.message for each in schema.related} == {"included from here"}
    # An override comes through the includes around it, not through its own.
    (response,) = [each for each in found if each.path.endswith("response")]
    assert response.name == "library/b.yaml"
    assert [each.span.source.name for each in response.related if each.span] == chain[1:]


def test_locate() -> None:
    write_file("library/a.yaml", TOOL.format(name="plain"))
    write_file("main.yaml", MAIN)
    loaded = equipage.load("main.yaml", env={})
    span = loaded.locate("tools[0].tool.name")
    assert span is not None
    assert (span.source.name, span.text()) == ("library/a.yaml", "plain")


def test_the_key_of_an_included_value_stands_where_it_was_included() -> None:
    write_file("library/a.yaml", "anything: 1\n")
    write_file("main.yaml", "server: {name: demo}\nnonsense:\n  $include: a.yaml\n")
    (finding,) = equipage.check(["main.yaml"], kind="server", env={}).warnings
    assert (str(finding).partition(" ")[0], finding.path) == ("main.yaml:2:1:", "nonsense")


def test_explain_takes_the_authors_path_and_the_programs() -> None:
    write_file(
        "main.yaml", "server: {name: demo}\nbehavior: {delivery: slow_loris, byte_delay_ms: 7}\n"
    )
    loaded = equipage.load("main.yaml", kind="server", env={})
    for path in ("behavior.byte_delay_ms", "baseline.behavior.delivery.byte_delay_ms"):
        story = loaded.explain(path)
        assert (story.value, story.path) == (7, "behavior.byte_delay_ms")


def test_a_path_made_absolute_counts_as_it_was_written() -> None:
    write_file("a/main.yaml", "server: {name: demo}\nlogging: {output: log.txt}\n")
    write_file("b/main.yaml", "server: {name: demo}\nlogging: {output: log.txt}\n")
    first, second = (equipage.load(f"{folder}/main.yaml", kind="server", env={}) for folder in "ab")
    assert first.config.logging.output == str(Path("a/log.txt").absolute())
    assert first.config != second.config
    assert first.digest == second.digest


def test_a_limit_set_outside_has_no_place() -> None:
    write_file("main.yaml", "server: {name: demo}\n")
    (finding,) = equipage.check(
        ["main.yaml"], kind="server", env={"THOUGHTJACK_MAX_TOOLS": "many"}
    ).warnings
    assert (finding.span, finding.name) == (None, None)
    assert "many" not in finding.message
