"""The official conformance suite against `examples/faults/conformance.yaml`, with counts.

    make conformance-suite

The suite marks a scenario that it could not run as passed, so the number of successful checks is
compared, not the exit code. What the format cannot express is listed by name; anything else that
fails, or passes with another count, fails this script.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clients import HOME, NODE, ROOT

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
OLD, NEW = "2025-11-25", "2026-07-28"

#: Scenarios, the revision they run at, and how many of their checks succeed: all of them.
WHOLE: dict[tuple[str, str], int] = {
    ("server-initialize", OLD): 3,
    ("server-session-lifecycle", OLD): 3,
    ("logging-set-level", OLD): 2,
    ("ping", OLD): 2,
    ("tools-call-with-logging", OLD): 2,
    ("resources-subscribe", OLD): 2,
    ("resources-unsubscribe", OLD): 2,
    ("server-sse-multiple-streams", OLD): 1,
    ("sep-2164-resource-not-found", NEW): 3,
    ("caching", NEW): 8,
    ("http-header-validation", NEW): 14,
    **{
        (name, version): 2
        for version in (OLD, NEW)
        for name in (
            "completion-complete",
            "tools-call-simple-text",
            "tools-call-image",
            "tools-call-embedded-resource",
            "tools-call-mixed-content",
            "tools-call-error",
            "resources-list",
            "resources-read-text",
            "resources-read-binary",
            "resources-templates-read",
            "prompts-list",
            "prompts-get-simple",
            "prompts-get-with-args",
            "prompts-get-embedded-resource",
            "prompts-get-with-image",
            "dns-rebinding-protection",
        )
    },
    ("tools-list", OLD): 3,
    ("tools-list", NEW): 4,
    ("json-schema-2020-12", NEW): 8,
}
#: Scenarios of which some checks need what the format cannot express: successes, failures.
PARTIAL: dict[tuple[str, str], tuple[int, int]] = {
    # Tools that require a capability of the client, ask it for input, or log only when asked to.
    ("server-stateless", NEW): (24, 4)
}
#: Scenarios that need what the format cannot express, and what that is.
INEXPRESSIBLE = {
    "tools-call-audio": "content of type audio",
    "tools-call-with-progress": "notifications with the progress token of the request",
    "tools-call-sampling": "answers that wait for an answer of the client",
    "tools-call-elicitation": "answers that wait for an answer of the client",
    "elicitation-sep1034-defaults": "answers that wait for an answer of the client",
    "elicitation-sep1330-enums": "answers that wait for an answer of the client",
    "http-custom-header-server-validation": "headers declared by an input schema",
    "tasks-*": "tasks",
    "input-required-result-*": "results that ask for input",
}


def install() -> None:
    folder = HOME / "conformance"
    if not (folder / "node_modules" / ".bin" / "conformance").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        subprocess.run(["npm", "install", "--silent", SUITE, NODE], cwd=folder, check=True)


def counts(url: str, scenario: str, version: str, folder: Path) -> tuple[int, int]:
    """How many checks of a scenario succeed and fail."""
    modules = HOME / "conformance" / "node_modules"
    environment = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    environment["PATH"] = f"{modules / 'node' / 'bin'}{os.pathsep}{environment['PATH']}"
    command = [str(modules / ".bin" / "conformance"), "server", "--url", url]
    command += ["--scenario", scenario, "--spec-version", version, "-o", str(folder)]
    subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    (found,) = folder.glob("**/checks.json")
    checks = [each["status"] for each in json.loads(found.read_text())]
    return checks.count("SUCCESS"), checks.count("FAILURE")


def main() -> int:
    install()
    wanted = {key: (count, 0) for key, count in WHOLE.items()} | PARTIAL
    serve = [sys.executable, "-m", "equipage", "serve", "examples/faults/conformance.yaml"]
    server = subprocess.Popen(
        [*serve, "--transport", "http"], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    assert server.stderr is not None
    try:
        url = next(
            found[1] for line in server.stderr if (found := re.search(r"listening on (\S+)", line))
        )
        wrong, successes = 0, 0
        for (scenario, version), expected in wanted.items():
            with tempfile.TemporaryDirectory() as folder:
                got = counts(url, scenario, version, Path(folder))
            successes += got[0]
            wrong += got != expected
            mark = "ok" if got == expected else f"EXPECTED {expected}"
            print(f"{scenario} {version}: {got[0]} succeeded, {got[1]} failed: {mark}", flush=True)
    finally:
        server.terminate()
        server.wait()
        server.stderr.close()
    for scenario, what in INEXPRESSIBLE.items():
        print(f"{scenario}: the format cannot express {what}")
    print(f"{successes} checks succeeded in {len(wanted)} runs; {wrong} runs differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
