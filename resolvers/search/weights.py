"""The constants of ranking, tuned on the collections of benchmarks/RESULTS.md."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of pages. A share is a share of the weight of the whole query; a bonus is added to the score."""

    k1: float = 1.5  # BM25: saturation of repeated words
    b: float = 0.5  # BM25: penalty of long pages
    w_name: float = 1.1  # a word in a name, relative to the same word once in the text
    w_all: float = 0.15  # the page has every word: share
    w_phrase: float = 0.6  # the words are side by side: share, instead of w_all
    w_heading: float = 1.8  # a heading of the page is the query: share
    w_open_title: float = 16.0  # the title begins with the query: bonus
    w_open_name: float = 3.0  # another name begins with the query: bonus
    w_linked: float = 0.25  # one of the best three pages links to the page: share
    w_agreed: float = 0.7  # all of the best ten link to a page without words of the query: share of the best score
    feedback_words: int = 15  # lexemes that the best pages add to the query
    feedback_depth: int = 100  # pages that are weighed again with these lexemes


WEIGHTS = asdict(Weights())
"""The weights of pages as parameters of the statements."""


@dataclass(frozen=True, slots=True)
class PassageWeights:
    """The weights of passages, tuned on conversations: shares of a BM25 score, unless a comment says otherwise."""

    k1: float = 1.0
    b: float = 0.3
    w_before: float = 0.35  # the passage before
    w_after: float = 0.2  # the passage after
    w_long_before: float = 0.2  # the second passage before
    w_long_after: float = 0.1  # the second passage after
    w_asks: float = 0.2  # a passage that is a question loses this share of its own score,
    w_question: float = 0.2  # and the passage after it gains this share
    w_foremost: float = 0.1  # the query names the speaker, when candidates are chosen: share of the query's weight
    w_together: float = 0.4  # the passage and its neighbours have all words: share of the query's weight
    w_speaker: float = 0.25  # a word of the query names the speaker: share of the query's weight
    w_speakers: float = 0.5  # all speakers that the query names speak in the source: share of the query's weight
    w_pairs: float = 0.4  # two words are side by side: share of their mean weight
    w_source: float = 0.2  # the source of the passage
    w_time: float = 0.8  # the source is from the time that the query names: share of the query's weight
    w_best: float = 0.2  # the three best passages of the source


PASSAGE_BUDGET = 450  # passages that are found by their words; the statement has the same literal
PASSAGE_WEIGHTS = asdict(PassageWeights())
BUDGET = 600  # pages that are weighed by their words; the statements have the same literal
COUNTED = 1_000  # pages up to which a total is exact
COMPLETION_TRUST = 0.3  # trust in the completion of an unfinished word
STOP_WORD_TRUST = 0.2  # trust in a stop word of one of the wiki's languages
CORRECTION_TRUST = {1: 0.9, 2: 0.7}  # trust in a correction, by its number of edits
AMONG = 0.6  # a name among other words of the query: share of the weight of its words
USUAL, LARGE = 0.5, 20  # a word in this share of the pages is not distinctive, in a wiki of at least so many pages
APART = 16.0  # bonus of a name that has all distinctive words of the query, times its share of the words,
ALMOST = 0.5  # which must be at least this
HEAVIEST = 20  # lexemes of a query that are weighed; all of them still find pages
FEEDBACK, FEEDBACK_PAGES = 0.3, 3  # share of the score for the topic of the best pages; pages whose topic is used
