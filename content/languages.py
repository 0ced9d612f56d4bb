"""In which language a page is written, and so how its words are stemmed: by the names of Postgres's configurations."""

from typing import Any

# ISO 639-1, as the frontmatter of notes has it.
CODES = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian",
    "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
LANGUAGES = frozenset(CODES.values()) | {"simple"}
KEYS = ("language", "lang")


def language_of(metadata: dict[str, Any] | None, default: str) -> str:
    """What the frontmatter says: `language: german`, `lang: de-AT`. A language without stemmer is `simple`."""
    for key in KEYS:
        if isinstance(given := (metadata or {}).get(key), str) and (language := named(given)):
            return language
    return default


def named(text: str) -> str | None:
    """`German`, `de`, `de_AT` → `german`; other codes of a language → `simple`; nothing that is not one."""
    name = text.strip().casefold()
    code = name.replace("_", "-").partition("-")[0]
    if name in LANGUAGES:
        return name
    return CODES.get(code) or ("simple" if code.isalpha() and len(code) == 2 else None)
