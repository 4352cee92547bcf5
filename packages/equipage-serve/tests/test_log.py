"""The log of calls: what a line says, what it never says, and whose file it is."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from equipage_serve.log import CallLog, mask_secrets, record_of
from equipage_serve.outcome import Failure, Result, Stats

STATS = Stats(1.23456, 7, 3, True, "landlock, seccomp")
DONE = Result(True, STATS, data={"b": 1, "a": [2]})
FAILED = Result(False, Stats(0.5, 7), code="TIMEOUT", message="late")
TOOL: Any = SimpleNamespace(pack=SimpleNamespace(version="1.2.3"), kind="python")


def digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def test_a_record_has_hashes_in_place_of_what_was_given_and_returned() -> None:
    record = record_of("a.b", TOOL, {"y": 1, "x": "secret words"}, DONE)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", record.pop("ts"))
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", record.pop("id"))
    assert record == {
        "tool": "a.b",
        "version": "1.2.3",
        "kind": "python",
        "payloadDigest": digest(b'{"x":"secret words","y":1}'),
        "resultDigest": digest(b'{"a":[2],"b":1}'),
        "status": "ok",
        "code": None,
        "message": "",
        "execution": {
            "durationMs": 1.235,
            "inputBytes": 7,
            "outputBytes": 3,
            "cacheHit": True,
            "isolation": "landlock, seccomp",
        },
    }
    failed = record_of("a.b", None, {1, 2}, FAILED)
    assert (failed["version"], failed["kind"]) == (None, None)
    assert (failed["payloadDigest"], failed["resultDigest"]) == (None, None)
    assert (failed["status"], failed["code"], failed["message"]) == ("error", "TIMEOUT", "late")
    assert failed["execution"] == {
        "durationMs": 0.5,
        "inputBytes": 7,
        "outputBytes": 0,
        "cacheHit": False,
        "isolation": "",
    }
    assert record_of("a", None, {}, DONE)["id"] != record_of("a", None, {}, DONE)["id"]


def test_what_is_behind_the_name_of_a_secret_is_masked_at_any_depth() -> None:
    names = ("Authorization", "apikey", "API_KEY", "password", "refreshToken", "secret", "Cookie")
    value = {"a": [dict.fromkeys(names, "x"), [{"token": {"b": 1}}]], "plain": "y", "n": 1}
    assert mask_secrets(value) == {
        "a": [dict.fromkeys(names, "***"), [{"token": "***"}]],
        "plain": "y",
        "n": 1,
    }


def test_a_log_is_added_to_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    for number in range(2):
        log = CallLog(str(path))
        log(f"t.{number}", TOOL, {"a": 1}, DONE)
        log(f"t.{number}", None, {}, FAILED)
        log.close()
    lines = path.read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert [json.loads(line)["tool"] for line in lines] == ["t.0", "t.0", "t.1", "t.1"]
    assert all(list(json.loads(line)) == sorted(json.loads(line)) for line in lines)
    first = json.loads(lines[0])
    assert (first["version"], first["payloadDigest"]) == ("1.2.3", digest(b'{"a":1}'))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_in_the_place_of_a_log_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("text")
    (tmp_path / "log").symlink_to("target")
    with pytest.raises(OSError, match="log"):
        CallLog(str(tmp_path / "log"))
    assert (tmp_path / "target").read_text() == "text"


def descriptors(path: Path) -> list[int]:
    """Those of this process that belong to a file."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{number}") == str(path):
                found.append(int(number))
        except OSError:
            continue
    return found


def test_programs_that_are_started_do_not_inherit_a_log(tmp_path: Path) -> None:
    log = CallLog(str(tmp_path / "log"))
    assert [os.get_inheritable(each) for each in descriptors(tmp_path / "log")] == [False]
    log.close()
    assert descriptors(tmp_path / "log") == []


def test_a_log_that_cannot_be_written_stops_no_call(tmp_path: Path) -> None:
    log = CallLog(str(tmp_path / "log"))
    log.close()
    log("a.b", None, {}, DONE)
    assert (tmp_path / "log").read_bytes() == b""


def test_results_in_one_line() -> None:
    assert (FAILED.text, DONE.text) == ("TIMEOUT: late", "")
    assert str(Failure("TIMEOUT", "late")) == "TIMEOUT: late"
    retryable = {
        code: Result(False, Stats(0, 0), code=code).retryable  # type: ignore[arg-type]
        for code in ("TIMEOUT", "RATE_LIMIT", "UNAVAILABLE", "INTERNAL_ERROR", "INVALID_INPUT")
    }
    assert [code for code, again in retryable.items() if not again] == ["INVALID_INPUT"]
