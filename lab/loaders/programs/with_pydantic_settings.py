import os
import re
from pathlib import Path

from pydantic import BaseModel
from pydantic_settings import BaseSettings, YamlConfigSettingsSource


class Tool(BaseModel, frozen=True, extra="forbid"):
    name: str
    url: str
    timeout: int = 30


class App(BaseSettings, frozen=True, extra="forbid"):
    name: str
    prompt: str
    tools: tuple[Tool, ...] = ()

    def __init__(self, path):
        super().__init__(_path=path)

    @classmethod
    def settings_customise_sources(cls, settings_cls, init_settings, **_others):
        own = Path(init_settings.init_kwargs.pop("_path")).resolve()
        layers = [own.with_name("base.yaml"), own, own.with_name("local.yaml")]
        return (Composed(settings_cls, layers, deep_merge=True),)


def merged(base, over):
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    return {**base, **{key: merged(base.get(key), each) for key, each in over.items()}}


class Composed(YamlConfigSettingsSource):
    def _read_file(self, file_path, root=None, chain=()):
        if file_path in chain:
            raise ValueError(f"{file_path} includes itself")
        value = super()._read_file(file_path)
        return self.expand(value, file_path, root or file_path.parent, (*chain, file_path))

    def expand(self, value, file, root, chain):
        if isinstance(value, str):
            return re.sub(r"\$\{(\w+)(?::-(.*?))?\}", self.variable, value)
        if isinstance(value, list):
            return [self.expand(each, file, root, chain) for each in value]
        if not isinstance(value, dict):
            return value
        value = {key: self.expand(each, file, root, chain) for key, each in value.items()}
        if "$file" in value:
            return self.inside(file.parent, value["$file"], root).read_text()
        if "$include" in value:
            part = self._read_file(self.inside(file.parent, value["$include"], root), root, chain)
            return merged(part, value.get("override", {}))
        return value

    def variable(self, match):
        if match[1] not in os.environ and match[2] is None:
            raise ValueError(f"{match[1]} is not set")
        return os.environ.get(match[1], match[2])

    def inside(self, folder, name, root):
        file = (folder / name).resolve()
        if not file.is_relative_to(root):
            raise ValueError(f"{name} leads out of {root}")
        return file


def load(path):
    return App(path)
