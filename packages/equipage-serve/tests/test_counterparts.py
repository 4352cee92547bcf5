"""Other programs as clients: the official conformance suite, the inspector, and two clients.

`make test-serve` installs what they need; elsewhere these tests are skipped.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab import REPOSITORY, SHARED, environment, needs, write
from packs import COUNT, EVERYTHING, TEXT, missing, pack, write_packs
from talk import TRUSTED, Http

needs("mcp", "the extra `serve` is not installed")

pytestmark = pytest.mark.skipif(not EVERYTHING, reason="`make test-serve` runs these")

TOOLS = REPOSITORY / ".test-serve" / "node_modules"
#: Scenario, revision if it must be named, and how many checks succeed.
SCENARIOS = [
    ("server-initialize", None, 3),
    ("tools-list", None, 3),
    ("tools-list", "2026-07-28", 4),
    ("ping", None, 2),
    ("server-session-lifecycle", None, 3),
    ("dns-rebinding-protection", None, 2),
    ("http-header-validation", "2026-07-28", 14),
    ("resources-list", None, 2),
    ("sep-2164-resource-not-found", "2026-07-28", 4),
    ("sep-2640-skills-enumeration", None, 32),
    ("sep-2640-skills-manifest", None, 6),
    ("sep-2640-skills-directory", None, 7),
]


def node_path() -> str:
    """A PATH on which `node` is new enough for the suite."""
    own = sorted(TOOLS.glob("node-*/bin"))
    path = ":".join([*map(str, own), os.environ["PATH"]])
    found = shutil.which("node", path=path)
    if found is None:
        missing("node")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
    if int(version.stdout[1:].split(".")[0]) < 22:
        missing("Node.js 22 or newer")
    return path


def program(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = TOOLS / ".bin" / name
    if not path.exists():
        missing(name)
    return subprocess.run(
        [path, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PATH": node_path()},
        cwd=REPOSITORY / ".test-serve",
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("served")
    code = "def count(p): return {'words': len(p['text'].split())}\n"
    same = {"inputSchema": TEXT, "outputSchema": COUNT}
    packs = [pack("t.count", "words:count", **same), pack("t.other", "words:count", **same)]
    header = "---\nname: {}\ndescription: Does a thing.\n---\nDo it.\n"
    skills = {f"skills/{name}/SKILL.md": header.format(name) for name in ("alpha", "beta")}
    skills["skills/alpha/references/a b#.md"] = "text"
    skills["skills/alpha/logo.bin"] = "\x00"
    return write_packs(write(made, skills), packs, {"words.py": code})


@pytest.fixture(scope="module")
def open_server(folder: Path) -> Iterator[Http]:
    """The suite cannot show a token."""
    with Http(str(folder), "--allow", "python", "--no-token", token=None) as made:
        yield made


@pytest.mark.parametrize(("name", "revision", "count"), SCENARIOS)
def test_conformance(name: str, revision: str | None, count: int, open_server: Http) -> None:
    """Counts successes: a scenario that is skipped exits 0, too."""
    url = f"http://127.0.0.1:{open_server.port}/mcp"
    extra = () if revision is None else ("--spec-version", revision)
    done = program("conformance", "server", "--url", url, "--scenario", name, *extra)
    out = re.sub(r"\x1b\[\d+m", "", done.stdout + done.stderr)
    assert len(re.findall(r"\bSUCCESS\b", out)) == count, out
    assert f"Passed: {count}/{count}, 0 failed, 0 warnings" in out


def test_inspector(folder: Path, open_server: Http) -> None:
    command = [
        sys.executable,
        "-m",
        "equipage",
        "serve",
        str(folder),
        "--allow",
        "python",
        *TRUSTED,
    ]
    call = ("--method", "tools/call", "--tool-name", "t.count", "--tool-arg", "text=a b c")
    done = program("mcp-inspector", "--cli", *command, *call)
    assert '"words": 3' in done.stdout, done.stderr
    url = f"http://127.0.0.1:{open_server.port}/mcp"
    done = program("mcp-inspector", "--cli", url, "--transport", "http", "--method", "tools/list")
    assert '"t.count"' in done.stdout, done.stderr


def typescript(mode: str, *where: str) -> Any:
    script = REPOSITORY / ".test-serve" / "client.mjs"
    shutil.copy(Path(__file__).parent / "client.mjs", script)
    if not (TOOLS / "@modelcontextprotocol" / "client").exists():
        missing("the TypeScript client")
    path = node_path()
    node = shutil.which("node", path=path)
    assert node is not None
    done = subprocess.run(
        [node, script, mode, *where],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PATH": path},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_typescript_client(mode: str, transport: str, folder: Path) -> None:
    arguments = ("serve", str(folder), "--allow", "python")
    if transport == "stdio":
        found = typescript(mode, sys.executable, "-m", "equipage", *arguments, *TRUSTED)
    else:
        with Http(*arguments[1:]) as server:
            assert server.token is not None
            found = typescript(mode, f"http://127.0.0.1:{server.port}/mcp", server.token)
    skills = {"supported": True, "skills": 2, "verified": 4}
    none = {
        "supported": False,
        "skills": 0,
        "verified": 0,
    }  # the older revision has no field for it
    assert found == {
        "tools": ["t.count", "t.other"],
        "structured": {"words": 3},
        "refused": True,
        **(skills if mode == "auto" else none),
    }


def test_every_file_of_a_real_collection_is_verified() -> None:
    collection = SHARED / "corpus"
    if not any(collection.rglob("SKILL.md")):
        pytest.skip("there is no collection of skills here")
    folders = sorted({path.parent for path in collection.rglob("SKILL.md")})[:200]
    from equipage_serve.confinement import Unservable
    from equipage_serve.skills import freeze_skill

    served = refused = 0
    for each in folders:
        try:
            skill = freeze_skill(str(each / "SKILL.md"))
        except Unservable:
            refused += 1
            continue
        served += 1
        assert {file.name for file in skill.files} >= {"SKILL.md"}
    assert served > refused


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_python_client(mode: str, folder: Path) -> None:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    arguments = ["-m", "equipage", "serve", str(folder), "--allow", "python", *TRUSTED]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment())

    async def main() -> None:
        async with Client(stdio_client(server), mode=mode) as client:
            listed = await client.list_tools()
            assert [each.name for each in listed.tools] == ["t.count", "t.other"]
            result = await client.call_tool("t.count", {"text": "a b c"})
            assert result.structured_content == {"words": 3}
            assert (await client.call_tool("t.count", {"text": 5})).is_error
            found = await client.read_resource("skill://alpha/references/a%20b%23.md")
            assert found.contents[0].text == "text"  # type: ignore[union-attr]

    asyncio.run(main())
