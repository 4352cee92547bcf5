"""Composing a server configuration from files."""

from __future__ import annotations

from pathlib import Path

import pytest

import equipage
from equipage.core.diagnostics import LoadError
from equipage.files.memory import Memory
from equipage.loading.pipeline import Outcome, load_path
from equipage.loading.session import Request
from equipage.project.registry import format_named
from lab import write_file

TOOL = "tool: {name: %s, description: d, inputSchema: {type: object}}\nresponse: {content: [{type: text, text: hi}]}\n"
SERVER = format_named("server")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def codes(error: pytest.ExceptionInfo[LoadError]) -> list[str]:
    return [each.code for each in error.value.diagnostics]


# --- library -------------------------------------------------------------------------------------


@pytest.mark.requirement("F-010")
def test_the_library_is_an_option_then_a_variable_then_a_folder() -> None:
    for name in ("library", "by-variable", "by-option"):
        write_file(f"{name}/t.yaml", TOOL % name)
    main = write_file("main.yaml", "server: {name: a}\ntools: [{$include: t.yaml}]\n")

    def chosen(**options: str) -> str:
        env = {"THOUGHTJACK_LIBRARY": "by-variable"} if options.pop("variable", None) else {}
        name: str = equipage.load(main, env=env, **options).config.baseline.tools[0].tool.name
        return name

    assert chosen() == "library"
    assert chosen(variable="yes") == "by-variable"
    assert chosen(variable="yes", library="by-option") == "by-option"


@pytest.mark.requirement("EC-LOAD-014", "NFR-004", "F-010")
def test_an_absolute_path_is_read_with_a_warning_outside_the_library(here: Path) -> None:
    outside = here / "outside.txt"
    outside.write_text("from elsewhere")
    write_file("library/inside.txt", "from the library")
    inside = Path("library/inside.txt").absolute()
    text = "server: {name: a}\nresources: [{resource: {uri: u, name: n}, response: {content: {$file: %s}}}]\n"
    loaded = equipage.load(write_file("a.yaml", text % outside), env={})
    assert loaded.config.baseline.resources[0].response.content == "from elsewhere"
    assert [each.code for each in loaded.warnings] == ["absolute-path"]
    assert equipage.load(write_file("b.yaml", text % inside), env={}).warnings == ()
    with pytest.raises(LoadError) as error:
        equipage.load("a.yaml", env={}, allow_absolute=False)
    assert codes(error) == ["reference-absolute"]


@pytest.mark.requirement("NFR-004")
@pytest.mark.parametrize("reference", ["../../../etc/passwd", "a/../../b", "..", "a\\..\\b"])
@pytest.mark.parametrize("directive", ["$include", "$file"])
def test_no_path_leads_upwards(directive: str, reference: str) -> None:
    write_file("main.yaml", f"server: {{name: a}}\ntools: [{{{directive}: '{reference}'}}]\n")
    with pytest.raises(LoadError) as error:
        equipage.load("main.yaml", kind="server", env={})
    assert codes(error) == ["reference-parent"]


@pytest.mark.requirement("NFR-004")
@pytest.mark.parametrize("directive", ["$include", "$file"])
def test_no_link_leads_out(here: Path, directive: str) -> None:
    (here / "secret.yaml").write_text("a: 1\n")
    Path("library").mkdir()
    Path("library/link.yaml").symlink_to(here / "secret.yaml")
    write_file("main.yaml", f"server: {{name: a}}\ntools: [{{{directive}: link.yaml}}]\n")
    with pytest.raises(LoadError) as error:
        equipage.load("main.yaml", kind="server", env={})
    assert codes(error) == ["reference-escapes"]


# --- includes ------------------------------------------------------------------------------------


def in_memory(files: dict[str, str], **env: str) -> tuple[Outcome, list[str]]:
    contents = {f"/project/{name}": text.encode() for name, text in files.items()}
    run = Request(env=env, system=Memory(contents, root="/project")).new_run()
    return load_path("main.yaml", SERVER, run.request, run), list(run.files._known)


