"""What follows from merged settings: the provider, the model, and the models that may be chosen."""

from __future__ import annotations

import msgspec

from equipage.kinds.profile.model import RequestLimit, request_limit
from equipage.kinds.settings.model import Provider, Settings

#: The providers that need no section, and those of them that bring a model.
BUILT_IN_PROVIDERS = ("defect", "anthropic", "openai", "deepseek", "litellm")
BUILT_IN_MODELS = {
    "defect": "echo",
    "anthropic": "claude-sonnet-4-5",
    "openai": "gpt-4o-mini",
    "deepseek": "deepseek-chat",
}


class Effective(msgspec.Struct, frozen=True):
    """What a program uses when it does as the settings say."""

    provider: str
    model: str
    allowed_models: tuple[str, ...]  #: empty: any
    request_limit: RequestLimit | None = None


def effective(settings: Settings) -> Effective:
    """The values that follow from valid settings."""
    provider = settings.default.provider
    section = settings.providers.get(provider, Provider())
    given = (settings.default.model, section.default_model, BUILT_IN_MODELS.get(provider))
    model = next((each for each in given if each is not None), "")
    limit = request_limit(settings.turn.request_limit, settings.turn.request_limit_mode)
    return Effective(provider, model, _allowed(settings, provider, model), limit)


def _allowed(settings: Settings, provider: str, model: str) -> tuple[str, ...]:
    """The models of the provider in use, then those of the others; the current one is always among them.

    `defect` only says back what it is told: its models are there for those who use it.
    """
    built_in = [name for name in BUILT_IN_PROVIDERS if name in settings.providers and name != "defect"]
    others = sorted(name for name in settings.providers if name not in BUILT_IN_PROVIDERS)
    found = dict.fromkeys(_ids(settings.providers.get(provider, Provider())))
    for name in (*built_in, *others):
        section = settings.providers[name]
        first = [section.default_model] if section.default_model is not None else []
        found |= dict.fromkeys([*first, *_ids(section)])
    if not found:
        return ()
    return tuple(found) if model in found else (model, *found)


def _ids(provider: Provider) -> list[str]:
    return [each if isinstance(each, str) else each.id for each in provider.models]
