"""What an exported folder holds besides its pages, in a folder that other tools do not show."""

ABOUT = ".cairn/wiki.json"
SOURCES = ".cairn/sources.jsonl"
MENTIONS = ".cairn/mentions.jsonl"
ERRORS = ".cairn/errors.jsonl"
"""What an export could not write: a line for each page, source or name that is missing in it."""
ORIGINALS = ".cairn/originals.jsonl"
HISTORY = ".cairn/history"
LIST = ".cairn/files"
FORMAT = {"format": "cairn", "version": 1}
OWN = frozenset({ABOUT, ERRORS, SOURCES, MENTIONS, ORIGINALS})
"""What an import reads of it, besides the histories."""


def is_in_history(file: str) -> bool:
    """Whether it is one of those that tell what pages were, wherever the folder lies."""
    return f"/{HISTORY}/" in file


def is_history(path: str) -> bool:
    return path.startswith(f"{HISTORY}/") and path.endswith(".jsonl")
