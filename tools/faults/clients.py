"""The official clients against every example, as a table in the documentation.

    make clients-under-fault

Each client runs in an environment of its own, which this script makes: `mcp` from the Python
package index, `@modelcontextprotocol/client` and `@modelcontextprotocol/sdk` from npm. A client
that cannot be installed fails the script; nothing is skipped.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
EXAMPLES = ROOT / "examples" / "faults"
PAGE = ROOT / "docs" / "reference" / "clients-under-fault.md"
HOME = ROOT / ".clients"
#: Packages by name; the versions that were used are in the table.
NPM = ("@modelcontextprotocol/client", "@modelcontextprotocol/sdk")
NODE = "node@24"

FAMILIES = (
    "slow",
    "late-answer",
    "silent",
    "closing",
    "invalid-utf8",
    "wrong-ids",
    "duplicate-ids",
    "deep-json",
    "oversized-line",
    "flood",
    "changing-tools",
    "changing-schema",
)


INTRODUCTION = """\
# Official clients under fault

What official MCP clients do when a server misbehaves. `make clients-under-fault` writes
this page: every client connects, lists tools, calls one twice and lists again, with a
limit of four seconds for a request, against each file of `examples/faults/`.

*Answered*: the call returned. *Error at once*: it raised before the limit. *Gives up at
its limit*: it raised at the limit; *cancels*: it said so to the server, or closed the stream of
the answer, which means the same in 2026-07-28. *Then dead*: the second list failed, so the
connection is lost. *Session dies*: the client object itself raised, and no call returned.
"""


def install() -> None:
    """Make the environments, once."""
    python = HOME / "python" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", HOME / "python"], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "mcp"]
        subprocess.run(pip, check=True)
    node = HOME / "node"
    if not (node / "node_modules" / "node").exists():
        node.mkdir(parents=True, exist_ok=True)
        (node / "package.json").write_text('{"private": true, "type": "module"}\n')
        subprocess.run(["npm", "install", "--silent", *NPM, NODE], cwd=node, check=True)
    # Imports are looked up beside the script.
    (node / "client.mjs").write_bytes((HERE / "client.mjs").read_bytes())


def clients() -> Iterator[tuple[str, list[str]]]:
    """The name and version of each client, and the command that runs its session."""
    python = str(HOME / "python" / "bin" / "python")
    version = subprocess.run(
        [python, "-c", "import importlib.metadata as m; print(m.version('mcp'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    for mode in ("auto", "legacy"):
        yield f"Python `mcp` {version}, {mode}", [python, str(HERE / "client.py"), mode]
    node = str(HOME / "node" / "node_modules" / "node" / "bin" / "node")
    for name in NPM:
        found = HOME / "node" / "node_modules" / name / "package.json"
        version = json.loads(found.read_text())["version"]
        script = str(HOME / "node" / "client.mjs")
        yield f"TypeScript `{name.partition('/')[2]}` {version}", [node, script, name]


def run(session: list[str], family: str, transport: str) -> dict[str, Any]:
    """One session of a client, and what the server saw of it."""
    environment = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.jsonl"
        serve = [sys.executable, "-m", "equipage", "serve", str(EXAMPLES / f"{family}.yaml")]
        serve += ["--trace", str(trace)]
        server: subprocess.Popen[bytes] | None = None
        target = serve
        if transport == "http":
            notes = Path(folder) / "notes"
            with notes.open("wb") as stream:
                server = subprocess.Popen([*serve, "--transport", "http"], stderr=stream)
            while not (found := re.search(r"listening on (\S+)", notes.read_text())):
                time.sleep(0.05)
            target = [found[1]]
        done = subprocess.run(
            [*session, transport, *target],
            capture_output=True,
            text=True,
            timeout=120,
            env=environment,
            check=False,
        )
        if server is not None:
            server.terminate()
            server.wait()
        steps: dict[str, Any] = {"end": f"exit {done.returncode}"}
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                steps = json.loads(line)
        records = [json.loads(line) for line in trace.read_text().splitlines()]
    steps["cancelled"] = any("cancels" in each for each in records)
    steps["violations"] = [each["what"] for each in records if each["e"] == "violation"]
    return steps


def verdict(steps: dict[str, Any]) -> str:
    """A session in a few words: how the call ended, and whether the connection still works."""
    if steps.get("connect") != "ok":
        return f"cannot connect ({steps.get('connect')})"
    call = str(steps.get("call", "no end"))
    if call == "no end":
        return "**session dies**"
    words = "**hangs**" if call == "hangs" else "answered"
    if call.startswith("error"):
        late = float(steps.get("call s", 0)) > 3.5
        words = "gives up at its limit" if late else "error at once"
    parts = [words]
    if words.startswith("gives up"):
        parts.append("cancels" if steps["cancelled"] else "does not cancel")
    again = str(steps.get("list again", "gone"))
    if again != "ok":
        parts.append("then dead")
    if steps["violations"]:
        parts.append(f"{len(steps['violations'])} violations")
    return ", ".join(parts)


def rows() -> dict[tuple[str, str], str]:
    """The rows that the page has now, by transport and example."""
    found: dict[tuple[str, str], str] = {}
    transport = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else ():
        if line.startswith("## Over "):
            transport = line.removeprefix("## Over ")
        elif line.startswith("| `"):
            found[transport, line.split("`")[1]] = line
    return found


def main() -> None:
    """Write the page; with names of examples as arguments, only their rows anew."""
    install()
    known = list(clients())
    wanted = sys.argv[1:] or FAMILIES
    kept = rows() if sys.argv[1:] else {}
    lines = INTRODUCTION.splitlines()
    for transport in ("stdio", "http"):
        lines += ["", f"## Over {transport}", ""]
        lines.append(f"| example | {' | '.join(name for name, _ in known)} |")
        lines.append("| --- |" + " --- |" * len(known))
        for family in FAMILIES:
            if family not in wanted and (transport, family) in kept:
                lines.append(kept[transport, family])
                continue
            row = []
            for name, session in known:
                steps = run(session, family, transport)
                row.append(verdict(steps))
                print(family, transport, name, json.dumps(steps), flush=True)
            lines.append(f"| `{family}` | {' | '.join(row)} |")
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
