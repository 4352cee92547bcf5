"""The command reads files of a format that the person at the keyboard names, `module:NAME`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lab import Result, in_process, write

MODULE = """
import dataclasses, equipage

@dataclasses.dataclass(frozen=True)
class App:
    name: str
    url: str = "https://a.example"

def uses_https(app):
    if not app.url.startswith("https:"):
        yield equipage.Problem("url", "must use https", code="no-https")

APP = equipage.Format(App, renamed={"title": "name"}, rules=(uses_https,))
"""
KIND = ("--kind", "own_app.config:APP", "--python-path", "code")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"code/own_app/config.py": MODULE, "old.yaml": "title: a\n", "bad.yaml": "nme: 5\n"}
    monkeypatch.chdir(write(tmp_path, files))
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("own_app", "own_app.config"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def run(*arguments: str) -> Result:
    return in_process([*arguments, *KIND])


def test_the_kind_of_a_schema_is_an_argument_or_an_option() -> None:
    given = in_process(["schema", *KIND[1:]])
    assert (given.code, json.loads(given.out)["title"]) == (0, "`app` file")
    assert run("schema").out == given.out
    assert in_process(["schema"]).code == 2


@pytest.mark.parametrize(
    ("code", "severity"),
    [("unknown-field", "error"), ("env-missing", "error"), ("duplicate-key", None)],
)
def test_what_a_code_is_in_a_format_of_your_own(code: str, severity: str | None) -> None:
    said = f"In a format of your own: {severity}, unless it says otherwise"
    assert (said in in_process(["rule", code]).out) is (severity is not None)


def test_what_is_recommended_can_be_run() -> None:
    shown = run("show", "old.yaml")
    assert (shown.code, shown.out) == (0, "name: a\n")
    advice = "equipage: 1 finding; run `equipage check old.yaml " + " ".join(KIND)
    assert shown.err.startswith(advice)
    assert run("explain", "old.yaml", "name").code == 0
    listed = run("list", ".")
    assert f"run `equipage check bad.yaml {' '.join(KIND)}`" in listed.err
    assert "another program" in listed.out


def test_a_default_is_explained() -> None:
    write(".", {"a.yaml": "name: a\n"})
    done = run("explain", "a.yaml", "url")
    said = 'url = "https://a.example"\n  no file sets it: this is the default of `app`\n'
    assert (done.code, done.out) == (0, said)


def test_the_story_of_a_value_is_told_although_there_are_errors() -> None:
    write(".", {"b.yaml": "{name: a, url: http://b, more: {$include: no.yaml}}\n"})
    write(".", {"c.yaml": "{name: a, url: http://b}\n"})
    for path, code in (("b.yaml", "include-not-found"), ("c.yaml", "no-https")):
        done = run("explain", path, "url")
        assert (done.code, done.out.splitlines()[0]) == (1, 'url = "http://b"')
        assert f"error[{code}]" in done.err
    done = run("explain", "b.yaml", "more")
    assert (done.code, done.out.splitlines()[0]) == (1, "more = unknown")
    told = json.loads(run("explain", "b.yaml", "more", "-f", "json").out)
    assert (told["value"], told["default"], told["unset"]) == (None, False, [])
    write(".", {"d.yaml": "{name: a, url: 'http://${NOT}'}\n"})
    told = json.loads(run("explain", "d.yaml", "url", "-f", "json", "--show-env").out)
    assert (told["value"], told["settings"][0]["value"]) == (None, "http://${NOT}")
    done = run("explain", "b.yaml", "more.name")
    said = "equipage: nothing is known of `more.name` while there are errors"
    assert (done.code, done.out, done.err.splitlines()[0]) == (1, "", said)


def test_codes_of_rules_can_be_selected_and_ignored() -> None:
    write(".", {"b.yaml": "{name: a, url: http://b}\n"})
    assert run("check", "b.yaml", "--select", "no-https").code == 1
    assert "1 error" in run("check", "b.yaml", "--ignore", "unknown-field").out
    assert "no errors reported" in run("check", "b.yaml", "--ignore", "no-https").out
    for code in ("unknwon-field", "no-https"):
        others = () if code == "no-https" else KIND
        done = in_process(["check", "b.yaml", "--ignore", code, *others])
        assert (done.code, f"unknown code `{code}`" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("own_app.config", "there is no kind `own_app.config`; for a format in a module"),
        ("own_app.confg:APP", "there is no module `own_app.confg`: install it, or name its folder"),
        ("own_app.config:NOPE", "the module `own_app.config` has no `NOPE`"),
        ("own_app.config:equipage", "`own_app.config:equipage` is not a `Format`, and not a class"),
        ("own_app.config:App", "a class, and the module has a format of it: `own_app.config:APP`"),
    ],
)
def test_a_format_that_is_not_there(name: str, said: str) -> None:
    done = in_process(["check", "old.yaml", "--kind", name, "--python-path", "code"])
    assert (done.code, said in done.err) == (2, True), done.err
