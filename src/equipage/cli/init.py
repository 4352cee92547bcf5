"""`equipage init` and `new`: set a project up, and write its first files.

`init` writes settings, a hook, a pipeline and an editor for the project in this folder. It looks at
what there is, and writes only files that do not exist. On a terminal it asks before each; anywhere
else it asks nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator

import msgspec

from equipage.cli import OK
from equipage.cli.arguments import Parser, add_flag, add_python_path
from equipage.cli.output import Output
from equipage.core.diagnostics import UsageError
from equipage.files.writing import NotWritten, write_new
from equipage.loading.editor_schema import schema_for
from equipage.loading.project_root import project_of_folder
from equipage.loading.session import new_request
from equipage.project.recognise import recognise
from equipage.project.registry import format_named, known_kinds
from equipage.project.settings import project_of
from equipage.workspace import Workspace
from equipage.workspace.report import Report

#: The kinds of files that editors check by a JSON Schema, and the setting that names it.
_EDITOR_SETTINGS = {".yaml": "yaml.schemas", ".yml": "yaml.schemas", ".json": "json.schemas"}
_SCHEMA_FOLDER = ".equipage"

#: Everything in it is a comment: an empty file means what equipage does anyway.
_SETTINGS = """\
# How equipage checks this project; see `equipage help check`. Files in .gitignore are left out.
# exclude = ["examples/broken"]

# Codes that are not reported, here or in some files; `equipage rule` lists all codes.
# ignore = ["env-missing"]
# per-file-ignores = { "tests/**" = ["unknown-field"] }
"""
_PRE_COMMIT_CONFIG = """\
repos:
  - repo: local
    hooks:
      - id: equipage
        name: equipage check
        entry: equipage check
        language: system
        # A change in one file may break another, so every run checks the whole repository.
        pass_filenames: false
        files: (?i)\\.(ya?ml|jsonc?|toml|md|mdc|roomodes|kiro\\.hook)$
"""
_GITHUB_WORKFLOW = """\
name: equipage
on: [push, pull_request]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.13"
      # EQUIPAGE is a variable of the repository: where pip finds equipage, a path or an address.
      - run: pip install "$EQUIPAGE"
        env:
          EQUIPAGE: ${{ vars.EQUIPAGE }}
      - run: equipage check --output-format github
