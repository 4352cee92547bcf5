"""A `Format` around pydantic models."""

from pydantic import BaseModel

import equipage


class Tool(BaseModel, frozen=True):
    name: str
    url: str
    timeout: int = 30


class App(BaseModel, frozen=True):
    name: str
    prompt: str
    tools: tuple[Tool, ...] = ()


APP = equipage.Format(App)


def load(path):
    return APP.load(path).config
