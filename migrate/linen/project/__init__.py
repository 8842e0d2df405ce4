"""What stands in the project's files: classes, layers, own boxes, and what names mean across files."""
