"""The page: its data, its policy, and that nothing in a file becomes part of it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from contextlib import chdir
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equipage import workspace
from equipage.cli import main
from equipage.loading.session import Request
from equipage.render.page import render, survey_workspace
from equipage.workspace import load as loads
from lab import EXAMPLES, REPOSITORY, repository

#: A token that looks real and is not.
TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz12Q"
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&<!--"


class Reader(HTMLParser):
    """The tags, the attributes and the texts of a page, as a browser would find them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.open = ""
        self.attributes: dict[str, set[str]] = {}
        self.texts: dict[str, list[str]] = {}
        self.policy = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open = tag
        found = dict(attrs)
        self.attributes.setdefault(tag, set()).update(found)
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"] or ""

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open, []).append(data)

    @property
    def data(self) -> Any:
        return json.loads(self.texts["script"][0])


def page_of(folder: Path, files: dict[str, Any] | None = None, title: str = "w") -> str:
    if files is not None:
        repository(folder, files)
    found = survey_workspace([str(folder)], Request(env={"HOST": "internal.example"}, shared=True))
    return render(found, title, base=str(folder))


@pytest.fixture(scope="module")
def examples() -> str:
    return page_of_examples()


def page_of_examples() -> str:
    with chdir(REPOSITORY):  # names on the page start there
        return page_of(EXAMPLES)


def test_the_policy_allows_this_script_and_this_style_and_nothing_else(examples: str) -> None:
    read = Reader(examples)
    style, script = read.texts["style"][0], read.texts["script"][1]

    def sha(text: str) -> str:
        return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    assert read.policy.split("; ") == [
        "default-src 'none'",
        f"script-src '{sha(script)}'",
        f"style-src '{sha(style)}'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
    # The policy comes before anything that it is about.
    assert examples.index("Content-Security-Policy") < examples.index("<style")


@pytest.mark.requirement("SE-02")
def test_the_page_needs_nothing_else(examples: str) -> None:
    read = Reader(examples)
    assert read.tags.count("script") == 2
    assert not {"link", "img", "iframe", "object", "embed", "base", "form", "svg"} & set(read.tags)
    named = set().union(*read.attributes.values())
    assert not {"src", "style", "srcset", "action"} & named
    assert not [name for name in named if name.startswith("on")]
    # The script writes text as text, and talks to nobody.
    script, style = read.texts["script"][1], read.texts["style"][0]
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "fetch("):
        assert word not in script
    for word in ("XMLHttpRequest", "WebSocket", "import(", "new Function", "createContextual"):
        assert word not in script
    assert "url(" not in style
    assert "@import" not in style
    assert re.findall(r"https?://\S+?\"", script) == ['http://www.w3.org/2000/svg"']


def test_equal_files_make_equal_bytes(examples: str) -> None:
    assert page_of_examples() == examples


@pytest.mark.parametrize(
    "text", [EVIL, "a\u202eb\u2066c", "<!--DATA-->", "]]>", "\\u003c", "x" * 1_000_000]
)
@pytest.mark.requirement("SE-02")
def test_texts_are_inert_and_readable(text: str, tmp_path: Path, examples: str) -> None:
    described = json.dumps(text)
    page = page_of(
        tmp_path,
        {
            ".claude/agents/a.md": f"---\nname: a\ndescription: {described}\ntols: {described}\n---\nBody {text}\n",
            ".mcp.json": {"mcpServers": {text[:2_000]: {"command": text}}},
        },
        title=text,
    )
    read = Reader(page)
    assert read.tags == Reader(examples).tags
    assert read.data["title"]
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", page)
    assert len(page) < 200_000
    shown = json.dumps(read.data, ensure_ascii=False)
    if len(text) > 1_000:
        assert "(1,000,000 characters)" in shown
    elif text == EVIL:
        assert "alert(1)" in shown
    elif "\u202e" in text:
        assert "a\\\\u202eb\\\\u2066c" in shown


