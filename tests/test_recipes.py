"""The recipes of CONTRIBUTING.md, each followed to the letter on a copy of the package.

A recipe is the files that it touches and what the command says afterwards. How many files that may
be is part of the promise.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from lab import REPOSITORY, SOURCES, Result, commit, environment, python, repository, write


class Clone:
    """A copy of the package, and the files that a recipe touches in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sources = folder / "src"
        shutil.copytree(
            Path(SOURCES) / "equipage",
            self.sources / "equipage",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        (folder / "tools").mkdir()
        for name in ("pyproject.toml", "tools/faces.py"):
            shutil.copy(REPOSITORY / name, folder / name)
        self.touched: set[str] = set()

    def write(self, name: str, text: str) -> None:
        """A new file of the package."""
        path = self.sources / "equipage" / name
        assert not path.exists(), name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.touched.add(name)

    def change(self, name: str, *pairs: tuple[str, str]) -> None:
        """Put a text before another one, which the file has once."""
        path = self.sources / "equipage" / name
        text = path.read_text(encoding="utf-8")
        for before, new in pairs:
            assert text.count(before) == 1, (name, before)
            text = text.replace(before, new + before)
        path.write_text(text, encoding="utf-8")
        self.touched.add(name)

    def make_stubs(self) -> Result:
        """What `make stubs` does. What it writes is not edited by hand, so it does not count."""
        return self._python("tools/faces.py", cwd=self.folder)

    def run(self, folder: Path, files: Mapping[str, str], *arguments: str) -> Result:
        """The command of the copy, on files in a folder."""
        return self._python("-m", "equipage", *arguments, cwd=repository(folder / "project", files))

    def _python(self, *arguments: str, cwd: Path) -> Result:
        return python(*arguments, cwd=cwd, env=environment(self.sources))


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path / "clone")


