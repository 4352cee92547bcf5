"""Record what the product finds and loads, and compare two recordings.

    python tools/golden.py record before.json
    python tools/golden.py compare before.json after.json

A recording holds results and no prose: codes, places, edits, digests and schemas, but not messages,
help or titles. Make one before a change that must not alter behaviour and another after it.
`compare` shows what differs, and exits with 1 if anything does.

The inputs are the case files of `tests/cases` and `tests/cli/cases`, the folders of `examples`, and
those of a corpus beside the repository, where there is one. Each input is written to a folder of
its own. There,

- the command checks everything, and the file that a case names also by itself, with its kind;
- `load` loads that file, or, for an input that names none, every file the command recognised;
- the value of each load is validated against the JSON Schema that the command writes for its kind.

Only the public interface is used (`load`, `LoadError` and `<package>.cli.main`), so modules may
move. The package is the one below `src`, by its old or its new name. Recordings of the two compare
equal, because one token replaces both names. A case is identified by a hash of its inputs, with the
name replaced, so its title, prose and file name may change. Where the length of the name alters a
result, less is recorded: a place in a file that holds the name has no columns, and a value that
holds it has no digest.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import difflib
import functools
import hashlib
import importlib
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: The names of the product, the newer one first, and what is recorded instead of them.
NAMES = ("equipage", "lading")
TOKEN = "<product>"
_NAME = re.compile("|".join(NAMES), re.IGNORECASE)
_NAME_IN_BYTES = re.compile(_NAME.pattern.encode(), re.IGNORECASE)

#: Kinds whose schema is recorded even if no input is of them.
KINDS = (
    "agent_md",
    "blueprint",
    "claude-agent",
    "claude-command",
    "claude-marketplace",
    "claude-plugin",
    "codex-agent",
    "copilot-agent",
    "copilot-instructions",
    "copilot-prompt",
    "cursor-agent",
    "cursor-rule",
    "gemini-agent",
    "gemini-command",
    "mcp",
    "opencode-agent",
    "opencode-command",
    "profile",
    "server",
    "settings",
    "skill",
    "toolpack",
)

#: Options of `load` that the command takes too, and how it spells them.
FLAGS = {
    "library": "--library",
    "include_roots": "--include-root",
    "default_agent_kind": "--default-agent-kind",
}

#: What a difference may show of one entry.
MOST_LINES = 80

Json = Any


# ------------------------------------------------------------------------------------------- inputs


@dataclass(frozen=True)
class Subject:
    """Files to check and load, and how.

    `kind` is the kind of the file that a case loads; None means to load every file that is
    recognised. `settings` are those of the case file.
    """

    label: str
    files: dict[str, bytes]
    links: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    kind: str | None = None

    @property
    def entry(self) -> str | None:
        """The file to load; None where a case only checks, or where every file is loaded."""
        if self.kind is None or "layers" in self.settings or self.settings.get("check"):
            return None
        return str(self.settings.get("entry") or next(iter(self.files)))

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of everything that goes in, which renaming the product does not change."""
        files = {neutral(name): _neutral_hash(data) for name, data in self.files.items()}
        parts = [files, neutral(self.links), neutral(self.settings), self.kind, neutral(self.entry)]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def write(self, folder: Path) -> None:
        """Write the files and links, in what looks like the root of a repository."""
        for name, data in self.files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        for name, link in self.links.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(link)
        (folder / ".git").mkdir(exist_ok=True)


