"""Build and check what a release publishes: every distribution, and what went into it.

    python tools/release.py dist            into dist/
    python tools/release.py reproducible    build twice, elsewhere and later, and compare the bytes
    python tools/release.py release         both, and look at what was built

Each distribution is a wheel and a source archive. Beside them lie `NAME.cdx.json` (CycloneDX 1.5,
by `uv export`: every package that it needs, in the version and with the hashes that tools/pins
has, and which needs which) and `provenance.json` (an in-toto statement: what was built, from which
commit, by which builder). All of it depends on the commit alone. Nothing is signed or published
here: docs/how-to/release.md says what does.
"""

from __future__ import annotations

import email
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from email.message import Message
from pathlib import Path
from typing import Any

import pins

ROOT = Path(__file__).resolve().parent.parent
#: a line that names a package, and the hashes below it
PIN = re.compile(
    r"^(?P<name>[\w.-]+)==(?P<version>[^ \\;]+)(?P<rest>[^#]*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL
)


def git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def distributions(checkout: Path) -> dict[str, Path]:
    """The folder of each distribution, by its name; equipage itself comes first."""
    folders = (checkout, *sorted(checkout.glob("packages/*")))
    return {pins.project(each)["project"]["name"]: each for each in folders}


def version_of(checkout: Path) -> str:
    """The version of all distributions. Raises `SystemExit` if they differ."""
    text = (checkout / "src/equipage/__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found is not None
    for name, folder in distributions(checkout).items():
        project = pins.project(folder)["project"]
        if project.get("version", found[1]) != found[1]:
            raise SystemExit(f"release: {name} is {project['version']}, equipage is {found[1]}")
    return found[1]


# What went into it.


def pinned(names: Iterable[str]) -> tuple[list[str], set[str]]:
    """What distributions need, as constraints without doubles, and the hashes it may have."""
    texts = [(pins.PINS / f"{each}.txt").read_text(encoding="utf-8") for each in names]
    found = [each for text in texts for each in PIN.finditer(text)]
    hashes = {one for each in found for one in re.findall(r"sha256:([0-9a-f]{64})", each["rest"])}
    return sorted({f"{each['name']}=={each['version']}" for each in found}), hashes


def workspace(folder: Path, checkout: Path) -> None:
    """The distributions as a workspace of uv, which is asked for nothing but its edges."""
    version = version_of(checkout)
    for name, source in distributions(checkout).items():
        project = pins.project(source)["project"]
        needs = json.dumps(project["dependencies"])
        text = f'[project]\nname = "{name}"\nversion = "{version}"\ndependencies = {needs}\n'
        text += f'requires-python = "{project["requires-python"]}"\n[tool.uv]\npackage = false\n'
        if source == checkout:
            limits, _ = pinned(distributions(checkout))
            text += f"constraint-dependencies = {json.dumps(limits)}\n"
            text += '[tool.uv.workspace]\nmembers = ["packages/*"]\n'
        else:
            text += "[tool.uv.sources]\nequipage = { workspace = true }\n"
        target = folder / source.relative_to(checkout)
        target.mkdir(parents=True, exist_ok=True)
        (target / "pyproject.toml").write_text(text, encoding="utf-8")


def bill_of_materials(name: str, folder: Path) -> dict[str, Any]:
    """What `uv` says of a distribution in a workspace, without what differs between two runs."""
    command = [sys.executable, "-m", "uv", "export", "--quiet", "--format", "cyclonedx1.5"]
    command += ["--package", name, "--no-dev"]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return without_chance(found, pinned(distributions(ROOT))[1])


def without_chance(bill: dict[str, Any], hashes: set[str]) -> dict[str, Any]:
    """A bill that depends on the commit: no serial, no time, no files that came after the pins."""
    bill.pop("serialNumber", None)
    bill["metadata"].pop("timestamp", None)
    for component in bill["components"]:
        files = component.get("externalReferences", ())
        kept = [each for each in files if {one["content"] for one in each["hashes"]} <= hashes]
        listed = sorted({one["content"] for each in kept for one in each["hashes"]})
        component.pop("externalReferences", None)
        # One for each file of it: which of them is installed depends on the system.
        component["hashes"] = [{"alg": "SHA-256", "content": each} for each in listed]
    return bill


def provenance(files: list[Path], commit: str, builder: str) -> dict[str, Any]:
    sources = [*sorted(pins.PINS.glob("*.txt")), ROOT / "pyproject.toml"]
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": each.name, "digest": {"sha256": digest(each)}} for each in files],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:equipage:hatchling:1",
                "externalParameters": {"target": "dist"},
                "internalParameters": {
                    "python": ".".join(map(str, sys.version_info[:2])),
                    "builder": builder,
                },
                "resolvedDependencies": [
                    {"uri": "git+equipage", "digest": {"gitCommit": commit}},
                    *(
                        {
                            "uri": f"file:{each.relative_to(ROOT).as_posix()}",
                            "digest": {"sha256": digest(each)},
                        }
                        for each in sources
                    ),
                ],
            },
            "runDetails": {"builder": {"id": "urn:equipage:tools/release.py"}},
        },
    }


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# What is built.