@pytest.mark.requirement("F-002", "NFR-001")
def test_a_file_is_read_once_however_often_it_is_included() -> None:
    tools = "".join(
        f"  - {{$include: t.yaml, override: {{tool: {{name: t{number}}}}}}}\n"
        for number in range(50)
    )
    files = {"main.yaml": f"server: {{name: a}}\ntools:\n{tools}", "library/t.yaml": TOOL % "t"}
    outcome, opened = in_memory(files)
    assert opened == ["/project/main.yaml", "/project/library/t.yaml"]
    names = [tool.tool.name for tool in outcome.config.baseline.tools]
    assert names == [f"t{number}" for number in range(50)]


@pytest.mark.requirement("EC-LOAD-016", "F-007a")
def test_a_hundred_files_deep() -> None:
    files = {"main.yaml": "server: {$include: c1.yaml}\n"}
    files |= {
        f"library/c{number}.yaml": f"$include: c{number + 1}.yaml\n" for number in range(1, 100)
    }
    files["library/c100.yaml"] = "name: a\n"
    outcome, opened = in_memory(files, THOUGHTJACK_MAX_INCLUDE_DEPTH="100")
    assert outcome.ok
    assert [(each.code, each.name) for each in outcome.diagnostics] == [
        ("include-deep", "main.yaml")
    ]
    assert len(opened) == 101
    outcome, _ = in_memory(files)
    assert [(each.code, each.name, each.help) for each in outcome.diagnostics] == [
        (
            "include-depth",
            "library/c10.yaml",
            "flatten the chain; or set THOUGHTJACK_MAX_INCLUDE_DEPTH=100",
        )
    ]
    files["library/c100.yaml"] = "$include: c101.yaml\n"
    files["library/c101.yaml"] = "x: 1\n"
    outcome, _ = in_memory(files, THOUGHTJACK_MAX_INCLUDE_DEPTH="9999")
    # No variable raises the limit so far, so none is named.
    assert [(each.code, each.help) for each in outcome.errors] == [
        ("include-depth", "flatten the chain")
    ]


@pytest.mark.requirement("NFR-003", "F-008")
def test_one_mistake_in_a_file_included_a_thousand_times_is_one_finding() -> None:
    bad = "tool: {name: t, description: 5, inputSchema: {type: objct}}\nresponse: {content: [{type: text, text: x}]}\n"
    main = "server: {name: a}\ntools:\n" + "  - $include: bad.yaml\n" * 1000
    outcome, _ = in_memory({"main.yaml": main, "library/bad.yaml": bad})
    assert [(each.code, each.count) for each in outcome.errors] == [
        ("wrong-type", 1000),
        ("schema-type-unknown", 1000),
    ]


@pytest.mark.requirement("F-002", "F-008")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("tool: {$include: nothing.yaml}\nresponse: {}\n", "include-not-found"),
        ("tool: {$include: t.yaml}\nresponse: {}\n", "include-cycle"),
        ("tool: {$include: broken.yaml}\nresponse: {}\n", "yaml-syntax"),
        ("$include: broken.yaml\n", "yaml-syntax"),
    ],
)
def test_a_broken_include_overridden_a_thousand_times_is_one_finding(text: str, code: str) -> None:
    main = "server: {name: a}\ntools:\n" + "".join(
        f"  - {{$include: t.yaml, override: {{tool: {{name: n{number}}}}}}}\n"
        for number in range(1000)
    )
    response = "response: {content: [{type: text, text: x}]}"
    files = {"main.yaml": main, "library/t.yaml": text.replace("response: {}", response)}
    outcome, _ = in_memory({**files, "library/broken.yaml": "a: [\n"})
    assert [each.code for each in outcome.diagnostics] == [code]


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.requirement("F-003")
def test_data_is_limited_to_ten_mebibytes() -> None:
    text = "server: {name: a}\nresources: [{resource: {uri: u, name: n}, response: {content: {$file: big.txt}}}]\n"
    write_file("main.yaml", text)
    write_file("big.txt", b"x" * (10 * 1024 * 1024))
    assert (
        len(equipage.load("main.yaml", env={}).config.baseline.resources[0].response.content)
        == 10 * 1024 * 1024
    )
    write_file("big.txt", b"x" * (10 * 1024 * 1024 + 1))
    with pytest.raises(LoadError) as error:
        equipage.load("main.yaml", env={"THOUGHTJACK_MAX_CONFIG_SIZE": "100mb"})
    assert codes(error) == ["file-too-large"]


