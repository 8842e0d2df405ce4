"""What the tool says when it could not do its work on a file; the other files go on."""

from __future__ import annotations

from ..rule import Rule

RULES = (
    Rule(
        "NNX001",
        "rewrite-dropped",
        "The tool failed on this file; it was left as it was",
        what="Reports a file whose rewrite did not parse, contradicted itself, or met an error inside the tool. "
        "The file keeps its bytes, and the other files are migrated as if it were not part of the project.",
        why="Half a rewrite is worse than none.",
        how_sure="Diagnostic only. Exit status 2.",
    ),
    Rule(
        "NNX002",
        "does-not-parse",
        "The file is not valid Python",
        what="Reports the first syntax error. The file keeps its bytes; the others are migrated.",
        why="Nothing can be said about code that does not parse. Python 2 sources are converted with 2to3 first.",
        how_sure="Diagnostic only. Exit status 2.",
    ),
    Rule(
        "NNX003",
        "unreadable-path",
        "The path is missing, unreadable, unwritable or not in its declared encoding",
        what="Names the path and the reason; the others are migrated.",
        why="A file that is silently left out looks like one that needs nothing.",
        how_sure="Diagnostic only. Exit status 2.",
    ),
    Rule(
        "NNX004",
        "not-a-notebook",
        "The .ipynb file is not a notebook",
        what="Reports a file that is not JSON, or JSON without a list of cells (format 3 and older has worksheets).",
        why="Cells can only be changed where their place in the file is known to the byte.",
        how_sure="Diagnostic only. Exit status 2.",
    ),
    Rule(
        "NNX005",
        "cell-does-not-parse",
        "A notebook cell is not valid Python and was left as it is",
        what="Reports a code cell that does not parse, IPython magics taken into account. The other cells of the "
        "notebook are migrated.",
        why="Notebooks often hold an unfinished cell; it should not keep the rest from being migrated.",
        how_sure="Diagnostic only. Exit status 1.",
    ),
)