"""
_GITLAB_JOB = """\
equipage:
  image: python:3.13
  script:
    - pip install "$EQUIPAGE"
    - equipage check --output-format gitlab --output gl-code-quality-report.json
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
"""
#: A name becomes part of a path and of the file's text, so it must be harmless in both.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?")
#: What an example has instead of a name; `WORD` takes only its letters and digits.
_PLACEHOLDER = re.compile(r"\b(?:NAME|WORD)\b")


class Proposal(msgspec.Struct, frozen=True):
    """A file to be written, and what it is for."""

    path: str
    text: str
    purpose: str


def declare(parser: Parser) -> None:
    parser.describe(
        "Write settings for equipage, for pre-commit, for CI and for your editor, to suit what is "
        "found below this folder. On a terminal it asks before it writes each file; elsewhere it "
        "writes those that do not exist. It never changes a file that exists.",
        ("equipage init", "set up the project in this folder"),
        ("equipage init --dry-run", "print what it would write"),
    )
    add_flag(parser, "--dry-run", "print the files instead of writing them")
    add_flag(parser, "--yes", "do not ask", short="-y")


def run(options: argparse.Namespace, output: Output) -> int:
    request = new_request(None, {})
    report = Workspace(["."], request).report()
    kinds = Counter(each.kind for each in report.files if each.kind is not None)
    found = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    summary = f"equipage: found {found or 'no configuration yet'}"
    proposals = list(_proposals(report))
    if options.dry_run:
        for each in proposals:
            output.write_data(f"# {each.path}: {each.purpose}\n{each.text}\n")
        output.note(summary)
        return OK
    output.note(summary)
    # A script that pipes answers in must not hang at a question it does not expect.
    asks = sys.stdin is not None and sys.stdin.isatty() and output.is_terminal and not options.yes
    root = project_of_folder(".", request.system)
    for each in proposals:
        if os.path.lexists(each.path):
            output.note(f"equipage: {each.path} exists; left as it is")
        elif not asks or _confirm(each, output):
            _write(each.path, each.text, root, output)
    if report.errors or report.warnings:
        count = len(report.errors) + len(report.warnings)
        output.note(
            f"equipage: there are {count:,} findings; see them with `equipage check`, or accept "
            "them for now with `equipage check --write-baseline`"
        )
    else:
        output.note("equipage: run `equipage check`")
    return OK


def _write(path: str, text: str, project: str, output: Output) -> None:
    """Write a new file and print its path, which has `/` on every system. Raises `UsageError`."""
    try:
        write_new(os.path.join(*path.split("/")), text.encode("utf-8"), project)
    except NotWritten as error:
        raise UsageError(f"cannot write {path}: {error}") from None
    output.write_data(f"{path}\n")


def _confirm(each: Proposal, output: Output) -> bool:
    """Whether the person at the terminal wants the file; just Enter means yes."""
    output.flush()
    try:
        answer = input(f"write {each.path} ({each.purpose})? [Y/n] ")
    except EOFError:
        return False
    return answer.strip().lower() in ("", "y", "yes")


def _proposals(report: Report) -> Iterator[Proposal]:
    """The files that suit what is in this folder."""
    is_in_pyproject = any(
        each.kind == "project" and each.path.endswith("pyproject.toml") for each in report.files
    )
    if not is_in_pyproject:
        yield Proposal("equipage.toml", _SETTINGS, "settings of equipage")
    if os.path.isdir(".git"):
        yield Proposal(".pre-commit-config.yaml", _PRE_COMMIT_CONFIG, "a check before each commit")
    if os.path.isdir(".github"):
        yield Proposal(".github/workflows/equipage.yml", _GITHUB_WORKFLOW, "a check of each push")
    # A file to include: the pipeline that exists is a person's work.
    elif os.path.exists(".gitlab-ci.yml"):
        yield Proposal("equipage.gitlab-ci.yml", _GITLAB_JOB, "a job to include in .gitlab-ci.yml")
    yield from _editor_proposals(report)


def _editor_proposals(report: Report) -> Iterator[Proposal]:
    """Schemas of the kinds that are here, and the settings of VS Code that use them."""
    files: dict[tuple[str, str], list[str]] = {}
    for each in report.files:
        setting = _EDITOR_SETTINGS.get(os.path.splitext(each.path)[1].lower())
        if each.kind not in (None, "project") and setting is not None:
            files.setdefault((setting, str(each.kind)), []).append(each.path)
    # Without `.vscode`, the project is edited with another editor.
    if not files or not os.path.isdir(".vscode"):
        return
    for kind in sorted({kind for _, kind in files}):
        text = json.dumps(schema_for(format_named(kind)), ensure_ascii=False, indent=2) + "\n"
        yield Proposal(f"{_SCHEMA_FOLDER}/{kind}.schema.json", text, f"the schema of {kind} files")
    # Its YAML extension maps schemas to files, the JSON one lists files with a schema each.
    yaml = {
        f"{_SCHEMA_FOLDER}/{k}.schema.json": v for (s, k), v in files.items() if s == "yaml.schemas"
    }
    json_files = [
        {"fileMatch": names, "url": f"./{_SCHEMA_FOLDER}/{kind}.schema.json"}
        for (setting, kind), names in files.items()
        if setting == "json.schemas"
    ]
    settings = {"yaml.schemas": yaml, "json.schemas": json_files}
    used = {name: value for name, value in settings.items() if value}
    text = json.dumps(used, ensure_ascii=False, indent=2) + "\n"
    yield Proposal(".vscode/settings.json", text, "completion and checks while you type")


def declare_new(parser: Parser) -> None:
    parser.describe(
        "Create a commented example of KIND that passes `equipage check`.",
        ("equipage new claude-agent reviewer", "write .claude/agents/reviewer.md"),
        ("equipage new server shop --stdout", "print it instead"),
    )
    parser.add_argument("kind", metavar="KIND", help="a kind of configuration, or module:NAME")
    parser.add_argument("name", metavar="NAME", help="the name of what it configures")
    add_python_path(parser)
    add_flag(parser, "--stdout", "write to standard output instead of a file")


def run_new(options: argparse.Namespace, output: Output) -> int:
    """`equipage new`: a first file that passes a check."""
    kind = format_named(options.kind)
    is_own = ":" in options.kind
    example = kind.example() if is_own else kind.presentation.example
    if example is None:
        having = [name for name in known_kinds() if format_named(name).presentation.example]
        raise UsageError(f"kind `{kind.name}` has no example; choose from: {', '.join(having)}")
    if not _NAME.fullmatch(options.name):
        raise UsageError(f"`{options.name}` is not a valid name: use letters, digits, `-` and `_`")
    text = _fill_placeholders(example, options.name)
    if options.stdout:
        output.write_data(text)
        return OK
    path = _fill_placeholders(kind.presentation.example_path, options.name)
    request = new_request({}, {})
    _write(path, text, project_of_folder(".", request.system), output)
    # The path alone does not show every kind.
    run = request.new_run()
    is_clear = recognise(path, project_of(path, run), run).kind == kind.name
    flag = "" if is_clear else f" --kind {options.kind}"
    output.note(f"equipage: edit it, then run `equipage check {path}{flag}`")
    return OK


def _fill_placeholders(text: str, name: str) -> str:
    words = {"NAME": name, "WORD": re.sub(r"[^a-z0-9]", "", name.lower())}
    return _PLACEHOLDER.sub(lambda match: words[match.group()], text)