@pytest.mark.requirement("F-003")
@pytest.mark.parametrize("extension", ["png", "jpg", "jpeg", "gif", "webp", "ico", "bmp"])
def test_images_become_base64(extension: str) -> None:
    write_file(f"image.{extension}", b"\x89\x00\xff")
    item = f"{{type: image, mimeType: image/x, data: {{$file: image.{extension}}}}}"
    text = f"server: {{name: a}}\ntools: [{{tool: {{name: t, description: d, inputSchema: {{type: object}}}}, response: {{content: [{item}]}}}}]\n"
    loaded = equipage.load(write_file("main.yaml", text), env={})
    assert loaded.config.baseline.tools[0].response.content[0].data == "iQD/"
    assert loaded.warnings == ()


def test_extensions_tell_by_case() -> None:
    write_file("X.JSON", "{}")
    text = "server: {name: a}\nresources: [{resource: {uri: u, name: n}, response: {content: {$file: X.JSON}}}]\n"
    assert (
        equipage.load(write_file("main.yaml", text), env={})
        .config.baseline.resources[0]
        .response.content
        == "{}"
    )


@pytest.mark.requirement("F-009")
def test_strings_find_files_from_their_base() -> None:
    write_file("data/words.txt", "found")
    text = "server: {name: a}\nresources: [{resource: {uri: u, name: n}, response: {content: {$file: words.txt}}}]\n"
    loaded = equipage.loads(text, kind="server", env={}, base_dir="data")
    assert loaded.config.baseline.resources[0].response.content == "found"
    with pytest.raises(LoadError) as error:
        equipage.loads(text, kind="server", env={}, embedded=True)
    assert codes(error) == ["embedded-directive"]


@pytest.mark.parametrize("embedded", [False, True])
def test_an_empty_string_is_no_empty_file(embedded: bool) -> None:
    with pytest.raises(LoadError) as error:
        equipage.loads("", kind="server", env={}, embedded=embedded)
    assert [each.message for each in error.value.diagnostics] == ["Configuration is empty"]


@pytest.mark.requirement("F-008")
def test_a_path_is_one_in_the_whole_configuration_whichever_file_is_at_fault() -> None:
    """A tool that is wrong is `tools[0]`, for a directive, a text and a rule alike."""
    answer = "response: {content: [{type: text, text: {$file: data.json}}, {type: 5}]}"
    files = {
        "main.yaml": "server: {name: a}\nbaseline: {tools: [{$include: one.yaml}]}\n"
        "phases: [{$include: phase.yaml}]\n",
        "library/one.yaml": f"tool: {{$include: two.yaml, x: 1, override: {{description: 5}}}}\n{answer}\n",
        "library/two.yaml": "name: t\ndescription: d\ninputSchema: {$include: gone.yaml}\ntitle: a\ntitle: ${N}\n",
        "library/data.json": '{"a": 1, "a": 2}',
        "library/phase.yaml": "name: p\nname: q\nreplace_tools: {t: three.yaml, u: nowhere.yaml}\n",
        "library/three.yaml": "tool: [\n",
    }
    outcome, _ = in_memory(files)
    found = [(each.name, each.code, each.path) for each in outcome.diagnostics]
    tool, phase = "baseline.tools[0]", "phases[0]"
    assert sorted(set(found)) == [
        ("library/data.json", "duplicate-key", f"{tool}.response.content[0].text.a"),
        ("library/data.json", "wrong-type", f"{tool}.response.content[0].text"),
        ("library/one.yaml", "directive-siblings", f"{tool}.tool.x"),
        ("library/one.yaml", "wrong-type", f"{tool}.response.content[1].type"),
        ("library/one.yaml", "wrong-type", f"{tool}.tool.description"),
        ("library/phase.yaml", "duplicate-key", f"{phase}.name"),
        ("library/phase.yaml", "include-not-found", f"{phase}.replace_tools.u"),
        ("library/phase.yaml", "unknown-target", f"{phase}.replace_tools.u"),
        ("library/three.yaml", "yaml-syntax", f"{phase}.replace_tools.t"),
        ("library/two.yaml", "duplicate-key", f"{tool}.tool.title"),
        ("library/two.yaml", "env-missing", f"{tool}.tool.title"),
        ("library/two.yaml", "include-not-found", f"{tool}.tool.inputSchema.$include"),
        ("library/two.yaml", "unknown-field", f"{tool}.tool.title"),
    ]
    assert all(each.pointer.count("/") >= 2 for each in outcome.diagnostics)
