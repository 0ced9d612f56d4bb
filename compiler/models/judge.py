"""A judge of corrections that asks a model. For each correction, the model must quote the words that show it."""

from content.claims.corrections import Verdict

from ..planner import Disputed, Judge
from .answers import VerdictAnswer
from .fencing import Fence, one_line
from .prompts import prompt
from .requests import Asker, Malformed, ModelQuestion

NAMES_MAX, NAME_MAX = 8, 120

JUDGING = ModelQuestion("correction-judge", prompt("judging"), VerdictAnswer)


class ModelJudge:
    """A `Judge` that asks a model. `rules` decide if its answer is malformed, or if the budget is used up."""

    def __init__(self, asker: Asker, rules: Judge) -> None:
        self.asker, self.rules = asker, rules

    async def judge(self, disputed: Disputed) -> Verdict:
        if await self.asker.meter.stop():
            return await self.rules.judge(disputed)

        def complaint(answer: VerdictAnswer) -> str | None:
            if Verdict(answer.verdict) is Verdict.OVERRIDES and not is_quoted(answer.quote, disputed.newer):
                return "Quote the words of the newer sentence that override the older one, letter by letter."
            return None

        try:
            answer = await self.asker.ask(JUDGING, text_of(disputed), complaint)
        except Malformed:
            return await self.rules.judge(disputed)
        return Verdict(answer.verdict)


def is_quoted(quote: str | None, sentence: str) -> bool:
    wanted = " ".join((quote or "").split())
    return len(wanted) > 1 and wanted in " ".join(sentence.split())


def text_of(disputed: Disputed) -> str:
    """Return the text of the request: the names of the page and both sentences."""
    fence = Fence()
    names = [one_line(name, NAME_MAX) for name in sorted(disputed.names)][:NAMES_MAX]
    return "\n\n".join(
        [
            fence.around("names of the page", "\n".join(names)),
            fence.around("older sentence", disputed.older),
            fence.around("newer sentence", disputed.newer),
            "What does the newer sentence do to the older one?",
        ]
    )
