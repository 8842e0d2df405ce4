"""What of `name = self.name` in setup goes, and what stays."""

from __future__ import annotations

import ast

from .test_forms import sides


def test_only_lines_that_say_the_same_again_go() -> None:
    text = sides("forms_own_arguments")[2].files[0].after
    assert text is not None
    said = {
        node.name: [
            statement.targets[0].id
            for statement in ast.walk(node)
            if isinstance(statement, ast.Assign)
            and isinstance(statement.targets[0], ast.Name)
            and ast.unparse(statement.value) == f"self.{statement.targets[0].id}"
        ]
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef)
    }
    gone = ("Settings", "Plain", "Rebound", "Base", "Derived", "Frozen")
    assert said == {**{name: [] for name in gone}, "Remarked": ["width"], "ReboundBefore": ["width"], "Helped": ["width"]}