# A block of a case file, with the name of a file in backticks on the line before it if it is one.
_BLOCK = re.compile(
    r"^(?:`(?P<name>[^`\n]+)`\n+)?"
    r"(?P<fence>`{3,})(?P<tag>[a-z0-9_-]*)\n(?P<body>.*?)(?<=\n)(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
#: Blocks that are expectations or settings, even after something in backticks.
_NOT_FILES = {"settings", "findings", "result", "console"}


def read_case(path: Path, label: str, kind: str | None) -> Subject:
    """The inputs of a case file, without what it expects. Its settings may name another kind."""
    case = Subject(label, {}, kind=kind)
    for match in _BLOCK.finditer(path.read_text(encoding="utf-8")):
        name, tag, body = match["name"], match["tag"], match["body"]
        if tag == "settings":
            case.settings.update(json.loads(body))
        elif name is None or tag in _NOT_FILES:
            continue
        elif tag == "symlink":
            case.links[name] = body.strip()
        else:
            case.files[name] = base64.b64decode(body) if tag == "base64" else body.encode()
    named = case.settings.get("kind", kind)
    return Subject(label, case.files, case.links, case.settings, named)


def read_tree(folder: Path, label: str) -> Subject:
    """Every file and link below a folder."""
    tree = Subject(label, {})
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if {".git", "__pycache__"} & set(inside.parts):
            continue
        if path.is_symlink():
            tree.links[inside.as_posix()] = os.readlink(path)
        elif path.is_file():
            tree.files[inside.as_posix()] = path.read_bytes()
    return tree


def subjects_in(root: Path, corpus: Path) -> Iterator[tuple[str, Subject]]:
    """Every input with its key: the hash of a case, the place of a folder."""
    cases = root / "tests" / "cases"
    for path in sorted(cases.glob("*/**/*.md")):
        place = path.relative_to(cases)
        case = read_case(path, f"tests/cases/{place.as_posix()}", place.parts[0])
        yield f"case {case.fingerprint}", case
    for path in sorted((root / "tests" / "cli" / "cases").glob("*.md")):
        case = read_case(path, f"tests/cli/cases/{path.name}", None)
        if case.files:
            yield f"console {case.fingerprint}", case
    for base, name in ((root / "examples", "examples"), (corpus, "corpus")):
        for folder in sorted(each for each in base.glob("*") if each.is_dir()):
            label = f"{name}/{folder.name}"
            yield neutral(label), read_tree(folder, label)


# -------------------------------------------------------------------------- the name of the product


def neutral(value: Json, folder: str = "") -> Json:
    """A value with a token for each name of the product in any text, and one for a folder."""
    if isinstance(value, str):
        return _NAME.sub(TOKEN, value.replace(folder, "<cwd>") if folder else value)
    if isinstance(value, Mapping):
        return {neutral(key, folder): neutral(each, folder) for key, each in value.items()}
    return [neutral(each, folder) for each in value] if isinstance(value, list) else value


def _neutral_hash(data: bytes) -> str:
    return hashlib.sha256(_NAME_IN_BYTES.sub(TOKEN.encode(), data)).hexdigest()


@functools.cache
def _holds_name(path: str) -> bool:
    """Whether a file that was written for a subject holds the name of the product."""
    try:
        return _NAME_IN_BYTES.search(Path(path).read_bytes()) is not None
    except (OSError, ValueError):  # no such file, a folder, a name such as `<string>`
        return False


# ----------------------------------------------------------------------------------------- findings


def finding(diagnostic: Mapping[str, Json]) -> dict[str, Json]:
    """What is recorded of a diagnostic in the shape of `--output-format json`."""
    fix = diagnostic["fix"]
    return {
        "code": diagnostic["code"],
        "severity": diagnostic["severity"],
        "path": diagnostic["path"],
        "pointer": diagnostic["pointer"],
        "count": diagnostic["count"],
        **_place(diagnostic),
        "fix": fix
        and {
            "safe": fix["safe"],
            "edits": [{**_place(each), "text": each["text"]} for each in fix["edits"]],
        },
        "related": [{**_place(each), "path": each["path"]} for each in diagnostic["related"]],
    }


def _place(where: Mapping[str, Json]) -> dict[str, Json]:
    """A file and a stretch of it, without columns where the length of a name may shift them."""
    file = where["file"]
    if file is not None and _holds_name(os.path.realpath(file)):
        return {"file": file, "line": where["line"]}
    names = ("file", "line", "column", "end_line", "end_column")
    return {name: where[name] for name in names}


def as_json(diagnostic: Any) -> dict[str, Json]:
    """A `Diagnostic` of the package in the shape of `--output-format json`."""
    fix = diagnostic.fix
    edits = [{**_stretch(each.span), "text": each.text} for each in fix.edits] if fix else []
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "path": diagnostic.path,
        "pointer": diagnostic.pointer,
        "count": diagnostic.count,
        **_stretch(diagnostic.span, diagnostic.file),
        "fix": {"safe": fix.safe, "edits": edits} if fix else None,
        "related": [{**_stretch(each.span), "path": each.path} for each in diagnostic.related],
    }


def _stretch(span: Any, file: str | None = None) -> dict[str, Json]:
    names = ("file", "line", "column", "end_line", "end_column")
    if span is None:
        return dict.fromkeys(names) | {"file": file}
    start, end = span.source.position(span.start), span.source.position(span.end)
    return dict(zip(names, (span.source.name, *start, *end), strict=True))


# ---------------------------------------------------------------------------------------- recording


