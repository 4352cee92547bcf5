"""A `Format` around msgspec Structs."""

import msgspec

import equipage


class Tool(msgspec.Struct, frozen=True):
    name: str
    url: str
    timeout: int = 30


class App(msgspec.Struct, frozen=True):
    name: str
    prompt: str
    tools: tuple[Tool, ...] = ()


APP = equipage.Format(App)


def load(path):
    return APP.load(path).config
