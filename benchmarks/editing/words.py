"""Words in several scripts, from which texts are generated."""

WORDS = [
    "kettle", "grinder", "café", "日本", "roast", "bean", "harbour", "river", "🐘", "stone", "filter", "origin",
    "naïve", "latte", "mocha",
]  # fmt: skip
