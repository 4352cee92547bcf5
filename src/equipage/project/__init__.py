"""What one file belongs to: the settings of its project, its kind, the formats there are."""

from __future__ import annotations


# Plugins: folders with `.claude-plugin/plugin.json`, or listed by a `marketplace.json` above them.
# A manifest that cannot be read says nothing here; checking it reports what is wrong.


# Skills: whatever lies below one, but the skill itself, is its material.
