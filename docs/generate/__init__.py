"""The pages of the documentation that are made from the code: one per kind, one per code, the
commands.
"""
