"""Which language a text is in: by its script, then by its commonest words."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain

from .stopwords import STOPWORDS

KANA = re.compile("[\u3041-\u30fa\u30fc-\u30ff]")
HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
THAI = re.compile("[\u0e01-\u0e5b]")
HANGUL = re.compile("[\uac00-\ud7af]")
SPACELESS = frozenset({"ja", "zh", "th", "ko"})
ELIDED = re.compile("(?<=^[ldjnstmc])['’].*")
LANGUAGES_OF = {
    word: tuple(code for code, stops in STOPWORDS.items() if word in stops)
    for word in frozenset().union(*STOPWORDS.values())
}
SAMPLE = 400  # words or characters: more say nothing new


def language_of(text: str, words: Iterable[str]) -> str:
    """ISO 639-1. A text with as many words of no list as of every list is taken for English."""
    return _by_script(text[: 10 * SAMPLE]) or _by_words(words)


def _by_script(text: str) -> str | None:
    if text.isascii():
        return None
    for code, letters, share in (("ja", KANA, 8), ("zh", HAN, 6), ("th", THAI, 6), ("ko", HANGUL, 6)):
        if share * len(letters.findall(text)) > len(text):
            return code
    return None


def _by_words(words: Iterable[str]) -> str:
    said = (word if word.isalpha() else ELIDED.sub("", word) for word in words)
    counts = Counter(chain.from_iterable(LANGUAGES_OF[word] for word in said if word in LANGUAGES_OF))
    return max(STOPWORDS, key=lambda code: (counts[code], code == "en"))
