"""The language that a page is written in, and so how its words are stemmed: a name of a Postgres configuration."""

from functools import cache
from heapq import nlargest
from importlib.resources import files
from typing import Any
from zlib import MAX_WBITS, decompress

import orjson

from .normalization import fold

# ISO 639-1, as the frontmatter of notes has it.
CODES = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian",
    "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
LANGUAGES = frozenset(CODES.values()) | {"simple"}
COMPOUNDING = ("danish", "dutch", "estonian", "finnish", "german", "hungarian", "norwegian", "swedish")
KEYS = ("language", "lang")


def language_of(metadata: dict[str, Any] | None, default: str) -> str:
    """Return the language in the frontmatter: `language: german`, `lang: de-AT`. One without stemmer is `simple`."""
    for key in KEYS:
        if isinstance(given := (metadata or {}).get(key), str) and (language := find_configuration(given)):
            return language
    return default


def find_configuration(text: str) -> str | None:
    """Return a configuration: `German`, `de`, `de_AT` → `german`.

    Other codes of a language → `simple`; nothing that is not one.
    """
    name = text.strip().casefold()
    code = name.replace("_", "-").partition("-")[0]
    if name in LANGUAGES:
        return name
    return CODES.get(code) or ("simple" if code.isalpha() and len(code) == 2 else None)


COMMON = 5_000  # words of a language that everybody knows
CODE_OF = {language: code for code, language in reversed(CODES.items())}


@cache
def common_words(language: str) -> frozenset[str]:
    """Return the most frequent words of a language, folded; none for a language without a list.

    The first call for a language reads its list, which takes long enough to want a thread.
    """
    path = files("spellchecker") / "resources" / f"{CODE_OF.get(language, language)}.json.gz"
    if not path.is_file():
        return frozenset()
    uses: dict[str, int] = orjson.loads(decompress(path.read_bytes(), MAX_WBITS | 16))
    return frozenset(map(fold, nlargest(COMMON, uses, key=uses.__getitem__)))
