"""Bad input gives a coded finding at once: no traceback, no hang."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import equipage
from clock import promised
from equipage.formats.blueprint import expand
from equipage.formats.defect.skill import discover_skills
from equipage.formats.toolpack.loader import ToolpackLoader
from equipage.loading.session import Request
from equipage.workspace import Workspace
from equipage.workspace.graph import list_all


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def codes(name: str = "main.yaml") -> list[str]:
    with promised(0.5):
        report = equipage.check([name], kind="server", env={})
    return [each.code for each in report.errors]


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(b"", "document-empty", id="empty"),
        pytest.param(b"# only a comment\n", "document-empty", id="only a comment"),
        pytest.param(b"\x89PNG\r\n\x1a\n\x00\x00", "not-utf8", id="binary"),
        pytest.param("server: é".encode("latin-1"), "not-utf8", id="another encoding"),
        pytest.param(b"server: \x00\n", "control-character", id="NUL"),
        pytest.param(b"server: {name: " + b"x" * 10_000_000 + b"}\n", None, id="a line of 10 MB"),
        pytest.param(b"- " * 30_000, "nesting-too-deep", id="60 kB nested 30,000 deep"),
        pytest.param(b"[" * 1_000_000, "nesting-too-deep", id="a million brackets"),
        pytest.param(b"{a: " * 50_000, "nesting-too-deep", id="flow mappings"),
        pytest.param(
            "\n".join("  " * n + "a:" for n in range(2000)).encode(),
            "nesting-too-deep",
            id="block mappings",
        ),
        pytest.param(BOMB.encode(), "alias-bomb", id="an alias bomb of 400 bytes"),
        pytest.param(b"a: &a [*a]\n", "recursive-alias", id="an alias of itself"),
        pytest.param(b"a: *nope\n", "undefined-alias", id="an alias of nothing"),
        pytest.param(b"server: [unclosed\n", "yaml-syntax", id="a bracket left open"),
        pytest.param(
            b"x: " + b"9" * 100_000 + b"\n", "number-too-long", id="a number of 100,000 digits"
        ),
        pytest.param(b"server: ${X\n", "env-unclosed", id="a variable left open"),
        pytest.param(b"x" * (11 * 1024 * 1024), "file-too-large", id="11 MB"),
    ],
)
def test_one_coded_finding(content: bytes, code: str | None) -> None:
    Path("main.yaml").write_bytes(content)
    found = codes()
    assert code in found if code else "nesting-too-deep" not in found


def test_files_that_are_none() -> None:
    assert codes("missing.yaml") == ["file-missing"]
    Path("folder.yaml").mkdir()
    with pytest.raises(equipage.LoadError) as caught:
        equipage.load("folder.yaml", kind="server")
    assert [each.code for each in caught.value.errors] == ["file-is-directory"]
    os.mkfifo("pipe.yaml")
    assert codes("pipe.yaml") == ["file-not-regular"]


def test_an_unreadable_file() -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    Path("main.yaml").write_text("server: {}")
    Path("main.yaml").chmod(0)
    assert codes() == ["file-unreadable"]


def test_several_syntax_errors_of_one_file() -> None:
    Path("main.yaml").write_text("a: [1\nb: 2\nc: d: e\nf: {x\ng: fine\nh: 'open\n")
    assert codes() == ["yaml-syntax"] * 4


def test_nobody_knows_the_file() -> None:
    Path("a.yaml").write_text("hello: world\n")
    with pytest.raises(equipage.LoadError) as caught:
        equipage.load("a.yaml")
    assert [each.code for each in caught.value.diagnostics] == ["unrecognised"]
    assert [each.code for each in equipage.check(["a.yaml"]).errors] == ["unrecognised"]
    assert equipage.check(["."]).files == ()


def test_strings() -> None:
    loaded = equipage.loads("server: {name: '${X}'}\ntools: []\n", kind="server", embedded=True)
    assert loaded.config.server.name == "${X}"
    with pytest.raises(equipage.LoadError) as caught:
        equipage.loads("server: {name: '\ud800'}", kind="server")
    assert [each.code for each in caught.value.errors] == ["lone-surrogate"]
    with pytest.raises(equipage.LoadError) as caught:
        equipage.loads("tools: [{$include: x}]", kind="server", embedded=True)
    assert "embedded-directive" in [each.code for each in caught.value.errors]
    with pytest.raises(equipage.LoadError) as caught:
        equipage.loads("#" * (11 * 1024 * 1024), kind="server")
    assert [each.code for each in caught.value.errors] == ["file-too-large"]


def test_strict_makes_warnings_fail() -> None:
    Path("main.yaml").write_text("server: {name: x, versoin: y}\ntools: []\n")
    assert equipage.load("main.yaml").warnings
    with pytest.raises(equipage.LoadError):
        equipage.load("main.yaml", strict=True)


A_PATH = r"a path as str or os\.PathLike\[str\]"


def loaded() -> equipage.Loaded[object]:
    return equipage.loads("server: {name: x}\ntools: []\n", kind="server")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: equipage.loads("", kind="sever"), "did you mean `server`"),
        (lambda: equipage.loads("", kind="server", libary="x"), "did you mean `library`"),
        (lambda: equipage.loads("", kind="server", library=5), "library"),
        (lambda: equipage.loads(b"", kind="server"), "`text`: expected a str, found bytes"),  # type: ignore[arg-type]
        (lambda: equipage.loads(None, kind="server"), "`text`: expected a str, found None"),  # type: ignore[arg-type]
        (
            lambda: equipage.loads("", kind=None),
            "`kind`: expected the name of a kind or a `Format`, found None",
        ),  # type: ignore[arg-type]
        (
            lambda: equipage.load("a", kind=5),
            "`kind`: expected the name of a kind or a `Format`, found int",
        ),  # type: ignore[arg-type]
        (lambda: equipage.load("a.yaml", 5), "`model`: expected a class, found int"),  # type: ignore[arg-type]
        (
            lambda: equipage.load("a.yaml", equipage.Format({})),  # type: ignore[arg-type]
            "`model`: expected a class; a format is given as `kind=`",
        ),
        (
            lambda: equipage.check(kind=5),
            "`kind`: expected the name of a kind or a `Format`, found int",
        ),  # type: ignore[arg-type]
        (lambda: equipage.load("a", env={"A": 5}), r"`env\['A'\]`: expected a str, found int"),  # type: ignore[dict-item]
        (
            lambda: equipage.load("a", env=["A"]),
            "`env`: expected a mapping of names to values, found list",
        ),  # type: ignore[arg-type]
        (lambda: equipage.load("a", env=os.environb), "`env`: expected names as str, found bytes"),  # type: ignore[arg-type]
        (lambda: equipage.load(b"a"), f"`path`: expected {A_PATH}, found bytes"),  # type: ignore[arg-type]
        (lambda: equipage.watch(b"a"), f"`path`: expected {A_PATH}, found bytes"),  # type: ignore[arg-type]
        (lambda: equipage.watch("a\0"), "`path`: no file can have the name 'a.x00'"),
        (lambda: equipage.check(5), f"`paths`: expected {A_PATH}, found int"),  # type: ignore[arg-type]
        (lambda: equipage.check(b"a"), f"`paths`: expected {A_PATH}, found bytes"),  # type: ignore[arg-type]
        (lambda: equipage.check(["a", b"a"]), rf"`paths\[1\]`: expected {A_PATH}, found bytes"),  # type: ignore[list-item]
        (lambda: equipage.check(jobs=-1), "`jobs`: expected 0 or more, found -1"),
        (lambda: equipage.check(jobs="2"), "`jobs`: expected a whole number, found str"),  # type: ignore[arg-type]
        (
            lambda: equipage.loads("", kind="server", base_dir="a\0"),
            "`base_dir`: no file can have the name 'a.x00'",
        ),
        (
            lambda: equipage.loads("", kind="server", base_dir="\ud800"),
            "`base_dir`: no file can have the name '.ud800'",
        ),
        (lambda: expand({}, b"."), f"`base`: expected {A_PATH}, found bytes"),  # type: ignore[arg-type]
        (
            lambda: expand({}, ".", include_roots=5),
            f"`include_roots`: expected {A_PATH}, found int",
        ),  # type: ignore[arg-type]
        (lambda: ToolpackLoader().load_dir(b"a"), f"`path`: expected {A_PATH}, found bytes"),  # type: ignore[arg-type]
        (lambda: equipage.discover_profiles(b"."), f"`cwd`: expected {A_PATH}, found bytes"),  # type: ignore[arg-type]
        (lambda: equipage.discover_profiles("a\0"), "`cwd`: no file can have the name 'a.x00'"),
        (
            lambda: equipage.discover_profiles(home="a\0", env={}),
            "`home`: no file can have the name 'a.x00'",
        ),
        (
            lambda: equipage.discover_profiles(env=["A"]),
            "`env`: expected a mapping of names to values, found list",
        ),  # type: ignore[arg-type]
        (
            lambda: equipage.discover_profiles(env={"HOME": 5}),
            r"`env\['HOME'\]`: expected a str, found int",
        ),  # type: ignore[dict-item]
        (
            lambda: discover_skills(xdg_config_home="a\0"),
            "`xdg_config_home`: no file can have the name 'a.x00'",
        ),
        (
            lambda: equipage.load_settings(overrides="a=5"),
            "`overrides`: expected a list of settings",
        ),
        (lambda: equipage.load_settings(overrides=[5]), "`overrides`: expected a str, found int"),  # type: ignore[list-item]
        (
            lambda: loaded().explain(5),
            "`path`: expected a path as str, or a tuple of keys and indexes, found int",
        ),  # type: ignore[arg-type]
        (
            lambda: loaded().locate((0.5,)),
            "`path`: expected a path as str, or a tuple of keys and indexes",
        ),  # type: ignore[arg-type]
    ],
)
def test_wrong_calls_say_what_was_meant(call: object, words: str) -> None:
    with pytest.raises(equipage.UsageError, match=words):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(
    "kind", [None, "server", "settings", "profile", "skill", "toolpack", "claude-agent"]
)
@pytest.mark.parametrize("name", ["a\0b", "\ud800"], ids=["NUL", "a lone surrogate"])
def test_a_name_that_no_file_can_have(name: str, kind: str | None) -> None:
    for path in (f"{name}.yaml", f"{name}/.defect/config.toml", f".defect/agents/{name}.md"):
        with pytest.raises(equipage.LoadError) as caught:
            equipage.load(path, kind=kind)
        assert [each.code for each in caught.value.errors] == ["file-unreadable"]
        assert [each.code for each in equipage.check([path], kind=kind).errors] == [
            "file-unreadable"
        ]


def test_an_empty_path_is_a_slip() -> None:
    """An unset variable in a script must not load the working directory."""
    calls = [
        lambda: equipage.load(""),
        lambda: equipage.check([""]),
        lambda: ToolpackLoader().load_dir(""),
        lambda: equipage.discover_profiles(""),
    ]
    for call in calls:
        with pytest.raises(equipage.UsageError, match=r"is empty; write '\.'"):
            call()


def test_a_wrong_call_can_be_printed_whatever_was_passed() -> None:
    with pytest.raises(equipage.UsageError) as caught:
        equipage.load("a.yaml", kind="\ud800\0")
    assert r"`\ud800\u0000`" in str(caught.value)


@pytest.mark.parametrize("library", ["a\0b", "\ud800"], ids=["NUL", "a lone surrogate"])
def test_a_library_that_cannot_be_there(library: str) -> None:
    Path("main.yaml").write_text("server: {name: x}\ntools: [{$include: e.yaml}]\n")
    for where in ({"library": library}, {"env": {"THOUGHTJACK_LIBRARY": library}}):
        with pytest.raises(equipage.LoadError) as caught:
            equipage.load("main.yaml", kind="server", **where)  # type: ignore[arg-type]
        assert "file-unreadable" in [each.code for each in caught.value.errors]
    Path("text.txt").write_text("x")
    text = f"{{type: text, $file: {Path('text.txt').absolute()}}}"
    tool = f"{{tool: {{name: a, description: d, inputSchema: {{type: object}}}}, response: {{content: [{text}]}}}}"
    found = equipage.loads(
        f"server: {{name: x}}\ntools: [{tool}]\n", kind="server", library=library
    )
    assert {each.code for each in found.warnings} <= {"absolute-path"}


@pytest.mark.parametrize("value", ["/\0", "/\ud800"], ids=["NUL", "a lone surrogate"])
def test_a_variable_that_names_no_folder_is_ignored(value: str) -> None:
    warnings = equipage.discover_profiles(env={"XDG_CONFIG_HOME": value}).warnings
    assert [each.code for each in warnings] == ["variable-ignored"]


def test_options_take_paths_in_lists() -> None:
    Path("shared").mkdir()
    Path("shared/name.txt").write_text("t")
    text = '{"id": {"$file": "name.txt"}, "flow": {"kind": "seq", "children": []}}'
    assert equipage.loads(text, kind="blueprint", include_roots=[Path("shared")]).config.id == "t"


def test_a_path_may_be_a_list() -> None:
    assert loaded().explain(["server", "name"]).value == "x"  # type: ignore[arg-type]


def test_a_file_below_more_folders_than_calls_may_nest() -> None:
    folders = ["/".join(["a"] * depth) for depth in range(1, 1_200)]
    file = Path(folders[-1], "x.md")
    Path(".git").mkdir()
    for folder in folders:
        os.mkdir(folder)
    file.write_text("hello\n")
    try:
        assert equipage.check() == equipage.Report((), ())
        assert list_all(Workspace(["."], Request(env={}))) == []
    finally:  # pytest could not remove them
        file.unlink()
        for folder in reversed(folders):
            os.rmdir(folder)
