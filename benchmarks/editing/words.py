"""Words of several scripts, for texts."""

WORDS = [
    "kettle", "grinder", "café", "日本", "roast", "bean", "harbour", "river", "🐘", "stone", "filter", "origin",
    "naïve", "latte", "mocha",
]  # fmt: skip
