"""Instructions for a model, apart from what it is shown: each is a text beside this file."""

from functools import cache
from importlib.resources import files


@cache
def prompt(name: str) -> str:
    """Return the text of `planning`, `writing` or `judging`."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