def build(checkout: Path, target: Path, commit: str, epoch: str) -> list[Path]:
    """Build from a clean checkout of the commit, so that no file beside it can slip in."""
    from hatchling.__about__ import __version__ as hatchling

    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, checkout], check=True)
    subprocess.run(["git", "-C", checkout, "checkout", "--quiet", commit], check=True)
    version_of(checkout)
    for folder in distributions(checkout).values():
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-d", target],
            cwd=folder,
            env={**os.environ, "SOURCE_DATE_EPOCH": epoch},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    built = sorted(target.iterdir())
    with tempfile.TemporaryDirectory() as made:
        workspace(Path(made), checkout)
        accounts = {
            f"{n}.cdx.json": bill_of_materials(n, Path(made)) for n in distributions(checkout)
        }
    accounts["provenance.json"] = provenance(built, commit, f"hatchling {hatchling}")
    for name, value in accounts.items():
        (target / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    return sorted(target.iterdir())


def build_again(files: list[Path], scratch: Path, commit: str, epoch: str) -> list[str]:
    """The names of the files that differ in another folder, with another mask, in another zone."""
    os.umask(0o077)
    os.environ["TZ"] = "Pacific/Auckland"
    second = scratch / "elsewhere with a blank" / "out"
    second.mkdir(parents=True)
    build(second.parent / "checkout", second, commit, epoch)
    return [each.name for each in files if (second / each.name).read_bytes() != each.read_bytes()]


def problems(files: list[Path]) -> Iterator[str]:
    """What is wrong with the distributions in a folder."""
    for name, folder in distributions(ROOT).items():
        project, stem = pins.project(folder)["project"], name.replace("-", "_")
        wheels = [
            each for each in files if each.name.startswith(f"{stem}-") and each.suffix == ".whl"
        ]
        archives = [
            each for each in files if each.name.startswith(f"{stem}-") and each.suffix == ".gz"
        ]
        if len(wheels) != 1 or len(archives) != 1:
            yield f"{name}: {len(wheels)} wheels, {len(archives)} source archives"
            continue
        with zipfile.ZipFile(wheels[0]) as wheel:
            names = wheel.namelist()
            info = f"{stem}-{version_of(ROOT)}.dist-info/"
            metadata = email.message_from_bytes(wheel.read(f"{info}METADATA"))
        yield from problems_of_metadata(name, metadata, project)
        yield from problems_of_wheel(name, names, info)
        with tarfile.open(archives[0]) as archive:
            inside = {each.name.partition("/")[2] for each in archive.getmembers()}
        for wanted in (
            "PKG-INFO",
            "LICENSE",
            "README.md",
            "pyproject.toml",
            f"src/{stem}/__init__.py",
        ):
            if wanted not in inside:
                yield f"{name}: the source archive has no {wanted}"
        (bill,) = (each for each in files if each.name == f"{name}.cdx.json")
        yield from problems_of_bill(name, json.loads(bill.read_text(encoding="utf-8")))


def problems_of_metadata(name: str, found: Message, project: dict[str, Any]) -> Iterator[str]:
    wanted = {"Name": name, "Version": version_of(ROOT), "License-Expression": project["license"]}
    wanted |= {"Summary": project["description"], "License-File": "LICENSE"}
    wanted |= {"Requires-Python": project["requires-python"]}
    wanted |= {"Description-Content-Type": "text/markdown"}
    for key, value in wanted.items():
        if found[key] != value:
            yield f"{name}: {key} is {found[key]}, expected {value}"
    if not str(found.get_payload()).lstrip().startswith(f"# {name}\n"):
        yield f"{name}: the description is not its README"
    if bool(project["dependencies"]) != bool(found.get_all("Requires-Dist")):
        yield f"{name}: the dependencies are not declared"


def problems_of_wheel(name: str, names: list[str], info: str) -> Iterator[str]:
    stem = name.replace("-", "_")
    for each in names:
        if not each.startswith((f"{stem}/", info)):
            yield f"{name}: the wheel has {each}"
        if each.endswith((".pyc", ".orig", ".rej")) or "/tests/" in each:
            yield f"{name}: the wheel has {each}"
    wanted = [f"{stem}/__init__.py", f"{stem}/py.typed", f"{info}licenses/LICENSE"]
    if name == "equipage":
        made = ("models.json", "models.pyi", "api.pyi", "core/codes.toml", "clients/index.json")
        wanted += [f"equipage/{each}" for each in made]
        sources = ROOT / "src"
        tables = sorted((sources / "equipage/clients").glob("**/*.toml"))
        wanted += [each.relative_to(sources).as_posix() for each in tables]
    for each in wanted:
        if each not in names:
            yield f"{name}: the wheel has no {each}"


def problems_of_bill(name: str, bill: dict[str, Any]) -> Iterator[str]:
    if bill["metadata"]["component"]["name"] != name:
        yield f"{name}: its bill of materials is of {bill['metadata']['component']['name']}"
    for each in bill["components"]:
        if each["name"] not in distributions(ROOT) and not each["hashes"]:
            yield f"{name}: its bill of materials has no hash of {each['name']}"


def main(target: str) -> int:
    if git("status", "--porcelain", "--untracked-files=no"):
        print("release: there are changes that are not committed; a build is made from a commit")
        return 1
    commit, epoch = git("rev-parse", "HEAD"), git("log", "-1", "--format=%ct")
    with tempfile.TemporaryDirectory() as scratch:
        first = Path(scratch, "first")
        files = build(Path(scratch, "here"), first, commit, epoch)
        wrong = [*problems(files)]
        if target != "reproducible":
            output = ROOT / "dist"
            output.mkdir(exist_ok=True)
            for each in files:
                (output / each.name).write_bytes(each.read_bytes())
        if target != "dist":
            differing = build_again(files, Path(scratch), commit, epoch)
            wrong += [f"{each} differs when it is built again" for each in differing]
        for each in files:
            print(digest(each), f"{each.stat().st_size:>10,}", each.name)
    for problem in wrong:
        print(f"release: {problem}")
    print(f"{len(wrong)} problems")
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
