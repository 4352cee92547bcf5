"""Snapshots: the same packs give the same digests, wherever and however they are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.formats.toolpack.loader import ToolpackLoader
from formats.toolpack.making import pack
from lab import environment, python, repository

FILES: dict[str, Any] = {
    "packs/a.tool.yaml": pack(inputSchema={"$ref": "../schemas/tree.json"}),
    "packs/sub/b.tool.yaml": pack(
        id="tool.other", inputSchema={"$ref": "../../schemas/leaf.yaml"}, caps={"network": "HTTPS"}
    ),
    "schemas/tree.json": {"properties": {"next": {"$ref": "#"}, "leaf": {"$ref": "leaf.yaml"}}},
    "schemas/leaf.yaml": "type: integer\nminimum: 3\n",
}


def loaded(folder: Path, files: dict[str, Any] | None = None) -> ToolpackLoader:
    loader = ToolpackLoader()
    loader.load_dir(repository(folder, FILES if files is None else files) / "packs")
    return loader


@pytest.mark.requirement("TP-24")
def test_the_place_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = loaded(tmp_path / "one").snapshot()
    monkeypatch.chdir(tmp_path)
    second = loaded(tmp_path / "somewhere" / "deep" / "down").snapshot()
    assert first == second
    assert [each["path"] for each in first["packs"]] == ["a.tool.yaml", "sub/b.tool.yaml"]
    assert list(first["packs"][0]["sources"]) == [
        "a.tool.yaml",
        "../schemas/leaf.yaml",
        "../schemas/tree.json",
    ]


@pytest.mark.requirement("TP-24")
def test_the_way_it_is_written_does_not_matter(tmp_path: Path) -> None:
    again = dict(FILES)
    reordered = dict(reversed(FILES["packs/a.tool.yaml"].items()))
    again["packs/a.tool.yaml"] = ("\ufeff" + __import__("json").dumps(reordered, indent=1)).replace(
        "\n", "\r\n"
    )
    again["schemas/leaf.yaml"] = "# a comment\r\nminimum: 3\r\ntype: integer\r\n"
    again["packs/z/c.tool.yaml"] = again.pop("packs/sub/b.tool.yaml")
    assert loaded(tmp_path / "one").digest == loaded(tmp_path / "two", again).digest


@pytest.mark.requirement("TP-24")
@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("packs/a.tool.yaml", pack(inputSchema={"$ref": "../schemas/tree.json"}, timeoutMs=999)),
        (
            "packs/a.tool.yaml",
            pack(inputSchema={"$ref": "../schemas/tree.json"}, env={"passthrough": ["X"]}),
        ),
        ("packs/a.tool.yaml", pack(inputSchema={"$ref": "../schemas/leaf.yaml"})),
        ("schemas/leaf.yaml", "type: integer\nminimum: 4\n"),
        ("packs/c.tool.yaml", pack(id="tool.third")),
    ],
    ids=["a limit", "a variable", "another schema", "inside a schema", "one more pack"],
)
def test_what_it_means_does_matter(tmp_path: Path, file: str, content: Any) -> None:
    assert (
        loaded(tmp_path / "one").digest != loaded(tmp_path / "two", {**FILES, file: content}).digest
    )


@pytest.mark.requirement("TP-24")
def test_neither_hash_seed_nor_locale_matter(tmp_path: Path) -> None:
    expected = loaded(tmp_path).digest
    code = (
        "import sys; from equipage.formats.toolpack.loader import ToolpackLoader\n"
        "loader = ToolpackLoader(); loader.load_dir(sys.argv[1]); print(loader.digest)"
    )
    for seed in ("1", "2"):
        env = environment(PYTHONHASHSEED=seed, LC_ALL="C")
        done = python("-c", code, str(tmp_path / "packs"), env=env)
        assert (done.out.strip(), done.err) == (expected, "")


def tree(reference: str) -> dict[str, Any]:
    return {"properties": {"next": {"$ref": reference}}}


@pytest.mark.requirement("TP-24")
@pytest.mark.parametrize(
    ("reference", "files"),
    [
        ("tree.json", {"packs/tree.json": tree("tree.json")}),
        ("./tree.json", {"packs/tree.json": tree("../packs/tree.json#")}),
        ("node.json", {"packs/node.json": tree("#")}),
        ("deep/tree.json", {"packs/deep/tree.json": tree("#")}),
        ("tree.yaml", {"packs/tree.yaml": "properties: {next: {$ref: '#'}}\n"}),
    ],
)
def test_neither_the_name_of_a_recursive_schema_nor_that_of_its_references_matters(
    tmp_path: Path, reference: str, files: dict[str, Any]
) -> None:
    first = {
        "packs/a.tool.yaml": pack(inputSchema={"$ref": "tree.json"}),
        "packs/tree.json": tree("#"),
    }
    second = {"packs/a.tool.yaml": pack(inputSchema={"$ref": reference}), **files}
    assert loaded(tmp_path / "one", first).digest == loaded(tmp_path / "two", second).digest


def test_recursive_schemas_that_differ_far_away_have_different_names(tmp_path: Path) -> None:
    """All parts of two rings say the same, but for one in each."""

    def ring(letter: str, last: str) -> dict[str, Any]:
        parts: dict[str, Any] = {
            f"{letter}{n}": {"items": {"$ref": f"#/$defs/{letter}{n + 1}"}} for n in range(9)
        }
        return {**parts, f"{letter}9": {"title": last, "items": {"$ref": f"#/$defs/{letter}0"}}}

    schema = {
        "properties": {"a": {"$ref": "#/$defs/a0"}, "b": {"$ref": "#/$defs/b0"}},
        "$defs": {**ring("a", "one"), **ring("b", "two")},
    }
    resolved = (
        loaded(tmp_path, {"packs/a.tool.yaml": pack(inputSchema=schema)}).list()[0].input_schema
    )
    assert len({name for name in resolved["$defs"] if "-" in name}) == 20


@pytest.mark.requirement("TP-24")
@pytest.mark.parametrize(
    "written",
    [
        {"caps": {}},
        {"caps": {"subprocess": False}},
        {"caps": {"network": []}},
        {"caps": {"filesystem": {"read": []}}},
        {"env": {"set": None}},
        {"env": {"set": {}}},
        {"env": {"passthrough": []}},
        {"templating": {"engine": "jinja2"}},
        {"templating": {"context": {}}},
        {"execution": {"kind": "python", "module": "pkg.mod:run", "script": None}},
    ],
    ids=str,
)
def test_a_default_that_is_written_out_does_not_matter(
    tmp_path: Path, written: dict[str, Any]
) -> None:
    first, second = (
        loaded(tmp_path / name, {"packs/a.tool.yaml": pack(**changes)})
        for name, changes in (("1", {}), ("2", written))
    )
    assert first.digest == second.digest
    alone = [
        equipage.load(tmp_path / name / "packs" / "a.tool.yaml", kind="toolpack").digest
        for name in "12"
    ]
    assert alone[0] == alone[1] == first.list()[0].digest


@pytest.mark.parametrize(
    ("block", "values", "shown"),
    [
        ("env", {"set": {"TOKEN": "{0}"}}, {"set": {"TOKEN": None}}),
        (
            "execution",
            {"kind": "http", "url": "https://h", "headers": {"Authorization": "Bearer {0}"}},
            {"kind": "http", "url": "https://h", "headers": {"Authorization": None}},
        ),
        (
            "execution",
            {"kind": "http", "url": "https://me:{0}@h:1/p@q?a=b@c"},
            {"kind": "http", "url": "https://h:1/p@q?a=b@c"},
        ),
    ],
    ids=["variables", "headers", "an address"],
)
def test_a_snapshot_has_the_names_of_what_is_set_and_not_the_values(
    tmp_path: Path, block: str, values: dict[str, Any], shown: dict[str, Any]
) -> None:
    def snapshot(secret: str) -> dict[str, Any]:
        told = json.loads(json.dumps(values).replace("{0}", secret))
        return loaded(tmp_path / secret, {"packs/a.tool.yaml": pack(**{block: told})}).snapshot()

    first, second = snapshot("s3cret"), snapshot("other")
    assert first["packs"][0]["pack"][block] == shown
    assert "s3cret" not in str(first)
    assert first["digest"] != second["digest"]
