"""The values that every room speaks of: paths, sources, findings, codes, frozen configurations.

This room imports nothing else of equipage.
"""
