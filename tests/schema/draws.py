"""Draws the values of a world: few distinct values, so that orders need their last key, and some unusual ones."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

Row = dict[str, Any]

START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = [
    "latte",
    "mocha",
    "filter",
    "grinder",
    "kettle",
    "roast",
    "bean",
    "origin",
    "austin",
    "lisbon",
    "harbour",
    "garden",
    "river",
    "stone",
]
TAGS = ["coffee", "travel", "É", "with space", 'quo"te', "new\nline", "日本"]
NASTY = [
    'Say "hi" \\ back', "Ünïcödé", "日本語のページ", "🐘 elephant", "tab\tand\nline", "'; DROP TABLE pages; --",
    "100% _sure_", "e\u0301", "é", "É", "!!!", "\u2028line", "\x7f\x01", "null", '["x"]', "{}", "a" * 300,
    "</script>", "$1", ":name",
]  # fmt: skip


class Draws:
    """Random values, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.moments = [self.any_moment() for _ in range(12)]

    def id(self) -> UUID:
        return UUID(int=self.rng.getrandbits(128))

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def any_moment(self) -> datetime:
        seconds, micros = self.rng.randrange(10_000_000), self.rng.choice([0, 1, 120_000, 999_999])
        return START + timedelta(seconds=seconds, microseconds=micros)

    def moment(self) -> datetime:
        return self.rng.choice(self.moments)

    def maybe(self, *values: Any) -> Any:
        return self.rng.choice([None, *values])

    def title(self) -> str:
        plain = f"{self.rng.choice(WORDS[:4]).title()} {self.rng.choice(WORDS[:4])}"
        return self.rng.choice(NASTY) if self.chance(0.4) else plain

    def text(self) -> str:
        words = self.rng.choices([*WORDS, *NASTY[:8], "**bold**", "[[Latte]]"], k=self.rng.randrange(40))
        return " ".join(words)

    def document(self) -> Row:
        values = [1, 1.5, None, True, 'é"\\\n', [1, [2]], {"b": 1, "a": 2}, 12345678901]
        return {
            key: self.rng.choice(values) for key in self.rng.sample(["b", "aa", "c", "é", ""], self.rng.randrange(4))
        }
