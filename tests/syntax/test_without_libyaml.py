"""A PyYAML that was built without libyaml: slower, and a syntax error in other words; everything
else is the same."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from casefiles import cases_in
from lab import CASES, SOURCES, TESTS, environment, python

CODE = re.compile(r"^\S.*?: (?:error|warning|note)\[([a-z0-9-]+)\]", re.MULTILINE)

#: Loads each case in a folder of its own and prints its codes and its result.
SCRIPT = """
import sys
sys.modules["yaml.cyaml"] = None
import json, os
from pathlib import Path
from casefiles import cases_in
from equipage.syntax.yaml.parser import ENGINE
assert ENGINE == "PyYAML", ENGINE
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
    env = environment(PYTHONPATH=f"{SOURCES}{os.pathsep}{TESTS}")
    done = python("-c", SCRIPT, str(CASES), cwd=tmp_path, env=env, timeout=300)
    assert done.code == 0, done.err
    outcomes = json.loads(done.out)
    for case in cases_in(CASES):
        codes, result = outcomes.pop(str(case.path))
        assert codes == CODE.findall(case.findings), case.path
        if case.has_result:
            assert result == case.result, case.path
    assert not outcomes