class Product:
    """The package, used as a program uses it: its functions, and its command in this process."""

    def __init__(self, name: str) -> None:
        package = importlib.import_module(name)
        self.name = name
        self.load = package.load
        self.load_error: Any = package.LoadError
        self._main = importlib.import_module(f"{name}.cli").main
        self._schemas: dict[str, Json] = {}
        self._validators: dict[str, Callable[[Json], bool] | None] = {}

    def run(self, *arguments: str) -> tuple[int, str]:
        """The exit code of a command and what it writes to standard output."""
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = self._main(list(arguments))
            except SystemExit as leaving:
                code = leaving.code if isinstance(leaving.code, int) else 1
        out.flush()
        assert isinstance(out.buffer, io.BytesIO)
        return code, out.buffer.getvalue().decode()

    def schema(self, kind: str) -> Json:
        """The JSON Schema of a kind as the command writes it, None if it writes none."""
        if kind not in self._schemas:
            code, text = self.run("schema", kind)
            self._schemas[kind] = json.loads(text) if code == 0 else None
        return self._schemas[kind]

    def valid(self, kind: str, value: Json) -> bool | None:
        """Whether a value is valid by the schema of a kind, None if the kind has no schema."""
        if kind not in self._validators:
            import jsonschema_rs  # only here, so that `compare` runs where nothing is installed

            schema = self.schema(kind)
            self._validators[kind] = schema and jsonschema_rs.validator_for(schema).is_valid
        is_valid = self._validators[kind]
        return None if is_valid is None else is_valid(value)


@contextlib.contextmanager
def surroundings(folder: Path, variables: Mapping[str, str]) -> Iterator[None]:
    """Work in a folder, with a fresh environment: `variables`, a path and a home without files."""
    before, kept = os.getcwd(), dict(os.environ)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update({"PATH": kept.get("PATH", ""), "HOME": "/nonexistent", **variables})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)
        os.chdir(before)


def record_subject(subject: Subject, product: Product, folder: Path) -> dict[str, Json]:
    """Everything that is recorded of an input, which is written to an empty folder first."""
    subject.write(folder)
    result = _record_layers(subject, product, folder) or _record_files(subject, product, folder)
    about = {"labels": [subject.label], "inputs": subject.fingerprint}
    return {**about, **neutral(result, str(folder))}


def _record_layers(subject: Subject, product: Product, folder: Path) -> dict[str, Json] | None:
    """The check of a case about the layers seen from a folder, None for other subjects."""
    if "layers" not in subject.settings:
        return None
    layers = subject.settings["layers"]
    cwd = folder / layers.get("cwd", ".")
    (cwd / ".git").mkdir(parents=True, exist_ok=True)
    places = {"xdg": "XDG_CONFIG_HOME", "home": "HOME"}
    homes = {name: str(folder / layers[key]) for key, name in places.items() if key in layers}
    flags = ["--local"] if layers.get("local") else []
    flags += [f"--config={each}" for each in layers.get("overrides", ())]
    with surroundings(cwd, {**homes, **subject.settings.get("env", {})}):
        result = {"check": check(subject, product, *flags, ".")}
        _forget_digests(result, {})
    return result


def _record_files(subject: Subject, product: Product, folder: Path) -> dict[str, Json]:
    """The checks and loads of a subject without layers."""
    settings = subject.settings
    asked = settings.get("check")
    paths = asked if isinstance(asked, list) else ["."]
    flags = list(_flags(settings))
    with surroundings(folder, settings.get("env", {})):
        result: dict[str, Json] = {"check": check(subject, product, *flags, *paths)}
        if subject.entry is not None:
            flags += ["--kind", str(subject.kind)]
            result["check entry"] = check(subject, product, *flags, subject.entry)
            entries = {subject.entry: subject.kind}
        elif subject.kind is None:
            files = result["check"].get("files", {})
            entries = {path: None for path, each in files.items() if each["kind"]}
        else:
            entries = {}
        loads = {path: load(subject, product, path, kind) for path, kind in entries.items()}
        _forget_digests(result, loads)
    return {**result, "loads": loads}


def _flags(settings: Mapping[str, Any]) -> Iterator[str]:
    """The options of a case as the command takes them; some are for `load` only."""
    for name, value in settings.get("options", {}).items():
        if name in FLAGS:
            for each in value if isinstance(value, list) else [value]:
                yield from (FLAGS[name], str(each))
    if settings.get("embedded"):
        yield "--embedded"


