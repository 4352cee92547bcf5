"""Recipes of Goose."""

from __future__ import annotations

from typing import Any, Literal

from equipage.clients.catalogue import Field, Group, Names, Table, list_of, yaml_file

RECIPE = yaml_file(
    kind="goose-recipe",
    tool="Goose",
    title="Goose recipe",
    sort="recipe",
    suffixes=(".yaml", ".yml"),
    measured=False,
    fields=(
        Field("version", "the version of the format", str | int | float),
        Field("title", "the name that people see", required="warning"),
        Field("description", "what it does", required="warning"),
        Field("instructions", "what the agent knows"),
        Field("prompt", "what it is asked first"),
        Field(
            "parameters",
            "what the user is asked for",
            list_of(
                Group(
                    "a parameter of a recipe",
                    (
                        Field("key", "its name: `{{ key }}` in the text", required="warning"),
                        Field("input_type", "what sort of value it is", required="warning"),
                        Field(
                            "requirement",
                            "whether it must be given",
                            Literal["required", "optional", "user_prompt"],
                            required="warning",
                        ),
                        Field("description", "what it is for", required="warning"),
                        Field("default", "the value if none is given", Any),
                        Field("options", "the values it may have", tuple[Any, ...]),
                    ),
                )
            ),
        ),
        Field("extensions", "the servers it needs", tuple[Any, ...]),
        Field("settings", "the model to use", Table),
        Field("sub_recipes", "recipes it may call", tuple[Any, ...]),
        Field("response", "the form of the result", Table),
        Field("retry", "when it tries again", Table),
        Field("activities", "examples of what to ask", Names),
        Field("author", "who wrote it", Table),
        Field("context", "further text", Any),
    ),
    example_place="recipe.yaml",
    example="""\
version: "1.0.0"
title: Review
description: Reviews a change and reports problems
instructions: You review changes. Report each problem with file and line.
prompt: Review {{ branch }}.
parameters:
  - key: branch
    input_type: string
    requirement: required
    description: the branch to review
""",
)

CONVENTIONS = (RECIPE,)
