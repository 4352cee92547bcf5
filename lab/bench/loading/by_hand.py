"""The loader that people write: CSafeLoader and pydantic, with includes, overrides and variables.

It is not confined: a file may include any file of the machine. `by_hand_confined.py` forbids that.
"""

import os
import re
from pathlib import Path

import yaml
from pydantic import BaseModel

VARIABLE = re.compile(r"\$\{(\w+)(?::-(.*?))?\}")


class Tool(BaseModel, frozen=True, extra="forbid"):
    name: str
    url: str
    timeout: int = 30


class App(BaseModel, frozen=True, extra="forbid"):
    name: str
    prompt: str
    tools: tuple[Tool, ...] = ()


def merged(base, over):
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    return {**base, **{key: merged(base.get(key), each) for key, each in over.items()}}


def variable(match):
    if match[1] not in os.environ and match[2] is None:
        raise ValueError(f"{match[1]} is not set")
    return os.environ.get(match[1], match[2])


def read(file, find, chain=()):
    if file in chain:
        raise ValueError(f"{file} includes itself")
    return expand(yaml.load(file.read_text(), yaml.CSafeLoader), file, find, (*chain, file))


def expand(value, file, find, chain):
    if isinstance(value, str):
        return VARIABLE.sub(variable, value)
    if isinstance(value, list):
        return [expand(each, file, find, chain) for each in value]
    if not isinstance(value, dict):
        return value
    if "$include" in value:
        part = read(find(file.parent, value["$include"]), find, chain)
        return merged(part, expand(value.get("override", {}), file, find, chain))
    return {key: expand(each, file, find, chain) for key, each in value.items()}


def load(path):
    return App.model_validate(read(Path(path), lambda folder, name: folder / name))