@given(
    text=st.text(
        alphabet=st.characters(exclude_categories=("Cs",))
        | st.sampled_from("<>&\"'/!-`\u2028\u2029\u202e"),
        max_size=60,
    )
)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_text_changes_the_page_around_it(text: str, tmp_path: Path, examples: str) -> None:
    page = page_of(
        tmp_path,
        {"opencode.json": {"agent": {text or "a": {"description": text, "prompt": text}}, text: 5}},
        text,
    )
    read = Reader(page)
    assert read.tags == Reader(examples).tags
    assert set(read.data) == set(Reader(examples).data)
    data = page[page.index('id="data">') + 10 : page.index("</script>")]
    assert not set("<>&\u2028\u2029\u202e") & set(data)


def test_no_secret_is_in_the_page(tmp_path: Path) -> None:
    page = page_of(
        tmp_path,
        {
            ".claude/agents/a.md": f"---\nname: a\ndescription: uses {TOKEN}\ntols: x\n---\n{TOKEN}\n",
            ".mcp.json": {
                "mcpServers": {
                    "s": {
                        "command": "npx",
                        "args": [
                            "-y",
                            "pkg",
                            "--token",
                            "hunter22",
                            "--api-key=hunter33",
                            "https://me:hunter44@h",
                        ],
                        "env": {"API_KEY": "hunter55", "PLAIN": "shown"},
                    }
                }
            },
            "server.yaml": "server: {name: '${HOST}'}\ntools: []\n",
        },
    )
    assert TOKEN[8:] not in page
    assert "hunter" not in page
    assert "internal.example" not in page
    assert "shown" in page


def test_findings_say_where_what_and_how(examples: str) -> None:
    data = Reader(examples).data
    found = next(each for each in data["findings"] if each["code"] == "wrong-type")
    assert data["files"][found["file"]] == "examples/broken/server.yaml"
    assert (found["line"], found["path"], found["kind"]) == (10, "tools[0].tool.name", "server")
    number, before, marked, after = found["frame"]
    assert (number, before.strip(), marked, after.strip()) == (
        10,
        "name:",
        "42",
        "# names are text",
    )
    assert found["fix"] == ["put quotes around it", True]


def test_a_cell_names_the_field_that_decides_it(examples: str) -> None:
    data = Reader(examples).data
    matrix = next(each for each in data["matrices"] if each["program"] == "Claude Code")
    agent = next(each for each in matrix["agents"] if each["name"] == "reviewer")

    def cell(sort: str, name: str) -> tuple[str, list[Any]]:
        column = matrix["columns"].index([sort, name])
        reasons = agent["reasons"][agent["why"][column]]
        return agent["states"][column], [matrix["grants"][number] for number in reasons]

    state, reasons = cell("activity", "write files")
    assert state == "d"
    (what, file, line, field, default), *_ = reasons
    assert (what, data["files"][file], line, field, default) == (
        "denies tool *",
        "examples/conventions/.claude/agents/reviewer.md",
        4,
        "tools",
        0,
    )
    state, reasons = cell("server", "docs")
    assert (state, [each[0] for each in reasons]) == ("p", ["allows tool mcp__docs__search"])


def test_a_value_has_the_chain_it_came_through(examples: str) -> None:
    data = Reader(examples).data
    rows = {data["files"][file]: values for file, values, _ in data["values"]}
    _, value, steps = next(
        each
        for each in rows["examples/server/server.yaml"]
        if each[0].endswith("tools[0].tool.name")
    )
    assert value == "echo"
    assert [(how, data["files"][file]) for how, file, *_ in steps] == [
        ("written", "examples/server/library/tools/echo.yaml"),
        ("included from here", "examples/server/server.yaml"),
    ]


def test_layers_show_what_they_replace(tmp_path: Path) -> None:
    page = page_of(
        tmp_path,
        {
            ".defect/config.toml": '[sandbox]\nmode = "read-only"\n',
            ".defect/config.local.toml": '[sandbox]\nmode = "open"\n',
        },
    )
    data = Reader(page).data
    told = json.dumps(data["values"])
    assert "replaced" in told


