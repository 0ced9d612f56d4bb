"""The one scale on which pages and passages compare: 1 is a text of ordinary length that says the whole question.

Each ranking adds shares of the weight that the question has in its own index. What such a text would score, if it stood
alone and nothing but its words spoke for it, is the unit of that ranking. So the order within a ranking stays, and a
score says the same of a page, of a passage, and of another wiki with other words.
"""

from .ranking_query import RankedQuery
from .weights import FEEDBACK, PassageWeights, Weights

PAGE, PASSAGE = Weights(), PassageWeights()


def page_unit(asked: RankedQuery) -> float:
    """Return the score of a page that says the question: half of such texts have its words side by side."""
    together = (PAGE.w_all + PAGE.w_phrase) / 2 if asked.all else 0.0
    topic = FEEDBACK / (1 - FEEDBACK) if asked.feedback else 0.0
    return asked.total * (1 + together + topic)


def passage_unit(total: float) -> float:
    """Return the score of the only passage of a source that says the question, whose words weigh that together."""
    said = 1 + PASSAGE.w_together + PASSAGE.w_source + PASSAGE.w_pairs / 2
    return total * said * (1 + PASSAGE.w_best)
