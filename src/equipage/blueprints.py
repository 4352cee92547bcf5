"""Blueprints: expand the `$file` and `$agent_md` references of a value."""

from equipage.formats.blueprint import expand, expand_and_report, pre_read_default_agent_kind

__all__ = ["expand", "expand_and_report", "pre_read_default_agent_kind"]