def test_the_state_of_the_lock_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = "---\nname: a\ndescription: d\ntools: {}\n---\nGo.\n"
    repository(tmp_path, {".claude/agents/a.md": agent.format("Read")})
    monkeypatch.chdir(tmp_path)
    assert Reader(page_of(tmp_path)).data["lock"] is None
    assert main(["lock", "-o", "equipage.lock"]) == 0
    lock = Reader(page_of(tmp_path)).data["lock"]
    assert (lock["same"], lock["lines"]) == (True, [])
    repository(tmp_path, {".claude/agents/a.md": agent.format("Read, Bash")})
    lock = Reader(page_of(tmp_path)).data["lock"]
    assert not lock["same"]
    assert any("Bash" in line for line in lock["lines"])
    assert "source changed: .claude/agents/a.md" in lock["lines"]
    (tmp_path / "equipage.lock").write_text("{}")
    lock = Reader(page_of(tmp_path)).data["lock"]
    assert not lock["same"]
    assert lock["lines"][0].startswith("It cannot be used: ")


def test_what_nobody_reads_is_named(tmp_path: Path) -> None:
    page = page_of(tmp_path, {".goosehints": "x\n", "CLAUDE.md": "Hi.\n"})
    data = Reader(page).data
    assert [[sort, [data["files"][each] for each in files]] for sort, files in data["unread"]] == [
        ["Goose file", [".goosehints"]]
    ]


def test_a_page_has_room_for_much_and_says_what_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("equipage.render.page._ROOM_VALUES", 10)
    monkeypatch.setattr("equipage.render.page._ROOM_FINDINGS", 10)
    monkeypatch.setattr("equipage.render.page.MAX_VALUES", 2)
    files = {
        f".claude/agents/a{n}.md": f"---\nname: a{n}\ndescription: d\nmodel: sonet\n---\nGo.\n"
        for n in range(4)
    }
    data = Reader(page_of(tmp_path, files)).data
    assert [len(values) for _, values, _ in data["values"]] == [2, 0, 0, 0]
    assert [left for *_, left in data["values"]] == [2, 4, 4, 4]
    assert ["frame" in each for each in data["findings"]] == [True, False, False, False]


def test_the_command_writes_the_page_and_fails_on_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repository(tmp_path, {"a/CLAUDE.md": "Hi.\n", "b/x.tool.yaml": "id: 5\n"})
    monkeypatch.chdir(tmp_path / "a")
    assert main(["report", "--html", "r.html"]) == 0
    assert "equipage: wrote r.html; open it" in capsys.readouterr().err
    assert Reader(Path("r.html").read_text()).data["title"] == "a"
    # From elsewhere, the page does not say where the folder is.
    assert main(["report", str(tmp_path / "b"), "--html", "r.html"]) == 1
    text = Path("r.html").read_text()
    assert Reader(text).data["files"] == ["x.tool.yaml"]
    assert str(tmp_path) not in text
    assert main(["report", "../a", "../b", "--html", "r.html"]) == 1
    assert Reader(Path("r.html").read_text()).data["title"] == "a and 1 more"
    assert main(["report", "--html", "missing/r.html"]) == 2
    (tmp_path / "a" / "empty").mkdir()
    assert main(["report", "empty", "--html", "r.html"]) == 0
    assert "no configuration found" in capsys.readouterr().err


def test_each_file_is_loaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f".claude/agents/a{number}.md" for number in range(5)]
    text = "---\nname: a\ndescription: d\n---\nWork.\n"
    files = {name: text.replace(": a", f": {Path(name).stem}") for name in names}
    repository(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    assert main(["lock"]) == 0
    seen: list[str] = []
    original = loads.load_file

    def counted(file: Any, *given: Any, **options: Any) -> Any:
        seen.append(file.path)
        return original(file, *given, **options)

    monkeypatch.setattr(loads, "load_file", counted)
    monkeypatch.setattr(workspace, "load_file", counted)
    found = survey_workspace(["."], Request(env={}, shared=True))
    assert sorted(seen) == [f"./{name}" for name in names]
    assert found.lock is not None
    assert found.lock.changes is not None
    assert not found.lock.changes.has_source_changes
    # A part of the project alone: the lock needs the rest.
    monkeypatch.chdir(tmp_path / ".claude")
    part = survey_workspace(["agents"], Request(env={}, shared=True))
    assert part.lock is not None
    assert part.lock.changes is not None
    assert not part.lock.changes.matters
