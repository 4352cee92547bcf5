"""People read one finding with a count for one cause in a file; programs get each of them."""

from __future__ import annotations

import json

import pytest

import equipage
from equipage.render import json as as_json
from equipage.render.text import Style, render

HOOK = '{{"type": "command", "command": "${{CLAUDE_PROJECT_DIR}}/{0}.sh"}}'


def settings(*names: str) -> dict[str, bytes]:
    hooks = ",\n".join(HOOK.format(name) for name in names)
    text = f'{{"hooks": {{"Stop": [{{"hooks": [\n{hooks}]}}]}}}}'
    return {".claude/settings.json": text.encode(), **{f"{name}.sh": b"" for name in names}}


def imports(count: int) -> dict[str, bytes]:
    return {"CLAUDE.md": "".join(f"- @docs/{each}.md\n" for each in range(count)).encode()}


def rules(count: int) -> dict[str, bytes]:
    denied = [f"Reed(./{each})" for each in range(count)]
    return {".claude/settings.json": json.dumps({"permissions": {"deny": denied}}).encode()}


@pytest.mark.parametrize(
    ("files", "blocks", "shown"),
    [
        pytest.param(settings("a", "b", "c"), 3, [], id="three equal ones"),
        pytest.param(settings("a", "b", "c", "d"), 1, ["(×4)", "also here"], id="four equal ones"),
        pytest.param(imports(10), 10, [], id="ten that name something else"),
        pytest.param(imports(11), 1, ["(×11)", "`docs/2.md`"], id="eleven of them"),
        pytest.param(rules(12), 12, [], id="each error is its own"),
    ],
)
def test_findings_of_one_cause(files: dict[str, bytes], blocks: int, shown: list[str]) -> None:
    report = equipage.check_files(files)
    text = "".join(render(report, Style()))
    assert text.count("-->") == blocks
    assert [each for each in shown if each not in text] == []
    assert ("print every place with -f concise" in text) is bool(shown)
    count = len(report.diagnostics)
    assert f"{count} " in text.splitlines()[-1]  # the summary counts each
    assert len(json.loads(as_json.render(report))["diagnostics"]) == count
    assert "".join(render(report, Style(), concise=True)).count("\n") == count + 1
