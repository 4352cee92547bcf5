"""`make bench`: equipage against its peers, in an environment of its own.

    python lab/bench/run.py [--quick] [--save FILE] [--rows "servers commands linters …"]

Makes an environment with the peers, installs equipage there as its users would, and runs `table.py`
in it. Fails if a bound of the table is missed.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENT = HERE / f".venv-{sys.version_info.major}.{sys.version_info.minor}"
PYTHON = ENVIRONMENT / ("Scripts" if sys.platform == "win32" else "bin") / "python"
PEERS = [
    "PyYAML",
    "jsonschema",
    "pydantic",
    "omegaconf",
    "ruamel.yaml",
    "python-frontmatter",
    "fastmcp",
]
PEERS += ["dask[distributed]", "pyarrow", "pydantic"]  # `scale.py` and `includes.py`
PEERS += ["annotatedyaml", "yamlrocks"] if sys.version_info >= (3, 13) else []


def pip(*arguments: str) -> None:
    subprocess.run(
        [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments],
        check=True,
    )


def prepare() -> None:
    """The environment with the peers, made once, and equipage as it is now."""
    ready = ENVIRONMENT / f".ready-{len(PEERS)}"  # another one for other peers
    if not ready.exists():
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        pip(*PEERS, str(ROOT), str(ROOT / "packages" / "equipage-serve"))
        ready.touch()
    pip("--force-reinstall", "--no-deps", str(ROOT))
    subprocess.run([PYTHON, "-m", "compileall", "-q", str(ENVIRONMENT)], check=False)


def main() -> int:
    prepare()
    return subprocess.run([PYTHON, HERE / "table.py", *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
