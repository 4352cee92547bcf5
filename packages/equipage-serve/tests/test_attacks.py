"""Attacks on the runtime that take longer, or another machine than this one."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")

from equipage.loading.session import Request
from equipage_serve.engine import Engine
from equipage_serve.log import CallLog, mask_secrets
from equipage_serve.outcome import Result
from equipage_serve.platform import Platform, bubblewrap, this_platform
from equipage_serve.snapshot import take_snapshot
from equipage_serve.tools import Settings
from packs import EVERYTHING, WORDS, missing, need, pack, write_packs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="tools are confined on Linux")
only_with_time = pytest.mark.skipif(not EVERYTHING, reason="`make test-serve` runs it")


def calls(
    folder: Path,
    *wanted: tuple[str, dict[str, Any]],
    platform: Platform | None = None,
    env: dict[str, str] | None = None,
    observer: Any = None,
    **settings: Any,
) -> list[Result]:
    """The results of some calls at once, through an engine of its own."""
    chosen = Settings(allow=frozenset({"python", "php", "cli"}), isolation="best")
    chosen = msgspec.structs.replace(chosen, **settings)
    platform = platform or this_platform()
    snapshot = take_snapshot([str(folder)], Request(env={}), chosen, platform)
    assert not snapshot.refused, snapshot.refused

    async def main() -> list[Result]:
        engine = Engine(snapshot.tools, chosen, platform, env or {}, observer)
        try:
            return await asyncio.gather(*(engine.call(name, given) for name, given in wanted))
        finally:
            await engine.close()

    return asyncio.run(main())


def test_values_of_variables_are_in_no_log(tmp_path: Path) -> None:
    code = "import os\ndef f(p): raise ValueError(os.environ['KEY'] + p['text'])\n"
    packs = [
        pack("t.f", "t:f", env={"passthrough": ["KEY"], "set": {"OTHER": "set-value"}}),
        pack("t.g", "g.py", env={"passthrough": ["KEY"]}),
    ]
    script = "import os, sys; sys.exit('stderr ' + os.environ['KEY'])"
    write_packs(tmp_path, packs, {"t.py": code, "g.py": script})
    log = CallLog(str(tmp_path / "calls.jsonl"))
    env = {"KEY": "hunter2hunter2"}
    given = {"text": "the input"}
    found = calls(tmp_path, ("t.f", given), ("t.g", given), env=env, observer=log)
    log.close()
    text = (tmp_path / "calls.jsonl").read_text()
    assert all("***" in each.text for each in found)
    for secret in ("hunter2", "set-value", '"the input'):
        assert secret not in text
        assert not [each for each in found if secret in json.dumps(msgspec.to_builtins(each))]
    assert (tmp_path / "calls.jsonl").stat().st_mode & 0o777 == 0o600
    records = [json.loads(line) for line in text.splitlines()]
    assert {each["code"] for each in records} == {"INTERNAL_ERROR"}


def test_masked_at_any_depth() -> None:
    given = {"a": [{"Api_Key": 1, "b": {"cookie": "x"}}], "tokens": 2}
    assert mask_secrets(given) == {
        "a": [{"Api_Key": "***", "b": {"cookie": "***"}}],
        "tokens": "***",
    }


@only_with_time
def test_sleepers_run_at_once(tmp_path: Path) -> None:
    code = "import time\ndef f(p):\n    time.sleep(1)\n    return {}\n"
    write_packs(tmp_path, [pack("t.f", "t:f")], {"t.py": code})
    start = time.monotonic()
    found = calls(tmp_path, *[("t.f", {"n": n}) for n in range(64)], concurrency=64)
    assert all(each.ok for each in found)
    assert time.monotonic() - start < 32  # one after the other would take 64


@only_with_time
def test_large_input_and_output(tmp_path: Path) -> None:
    """Input that is never read, and an answer of 50 MB."""
    limits = {"limits": {"maxInputBytes": 10 << 20, "maxOutputBytes": 64 << 20}}
    packs = [pack("t.unread", "unread.py", **limits), pack("t.large", "large.py", **limits)]
    files = {
        "unread.py": "print('{\"a\": 1}')",
        "large.py": "import json; print(json.dumps({'a': ['x' * 1000] * 50_000}))",
    }
    write_packs(tmp_path, packs, files)
    given = {"text": "x" * (5 << 20)}
    found = calls(
        tmp_path,
        ("t.unread", given),
        ("t.large", {}),
        max_input_bytes=10 << 20,
        max_output_bytes=64 << 20,
    )
    assert found[0].data == {"a": 1}
    assert len(found[1].data["a"]) == 50_000


@only_with_time
def testbubblewrap(tmp_path: Path) -> None:
    """Where Landlock and seccomp are missing: no other files, no network, nothing left."""
    path = bubblewrap()
    if path is None:
        missing("bubblewrap that works")
    secret = tmp_path / "secret"
    secret.write_text("x")
    code = f"""