def recipe(name: str) -> str:
    """What CONTRIBUTING.md says, from the name of the recipe to that of the next one."""
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = re.search(rf"^- \*\*{name}\*\*.*?(?=^- \*\*|^\S)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return found[0]


PACK = """\
id: text.count
version: 1.0.0
description: Counts words.
deterministic: true
timeoutMs: 5
limits: {maxInputBytes: 65536, maxOutputBytes: 1024}
inputSchema: {type: object}
outputSchema: {type: object}
execution: {kind: python, module: 'tools.text:count'}
"""


def test_a_rule(clone: Clone, tmp_path: Path) -> None:
    """A function and its name in `RULES`; with the case, two files."""
    assert "`RULES`" in recipe("A rule")
    function = '''\
def timeout_is_long_enough(config: Any, _session: Session) -> Iterator[Fact]:
    """No tool answers within ten milliseconds."""
    found = mapping_or_empty(config).get("timeoutMs")
    if isinstance(found, int) and found < 10:
        from equipage.core.codes import OUT_OF_RANGE

        yield OUT_OF_RANGE.at(("timeoutMs",), found=Shown(found), expected="at least 10")


'''
    clone.change(
        "formats/toolpack/rules.py",
        ("RULES = (\n", function),
        ("    file_is_found_by_loaders,\n", "    timeout_is_long_enough,\n"),
    )
    done = clone.run(tmp_path, {"a.tool.yaml": PACK}, "check", "-f", "concise")
    assert done.out.startswith(
        "a.tool.yaml:5:12: error[out-of-range] 5 is out of range, expected at least 10"
    ), done.out + done.err
    assert len(clone.touched) == 1


def test_a_rule_with_a_code_of_its_own(clone: Clone, tmp_path: Path) -> None:
    """A line in `codes.py`, its words in `codes.toml`: two files more."""
    assert "`codes.py`" in recipe("A rule")
    assert "`codes.toml`" in recipe("A rule")
    clone.change(
        "formats/toolpack/codes.py",
        ("CODES = _codes.declared()", 'TIMEOUT_SHORT = _codes.warning("timeout-short")\n'),
    )
    words = """\
[timeout-short]
message = "no tool answers within {found} ms"
about = "A call that takes longer than its timeout is ended."
help = "write at least 10"

"""
    clone.change("formats/toolpack/codes.toml", ("[old-dialect]\n", words))
    function = '''\
def timeout_is_long_enough(config: Any, _session: Session) -> Iterator[Fact]:
    """No tool answers within ten milliseconds."""
    found = mapping_or_empty(config).get("timeoutMs")
    if isinstance(found, int) and found < 10:
        yield codes.TIMEOUT_SHORT.at(("timeoutMs",), found=Shown(found))


'''
    clone.change(
        "formats/toolpack/rules.py",
        ("RULES = (\n", function),
        ("    file_is_found_by_loaders,\n", "    timeout_is_long_enough,\n"),
    )
    done = clone.run(tmp_path, {"a.tool.yaml": PACK}, "check", "-f", "concise")
    assert "warning[timeout-short] no tool answers within 5 ms" in done.out, done.err
    assert len(clone.touched) == 3


def test_a_file_of_a_client(clone: Clone, tmp_path: Path) -> None:
    """A table, and the name of its client; with the case, three files."""
    assert "`client.toml`" in recipe("A file of a client")
    table = """\
kind = "tug-agent"
title = "Tug agent"
paths = [".tug/agents/*.md"]

[fields]
name = { meaning = "its name", required = "error" }
description = { meaning = "when to use it", required = "warning" }
tools = { meaning = "the only tools it may use", type = "names", restricts = true, split = "," }

[[grants]]
rows = [{ allows_only = "tools" }]

[example]
text = "---\\nname: NAME\\ndescription: Pulls.\\n---\\nPull.\\n"
"""
    clone.write("clients/tug/client.toml", 'name = "Tug"\n')
    clone.write("clients/tug/agent.toml", table)
    assert clone.make_stubs().code == 0
    agent = "---\nname: pull\ndescription: Pulls.\ntool: Bash\n---\nPull.\n"
    done = clone.run(tmp_path, {".tug/agents/pull.md": agent}, "check", "-f", "concise")
    assert done.out.startswith(
        ".tug/agents/pull.md:4:1: error[unknown-field] `tool` is not a field of a Tug agent"
    ), done.out + done.err
    assert len(clone.touched) == 2
    # Everything else follows from the table.
    listed = clone.run(tmp_path, {}, "new", "tug-agent", "push", "--stdout")
    assert listed.out == "---\nname: push\ndescription: Pulls.\n---\nPull.\n", listed.err


@pytest.mark.parametrize(
    ("client", "table", "said"),
    [
        ("name = ", "kind = 'tug-agent'", "tug/client.toml: "),
        ("titel = 'Tug'", "kind = 'tug-agent'", "tug/client.toml, the whole of it: "),
        ("name = 'Tug'", "kind = ", "tug/agent.toml: "),
        ("name = 'Tug'", "title = 'Tug agent'", "tug/agent.toml, the whole of it: there is no 'kind'\n"),
        ("name = 'Tug'", "like = 'tug/agents'", "tug/agent.toml, like: [Errno 2] No such file"),
        (
            "name = 'Tug'",
            "kind = 'tug-agent'\n[[grants]]\nrows = [{ allow_only = 'tools' }]",
            "tug/agent.toml, grants[1].rows[1]: there is no row `allow_only`\n",
        ),
    ],
)  # fmt: skip
def test_stubs_are_not_made_of_a_wrong_table(
    clone: Clone, client: str, table: str, said: str
) -> None:
    clone.write("clients/tug/client.toml", client)
    clone.write("clients/tug/agent.toml", table)
    done = clone.make_stubs()
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(said)


CREW = '''\
"""Kind `crew`: who is aboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.core.codes import INVALID_VALUE
from equipage.core.diagnostics import Fact, Shown
from equipage.loading.format import Format, Presentation
from equipage.loading.session import Session
from equipage.core.path import mapping_or_empty


class Crew(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Who is aboard."""

    captain: str
    """Who decides."""
    mates: tuple[str, ...] = ()
    """Everybody else."""


def captain_is_one(config: Any, _session: Session) -> Iterator[Fact]:
    """The captain is not a mate as well."""
    captain, mates = mapping_or_empty(config).get("captain"), mapping_or_empty(config).get("mates")
    if isinstance(mates, list) and captain in mates:
        path = ("mates", mates.index(captain))
        yield INVALID_VALUE.at(path, found=Shown(captain), allowed=("another name",))


FORMAT = Format(
    name="crew",
    title="crew",
    model=Crew,
    checks=(captain_is_one,),
    presentation=Presentation(example="captain: ann\\n", example_path="NAME.crew.yaml"),
)
'''
CREW_ROW = '    Recognition("crew", "equipage.formats.crew", ("*.crew.yaml",)),\n'


def test_a_format(clone: Clone, tmp_path: Path) -> None:
    """A module with `FORMAT` and a row of `BUILT_IN`; with the case, three files."""
    assert "`FORMAT`" in recipe("A format")
    assert "`project/registry.py`" in recipe("A format")
    clone.write("formats/crew.py", CREW)
    clone.change(
        "project/registry.py", ('    Recognition("toolpack", "equipage.formats.toolpack"', CREW_ROW)
    )
    files = {"a.crew.yaml": "captain: ann\nmates: [bob, ann]\nship: x\n"}
    done = clone.run(tmp_path, files, "check", "-f", "concise")
    lines = done.out.splitlines()
    assert lines[0].startswith("a.crew.yaml:2:14: error[invalid-value] `ann` is not a valid value")
    assert lines[1].startswith(
        "a.crew.yaml:3:1: error[unknown-field] `ship` is not a field of `crew`"
    )
    assert len(clone.touched) == 2
    known = clone.run(tmp_path, {}, "kinds")
    assert re.search(r"^crew\b", known.out, re.MULTILINE), known.out + known.err


CREW_CODES = """\
\"\"\"The codes of kind `crew`. Their words are in codes.toml.\"\"\"

from __future__ import annotations

from equipage.plugin import Catalogue

_codes = Catalogue(__file__)

CAPTAIN_TWICE = _codes.error("captain-twice")
CAPTAIN_ALONE = _codes.warning("captain-alone")

CODES = _codes.declared()
"""
CREW_WORDS = """\
[captain-twice]
message = "`{name}` is the captain already"
about = "The captain is not a mate as well."

[captain-alone]
message = "there is nobody but the captain"
about = "A ship that one person sails has no crew."
"""
CREW_CASE = """\
# A captain is no mate of a crew

A mate who is the captain as well gives orders to nobody.

`a.crew.yaml`
```yaml
captain: ann
mates: [ann]
```
"""


def test_a_format_with_codes_of_its_own_changes_eight_files(tmp_path: Path) -> None:
    """Those that are made count, too, and no recipe for a kind of file asks for more."""
    assert "eight" in recipe("A format")
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=REPOSITORY, text=True)
    write(tmp_path, {name: (REPOSITORY / name).read_bytes() for name in names.split("\0")[:-1]})
    commit(tmp_path)
    sources = tmp_path / "src/equipage"
    module = CREW.replace(
        'INVALID_VALUE.at(path, found=Shown(captain), allowed=("another name",))',
        "codes.CAPTAIN_TWICE.at(path, name=Shown(captain))\n"
        "    if mates == [captain]:\n"
        '        yield codes.CAPTAIN_ALONE.at(("mates",))',
    )
    module = module.replace(
        "equipage.core.codes import INVALID_VALUE", "equipage.formats.crew import codes"
    )
    module = module.replace("    checks=(", "    codes=codes.CODES,\n    checks=(")
    home = "src/equipage/formats/crew"
    case = "tests/cases/crew/captain-is-no-mate.md"
    files = {"__init__.py": module, "codes.py": CREW_CODES, "codes.toml": CREW_WORDS}
    write(tmp_path, {f"{home}/{name}": text for name, text in files.items()} | {case: CREW_CASE})
    registry = sources / "project/registry.py"
    text, first = registry.read_text(), '    Recognition("toolpack", "equipage.formats.toolpack"'
    registry.write_text(text.replace(first, CREW_ROW + first))
    env = environment(tmp_path / "src", EQUIPAGE_UPDATE_CASES="1")
    cases = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    chosen = ("-k", "crew or test_console and not as_processes")
    for arguments in (
        ("tools/faces.py",),
        (*cases, *chosen, "tests/test_cases.py", "tests/cli/test_consoles.py"),
        ("docs/build.py", "--pages"),
    ):
        done = python(*arguments, cwd=tmp_path, env=env)
        assert done.code == 0, done.out + done.err
    status = ["git", "status", "--short", "--untracked-files=all"]
    assert subprocess.check_output(status, cwd=tmp_path, text=True).splitlines() == [
        " M src/equipage/models.json",
        " M src/equipage/project/registry.py",
        "?? docs/reference/clients/crew.md",
        "?? docs/reference/findings/crew.md",
        f"?? {home}/__init__.py",
        f"?? {home}/codes.py",
        f"?? {home}/codes.toml",
        f"?? {case}",
    ]


