"""Build the documentation: generate the reference from the program itself, then the site, warnings as errors.

A page per kind comes from its Structs, a page per code from the registry and from the case files that show it. Where a
finding has a safe fix, the mended file on the page is made by the very fixer.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from msgspec import inspect as types

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
sys.path[:0] = [str(ROOT / "tests")]

from casefiles import Case, cases_in  # noqa: E402 - the path to it is made above
from lading.codes import Code  # noqa: E402
from lading.fixes import repair  # noqa: E402
from lading.kinds.registry import all_codes, kind_named, names  # noqa: E402
from lading.model import describe, type_info  # noqa: E402


def main() -> int:
    kinds = [_write(f"kinds/{name}.md", _kind_page(name)) for name in sorted(names())]
    shown = _cases_by_code()
    for name, code in sorted(all_codes().items()):
        _write(f"codes/{name}.md", _code_page(code, shown.get(name)))
    codes = _write("codes/index.md", _index())
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    if (ROOT / "docs" / "security.md").exists():
        settings["nav"].append({"Security": "security.md"})
    settings["nav"] += [{"Kinds": kinds}, {"Codes": codes}]
    settings["docs_dir"], settings["site_dir"] = str(ROOT / "docs"), str(ROOT / "site")
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "mkdocs.yml"
        config.write_text(yaml.safe_dump(settings, sort_keys=False))
        environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean", "--quiet", "-f", str(config)]
        return subprocess.run(command, check=False, env=environment).returncode


def _write(name: str, text: str) -> str:
    path = REFERENCE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return f"reference/{name}"


# ---------------------------------------------------------------------------------------------------- kinds


def _kind_page(name: str) -> str:
    kind = kind_named(name)
    formats = ", ".join(f"`{extension}`" for extension in kind.formats)
    parts = [f"# {name}\n", f"A {kind.title}. Files: {formats}. `lading schema {name}` writes its JSON Schema.\n"]
    for info in _structs(type_info(kind.model)):
        parts.append(f"## {_words(info.cls.__name__)}\n")
        about = (info.cls.__doc__ or "").strip().split("\n\n")[0]
        if about and not about.startswith(info.cls.__name__):
            parts.append(" ".join(about.split()) + "\n")
        parts.append("| field | type | default |\n|---|---|---|")
        parts += [
            f"| `{field.encode_name}` | {_cell(describe(field.type))} | {_default(field)} |" for field in info.fields
        ]
        parts.append("")
    if kind.example:
        fence = "yaml" if ".yaml" in kind.formats else "text"
        parts += [
            "## A first file\n",
            f"`lading new {name} NAME` writes it.\n",
            f"````{fence}",
            kind.example.rstrip(),
            "````",
        ]
    return "\n".join(parts) + "\n"


def _field(field: types.Field) -> str:
    return f"| `{field.encode_name}` | {_cell(describe(field.type))} | {_default(field)} |"


def _structs(kind: Any, seen: dict[type, types.StructType] | None = None) -> list[types.StructType]:
    """Every Struct a model is made of, in the order it is met."""
    seen = {} if seen is None else seen
    if isinstance(kind, types.StructType):
        if kind.cls not in seen:
            seen[kind.cls] = kind
            for field in kind.fields:
                _structs(field.type, seen)
    elif isinstance(kind, types.UnionType):
        for each in kind.types:
            _structs(each, seen)
    elif isinstance(kind, types.VarTupleType | types.ListType):
        _structs(kind.item_type, seen)
    elif isinstance(kind, types.DictType):
        _structs(kind.value_type, seen)
    return list(seen.values())


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).capitalize()


def _default(field: types.Field) -> str:
    if field.required:
        return "**required**"
    if field.default in (None, "", (), {}) or type(field.default).__name__ == "NODEFAULT":
        return ""
    return f"`{_cell(str(field.default))[:60]}`" if isinstance(field.default, str | int | float) else ""


def _cell(text: str) -> str:
    return html.escape(" ".join(text.split()), quote=False).replace("|", "\\|")


# ---------------------------------------------------------------------------------------------------- codes


def _index() -> str:
    known = sorted(all_codes().items())
    rows = [f"| [{name}]({name}.md) | {code.severity} | {_cell(code.about)} |" for name, code in known]
    head = "# Codes\n\nEvery finding has a code. `lading rule CODE` tells the same as its page.\n\n"
    return head + "\n".join(["| code | severity | what it means |\n|---|---|---|", *rows]) + "\n"


def _cases_by_code() -> dict[str, Case]:
    """For each code the smallest case that shows it, one with a fix if there is one."""
    found: dict[str, Case] = {}
    for case in cases_in(ROOT / "tests" / "cases"):
        for code in set(re.findall(r"\[([a-z0-9-]+)\]", case.findings)):
            if code not in found or _weight(case, code) < _weight(found[code], code):
                found[code] = case
    return found


def _weight(case: Case, code: str) -> tuple[bool, int]:
    told = "\n".join(_told(case, code))
    size = sum(len(text) for text in case.files.values()) + 2000 * ("layers" in case.settings)
    return "\n  fix: " not in told, size


def _told(case: Case, code: str) -> list[str]:
    """The findings of a code as the case writes them, with what belongs to them."""
    findings = re.split(r"^(?=\S)", case.findings, flags=re.MULTILINE)
    return [each.rstrip() for each in findings if f"[{code}]" in each.partition("\n")[0]][:3]


def _code_page(code: Code, case: Case | None) -> str:
    about = html.escape(code.about, quote=False)
    parts = [f"# {code.name}\n", f"*{code.severity}*\n", "```text", code.message, "```\n", f"{about}\n"]
    if case is None:
        return "\n".join(parts)
    parts.append("## Example\n")
    parts += [_file(name, text) for name, text in case.files.items() if isinstance(text, str) and len(text) < 4000]
    parts += ["```text", *_told(case, code.name), "```\n"]
    mended = _mended(case, code.name)
    if mended:
        parts += ["## Mended by `lading check --fix`\n", *(_file(name, text) for name, text in mended.items())]
    return "\n".join(parts)


def _file(name: str, text: str) -> str:
    return f"`{name}`\n\n````text\n{text.rstrip()}\n````\n"


def _mended(case: Case, code: str) -> dict[str, str]:
    """The files after the safe fixes of that code, if there are any."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        case.write(Path(folder))
        os.chdir(folder)
        try:
            diagnostics = [each for each in case.run()[0] if each.code == code and each.fix and each.fix.safe]
        finally:
            os.chdir(before)
    return {each.source.name: each.text for each in repair(diagnostics)[0]}


if __name__ == "__main__":
    sys.exit(main())