import os, socket
def attempt(action):
    try:
        action()
        return "allowed"
    except OSError as error:
        return type(error).__name__
def f(p):
    return {{
        "passwd": attempt(lambda: open("/etc/passwd")),
        "secret": attempt(lambda: open({str(secret)!r})),
        "own": attempt(lambda: open(__file__)),
        "write": attempt(lambda: open("made", "w")),
        "tcp": attempt(lambda: socket.create_connection(("127.0.0.1", p["port"]), 1)),
        "pid": os.getpid(),
    }}
"""
    script = "import json, sys; print(json.dumps({'words': 3}))"
    caps = {"caps": {"subprocess": True}}
    packs = [pack("t.f", "t:f"), pack("t.s", "s.py", **caps)]
    packs.append(pack("t.c", {"kind": "cli", "cmd": ["sh", "-c", "sleep 60 & echo '{}'"]}, **caps))
    folder = write_packs(tmp_path / "pack", packs, {"t.py": code, "s.py": script})
    platform = Platform("linux", bwrap=path, root=os.getuid() == 0)
    found = calls(folder, ("t.f", {"port": 9}), ("t.s", WORDS), ("t.c", {}), platform=platform)
    assert [each.text for each in found] == ["", "", ""]
    inside = found[0].data
    assert inside.pop("own") == "allowed"
    assert inside.pop("pid") < 10
    assert "allowed" not in inside.values(), inside
    assert found[1].stats.isolation == "bubblewrap"


BOMB = """
import os, time
def f(p):
    made = 0
    try:
        for _ in range(5000):
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            made += 1
    except OSError as error:
        return {"made": made, "error": type(error).__name__}
    return {"made": made}
"""
AS_A_USER = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from test_attacks import calls
from pathlib import Path
found = calls(Path(sys.argv[2]), ("t.f", {}), isolation="strict")[0]
print(json.dumps([found.data, found.text]))
"""


@only_with_time
def test_a_fork_bomb_ends_at_the_limit_of_the_user(tmp_path: Path) -> None:
    """Only users that are not root have such a limit; root plays one that may read this Python."""
    import subprocess
    import tempfile

    need("setpriv")
    may = "+dac_read_search"
    other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    other += [f"--inh-caps={may}", f"--ambient-caps={may}"]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        folder = Path(made)
        write_packs(folder, [pack("t.f", "t:f", caps={"subprocess": True})], {"t.py": BOMB})
        folder.chmod(0o755)
        for each in folder.iterdir():
            each.chmod(0o644)
        done = subprocess.run(
            [
                *(other if os.getuid() == 0 else []),
                *(sys.executable, "-c", AS_A_USER, json.dumps(sys.path), made),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        data, text = json.loads(done.stdout.splitlines()[-1])
    assert text == "", done.stderr
    assert data["error"] == "BlockingIOError"
    assert data["made"] <= 64
    if os.getuid() != 0:
        return  # other processes of this user are none of our business
    left = [
        each for each in Path("/proc").iterdir() if each.name.isdecimal() and _owner(each) == 65534
    ]
    assert left == []


def _owner(path: Path) -> int:
    try:
        return path.stat().st_uid
    except OSError:
        return -1


@only_with_time
def test_a_thousand_tools(tmp_path: Path) -> None:
    from equipage_serve.wire.catalogue import catalogue_of, page

    packs = [pack(f"t.n{number:04}", "t:f") for number in range(1000)]
    write_packs(tmp_path, packs, {"t.py": "def f(p): return {}\n"})
    settings = Settings(allow=frozenset({"python"}), isolation="best")
    snapshot = take_snapshot([str(tmp_path)], Request(env={}), settings, this_platform())
    found = catalogue_of(snapshot)
    names, cursor = [], None
    start = time.process_time()
    while True:
        part, cursor = page(list(found.entries), cursor)
        names += [found.entries[each].definition(modern=True)["name"] for each in part]
        if cursor is None:
            break
    assert time.process_time() - start < 0.5
    assert names == sorted(f"t.n{number:04}" for number in range(1000))


def test_no_descriptors_are_left_open(tmp_path: Path) -> None:
    write_packs(
        tmp_path,
        [pack("t.f", "t:f"), pack("t.g", "g.py")],
        {"t.py": "def f(p): return {}\n", "g.py": "raise SystemExit(3)"},
    )
    before = len(os.listdir("/proc/self/fd"))
    calls(tmp_path, *[(name, {}) for name in ("t.f", "t.g") * 15], concurrency=8)
    assert len(os.listdir("/proc/self/fd")) <= before
