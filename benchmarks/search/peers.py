"""Other searches over the same documents: SQLite FTS5, bm25s and tantivy, each configured as well as its library
allows. All match any of the words. The weights of fields are those that were best on these collections.

The libraries are in the extra `benchmarks`. FTS5 comes with Python if its SQLite has it.
"""

import re
import sqlite3
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from .collection import Collection, Document

Search = Callable[[str], Sequence[str]]
MAX_HITS = 50
LETTERS = re.compile(r"\w+")
WORD = r"(?u)\b\w\w+\b"
# Every two adjacent characters of a script without spaces, and whole words of ASCII text among them.
PAIR = r"(?u)(?=([^\W\x00-\x7f]{2}|(?<![a-z0-9])[a-z0-9]{2,}))"
LANGUAGES_WITH_STOP_WORDS = {
    "danish", "dutch", "english", "french", "german", "italian", "norwegian", "portuguese", "russian", "spanish",
    "swedish", "turkish",
}  # fmt: skip
FIELDS = ("title", "aliases", "summary", "body")
FTS5_WEIGHTS = (10.0, 8.0, 3.0, 1.0)
TANTIVY_WEIGHTS = (1.0, 1.0, 1.0, 1.0)
TITLES = 3  # times that a title is repeated in the only field of bm25s


def fields(document: Document) -> tuple[str, str, str, str]:
    """Return a document's title, names, summary and text. The slug counts as a name, as it does for Cairn."""
    names = [*document.aliases, re.sub(r"[-_/]+", " ", document.slug)]
    return document.title, "\n".join(names), document.summary, document.text


def fts5(collection: Collection, max_hits: int = MAX_HITS) -> Search:
    """Search with SQLite FTS5: stems of English, trigrams for scripts without spaces. Raises ImportError without
    FTS5."""
    stems = "porter " if collection.language == "english" else ""
    tokenizer = "trigram" if collection.is_spaceless else f"{stems}unicode61 remove_diacritics 2"
    database = sqlite3.connect(":memory:")
    try:
        database.execute(f"CREATE VIRTUAL TABLE pages USING fts5 ({', '.join(FIELDS)}, tokenize = '{tokenizer}')")
    except sqlite3.OperationalError as error:
        raise ImportError(f"this SQLite is without FTS5: {error}") from error
    rows = [(number, *fields(document)) for number, document in enumerate(collection.documents)]
    database.executemany(f"INSERT INTO pages (rowid, {', '.join(FIELDS)}) VALUES (?, ?, ?, ?, ?)", rows)
    weights = ", ".join(map(str, FTS5_WEIGHTS))
    sql = f"SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, {weights}) LIMIT {max_hits}"

    def search(text: str) -> list[str]:
        words = LETTERS.findall(text)
        if not words:
            return []
        found = database.execute(sql, (" OR ".join(f'"{word}"' for word in words),))
        return [collection.documents[number].id for (number,) in found]

    return search


def bm25s(collection: Collection) -> Search:
    """Search with Lucene's BM25 in NumPy, with the language's Snowball stemmer and stop words. It has one field."""
    library, snowball = import_module("bm25s"), import_module("Stemmer")
    language = collection.language
    options: dict[str, Any] = {
        "token_pattern": PAIR if collection.is_spaceless else WORD,
        "stopwords": language if language in LANGUAGES_WITH_STOP_WORDS and not collection.is_spaceless else [],
        "stemmer": snowball.Stemmer(language),
        "show_progress": False,
    }
    ids = [document.id for document in collection.documents]
    texts = ["\n".join((document.title,) * (TITLES - 1) + fields(document)) for document in collection.documents]
    index = library.BM25()
    index.index(library.tokenize(texts, **options), show_progress=False)

    def search(text: str) -> list[str]:
        words = library.tokenize([text], **options, return_ids=False)
        found, scores = index.retrieve(words, k=min(MAX_HITS, len(ids)), show_progress=False)
        return [ids[number] for number, score in zip(found[0], scores[0], strict=True) if score > 0]

    return search


def tantivy(collection: Collection, max_hits: int = MAX_HITS) -> Search:
    """Search with Lucene's ranking in Rust: folded accents, stems of the language, bigrams if it has no spaces."""
    library = import_module("tantivy")
    schema = library.SchemaBuilder()
    schema.add_integer_field("number", stored=True)
    for name in FIELDS:
        schema.add_text_field(name, tokenizer_name="words", index_option="position")
    index = library.Index(schema.build())
    index.register_tokenizer("words", analyser(library, collection))
    writer = index.writer(heap_size=100_000_000, num_threads=1)
    for number, document in enumerate(collection.documents):
        writer.add_document(library.Document(number=number, **dict(zip(FIELDS, fields(document), strict=True))))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    boosts = dict(zip(FIELDS, TANTIVY_WEIGHTS, strict=True))

    def search(text: str) -> list[str]:
        words = " ".join(word.lower() for word in LETTERS.findall(text))  # OR, AND and NOT are operators
        if not words:
            return []
        query, _ = index.parse_query_lenient(words, list(FIELDS), field_boosts=boosts)
        hits = searcher.search(query, max_hits).hits
        return [collection.documents[searcher.doc(address)["number"][0]].id for _, address in hits]

    return search


def analyser(library: Any, collection: Collection) -> Any:
    filters = library.Filter
    pairs = collection.is_spaceless
    tokenizer = library.Tokenizer.ngram(2, 2) if pairs else library.Tokenizer.simple()
    builder = library.TextAnalyzerBuilder(tokenizer).filter(filters.lowercase()).filter(filters.ascii_fold())
    return (builder if pairs else builder.filter(filters.stemmer(collection.language))).build()


PEERS: dict[str, Callable[[Collection], Search]] = {"FTS5": fts5, "bm25s": bm25s, "tantivy": tantivy}
