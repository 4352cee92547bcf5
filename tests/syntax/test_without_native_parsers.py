"""Machines for which PyYAML has no wheel with libyaml: slower, and everything else is the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

from casefiles import cases_in
from lab import CASES, SOURCES, TESTS, environment, python

CODE = re.compile(r"^\S.*?: (?:error|warning|note)\[([a-z0-9-]+)\]", re.MULTILINE)

#: Loads each case in a folder of its own and prints its codes and its result.
SCRIPT = """
import sys
sys.modules['yaml.cyaml'] = None
import json, os
from pathlib import Path
from casefiles import cases_in
from equipage.syntax.yaml.events import ENGINE
assert ENGINE == 'PyYAML', ENGINE
home = Path.cwd()
outcomes = {}
for case in cases_in(Path(sys.argv[1])):
    here = home / str(len(outcomes))
    here.mkdir()
    case.write(here)
    os.chdir(here)
    diagnostics, result = case.run()
    codes = [each.code for each in diagnostics]
    outcomes[str(case.path)] = [codes, json.loads(json.dumps(result).replace(str(here), "<cwd>"))]
print(json.dumps(outcomes))
"""


def test_the_same_codes_and_the_same_results(tmp_path: Path) -> None:
    env = environment(SOURCES, TESTS)
    done = python("-c", SCRIPT, str(CASES), cwd=tmp_path, env=env, timeout=300)
    assert done.code == 0, done.err
    outcomes = json.loads(done.out)
    for case in cases_in(CASES):
        codes, result = outcomes.pop(str(case.path))
        assert codes == CODE.findall(case.findings), case.path
        if case.has_result:
            assert result == case.result, case.path
    assert not outcomes


#: Escapes in double quotes, some of which give the number of no character; and control characters.
CHARACTERS = [
    r'a: "\ud800"',
    r'a: "x \\ud800 \n \ud800 b"',
    'a: "b\\\n  c\\U00110000"',
    r'a: ["x", "\uD83D\uDE00"]',
    r'"é\udfff": 1',
    r'a: "\UFFFFFFFF"',
    r'a: "\uffff\U0010ffff\x41"',
    r"a: '\ud800'",
    "a: 1\0\nb: \1\n",
]
#: Prints the value of each text, or the place of its error.
VALUES = """
import json, sys
from equipage.syntax import SyntaxProblem
from equipage.syntax.yaml import load
def outcome(text):
    try:
        return load(text).value
    except SyntaxProblem as problem:
        return [[each.range, each.values] for each in problem.problems]
"""


def test_what_is_not_a_character_is_refused(tmp_path: Path) -> None:
    """At the same place and in the same words; PyYAML itself makes half a character of an escape."""
    code = f"{VALUES}print(json.dumps([outcome(each) for each in {CHARACTERS!r}]))"
    native = python("-c", code, cwd=tmp_path)
    other = python("-c", f"import sys\nsys.modules['yaml.cyaml'] = None\n{code}")
    assert native.code == other.code == 0, other.err
    assert json.loads(other.out) == json.loads(native.out)
    assert other.out.count("escape code") == 6
    assert other.out.count('"character"') == 2
