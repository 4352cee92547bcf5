"""Directives: `$name` mappings replaced by what they stand for.

Each module is one directive: a stage that takes a tree and gives a tree and findings. A directive that
cannot be expanded leaves a hole and a finding; the walk goes on, so one run reports every problem.
"""
