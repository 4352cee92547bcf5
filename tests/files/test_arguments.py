"""Arguments of callers: what is taken, and the words for what is not. No value is shown in them,
because it may be a secret; only names that no file can have are."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import pytest

from equipage import files
from equipage.core.diagnostics import UsageError
from equipage.files.disk import process_variables

PATH = "a path as str or os.PathLike[str]"


def refused(act: Callable[..., object], *given: Any) -> str:
    with pytest.raises(UsageError) as raised:
        act(*given)
    return str(raised.value)


@pytest.mark.parametrize(
    ("act", "given", "expected"),
    [
        (files.text_argument, ("a", "x"), "x"),
        (files.text_argument, ("a", ""), ""),
        (files.kind_argument, (None,), None),
        (files.kind_argument, ("server",), "server"),
        (files.path_argument, ("a", "x"), "x"),
        (files.path_argument, ("a", PurePosixPath("x/y")), "x/y"),
        (files.valid_path_argument, ("a", "x"), "x"),
        (files.paths_argument, ("a", "/x"), ["/x"]),
        (files.paths_argument, ("a", PurePosixPath("/x")), ["/x"]),
        (files.paths_argument, ("a", ["x", PurePosixPath("y")]), ["x", "y"]),
        (files.paths_argument, ("a", ()), []),
        (files.number_argument, ("a", 0), 0),
        (files.number_argument, ("a", 7), 7),
        (files.variables_argument, ({"A": "1"},), {"A": "1"}),
        (files.contents_argument, ({},), {}),
        (
            files.contents_argument,
            ({"a/b": "é", PurePosixPath("a/c"): b"c", "d": bytearray(b"d"), "e": memoryview(b"e")},),
            {"a/b": b"\xc3\xa9", "a/c": b"c", "d": b"d", "e": b"e"},
        ),
        (files.contents_argument, ({"a": "\ud800"},), {"a": b"\xed\xa0\x80"}),
        (files.contents_argument, ({"ab/c": "", "a": "", "ab/d/e": ""},), {"ab/c": b"", "a": b"", "ab/d/e": b""}),
    ],
)  # fmt: skip
def test_what_is_taken(act: Callable[..., object], given: tuple[Any, ...], expected: Any) -> None:
    assert act(*given) == expected


@pytest.mark.parametrize(
    ("act", "given", "words"),
    [
        (files.text_argument, ("a", 5), "`a`: expected a str, found int"),
        (files.text_argument, ("a", None), "`a`: expected a str, found None"),
        (files.kind_argument, (b"x",), "`kind`: expected the name of a kind or a `Format`, found bytes"),
        (files.path_argument, ("a", 5), f"`a`: expected {PATH}, found int"),
        (files.path_argument, ("a", ""), "a is empty; write '.' for the working directory"),
        (files.valid_path_argument, ("a", "\0"), "`a`: no file can have the name '\\x00'"),
        (files.valid_path_argument, ("a", b"x"), f"`a`: expected {PATH}, found bytes"),
        (files.paths_argument, ("a", b"x"), f"`a`: expected {PATH}, found bytes"),
        (files.paths_argument, ("a", 5), f"`a`: expected {PATH}, found int"),
        (files.paths_argument, ("a", ["x", 5]), f"`a[1]`: expected {PATH}, found int"),
        (files.folder_argument, ("a", 5), f"`a`: expected {PATH}, found int"),
        (files.folder_argument, ("a", "\ud800"), "`a`: no file can have the name '\\ud800'"),
        (files.folders_argument, ("a", ["\0"]), "`a`: no file can have the name '\\x00'"),
        (files.folders_argument, ("a", [5]), f"`a[0]`: expected {PATH}, found int"),
        (files.number_argument, ("a", "5"), "`a`: expected a whole number, found str"),
        (files.number_argument, ("a", -1), "`a`: expected 0 or more, found -1"),
        (files.variables_argument, (["x"],), "`env`: expected a mapping of names to values, found list"),
        (files.variables_argument, ({5: "x"},), "`env`: expected names as str, found int"),
        (files.variables_argument, ({"A": 5},), "`env['A']`: expected a str, found int"),
        (files.contents_argument, (["x"],), "`files`: expected a mapping of paths to contents, found list"),
        (files.contents_argument, ({5: ""},), "`files`: expected paths as str, found int"),
        (files.contents_argument, ({"a": 5},), "`files['a']`: expected bytes or str, found int"),
        (files.contents_argument, ({"a/b": "", "a": ""},), "`files`: 'a' is a file, so it cannot hold 'a/b'"),
        (files.contents_argument, ({"a/b/c": "", "a/b": ""},), "`files`: 'a/b' is a file, so it cannot hold 'a/b/c'"),
        (files.contents_argument, ({"a": "", "a/b/c": ""},), "`files`: 'a' is a file, so it cannot hold 'a/b/c'"),
    ],
)  # fmt: skip
def test_the_words_for_what_is_not(
    act: Callable[..., object], given: tuple[Any, ...], words: str
) -> None:
    assert refused(act, *given) == words


@pytest.mark.parametrize("name", ["", "/a", "a/", "a//b", "./a", "a/./b", "..", "a/../b", "a\0b"])
def test_files_in_memory_have_paths_from_the_root_of_a_project(name: str) -> None:
    words = f"`files`: expected paths from the root of a project, found {name!a}"
    assert refused(files.contents_argument, {name: ""}) == words


def test_variables_of_the_process_are_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environb", {b"\xc3\xa9\xff": b"\xc3\xa8\xfe"}, raising=False)
    monkeypatch.setattr(os, "supports_bytes_environ", True)
    assert process_variables() == {"é\udcff": "è\udcfe"}
    monkeypatch.setattr(os, "supports_bytes_environ", False)
    monkeypatch.setattr(os, "environ", {"A": "1"})
    assert process_variables() == {"A": "1"}
