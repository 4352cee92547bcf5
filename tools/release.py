"""Build what a release publishes, with an account of what went into it.

    python tools/release.py dist            into dist/
    python tools/release.py reproducible    build twice, elsewhere and later, and compare the bytes

Beside the wheel and the source archive lie `sbom.cdx.json` (CycloneDX 1.6: the package and every
dependency with the hashes that tools/pins has) and `provenance.json` (an in-toto statement: what
was built, from which commit, by which builder). Both depend on the commit alone. They are not
signed: a release signs the folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: a line that names a package, and the hashes below it
PIN = re.compile(
    r"^(?P<name>[\w.-]+)==(?P<version>[^ \\;]+)(?P<rest>[^#]*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL
)


def git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def pinned() -> list[dict[str, Any]]:
    """A component of CycloneDX for every package of tools/pins/equipage.txt."""
    components = []
    for pin in PIN.finditer((ROOT / "tools/pins/equipage.txt").read_text(encoding="utf-8")):
        name, version = pin["name"], pin["version"]
        hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", pin["rest"])
        components.append(
            {
                "type": "library",
                "bom-ref": f"pkg:pypi/{name}@{version}",
                "name": name,
                "version": version,
                "purl": f"pkg:pypi/{name}@{version}",
                # One for each file of it: which of them is installed depends on the system.
                "hashes": [{"alg": "SHA-256", "content": each} for each in sorted(hashes)],
            }
        )
    return components


def sbom(version: str, commit: str) -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    this = f"pkg:pypi/equipage@{version}"
    components = pinned()
    names = {each["name"].lower().replace("_", "-"): each["bom-ref"] for each in components}
    direct = (re.split(r"[<>=\[; ]", each)[0].lower() for each in project["dependencies"])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        # The same commit gives the same number.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{this}#{commit}')}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": this,
                "name": "equipage",
                "version": version,
                "purl": this,
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": components,
        "dependencies": [{"ref": this, "dependsOn": sorted(names[each] for each in direct)}],
    }


def provenance(files: list[Path], commit: str, builder: str) -> dict[str, Any]:
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": each.name, "digest": {"sha256": hashlib.sha256(each.read_bytes()).hexdigest()}}
            for each in files
        ],
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
                            "uri": f"file:{name}",
                            "digest": {
                                "sha256": hashlib.sha256((ROOT / name).read_bytes()).hexdigest()
                            },
                        }
                        for name in ("tools/pins/equipage.txt", "pyproject.toml")
                    ),
                ],
            },
            "runDetails": {"builder": {"id": "urn:equipage:tools/release.py"}},
        },
    }


def build(checkout: Path, target: Path, commit: str, epoch: str) -> list[Path]:
    """Build from a clean checkout of the commit, so that no file beside it can slip in."""
    from hatchling.__about__ import __version__ as hatchling

    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, checkout], check=True)
    subprocess.run(["git", "-C", checkout, "checkout", "--quiet", commit], check=True)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", target],
        cwd=checkout,
        env={**os.environ, "SOURCE_DATE_EPOCH": epoch},
        capture_output=True,
        check=True,
    )
    files = sorted(target.iterdir())
    version = next(each.name.split("-")[1] for each in files if each.suffix == ".whl")
    for name, value in (
        ("sbom.cdx.json", sbom(version, commit)),
        ("provenance.json", provenance(files, commit, f"hatchling {hatchling}")),
    ):
        (target / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    return sorted(target.iterdir())


def main(target: str) -> int:
    if git("status", "--porcelain", "--untracked-files=no"):
        print("release: there are changes that are not committed; a build is made from a commit")
        return 1
    commit, epoch = git("rev-parse", "HEAD"), git("log", "-1", "--format=%ct")
    with tempfile.TemporaryDirectory() as scratch:
        first = Path(scratch, "first")
        files = build(Path(scratch, "here"), first, commit, epoch)
        if target == "reproducible":
            # Another folder, another mask for new files, another zone.
            os.umask(0o077)
            os.environ["TZ"] = "Pacific/Auckland"
            second = Path(scratch, "elsewhere with a blank", "out")
            second.mkdir(parents=True)
            build(second.parent / "checkout", second, commit, epoch)
            differing = [
                each.name
                for each in files
                if (second / each.name).read_bytes() != each.read_bytes()
            ]
            for each in files:
                print(hashlib.sha256(each.read_bytes()).hexdigest(), each.name)
            print("differing:", ", ".join(differing) or "none")
            return bool(differing)
        output = ROOT / "dist"
        output.mkdir(exist_ok=True)
        for each in files:
            (output / each.name).write_bytes(each.read_bytes())
            print(output.name + "/" + each.name)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
