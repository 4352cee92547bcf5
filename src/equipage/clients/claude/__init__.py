"""What only Claude Code has: permission rules, hooks, manifests.

The tables beside this module say which fields there are. Here is what a table cannot say;
`rules.RULES` has the rules of each kind.
"""

from __future__ import annotations
