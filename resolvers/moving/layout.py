"""What an exported folder holds besides its pages, in a folder that other tools do not show."""

ABOUT = ".cairn/wiki.json"
SOURCES = ".cairn/sources.jsonl"
MENTIONS = ".cairn/mentions.jsonl"
HISTORY = ".cairn/history"
LIST = ".cairn/files"
FORMAT = {"format": "cairn", "version": 1}
OWN = frozenset({ABOUT, SOURCES, MENTIONS})
"""What an import reads of it, besides the histories."""


def is_in_history(file: str) -> bool:
    """Whether it is one of those that tell what pages were, wherever the folder lies."""
    return f"/{HISTORY}/" in file


def is_history(path: str) -> bool:
    return path.startswith(f"{HISTORY}/") and path.endswith(".jsonl")
