"""A page per code: what it means, an example that really makes the finding, and the same file
fixed.

Examples are run when the pages are made: one that does not make its finding, or is not fixed, stops
the build. They come from `fixes/`, which was written for these pages, else from the cases of the
tests. In `fixes/`, a block `wrong` or `right` is a file, or with `@NAME` what replaces the line
`HERE` in the block `base NAME`.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import msgspec

from casefiles import Case, cases_in
from equipage.cli.rule import differing_severities, group_by_severity
from equipage.core.codes import CORE_CODES
from equipage.core.diagnostics import Code, Diagnostic
from equipage.project.registry import BY_SCHEMA, all_codes, built_in_kinds, format_named
from equipage.render.text import Style, render_finding
from equipage.workspace.fixes import repair
from generate.wording import summary

HERE = Path(__file__).parents[1]
CASES = HERE.parent / "tests" / "cases"
FIXES = HERE / "fixes"

#: A longer example explains nothing: only the finding is shown.
_LONGEST = 60
_STYLE = Style(width=88)
_LANGUAGES = {
    "yaml": "yaml",
    "yml": "yaml",
    "json": "json",
    "toml": "toml",
    "md": "markdown",
    "mdc": "markdown",
}
_EXAMPLE_BLOCK = re.compile(
    r"^(?P<fence>`{3,})[a-z]* (?P<role>wrong|right|settings|base)"
    r"(?: (?P<name>\S+))?(?: (?P<file>\S+))?\n"
    r"(?P<body>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)

#: Name → the name and the text of a file in which one line is left open.
Bases = dict[str, tuple[str, str]]


class Example(msgspec.Struct, frozen=True):
    """Files that make a finding, what equipage says, and the files that make it no more."""

    files: dict[str, str]
    settings: dict[str, object]
    findings: tuple[str, ...]
    others: int  #: how many other findings there are
    fixed: dict[str, str] = {}
    how: str = ""


def pages() -> Iterator[tuple[str, str]]:
    """The name and the text of each page."""
    for name in all_codes():
        yield f"{name}.md", page(name)
    yield "index.md", _index()


@cache
def _examples() -> dict[str, Example]:
    written, known = _written_examples(), all_codes().keys()
    assert written.keys() <= known, f"examples for codes that are no more: {written.keys() - known}"
    return {**_examples_of_cases(), **written}


def _link(kind: str) -> str:
    """The page of a kind; files with schemas of the project are a part of its settings."""
    page = "../settings.md#files-of-your-own" if kind == BY_SCHEMA else f"../kinds/{kind}.md"
    return f"[`{kind}`]({page})"


@cache
def owners() -> dict[str, list[str]]:
    """The kinds that bring each code; none for those of every kind."""
    found: dict[str, list[str]] = {code.name: [] for code in CORE_CODES}
    for name in (*built_in_kinds(), BY_SCHEMA):
        for code in format_named(name).every_code():
            if code.name not in found or found[code.name]:
                found.setdefault(code.name, []).append(name)
    return found


# --- pages


def _index() -> str:
    groups: dict[str, list[str]] = defaultdict(list)
    known = all_codes()
    for name, kinds in owners().items():
        title = (
            "Every kind" if not kinds else f"`{kinds[0]}`" if len(kinds) == 1 else "Several kinds"
        )
        severity = known[name].severity + ("*" if differing_severities(known[name]) else "")
        groups[title].append(
            f"| [`{name}`]({name}.md) | {severity} | {summary(known[name].words.message)} |"
        )
    lines = [
        "# Codes",
        "",
        "Every finding has a code. `equipage rule CODE` prints its page. Where a finding is meant",
        "as it is, a comment `# equipage: ignore[code]` on its line silences it; one that silences",
        "nothing is itself a finding. An error that prevents loading cannot be ignored. Behind a",
        "severity, * means that some kinds are stricter or milder.",
        "",
    ]
    for title, rows in groups.items():
        lines += [f"## {title}", "", "| code | | says |", "|---|---|---|", *sorted(rows), ""]
    return "\n".join(lines)


def page(name: str, *, about_kinds: bool = True) -> str:
    """The page of a code; which kinds have it, and how severe it is there, may be left out."""
    code, severity = all_codes()[name], f"**{all_codes()[name].severity.capitalize()}**"
    if about_kinds:
        severity += f" · {', '.join(map(_link, owners()[name])) or 'every kind'}"
    lines = [f"# {name}", "", severity, "", code.words.about, ""]
    lines += [f"> {summary(code.words.message)}", ""]
    if about_kinds:
        lines += _differing(code)
    if name in _examples():
        lines += _shown_example(_examples()[name])
    return "\n".join(lines).rstrip("\n") + "\n"


def _differing(code: Code) -> list[str]:
    """Where a kind is stricter or milder than the code itself."""
    found = group_by_severity(differing_severities(code))
    rows = [
        f"| {', '.join(f'`{kind}`' for kind in kinds)} | {severity} |"
        for severity, kinds in found.items()
    ]
    return ["| in | it is |", "|---|---|", *rows, ""] if rows else []


def _shown_example(example: Example) -> list[str]:
    lines = ["## Found in", ""] if _is_short(example.files) else ["## What it looks like", ""]
    if _is_short(example.files):
        for name, text in example.files.items():
            lines += _block(name, text)
        lines += _loaded_with(example)
    lines += [
        "```text",
        "\n".join(each.rstrip("\n") + "\n" for each in example.findings).rstrip("\n"),
        "```",
        "",
    ]
    if example.others and _is_short(example.files):
        lines += [f"*({_plural(example.others)} of other codes not shown)*", ""]
    if example.fixed:
        lines += ["## Fixed", "", *([example.how, ""] if example.how else [])]
        for name, text in example.fixed.items():
            lines += _block(name, text)
    return lines


def _loaded_with(example: Example) -> list[str]:
    notes: list[str] = []
    for key, value in example.settings.items():
        if key == "env" and isinstance(value, dict) and value:
            notes.append(
                "with "
                + ", ".join(f"`{name}={text}`" for name, text in value.items())
                + " in the environment"
            )
        elif key == "options" and isinstance(value, dict) and value:
            notes.append(
                "with the options "
                + ", ".join(f"`{name}={text!r}`" for name, text in value.items())
            )
        elif key == "embedded" and value:
            notes.append("from a string, with `embedded=True`")
    return [f"Loaded {', '.join(notes)}:", ""] if notes else []


def _block(name: str, text: str) -> list[str]:
    language = _LANGUAGES.get(name.rpartition(".")[2], "text")
    fence = "`" * max(3, 1 + max((len(each) for each in re.findall(r"`+", text)), default=0))
    return [f'{fence}{language} title="{name}"', text.rstrip("\n"), fence, ""]


def _is_short(files: dict[str, str]) -> bool:
    lines = sum(text.count("\n") for text in files.values())
    longest = max((len(line) for text in files.values() for line in text.splitlines()), default=0)
    return bool(files) and lines <= _LONGEST and longest <= 160


def _plural(number: int) -> str:
    return "one finding" if number == 1 else f"{number} findings"


# --- examples from cases


@cache
def _examples_of_cases() -> dict[str, Example]:
    """For each code the smallest case that shows it, one that can be fixed by its fix before
    others.
    """
    best: dict[str, tuple[tuple[int, ...], Case, Sequence[Diagnostic]]] = {}
    for case in cases_in(CASES):
        with _written(case):
            diagnostics, _ = case.run()
        texts = [text for text in case.files.values() if isinstance(text, str)]
        size = sum(map(len, texts))
        for each in diagnostics:
            rank = (each.fix is None, len(texts) < len(case.files), len(diagnostics), size)
            if each.code not in best or rank < best[each.code][0]:
                best[each.code] = (rank, case, diagnostics)
    return {code: _example(code, case) for code, (_, case, _) in best.items()}


def _example(code: str, case: Case) -> Example:
    with _written(case) as folder:
        diagnostics, _ = case.run()
        found = [each for each in diagnostics if each.code == code]
        texts = [render_finding(each, _STYLE).replace(str(folder), "…") for each in found[:2]]
        files = {name: text for name, text in case.files.items() if isinstance(text, str)}
        repairs, _ = repair([each for each in found if each.fix is not None], unsafe=True)
        fixed = {each.source.name: each.text for each in repairs}
    others = len(diagnostics) - len(found)
    if fixed and _still_found(code, case, fixed) < len(found):
        how = "`equipage check --fix`" + (
            "" if all(each.fix and each.fix.safe for each in found) else " with `--unsafe-fixes`"
        )
        return Example(files, case.settings, tuple(texts), others, fixed, f"{how} does it:")
    return Example(files, case.settings, tuple(texts), others)


def _still_found(code: str, case: Case, fixed: dict[str, str]) -> int:
    changed = Case(case.path, case.kind, {**case.files, **fixed}, case.links, case.settings)
    with _written(changed):
        diagnostics, _ = changed.run()
    return sum(each.code == code for each in diagnostics)


@contextmanager
def _written(case: Case) -> Iterator[Path]:
    """The files of a case in a folder of their own, which is the working directory meanwhile."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        case.write(folder)
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


