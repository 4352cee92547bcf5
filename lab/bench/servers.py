"""Server configurations: 5 MB against peers, the same with errors, many includes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from harness import Row, peak_growth

import data
import equipage

PARSE_ONLY = "CSafeLoader, parsing only"


def rows(folder: Path, *, tools: int = 1000) -> list[Row]:
    """The comparisons, over files written to `folder`."""
    text = data.server(tools)
    big = _written(folder / "big.yaml", text)
    size = f"one {len(text) / 1e6:.1f} MB server, {tools:,} tools"
    memory = (
        [_memory(size, big)] if tools >= 1000 else []
    )  # less would drown in what the interpreter has at hand
    return [
        *_against_peers(size, big),
        *_varied(folder, tools * 2 // 5),
        *_errors(folder, text, big, size),
        _includes(folder),
        *memory,
    ]


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def load(path: Path) -> object:
    return equipage.load(path, env={})


def failing(path: Path) -> int:
    """How many errors there are: each that is shown has its exact place, one counts the others."""
    try:
        load(path)
    except equipage.LoadError as error:
        placed = sum(each.span is not None and each.span.line > 0 for each in error.errors)
        return placed + sum(each.count for each in error.errors if each.span is None)
    raise AssertionError("the configuration has no errors")


def _against_peers(size: str, big: Path) -> list[Row]:
    import yaml

    # Newer versions refuse more than 10,000 nodes unless a variable says otherwise.
    os.environ["OMEGACONF_MAX_YAML_EXPANDED_NODES"] = "none"
    from omegaconf import OmegaConf  # type: ignore[import-not-found]
    from ruamel.yaml import YAML  # type: ignore[import-not-found]

    text = big.read_text()
    bound = 3 if sys.version_info < (3, 13) else 2
    peers = [
        (PARSE_ONLY, bound, lambda: yaml.load(text, Loader=yaml.CSafeLoader)),
        ("OmegaConf.load", 3, lambda: OmegaConf.load(big)),
        ('ruamel.yaml, `typ="safe"`, parsing only', 3, lambda: YAML(typ="safe").load(text)),
    ]
    if sys.version_info >= (3, 13):
        from annotatedyaml import load_yaml  # type: ignore[import-not-found]

        peers.append(("annotatedyaml", 3, lambda: load_yaml(str(big))))
    return [
        Row(size, name, least, "faster", lambda: load(big), theirs) for name, least, theirs in peers
    ]


def _varied(folder: Path, tools: int) -> list[Row]:
    import yaml

    text = data.varied_server(tools)
    path = _written(folder / "varied.yaml", text)
    bound = 4 if sys.version_info < (3, 13) else 3
    work = f"one {len(text) / 1e6:.1f} MB server, no two values alike"

    peers: list[tuple[str, float | None, Callable[[], object]]] = [
        (PARSE_ONLY, bound, lambda: yaml.load(text, Loader=yaml.CSafeLoader))
    ]
    if sys.version_info >= (3, 13):
        import yamlrocks  # type: ignore[import-not-found]

        # Native, and it parses only: no bound, but what a native parser would be worth.
        places = yamlrocks.OPT_ANNOTATED
        peers += [
            ("yamlrocks, parsing only", None, lambda: yamlrocks.loads(text)),
            (
                "yamlrocks with places, parsing only",
                None,
                lambda: yamlrocks.loads(text, option=places),
            ),
        ]
    return [
        Row(work, name, least, "faster", lambda: load(path), theirs)
        for name, least, theirs in peers
    ]


def _errors(folder: Path, text: str, big: Path, size: str) -> list[Row]:
    one = _written(folder / "one.yaml", data.broken(text, 1))
    many_errors = min(1000, text.count(data.MARKER))
    many = _written(folder / "many.yaml", data.broken(text, many_errors))
    assert failing(one) == 1
    assert failing(many) == many_errors
    return [
        Row(
            f"{size}: an error at its end",
            "its valid load",
            2.5,
            "at most",
            lambda: failing(one),
            lambda: load(big),
        ),
        Row(
            f"{size}: {many_errors:,} errors",
            "its valid load",
            4,
            "at most",
            lambda: failing(many),
            lambda: load(big),
        ),
    ]


def _includes(folder: Path) -> Row:
    few, many = data.includes(folder / "few", 100), data.includes(folder / "many", 1000)
    return Row(
        "1,000 includes", "100 includes", 12, "at most", lambda: load(many), lambda: load(few)
    )


def _memory(size: str, big: Path) -> Row:
    ours = (
        "import equipage, equipage.api, yaml\nequipage.loads('server: {name: a}', kind='server')\n"
    )
    ours += f"# ---\nloaded = equipage.load({str(big)!r}, env={{}})"
    theirs = (
        f"import yaml\n# ---\nvalue = yaml.load(open({str(big)!r}).read(), Loader=yaml.CSafeLoader)"
    )
    return Row(
        f"{size}: growth of peak memory",
        PARSE_ONLY,
        0.6,
        "at most",
        lambda: peak_growth(ours),
        lambda: peak_growth(theirs),
        counts=True,
        elsewhere=True,
    )
