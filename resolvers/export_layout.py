"""What an exported folder holds besides its pages, in a folder that other tools do not show."""

ABOUT = ".cairn/wiki.json"
SOURCES = ".cairn/sources.jsonl"
MENTIONS = ".cairn/mentions.jsonl"
LIST = ".cairn/files"
FORMAT = {"format": "cairn", "version": 1}
OWN = frozenset({ABOUT, SOURCES, MENTIONS})
"""What an import reads of it."""
