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


APP = equipage.Format(App, layers=("base.yaml", equipage.FILE, "local.yaml"))


def load(path):
    return APP.load(path).config


def explain(path, key):
    return APP.load(path).explain(key)