def test_a_directive(clone: Clone, tmp_path: Path) -> None:
    """A class, and a stage of the kind that knows it; with the case, three files."""
    for each in ("`key`", "`codes`", "`schema`", "`expand`"):
        assert each in recipe("A directive")
    module = '''\
"""`$join`: several texts as one."""

from __future__ import annotations

from typing import ClassVar

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Shown
from equipage.directives import Directive, Expansion, Node
from equipage.loading.tree import Tree


class Join(Directive):
    """The texts of a list, with a blank between them."""

    key: ClassVar[str] = "$join"

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        texts = node.reference
        if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
            found = Shown(texts, as_found=True)
            expansion.report(node, core_codes.WRONG_TYPE, expected="a list of texts", found=found)
            return node.hole()
        expansion.report_siblings(node)
        return node.replace_with(Tree(" ".join(texts), node.tree.origins), "joined here")
'''
    clone.write("directives/join.py", module)
    stage = """\
def join_texts(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    from equipage.directives import expand
    from equipage.directives.join import Join

    return expand(tree, session, Join())


"""
    clone.change(
        "formats/toolpack/__init__.py",
        ("FORMAT = Format(\n", stage),
        ("rename_snake_case, normalise_network, resolve_schemas),\n", "join_texts, "),
    )
    right = PACK.replace("Counts words.", "{$join: [Counts, words.]}")
    wrong = right.replace("[Counts, words.]", "5").replace("text.count", "text.other")
    files = {"a.tool.yaml": right, "b.tool.yaml": wrong}
    done = clone.run(tmp_path, files, "check", "-f", "concise")
    assert done.out.startswith(
        "b.tool.yaml:3:22: error[wrong-type] expected a list of texts, found the number 5"
    ), done.out + done.err
    assert "a.tool.yaml" not in done.out
    assert len(clone.touched) == 2


