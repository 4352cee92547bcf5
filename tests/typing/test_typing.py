"""What type checkers say: programs that are right pass, and each mistake is found.

mypy is always there. pyright is looked for on the PATH and beside Python; `make test-typing`
installs it and fails if it is missing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage import models
from equipage.clients.catalogue import conventions
from equipage.project.registry import built_in_kinds, format_named
from lab import REPOSITORY, matching, module_at, repository, write

HERE = Path(__file__).parent
PROGRAMS = matching(HERE / "programs", "*.py")
WRONG = HERE / "wrong.py"
#: Small programs about formats of one's own; a line with `# wrong: words` is refused, with words.
FORMATS = matching(HERE / "formats", "*.py")
#: File, line → what a checker says about it.
Said = dict[str, dict[int, str]]


@cache
def mypy() -> Said:
    """What mypy refuses. It sees the package as people do, through its stubs."""
    # The cache of a run is used again: a cold one takes as long as checking the whole package.
    cache_dir = REPOSITORY / ".mypy_cache" / "typing"
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", cache_dir]
    done = subprocess.run(
        [*command, "--no-error-summary", *PROGRAMS, WRONG, *FORMATS],
        capture_output=True,
        text=True,
        cwd=HERE,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    said = re.findall(r"^(.*?\.py):(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    return _by_line((Path(name).name, int(line), words) for name, line, words in said)


def _by_line(said: Iterable[tuple[str, int, str]]) -> Said:
    found: Said = {}
    for name, line, words in said:
        lines = found.setdefault(name, {})
        lines[line] = f"{lines.get(line, '')}\n{words}"
    return found


def program_of_pyright(name: str) -> str:
    beside = str(Path(sys.executable).parent)
    program = shutil.which(name, path=os.pathsep.join([beside, os.environ.get("PATH", "")]))
    if program is None:
        pytest.skip("pyright is not installed: `make test-typing` installs it")
    return program


@cache
def pyright() -> Said:
    """What pyright refuses."""
    command = [
        program_of_pyright("pyright"),
        "--outputjson",
        "--pythonpath",
        sys.executable,
        *PROGRAMS,
        WRONG,
        *FORMATS,
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE, check=False)
    errors = (
        each
        for each in json.loads(done.stdout)["generalDiagnostics"]
        if each["severity"] == "error"
    )
    return _by_line(
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["message"])
        for each in errors
    )


def marked() -> set[int]:
    lines = WRONG.read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_programs_that_are_right_pass(checker: object) -> None:
    assert callable(checker)
    own = {path.name for path in PROGRAMS}
    assert {name: lines for name, lines in checker().items() if name in own} == {}


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_each_mistake_is_found_and_nothing_else(checker: object) -> None:
    assert callable(checker)
    assert len(marked()) >= 20
    assert checker()[WRONG.name].keys() == marked()


@pytest.mark.parametrize("checker", [mypy, pyright])
@pytest.mark.parametrize("program", FORMATS, ids=lambda path: path.stem)
def test_a_program_about_a_format_is_wrong_where_it_says_so(program: Path, checker: object) -> None:
    """A line is refused with words that lead a person to what is wrong with it."""
    assert callable(checker)
    lines = program.read_text().splitlines()
    expected = {
        number: line.partition("  # wrong: ")[2]
        for number, line in enumerate(lines, 1)
        if "# wrong: " in line
    }
    said: dict[int, str] = checker().get(program.name, {})
    assert said.keys() == expected.keys()
    for number, words in expected.items():
        assert re.search(words, said[number]), (lines[number - 1], said[number])


@pytest.mark.parametrize("program", FORMATS, ids=lambda path: path.stem)
def test_what_is_right_about_a_format_runs(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"app.yaml": "name: demo\ntools: [{name: a}]\n", "base.yaml": "tools: [{name: a}]\n"}
    monkeypatch.chdir(repository(tmp_path, files))
    monkeypatch.syspath_prepend(program.parent)
    monkeypatch.delitem(sys.modules, "app", raising=False)
    module = module_at(program)
    if program.stem != "app":  # which the others import
        module.right()


#: A line of a program, the name in it that a person points at, and what the editor shows.
SHOWN = {
    'equipage.load("s", kind="server").config.phases': "The states it goes through, in order.",
    'equipage.load("s", kind="skill").config.name': "The name of the skill and of its folder.",
    'equipage.load("s", equipage.models.Blueprint).config.flow': "What is done, in which order.",
    'equipage.load("s", kind="claude-agent").config.tools': "The only tools it may use;",
    'equipage.load("s", kind="toolpack").config.timeout_ms': "How long a call may take,",
    'equipage.load("s", kind="server").warnings': "What was found. None of it prevents loading.",
    'equipage.check(".").diagnostics[0].related': "Other places needed to understand it.",
    'equipage.load("s", kind="server", library': "The folder where includes start;",
}


def test_an_editor_shows_what_a_field_means(tmp_path: Path) -> None:
    """Asked of the language server that VS Code, Neovim and others use."""
    text = "import equipage\nimport equipage.models\n" + "\n".join(
        f"{line}=0)" if line.endswith("library") else line for line in SHOWN
    )
    uri = (tmp_path / "program.py").as_uri()
    with editor(tmp_path) as ask:
        opened = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        ask("textDocument/didOpen", {"textDocument": opened}, answered=False)
        for number, (line, words) in enumerate(SHOWN.items(), 2):
            place = {"line": number, "character": len(line) - 1}
            found = ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": place})
            assert words in found["contents"]["value"], line


@contextmanager
def editor(folder: Path) -> Iterator[Callable[..., Any]]:
    """A conversation with the language server of pyright."""
    command = [program_of_pyright("pyright-langserver"), "--stdio"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    to, back = server.stdin, server.stdout

    def send(message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        to.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        to.flush()

    def received() -> dict[str, Any]:
        length = 0
        while line := back.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        message: dict[str, Any] = json.loads(back.read(length))
        return message

    def ask(method: str, params: dict[str, Any], *, answered: bool = True) -> Any:
        if not answered:
            return send({"method": method, "params": params})
        send({"id": 1, "method": method, "params": params})
        while True:
            message = received()
            if "method" not in message:
                return message["result"]
            if "id" in message:  # the server asks about settings
                items = message["params"].get("items", ())
                python = {"pythonPath": sys.executable}
                send({"id": message["id"], "result": [python] * len(items)})

    root = folder.as_uri()
    offered = {"textDocument": {"hover": {"contentFormat": ["markdown"]}}}
    offered["workspace"] = {"configuration": True}  # type: ignore[dict-item]
    try:
        ask("initialize", {"processId": None, "rootUri": root, "capabilities": offered})
        ask("initialized", {}, answered=False)
        yield ask
    finally:
        server.kill()
        server.communicate()


def test_every_kind_has_a_program_and_its_stubs_are_up_to_date() -> None:
    made = module_at(REPOSITORY / "tools/faces.py").files()
    stale = [
        path.name for path, text in made.items() if not path.exists() or path.read_text() != text
    ]
    assert stale == [], "run `make stubs`"
    assert set(models.KINDS) == set(built_in_kinds())
    own = {path.stem for path in PROGRAMS}
    shared = {each.kind for each in conventions()}  # one program serves for all of them
    # What the example of a kind loads as is tried below.
    tried = {
        name for name in built_in_kinds() if format_named(name).presentation.example is not None
    }
    assert set(built_in_kinds()) <= own | shared | tried


#: Where the example of a kind belongs, if the kind does not say it for projects.
PLACES = {"settings": ".defect/config.toml", "agent_md": "writer.md", "skill": "demo/SKILL.md"}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_run(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They use the types at run time, too: what a checker accepts is what is there."""
    kind = "claude-agent" if program.stem == "conventions" else program.stem
    shown = format_named(kind).presentation
    name = PLACES.get(kind, shown.example_path.replace("NAME", "demo"))
    text = (shown.example or EXAMPLES[kind]).replace("NAME", "demo").replace("WORD", "demo")
    repository(tmp_path)
    write(tmp_path, {name: text, "library/x.yaml": ""})
    monkeypatch.chdir(tmp_path)
    lines = module_at(program).main(name)
    assert lines
    assert all(isinstance(line, str) for line in lines)


EXAMPLES = {
    "settings": '[default]\nmodel = "echo"\n',
    "skill": "---\nname: demo\ndescription: Shows a skill\n---\nShow it.\n",
    "agent_md": "---\nname: demo\n---\nWrite.\n",
}


@pytest.mark.parametrize("name", sorted(built_in_kinds()))
def test_a_load_gives_what_its_kind_says(name: str, tmp_path: Path) -> None:
    """`KINDS` is what the overloads are made from."""
    kind = format_named(name)
    text = kind.presentation.example or EXAMPLES.get(name) or ""
    if not text:
        pytest.skip("the kind has no example")
    text = text.replace("NAME", "demo").replace("WORD", "demo")
    config = equipage.loads(text, kind=name, embedded=True).config  # type: ignore[call-overload]
    assert type(config).__name__ in models.KINDS[name]
    assert getattr(models, type(config).__name__) is type(config)
    assert models.kind_of_model(type(config)) == name
    assert equipage.loads(text, type(config), embedded=True).config == config
    assert all(models.fields(type(config)).values())