def check(subject: Subject, product: Product, *arguments: str) -> dict[str, Json]:
    """What `check` reports and how it exits; no report if the arguments were refused."""
    code, text = product.run("check", "--output-format", "json", "--jobs", "1", *arguments)
    if not text:
        return {"exit": code}
    report = json.loads(text)
    findings = [finding(each) for each in report["diagnostics"]]
    if _NAME.search(" ".join(subject.files)):  # findings are sorted by file, and so by the name
        findings.sort(key=lambda each: json.dumps(neutral(each), sort_keys=True))
    files = {each["path"]: _file(each) for each in report["files"]}
    return {"exit": code, "files": files, "diagnostics": findings}


def _file(each: Mapping[str, Json]) -> dict[str, Json]:
    used_by = sorted(neutral(each["used_by"]))
    return {"kind": each["kind"], "ok": each["ok"], "digest": each["digest"], "used_by": used_by}


def load(subject: Subject, product: Product, path: str, kind: str | None) -> dict[str, Json]:
    """What a load finds, and the digest of what it makes; or which error it ends with."""
    settings = subject.settings
    options = {"embedded": bool(settings.get("embedded")), **settings.get("options", {})}
    try:
        loaded = product.load(path, kind=kind, env=settings.get("env", {}), **options)
    except product.load_error as error:
        return {"diagnostics": [finding(as_json(each)) for each in error.diagnostics]}
    except Exception as error:
        return {"raised": type(error).__name__}
    findings = [finding(as_json(each)) for each in loaded.warnings]
    result = {"kind": loaded.kind, "diagnostics": findings}
    try:
        text = json.dumps(loaded.to_dict())
    except (TypeError, ValueError) as error:
        return {**result, "digest": loaded.digest, "value": type(error).__name__}
    result["valid"] = product.valid(loaded.kind, json.loads(text))
    if _NAME.search(text):
        return {**result, "named": True}
    value = hashlib.sha256(text.replace(os.getcwd(), "<cwd>").encode()).hexdigest()
    return {**result, "digest": loaded.digest, "value": value}


def _forget_digests(checks: Mapping[str, Json], loads: Mapping[str, Json]) -> None:
    """Take the digests out of checks that depend on the name of the product.

    The value is that of the load, where there is one; else the text of the file has to tell.
    """
    for report in checks.values():
        for path, each in report.get("files", {}).items():
            loaded = loads.get(path)
            if loaded.get("named") if loaded else _holds_name(os.path.realpath(path)):
                each["digest"] = None


# ------------------------------------------------------------------------------------------ schemas

_PROSE = {"title", "description", "$id", "$comment"}
#: Keywords whose keys are names that an author chose, and those whose values are not schemas.
_NAMED_PARTS = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
_DATA = {"const", "enum", "default", "examples", "required"}
_REFERENCE = "#/$defs/"


def bare_schema(schema: Json) -> Json:
    """A schema without prose, its definitions numbered in the order in which they are referred to.

    The names of definitions come from classes, which may be renamed.
    """
    definitions = schema.get("$defs", {})
    numbers: dict[str, str] = {}
    main = _bare({key: each for key, each in schema.items() if key != "$defs"}, numbers)
    found: dict[str, Json] = {}
    while len(found) < len(numbers):  # each definition may refer to further ones
        name = list(numbers)[len(found)]
        found[numbers[name]] = _bare(definitions[name], numbers)
    unused = sorted(definitions.keys() - numbers.keys())
    return {"schema": main, "definitions": found, "unused": unused}


def _bare(schema: Json, numbers: dict[str, str]) -> Json:
    if isinstance(schema, list):
        return [_bare(each, numbers) for each in schema]
    if not isinstance(schema, dict):
        return schema
    bare: dict[str, Json] = {}
    for key, each in schema.items():
        if key in _PROSE:
            continue
        if key == "$ref" and isinstance(each, str) and each.startswith(_REFERENCE):
            name = each.removeprefix(_REFERENCE)
            bare[key] = _REFERENCE + numbers.setdefault(name, str(len(numbers) + 1))
        elif key in _NAMED_PARTS and isinstance(each, dict):
            bare[key] = {name: _bare(part, numbers) for name, part in each.items()}
        else:
            bare[key] = each if key in _DATA else _bare(each, numbers)
    return bare


def kinds_in(results: Mapping[str, Json]) -> set[str]:
    """Every kind that a recorded file turned out to be of."""
    loads = (each for result in results.values() for each in result.get("loads", {}).values())
    return {str(each["kind"]) for each in loads if each.get("kind")}


# ----------------------------------------------------------------------------------------- commands