def test_an_output_format(clone: Clone, tmp_path: Path) -> None:
    """A module with `render` and its row in `REPORTS`; with the case, three files."""
    assert "`REPORTS` of `render/__init__.py`" in recipe("An output format")
    assert "three files" in recipe("An output format")
    module = '''\
"""Comma-separated values: a line for each finding."""

from __future__ import annotations

from collections.abc import Iterator

from equipage.workspace.report import Report


def render(report: Report) -> Iterator[str]:
    """The rows, with a head."""
    yield "file,line,code\\n"
    for row in report.rows():
        yield f"{row.file},{row.line},{row.code}\\n"
'''
    clone.write("render/csv.py", module)
    row = '    "csv": OutputFormat("csv", "render", "spreadsheets: a row for each finding"),\n'
    clone.change("render/__init__.py", ('    "github": ', row))
    files = {"a.tool.yaml": PACK.replace("version", "verison")}
    done = clone.run(tmp_path, files, "check", "--output-format", "csv")
    assert done.out == (
        "file,line,code\na.tool.yaml,1,missing-field\na.tool.yaml,2,unknown-field\n"
    ), done.err
    assert len(clone.touched) == 2
    # The help and the messages know it too.
    unknown = clone.run(tmp_path, {}, "check", "--output-format", "cvs")
    assert "did you mean `csv`?" in unknown.err
    assert "concise, csv, github" in clone.run(tmp_path, {}, "check", "--help").out


COMMAND = '''\
"""`equipage count`: how many files there are of each kind."""

from __future__ import annotations

import argparse
from collections import Counter

from equipage.cli import OK
from equipage.cli.arguments import Parser, add_loading_options, add_paths
from equipage.cli.output import Output
from equipage.cli.request import paths_of, request_of
from equipage.workspace import Workspace
from equipage.workspace.graph import list_all


def declare(parser: Parser) -> None:
    parser.describe("Count the files under PATH.", ("equipage count", "those below this folder"))
    add_paths(parser)
    add_loading_options(parser, layers=False)


def run(options: argparse.Namespace, output: Output) -> int:
    rows = list_all(Workspace(paths_of(options), request_of(options), kind=options.kind))
    for kind, count in sorted(Counter(row.kind or "?" for row in rows).items()):
        output.write_data(f"{kind}: {count}\\n")
    return OK
'''


def test_a_command(clone: Clone, tmp_path: Path) -> None:
    """A module and a row of `COMMANDS`; with the session, three files."""
    for each in ("`declare(parser)`", "`run(options, output)`", "`COMMANDS`", "three files"):
        assert each in recipe("A command")
    clone.write("cli/count.py", COMMAND)
    row = '    "count": Command("count", "count files"),\n'
    clone.change("cli/__init__.py", ('    "schema": Command(', row))
    assert len(clone.touched) == 2
    done = clone.run(tmp_path, {"a.tool.yaml": PACK}, "count")
    assert (done.code, done.out) == (0, "toolpack: 1\n"), done.err
    # The helps know it too.
    assert re.search(r"^ +count +count files$", clone.run(tmp_path, {}, "--help").out, re.MULTILINE)
    assert clone.run(tmp_path, {}, "help", "count").out.startswith(
        "usage: equipage count [options] [PATH ...]\n\nCount the files under PATH.\n"
    )


def test_a_flag(clone: Clone, tmp_path: Path) -> None:
    """A line in `declare`, and one in `run`: one file."""
    assert "`declare`" in recipe("A flag")
    clone.change(
        "cli/list.py",
        (
            "    add_output_option(parser)\n",
            '    add_flag(parser, "--broken", "only what has errors")\n',
        ),
        (
            '    if options.output_format == "json":\n',
            "    rows = [row for row in rows if row.errors or not options.broken]\n",
        ),
        ("    add_format_option,\n", "    add_flag,\n"),
    )
    files = {"a.tool.yaml": PACK, "b.tool.yaml": "id: 5\n"}
    done = clone.run(tmp_path, files, "list", "--broken")
    assert done.code == 1, done.err
    assert ("a.tool.yaml" in done.out, "b.tool.yaml" in done.out) == (False, True)
    assert len(clone.touched) == 1
