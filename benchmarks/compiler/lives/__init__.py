"""The vocabulary of generated notes by language: people, places in their cities, projects, and sentence templates."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Life:
    """The vocabulary of one language. `days`, `memories`, `ideas` and `reading` are templates with names in braces."""

    people: tuple[str, ...]
    first: tuple[str, ...]
    last: tuple[str, ...]
    cities: dict[str, tuple[str, ...]]
    journals: tuple[str, ...]
    projects: tuple[str, ...]
    tools: tuple[str, ...]
    tags: tuple[str, ...]
    things: tuple[str, ...]
    days: tuple[str, ...]
    memories: tuple[str, ...]
    ideas: tuple[str, ...]
    reading: tuple[str, ...]

    @property
    def places(self) -> list[tuple[str, str]]:
        """All places as pairs (place, city)."""
        return [(place, city) for city, places in self.cities.items() for place in places]


LANGUAGES = tuple(sorted(path.stem for path in HERE.glob("*.json")))


@cache
def life(language: str) -> Life:
    return Life(**json.loads((HERE / f"{language}.json").read_text(encoding="utf-8")))
