"""What only Claude Code has: permission rules, hooks, manifests, instructions that import others.

The tables in `tools` say which fields there are. Here is what a table cannot say, as further rules
of the kinds that `RULES` names.
"""

from __future__ import annotations