# --- examples written for the pages


def _written_examples() -> dict[str, Example]:
    return {code: _fixed_example(code, kind, text, bases) for kind, code, text, bases in fixes()}


def fixes() -> Iterator[tuple[str, str, str, Bases]]:
    """Kind, code, text and bases of each example written for these pages."""
    for path in sorted(FIXES.glob("*.md")):
        head, *parts = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        bases = {
            match["name"]: (match["file"], match["body"]) for match in _EXAMPLE_BLOCK.finditer(head)
        }
        for part in parts:
            code, _, text = part.partition("\n")
            yield path.stem, code.strip(), text, bases


def _filled(name: str, body: str, bases: Bases) -> tuple[str, str]:
    """The name and the text of a file, put into its base if it has one."""
    if not name.startswith("@"):
        return name, body
    file, base = bases[name[1:]]
    indent = re.search(r"^( *)HERE\n", base, flags=re.MULTILINE)
    assert indent is not None, f"the base {name} has no line HERE"
    lines = "".join(
        f"{indent[1]}{line}" if line.strip() else line for line in body.splitlines(keepends=True)
    )
    return file, base.replace(indent[0], lines, 1)


def _fixed_example(code: str, kind: str, text: str, bases: Bases) -> Example:
    wrong: dict[str, str] = {}
    right: dict[str, str] = {}
    settings: dict[str, object] = {}
    for match in _EXAMPLE_BLOCK.finditer(text):
        if match["role"] == "settings":
            settings = msgspec.json.decode(match["body"])
        else:
            name, body = _filled(match["name"], match["body"], bases)
            (wrong if match["role"] == "wrong" else right)[name] = body
    words = text.partition("```")[0].strip()
    kind = str(settings.pop("kind", kind))
    before = _findings(kind, wrong, settings)
    after = _findings(kind, {**wrong, **right}, settings)
    found = [each for each in before if each[0] == code]
    assert found, f"the example of {code} does not show it, but {[each[0] for each in before]}"
    assert not [each for each in after if each[0] == code], (
        f"the fixed example of {code} is not fixed"
    )
    assert not [each for each in after if each[1] == "error"], (
        f"the fixed example of {code} has errors: {after}"
    )
    return Example(
        wrong,
        settings,
        tuple(each[2] for each in found[:2]),
        len(before) - len(found),
        right,
        words,
    )


def _findings(
    kind: str, files: dict[str, str], settings: dict[str, object]
) -> list[tuple[str, str, str]]:
    """Code, severity and text of everything found in some files."""
    case = Case(FIXES, kind, dict(files), {}, dict(settings))
    with _written(case) as folder:
        diagnostics, _ = case.run()
        return [
            (each.code, each.severity, render_finding(each, _STYLE).replace(str(folder), "…"))
            for each in diagnostics
        ]
