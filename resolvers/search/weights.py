"""The numbers that ranking hangs on, found on the collections of benchmarks/RESULTS.md."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """Shares are of the weight of the whole question; bonuses are in units of the score."""

    k1: float = 1.5  # BM25: how soon more of the same word stops to count
    b: float = 0.5  # BM25: how much long pages are held back
    w_name: float = 1.1  # a word in a name, against the same word once in the text
    w_all: float = 0.15  # every word is there: share
    w_phrase: float = 0.6  # the words stand side by side: share, instead of the former
    w_heading: float = 1.8  # the question is one of the page's headings: share
    w_open_title: float = 16.0  # the title goes on where the question ends: bonus
    w_open_name: float = 3.0  # another name does: bonus
    w_linked: float = 0.25  # one of the first three pages links there: share
    w_agreed: float = 0.7  # all of the first ten link to a page that says nothing of it: share of the first one's score
    feedback_words: int = 15  # lexemes that the first pages add
    feedback_depth: int = 100  # pages that are weighed again by them


WEIGHTS = asdict(Weights())
"""As the statements take them."""


@dataclass(frozen=True, slots=True)
class PassageWeights:
    """The weights of passages, found on conversations. Where nothing else is said they are shares of a BM25 score."""

    k1: float = 1.0
    b: float = 0.3
    w_before: float = 0.35  # the passage before
    w_after: float = 0.2
    w_long_before: float = 0.2  # the one before that
    w_long_after: float = 0.1
    w_asks: float = 0.2  # a question in the source loses this share of its own score,
    w_question: float = 0.2  # which the passage after it gains
    w_foremost: float = 0.1  # a speaker who is named, when choosing whom to weigh: share of the weight of the question
    w_together: float = 0.4  # all words are in it or beside it: share of the weight of the question
    w_speaker: float = 0.25  # one of the words names its speaker: the same
    w_speakers: float = 0.5  # all speakers that the question names speak in its source: the same
    w_pairs: float = 0.4  # two words stand side by side: share of their mean weight
    w_source: float = 0.2  # its source
    w_time: float = 0.8  # its source is from the time that the question names: share of the weight of the question
    w_best: float = 0.2  # the three best passages of its source


PASSAGE_BUDGET = 450  # passages that are found by their words, as the statement says
PASSAGE_WEIGHTS = asdict(PassageWeights())
BUDGET = 600  # pages that are weighed for their words, as the statements say
COUNTED = 1_000  # pages that are counted
OPEN = 0.3  # trust in what an unfinished word may become
IDLE = 0.2  # trust in a word that means nothing in one of the wiki's languages
CORRECTED = {1: 0.9, 2: 0.7}  # trust in a word that differs by so many letters
AMONG = 0.6  # a name that is said among other words: share of what its words weigh
USUAL, LARGE = 0.5, 20  # a word that this share of the pages say tells nothing, in a wiki of so many
APART, ALMOST = 16.0, 0.5  # a name among such words alone: bonus, times its share of the words; at least so many
HEAVIEST = 20  # lexemes of a question that are weighed; all of them still find pages
FEEDBACK, FEEDBACK_PAGES = 0.3, 3  # share of what the first pages talk about; how many of them are asked