def record(root: Path, corpus: Path, package: str) -> dict[str, Json]:
    """A recording of a package over all inputs of a tree."""
    product = Product(package)
    results: dict[str, Json] = {}
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary).resolve()
        for number, (key, subject) in enumerate(subjects_in(root, corpus)):
            if key in results:  # two cases with the same inputs
                results[key]["labels"].append(subject.label)
                continue
            folder = base / str(number)
            folder.mkdir()
            results[key] = record_subject(subject, product, folder)
        with surroundings(base, {}):
            kinds = sorted({*KINDS, *kinds_in(results)})
            schemas = {kind: product.schema(kind) for kind in kinds}
    bare = {kind: each and neutral(bare_schema(each)) for kind, each in schemas.items()}
    return {"package": package, "results": results, "schemas": bare}


def compare(before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[str]:
    """A description of each difference between two recordings."""
    for part in ("results", "schemas"):
        old, new = before[part], after[part]
        titles = {key: _title(key, each) for key, each in {**old, **new}.items()}
        for key in sorted(titles, key=titles.__getitem__):
            if key not in new:
                yield f"only before: {titles[key]}\n"
            elif key not in old:
                yield f"only after: {titles[key]}\n"
            elif _compared(old[key]) != _compared(new[key]):
                yield _difference(key, old[key], new[key])


def _title(key: str, entry: Json) -> str:
    labels = entry.get("labels") if isinstance(entry, dict) else None
    return ", ".join(labels) if labels else f"{key} (schema)"


def _compared(entry: Json) -> Json:
    """What of an entry must be the same: its results, not the names and texts of its inputs."""
    if not isinstance(entry, dict):
        return entry
    return {key: each for key, each in entry.items() if key not in ("labels", "inputs")}


def _difference(key: str, old: Json, new: Json) -> str:
    """The lines of an entry that differ, with those around them."""
    texts = [json.dumps(_compared(each), indent=1, sort_keys=True) for each in (old, new)]
    before, after = (text.splitlines() for text in texts)
    lines = list(difflib.unified_diff(before, after, "before", "after", lineterm="", n=8))
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"… and {len(lines) - MOST_LINES} more lines"]
    inputs = [each.get("inputs") if isinstance(each, dict) else None for each in (old, new)]
    note = "" if inputs[0] == inputs[1] else " (its files differ, too)"
    return "\n".join([f"differs: {_title(key, new)}{note}", *(f"  {line}" for line in lines), ""])


def package_in(root: Path) -> str:
    """The package of a tree, by the folder of its sources. Exits if there is none."""
    for name in NAMES:
        if (root / "src" / name / "__init__.py").is_file():
            return name
    sys.exit(f"there is no package {' or '.join(NAMES)} in src")


def main() -> int:
    here = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description="Record what the product does, and compare.")
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="write a recording")
    recording.add_argument("output", type=Path, metavar="OUT.json")
    recording.add_argument("--package", choices=NAMES, help="by default, the one below src")
    recording.add_argument("--root", type=Path, default=here, help="the tree (default: this one)")
    recording.add_argument("--corpus", type=Path, help="by default ../shared/corpus of the tree")
    comparing = commands.add_parser("compare", help="show differences; exit 1 if there are any")
    comparing.add_argument("before", type=Path, metavar="A.json")
    comparing.add_argument("after", type=Path, metavar="B.json")
    options = parser.parse_args()
    if options.command == "compare":
        return _compare(options.before, options.after)
    return _record(options)


def _record(options: argparse.Namespace) -> int:
    root = options.root.resolve()
    corpus = (options.corpus or root.parent / "shared" / "corpus").resolve()
    if options.corpus and not corpus.is_dir():
        sys.exit(f"there is no folder {options.corpus}")
    sys.path.insert(0, str(root / "src"))
    recording = record(root, corpus, options.package or package_in(root))
    text = json.dumps(recording, indent=1, sort_keys=True) + "\n"
    options.output.write_text(text, encoding="utf-8")
    groups: dict[str, int] = {}
    for key in recording["results"]:
        group = re.split("[ /]", key)[0]
        groups[group] = groups.get(group, 0) + 1
    counts = ", ".join(f"{count} {group}" for group, count in groups.items())
    print(f"{recording['package']}: {counts}, {len(recording['schemas'])} schemas")
    return 0


def _compare(before: Path, after: Path) -> int:
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    count = 0
    for count, difference in enumerate(compare(old, new), start=1):  # noqa: B007
        print(difference)
    print(f"{count} differences" if count else "no difference")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
