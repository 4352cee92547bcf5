from dataclasses import dataclass, field
from pathlib import Path

import yaml
from omegaconf import MISSING, OmegaConf


@dataclass
class Tool:
    name: str = MISSING
    url: str = MISSING
    timeout: int = 30


@dataclass
class App:
    name: str = MISSING
    prompt: str = MISSING
    tools: list[Tool] = field(default_factory=list)


def inside(folder, name, root):
    file = (folder / name).resolve()
    if not file.is_relative_to(root):
        raise ValueError(f"{name} leads out of {root}")
    return file


def read(file, root, chain=()):
    if file in chain:
        raise ValueError(f"{file} includes itself")
    return expand(yaml.safe_load(file.read_text()) or {}, file, root, (*chain, file))


def expand(value, file, root, chain):
    if isinstance(value, list):
        return [expand(each, file, root, chain) for each in value]
    if not isinstance(value, dict):
        return value
    if "$file" in value:
        return inside(file.parent, value["$file"], root).read_text()
    value = {key: expand(each, file, root, chain) for key, each in value.items()}
    if "$include" in value:
        part = read(inside(file.parent, value["$include"], root), root, chain)
        value = OmegaConf.to_container(OmegaConf.merge(part, value.get("override", {})))
    return value


def load(path):
    own = Path(path).resolve()
    layers = [own.with_name("base.yaml"), own, own.with_name("local.yaml")]
    values = [read(each, own.parent) for each in layers if each.exists()]
    config = OmegaConf.merge(OmegaConf.structured(App), *values)
    missing = OmegaConf.missing_keys(config)
    if missing:
        raise ValueError(f"missing: {', '.join(sorted(missing))}")
    OmegaConf.resolve(config)
    OmegaConf.set_readonly(config, True)
    return config
