"""Tables inside a file: each entry is checked at its own place, and what restricts stays strict."""

from __future__ import annotations

import re

import rtoml

from equipage.clients import format as client_format
from equipage.clients.catalogue import TableFile, conventions
from equipage.clients.format import format_of, groups_of, sensitive_of
from equipage.loading.pipeline import load_text
from equipage.loading.session import Request
from lab import lines

TABLE = """
kind = "test"
tool = "Test"
title = "test"
paths = ["*.json"]
syntax = "json"
comments = true

[fields]
locks = { meaning = "by name", type = "map of group:lock" }
doors = { meaning = "in order", type = "list of group:lock" }
mode = { meaning = "one or the other", type = "one of open or group:lock" }

[groups.lock]
title = "a lock of a test"
[groups.lock.fields]
deny = { meaning = "what is denied", type = "names", restricts = true, instead = ["forbid"] }
label = "a name"
key = { meaning = "what opens it", required = "error" }
"""
TEST = TableFile("test/test", rtoml.loads(TABLE)).convention()


def found(text: str) -> list[str]:
    outcome = load_text(text, format_of(TEST), Request(env={}), name="x.json", base="/")
    return lines(outcome.diagnostics)


def test_entries_are_checked_at_their_own_place() -> None:
    good = '{"locks": {"a": {"key": "k"}}, "doors": [{"key": "k"}], "mode": "open"} // fine'
    assert found(good) == []
    assert found('{"doors": [{"key": "k", "label": 5}]}') == [
        "x.json:1:34: warning[wrong-type] expected text, found the number 5 (at doors[0].label)"
    ]
    assert found('{"doors": [{"key": "k", "lable": "x"}]}') == [
        "x.json:1:25: warning[unknown-field] `lable` is not a field of a lock of a test (at doors[0].lable)"
    ]


def test_what_restricts_is_an_error_at_any_depth() -> None:
    assert found('{"mode": {"key": "k", "denny": []}}') == [
        "x.json:1:23: error[unknown-field] `denny` is not a field of a lock of a test (at mode.denny)"
    ]
    assert found('{"mode": {"key": "k", "forbid": []}}') == [
        "x.json:1:23: error[unknown-field] `forbid` is not a field of a lock of a test (at mode.forbid)"
    ]
    assert found('{"locks": {"a": {"key": "k", "deny": "all"}}}') == [
        "x.json:1:38: error[wrong-type] expected a list, found text `all` (at locks.a.deny)"
    ]


def test_what_is_required_inside_is_missed_there() -> None:
    assert found('{"doors": [{}, {"key": " "}]}') == [
        "x.json:1:12: error[missing-field] missing required field `key` in a lock of a test (at doors[0])",
        "x.json:1:16: error[missing-field] missing required field `key` in a lock of a test (at doors[1])",
    ]


def test_diff_and_fixes_know_what_restricts_inside() -> None:
    permissions = {each.pattern for each in sensitive_of(TEST) if each.what == "permission"}
    assert permissions == {"locks.*.deny", "doors.*.deny", "mode.deny"}


def test_every_group_has_a_name_of_its_own() -> None:
    """A configuration pickles because its classes are found by their names."""
    groups = {group for each in conventions() for group in groups_of(each)}
    assert len({group.title for group in groups}) == len(groups)
    for group in groups:
        assert [field.name for field in group.fields if not field.meaning] == [], group.title
        name = group.title.partition(" ")[2]
        assert any(
            isinstance(getattr(client_format, each, None), type) for each in [_class(name)]
        ), name


def _class(words: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[\W_]+", words))
