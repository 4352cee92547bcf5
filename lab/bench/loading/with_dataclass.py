"""A `Format` around dataclasses."""

from dataclasses import dataclass

import equipage


@dataclass(frozen=True)
class Tool:
    name: str
    url: str
    timeout: int = 30


@dataclass(frozen=True)
class App:
    name: str
    prompt: str
    tools: tuple[Tool, ...] = ()


APP = equipage.Format(App)


def load(path):
    return APP.load(path).config
