"""The instructions for a model, each in a Markdown file in this folder."""

from functools import cache
from importlib.resources import files


@cache
def prompt(name: str) -> str:
    """Return the text of `planning`, `writing` or `judging`."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
