"""A second reader of YAML 1.2 beside ours: yamlrocks, which agrees with all of the public suite.

It needs Python 3.12, so `make test-yaml` runs this in an environment of its own. Each difference
has a row here, or it is a bug.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

import lab
from casefiles import cases_in
from equipage.core import codes
from equipage.syntax import SyntaxProblem
from equipage.syntax.nodes import key_text
from equipage.syntax.yaml import load
from lab import CASES, REPOSITORY, SHARED, tries
from syntax.fast_texts import text
from syntax.test_yaml_suite import SUITE, listed

yamlrocks = pytest.importorskip("yamlrocks", reason="`make test-yaml` installs yamlrocks")
pytestmark = pytest.mark.skipif(not SUITE.exists(), reason="the YAML test suite is not here")

HEADER = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)

#: What both read, each in its own way: what the text has, and who is right.
OTHER_VALUE = {
    r"(^|[\s{,])(<<|\"<<\"|'<<')[ \t]*:": "merge keys are applied where a kind wants them",
    r"(^|\s)[-+]?0[0-9]+[ \t]*:": "yamlrocks takes a number with a leading zero for text",
    r"^--- [|>][-+0-9]*[ \t]*[\r\n]+#": "libyaml reads no text in the first column",
    r"[|>][-+0-9]*[ \t]*(#.*)?[\r\n](?s:.*)[^\r\n]\Z": "yamlrocks adds a line break at the end",
    r"\\[\r\n]+[ \t\r\n]*\t": "yamlrocks keeps a tab behind an escaped line break",
    r"&[^\s,\[\]{}]*:(\s|\Z|[\[{])": "libyaml ends the name of an anchor at a `:`",
    r"[,\[{]\s*#.*\n\s*\?": "libyaml reads a `?` behind a comment inside brackets",
    r"\ufeff": "libyaml skips a byte order mark in front of a line; the character has a finding",
    r"[&!][^\s,\[\]{}]*\s+:[^ \n]": "libyaml reads a `:` behind an anchor or tag inside brackets",
    r"\*\S+:": "libyaml ends the name of an alias at a `:`",
    r"(^|[\r\n])\s*\?\s": "yamlrocks gives a list below a `?` to null, and reads one in text",
    r"[-+]0x[0-9a-fA-F]+": "yamlrocks takes signs in front of `0x`, which YAML 1.2 does not",
    r"^(true|false):": "to Python, `true` and 1 are one key",
    r"[\"']\t+:": "yamlrocks takes a key before a tab for text",
    r"[\[{,]\s*:\S": "yamlrocks takes a `:` for a key in some lines and not in others",
}

#: What only we read: what yamlrocks says, and why we do not.
ACCEPTED = {
    "U+007F": "it is legal in quotes",
    "comment must be preceded": "libyaml takes a `#` behind a bracket or quote",
    "must be indented past its block": "libyaml takes lines of quotes at the margin",
    "must be indented more than its block": "libyaml takes lines inside brackets at the margin",
    "leading empty line in a block scalar": "libyaml takes long blank lines before a text",
    "bare '": "libyaml takes a `-` inside brackets for text",
    "invalid %YAML directive": "libyaml takes a `#` behind the version",
    "a tab cannot be used": "yamlrocks takes `-,` behind a tab for an item, and libyaml takes tabs "
    "in front of lines inside brackets",
    "unknown alias": "libyaml ends the name of an alias at a `:`",
    "property must be indented": "libyaml takes a tag at the margin",
    "undefined tag handle": "tags have no meaning here",
    "trailing content after document": "yamlrocks ends a text before a line that starts with `?`",
    "cannot start on the same line as ---": "yamlrocks takes a `?` in a text for a key",
    "cannot have two anchors": "libyaml ends the name of an anchor at a `:`",
    "with no open flow collection": "yamlrocks takes a bracket in a text for the end of brackets",
    "unclosed flow collection": "libyaml ends the name of an anchor at a `:`",
    "empty flow entry": "libyaml takes a lone `?` inside brackets for an entry",
    "content after flow collection": "libyaml takes a lone `?` inside brackets for an entry",
    "missing ',' between": "libyaml ends the name of an alias at a `:`",
    "expected ':' after mapping key": "yamlrocks takes a key before a tab for text",
    "cannot be a mapping key": "yamlrocks takes a `?` in a text for a key",
    "cannot start with ','": "libyaml ends the name of an anchor at a `:`",
    "not hashable": "keys are text here",
}


def ours(written: str) -> tuple[str, Any]:
    """Our value, or the code of the first finding; and whether a key is no scalar."""
    try:
        parsed = load(written, merge=True)
    except SyntaxProblem as found:
        return "refused", found.problems[0].code
    if any(each.code == codes.EXTRA_DOCUMENT for each in parsed.irregularities):
        return "first of several", parsed.value
    return "value", parsed.value


def theirs(written: str) -> tuple[str, Any]:
    try:
        documents = yamlrocks.loads_all(written.encode())
    except (yamlrocks.YAMLRocksError, UnicodeEncodeError) as error:
        return "refused", str(error)
    return "value", documents[0] if documents else None


def is_same(our: Any, their: Any) -> bool:
    """Equality of values. A key of ours is text; a collection as a key is not compared."""
    if isinstance(our, dict) and isinstance(their, dict):
        if any(isinstance(each, tuple | frozenset) for each in their):
            return True
        named = {key_text(key): value for key, value in their.items()}
        return our.keys() == named.keys() and all(is_same(our[key], named[key]) for key in our)
    if isinstance(our, list) and isinstance(their, list):
        return len(our) == len(their) and all(map(is_same, our, their))
    if isinstance(our, float) and isinstance(their, float) and math.isnan(our):
        return math.isnan(their)
    if isinstance(our, int) and isinstance(their, str):  # the finding `ambiguous-number`
        return re.fullmatch(r"[-+]?0[0-9]+", their) is not None and int(their) == our
    return our == their and isinstance(our, bool) == isinstance(their, bool)


def difference(written: str) -> str | None:
    """How the two differ about a text, unless a row says why."""
    (how, our), (theirs_how, their) = ours(written), theirs(written)
    shown = f"{written!r}: {our!r}, yamlrocks {their!r}"
    if how == "refused":
        return None  # never in silence; the tests of files and of letters ask more
    if theirs_how == "refused":
        known = how == "first of several" or any(each in their for each in ACCEPTED)
        return None if known else f"accepted {shown}"
    if is_same(our, their):
        return None
    known = any(re.search(each, written, re.MULTILINE) for each in OTHER_VALUE)
    return None if known else f"other value {shown}"


def texts_of_files() -> Iterator[tuple[str, str]]:
    """The YAML of the cases, of this repository and of the corpus, headers included."""
    for case in cases_in(CASES):
        for name, content in case.files.items():
            if isinstance(content, str):
                yield f"{case.path.name}: {name}", content
    for path in [*lab.matching(REPOSITORY, "**/*.yaml"), *(SHARED / "corpus").rglob("*.*")]:
        if path.suffix in (".yaml", ".yml", ".md"):
            yield str(path), path.read_bytes().decode(errors="replace")


def test_the_suite() -> None:
    """We differ from yamlrocks where we differ from the suite, and nowhere else."""
    cases = [json.loads(line) for line in SUITE.read_text(encoding="utf-8").splitlines()]
    for case in cases:
        if "json" not in case and not case.get("error"):
            continue  # JSON has no way to say what it means, and the suite does not compare it
        (how, our), (theirs_how, their) = ours(case["yaml"]), theirs(case["yaml"])
        agree = (how == "refused") == (theirs_how == "refused")
        if agree and how != "refused":
            agree = is_same(our, their)
        assert agree is (case["id"] not in listed()), case["id"]


@pytest.mark.skipif(not (SHARED / "corpus").exists(), reason="the corpus is not here")
def test_files() -> None:
    count, differ = 0, []
    for name, content in texts_of_files():
        if name.endswith((".yaml", ".yml")):
            written = content
        elif (header := HEADER.match(content)) is not None:
            written = header[1]
        else:
            continue
        count += 1
        how, our = ours(written)
        if how == "refused" and theirs(written)[0] == "value":
            limits = (codes.NESTING_TOO_DEEP, codes.ALIAS_BOMB)
            differ += [] if our in limits else [f"refused {name}: {our}"]
        elif (found := difference(written)) is not None:
            differ.append(f"{name}: {found}")
    assert count > 800
    assert not differ


#: What is put into texts of the suite.
ODD = [
    *"\t\x85\u2028\u2029\x7f:?-#[]{},|>'\"&*!%@` \n\ra0.",
    *(" \t", "\n\t", "\t\n", ": ", "- ", "::1", "?x", ", ", "&a.b ", "*a.b "),
]


def test_spoilt_texts() -> None:
    """Nothing is read otherwise, and nothing more is read, but for what has a row."""
    suite = [json.loads(line)["yaml"] for line in SUITE.read_text(encoding="utf-8").splitlines()]
    chance, found = random.Random(1), set()
    for _ in range(tries(20_000)):
        written = chance.choice(suite) if chance.random() < 0.8 else text(chance)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(written) + 1)
            after = at + (chance.random() < 0.4)
            new = chance.choice(ODD) if chance.random() < 0.8 else ""
            written = written[:at] + new + written[after:]
        found.add(difference(written))
    assert found - {None} == set()


def test_odd_letters() -> None:
    """Separators in the place of letters, tabs on blank lines: both read the same, always."""
    chance, count = random.Random(2), 0
    while count < tries(5_000):
        written = text(chance)
        if set(written) & set("!&*"):
            continue  # no tag may have them; the rows say what differs in names of anchors
        if ours(written)[0] != "value" or theirs(written)[0] != "value" or difference(written):
            continue
        letters = [at for at, each in enumerate(written) if each.isalpha()]
        for at in chance.sample(letters, min(2, len(letters))):
            written = written[:at] + chance.choice("\x85\u2028\u2029") + written[at + 1 :]
        written = re.sub(r"(?<=\n)(?=\n)", "\t", written)
        (how, our), (theirs_how, their) = ours(written), theirs(written)
        assert (how == "refused") == (theirs_how == "refused"), (written, our, their)
        assert how == "refused" or is_same(our, their) or difference(written) is None, written
        count += 1
