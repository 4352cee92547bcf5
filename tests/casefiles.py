"""Case files: one Markdown file holds input files, what is expected of them, and why.

The file is named by the rule it shows, as in `include-cycle-is-reported-once.md`, and the paragraph
below its title says what goes wrong for a person without that rule.

````markdown
# A title that states the rule

Why it is so.

`main.yaml`
```yaml
…
```
`lib/other.yaml`
```yaml
…
```
```settings
{"kind": "server", "env": {"A": "1"}, "options": {"library": "lib"}}
```
```findings
main.yaml:1:1: error[code] message
  --> lib/other.yaml:2:3 included from here
  help: what to do
```
```result
{"the": "loaded configuration"}
```
````

With `layers` in the settings, all profiles or settings seen from a folder are loaded instead of one
file, as in `{"layers": {"cwd": "project", "xdg": "home", "overrides": ["a.b=1"]}}`; `cwd` is the
root of a repository. With `{"check": true}`, or `{"check": ["."]}` for everything below some paths, the
files are checked together, as `equipage check` does.

The first file is loaded unless `settings` names an `entry`. `findings` may be missing when there
are none, `result` when it does not matter. A file in ```base64 is binary; one in ```symlink holds
the target of a link. With EQUIPAGE_UPDATE_CASES=1 the expectations are rewritten; the diff is
reviewed like code.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

import lab
from equipage.core.diagnostics import Diagnostic
from equipage.core.frozen import plain_data
from equipage.formats.defect.discovery import find_layer_folders
from equipage.formats.defect.layers import find_settings
from equipage.formats.defect.profile import Profiles, profiles_of
from equipage.loading.pipeline import Outcome
from equipage.workspace.report import Report
from lab import UPDATE, Link, matching, repository

#: A block of Markdown, with the name of its file if the line before gives one.
BLOCK = re.compile(
    r"^(?:`(?P<name>[^`\n]+)`\n+)?"  # `name`
    r"(?P<fence>`{3,})(?P<tag>[a-z0-9_-]*)(?P<more>[^\n]*)\n"  # ```tag more
    r"(?P<body>.*?)(?<=\n)(?P=fence)[ \t]*$",  # the lines up to a fence of the same length
    re.MULTILINE | re.DOTALL,
)

#: Three words or more: fewer name a subject, and a case shows a rule about it.
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+){2,}")


@dataclass
class Case:
    path: Path
    kind: str
    files: dict[str, str | bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    findings: str = ""
    result: Any = None
    has_result: bool = False
    title: str = ""

    @property
    def entry(self) -> str:
        return str(self.settings.get("entry") or next(iter(self.files)))

    def write(self, folder: Path) -> None:
        links = {name: Link(target) for name, target in self.links.items()}
        repository(folder, {**self.files, **links})

    def run(self) -> tuple[Sequence[Diagnostic], Any]:
        """The findings and the result; the files must be in the working directory."""
        if "layers" in self.settings:
            return self.load_layers(dict(self.settings["layers"]))
        if self.settings.get("check"):
            return self.check().diagnostics, None
        outcome = self.load()
        loaded = outcome.loaded_or_none()
        return outcome.diagnostics, loaded.to_dict() if loaded else None

    def load_layers(self, layers: dict[str, Any]) -> tuple[Sequence[Diagnostic], Any]:
        """All profiles or settings, as seen from a folder."""
        cwd = layers.get("cwd", ".")
        (Path(cwd) / ".git").mkdir(parents=True, exist_ok=True)
        env, local = self.settings.get("env", {}), bool(layers.get("local"))
        places = find_layer_folders(
            cwd, xdg_config_home=layers.get("xdg"), home=layers.get("home"), env=env, local=local
        )
        if self.kind == "profile":
            discovery = profiles_of(places)
            profiles = {} if discovery.errors else dict(Profiles(discovery))
            return discovery.diagnostics, plain_data(profiles) if profiles else None
        found = find_settings(places, layers.get("overrides", ()))
        return found.outcome.diagnostics, plain_data(found.outcome.config)

    def load(self) -> Outcome:
        """Load the entry; the working directory must be where the files were written."""
        embedded = bool(self.settings.get("embedded"))
        return lab.load(self.entry, self.kind, **self._request(), embedded=embedded)

    def check(self) -> Report:
        """Check what the settings name, or everything, as `equipage check` does."""
        paths = self.settings["check"]
        return lab.check(*([] if paths is True else paths), **self._request())

    def _request(self) -> dict[str, Any]:
        return {name: self.settings.get(name, {}) for name in ("env", "options")}

    def rewrite(self, findings: str, result: Any) -> None:
        """Put the actual outcome into the file."""
        text = self.path.read_text()
        text = _replaced(text, "findings", findings)
        if self.has_result:
            text = _replaced(
                text, "result", json.dumps(result, indent=1, ensure_ascii=False) + "\n"
            )
        self.path.write_text(text)


def _replaced(text: str, tag: str, body: str) -> str:
    block = f"```{tag}\n{body}```"
    pattern = re.compile(rf"^```{tag}\n.*?^```[ \t]*$", re.MULTILINE | re.DOTALL)
    if pattern.search(text):
        return pattern.sub(lambda _match: block, text)
    return text if not body else text.rstrip("\n") + f"\n\n{block}\n"


def read_case(path: Path, kind: str) -> Case:
    text = path.read_text()
    case = Case(path, kind, title=text.splitlines()[0].lstrip("# ").strip())
    for match in BLOCK.finditer(text):
        name, tag, body = match["name"], match["tag"], match["body"]
        if tag == "settings":
            case.settings = json.loads(body)
            case.kind = case.settings.get("kind", kind)
        elif tag == "findings":
            case.findings = body
        elif tag == "result":
            case.result, case.has_result = json.loads(body), True
        elif name is not None and tag == "base64":
            case.files[name] = base64.b64decode(body)
        elif name is not None and tag == "symlink":
            case.links[name] = body.strip()
        elif name is not None:
            case.files[name] = body
    return case


def reason_in(text: str) -> str:
    """What a case file says between its title and its first block, requirements aside."""
    block = BLOCK.search(text)
    lines = text[: block.start() if block else None].splitlines()[1:]
    return "\n".join(line for line in lines if not line.startswith("Shows:")).strip()


def names_a_rule(name: str, identifiers: Container[str]) -> bool:
    """Whether a case file is named in words, and not by the `identifiers` of something else."""
    return _NAME.fullmatch(name) is not None and name not in identifiers


def check_case(case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Load a case in an empty folder and compare; or write down what came of it."""
    case.write(folder)
    monkeypatch.chdir(folder)
    diagnostics, result = case.run()
    findings = "".join(map(written, diagnostics)).replace(str(folder), "<cwd>")
    result = json.loads(json.dumps(result).replace(str(folder), "<cwd>"))
    if UPDATE:
        case.rewrite(findings, result)
        return
    assert findings == case.findings, case.title
    if case.has_result:
        assert result == case.result, case.title


@cache
def cases_in(folder: Path) -> tuple[Case, ...]:
    """Every case below `folder`, whose subfolders are named for kinds; read once, so nobody may
    change one."""
    paths = matching(folder, "*/**/*.md")
    return tuple(read_case(path, path.relative_to(folder).parts[0]) for path in paths)


def written(each: Diagnostic) -> str:
    """A finding as case files write it."""
    # Without its path: the place says where it is.
    alone = str(msgspec.structs.replace(each, path=""))
    lines = [alone + (f" (x{each.count})" if each.count > 1 else "")]
    for label in each.related:
        place = (
            f"{label.span.source.name}:{label.span.line}:{label.span.column} " if label.span else ""
        )
        lines.append(f"  --> {place}{label.message}")
    if each.help:
        lines.append("  help: " + each.help.replace("\n", "\n    "))
    if each.fix:
        lines.append(f"  fix: {each.fix.message}")
    return "\n".join(lines) + "\n"
