"""Load 2,000 toolpacks that share their schemas, against the seed's way and parsing alone.

    python lab/bench/toolpacks.py

Peers: `yaml.safe_load` with `jsonschema`'s `check_schema` for both schemas of every pack, each
referenced file resolved once and copied; and PyYAML's C loader, which only parses the packs.
"""

from __future__ import annotations

import copy
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import yaml
from harness import Row
from jsonschema.validators import validator_for

import data
from equipage.formats.toolpack.loader import ToolpackLoader

SHARED_SCHEMAS = 25
COUNT = 2000

PACK = """\
# Looks something up and returns what was found, with a score for each.
id: {area}.lookup{number}
version: 1.{minor}.{number}
description: Looks up {words} of the {area} collection, number {number}.
metadata:
  owner: {area}-team-{number}
  tags: [lookup, {area}, generated]
deterministic: true
timeoutMs: {timeout}
limits:
  maxInputBytes: 65536
  maxOutputBytes: 262144
caps:
  network: [https]
  filesystem:
    read: ["./data/{area}"]
env:
  passthrough: [API_TOKEN, LOG_LEVEL]
  set:
    REGION: "eu-{minor}"
inputSchema:
  $schema: https://json-schema.org/draft/2020-12/schema
  type: object
  additionalProperties: false
  required: [query, filter]
  properties:
    query:
      type: string
      minLength: 1
      maxLength: 400
      pattern: "^[^<>]+$"
    filter: {{$ref: ../schemas/filter{schema}.json}}
    page:
      type: integer
      minimum: 1
      default: 1
outputSchema:
  $ref: ../schemas/result{schema}.json
execution:
  kind: http
  url: https://{area}.example.test/v1/lookup
  method: POST
  headers:
    Authorization: "Bearer {{{{ env.API_TOKEN }}}}"
    Accept: application/json
"""


def filter_schema(number: int) -> dict[str, Any]:
    names = [f"field{each}" for each in range(number % 5 + 3)]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "all": {"type": "array", "items": {"$ref": "#/$defs/condition"}},
            "any": {"type": "array", "items": {"$ref": "#/$defs/condition"}},
        },
        "$defs": {
            "condition": {
                "type": "object",
                "required": ["field", "value"],
                "properties": {
                    "field": {"enum": names},
                    "value": {"type": ["string", "number", "boolean"]},
                },
            }
        },
    }


def result_schema(number: int) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["hits"],
        "properties": {
            "hits": {"type": "array", "maxItems": number + 10, "items": {"$ref": "./hit.json"}},
            "total": {"type": "integer", "minimum": 0},
        },
    }


HIT = {
    "type": "object",
    "required": ["id", "score"],
    "properties": {
        "id": {"type": "string", "pattern": "^[a-z0-9-]+$"},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "text": {"type": "string"},
    },
}


def write(folder: Path, count: int) -> list[Path]:
    """The packs and their schemas; the paths of the packs."""
    (folder / "schemas").mkdir(parents=True)
    (folder / "packs").mkdir()
    (folder / "equipage.toml").write_text("")
    (folder / "schemas" / "hit.json").write_text(json.dumps(HIT, indent=2))
    for number in range(SHARED_SCHEMAS):
        for name, schema in (("filter", filter_schema(number)), ("result", result_schema(number))):
            (folder / "schemas" / f"{name}{number}.json").write_text(json.dumps(schema, indent=2))
    areas = ("docs", "code", "mail", "people", "orders")
    paths = []
    chance = random.Random(27)
    for number in range(count):
        text = PACK.format(
            area=areas[number % len(areas)],
            number=number,
            minor=number % 9,
            timeout=1000 + number,
            words=data.sentence(chance),
            schema=number % SHARED_SCHEMAS,
        )
        path = folder / "packs" / f"p{number:04}.tool.yaml"
        path.write_text(text)
        paths.append(path)
    return paths


# The peers.


class SeedStyle:
    """The seed's description as code: no places, no limits, the first error ends it."""

    def __init__(self) -> None:
        self.memo: dict[Path, Any] = {}

    def load(self, paths: list[Path]) -> dict[str, Any]:
        packs = {}
        for path in paths:
            pack = yaml.safe_load(path.read_text())
            for field in ("inputSchema", "outputSchema"):
                schema = self.resolve(pack[field], path.parent, pack[field])
                validator_for(schema).check_schema(schema)
                pack[field] = schema
            packs[pack["id"]] = pack
        return packs

    def file(self, path: Path) -> Any:
        if path not in self.memo:
            document = json.loads(path.read_text())
            self.memo[path] = self.resolve(document, path.parent, document)
        return copy.deepcopy(self.memo[path])

    def resolve(self, node: Any, folder: Path, root: Any) -> Any:
        if isinstance(node, dict):
            if set(node) == {"$ref"}:
                file, _, fragment = node["$ref"].partition("#")
                if file:
                    return self.file((folder / file).resolve())
                for step in fragment.strip("/").split("/"):
                    root = root[step]
                return copy.deepcopy(root)
            return {key: self.resolve(value, folder, root) for key, value in node.items()}
        return (
            [self.resolve(each, folder, root) for each in node] if isinstance(node, list) else node
        )


def parse_only(paths: list[Path]) -> None:
    for path in paths:
        yaml.load(path.read_text(), Loader=yaml.CSafeLoader)


def equipage(folder: Path) -> ToolpackLoader:
    loader = ToolpackLoader()
    loader.load_dir(folder)
    return loader


def rows(folder: Path, *, count: int = COUNT) -> list[Row]:
    """The comparisons, over packs written to `folder`."""
    paths = write(folder / "many", count)
    packs = folder / "many" / "packs"
    assert len(equipage(packs).list()) == count
    return [
        Row(
            f"load {count:,} toolpacks: read, resolved, checked, frozen",
            "CSafeLoader, parsing them and nothing else",
            2,
            "faster",
            lambda: equipage(packs),
            lambda: parse_only(paths),
        ),
        Row(
            f"load {count:,} toolpacks that share their schemas",
            "safe_load + jsonschema.check_schema, each schema file resolved once",
            20,
            "faster",
            lambda: equipage(packs),
            lambda: SeedStyle().load(paths),
        ),
    ]


if __name__ == "__main__":
    from harness import measure

    with tempfile.TemporaryDirectory() as temporary:
        for row in rows(Path(temporary)):
            print(measure(row).line())
