"""The section writer that asks a model. Lines of people stay, and every line of the model cites its sources."""

from collections.abc import Collection, Mapping, Sequence

from content.templates import TEMPLATES
from lib.threads import offload

from ..extraction.texts.language import language_of
from ..extraction.texts.text import WORD
from ..planner import SectionTask, SectionWriter, SourceText
from ..quoting import CHARACTERS_MAX, find_refs, fit_lines, mark
from .answers import SectionTextAnswer
from .authorship import Authorship, key_of
from .fencing import Fence, one_line
from .prompts import prompt
from .requests import Asker, Malformed, ModelQuestion
from .statements import PROSE, lines_of, newest_that_fit

RELATED_MAX = 40
TITLE_MAX = 120
WORDS_MIN = 12  # words of a text whose language can be detected

WRITING = ModelQuestion("section-writer", prompt("writing"), SectionTextAnswer)


class ModelWriter:
    """A `SectionWriter` that asks a model.

    `rules` write a section if the answer is malformed, if it has no valid statement and there is no present text, if
    the page cites too few sources for a synthesis, or if the budget is used up.
    """

    def __init__(self, asker: Asker, rules: SectionWriter, authorship: Authorship) -> None:
        self.asker, self.rules, self.authorship = asker, rules, authorship

    async def write(self, task: SectionTask) -> str:
        """Return the text, at most 6,000 characters besides the lines of people.

        This is the present text if there are no sources, or if the model has no valid statement.
        """
        if not task.sources:
            return task.body
        if not task.is_synthesis or await self.asker.meter.stop():
            return await self.by_rules(task)
        sources = await offload(sum(len(source.content) for source in task.sources), newest_that_fit, task)
        peoples_lines, unshown_lines = await self.remaining_lines(task, [source for source, _ in sources])
        handles = {f"s{n}": source for n, (source, _) in enumerate(sources, start=1)}
        titles = {title for title, _, _ in task.related}
        languages = {language(source.content) for source in handles.values()}

        def answer_lines(answer: SectionTextAnswer) -> list[str]:
            return lines_of(answer, task.slug, handles, titles, peoples_lines)

        def complaint(answer: SectionTextAnswer) -> str | None:
            return complaint_about(answer, answer_lines(answer), languages)

        try:
            answer = await self.asker.ask(WRITING, text_of(task, sources, peoples_lines), complaint)
        except Malformed:
            return await self.by_rules(task)
        lines = answer_lines(answer)
        if not lines:
            return task.body if task.body.strip() else await self.by_rules(task)
        return "\n\n".join(
            part for part in ("\n".join(peoples_lines), "\n".join(fit_lines([*lines, *unshown_lines]))) if part
        )

    async def by_rules(self, task: SectionTask) -> str:
        self.asker.meter.count({"sections_by_rules": 1})
        return await self.rules.write(task)

    async def remaining_lines(self, task: SectionTask, shown: Sequence[SourceText]) -> tuple[list[str], list[str]]:
        """Return the lines that stay: those of people, and those that cite only sources that are not in the request."""
        lines = task.body.splitlines()
        if not task.body.strip() or task.page_id is None:
            return [], []
        people = await self.authorship.lines_of_people(task.page_id)
        peoples_lines = {line for line in lines if line.strip() and (not find_refs(line) or key_of(line) in people)}
        shown_refs = {ref for source in shown for ref in find_refs(mark(source))}
        others = (line for line in lines if line.strip() and line not in peoples_lines)
        unshown_lines = [line for line in others if shown_refs.isdisjoint(find_refs(line))]
        return with_blank_lines(lines, peoples_lines), unshown_lines


def with_blank_lines(lines: Sequence[str], chosen: Collection[str]) -> list[str]:
    """Return the chosen lines with the blank lines between them. Where lines are left out, at most one stays."""
    found: list[str] = []
    blank: list[str] = []
    is_left_out = False
    for line in lines:
        if not line.strip():
            blank.append(line)
        elif line in chosen:
            found += [*(blank[:1] if is_left_out else blank), line] if found else [line]
            blank, is_left_out = [], False
        else:
            is_left_out = True
    return found


def complaint_about(answer: SectionTextAnswer, lines: Sequence[str], languages: Collection[str]) -> str | None:
    """Return what is wrong with an answer: no statement is valid, or the language is wrong. None if it is good."""
    if answer.statements and not lines:
        return (
            "No statement can stand: each needs handles of shown sources, and quotes must be theirs letter by letter."
        )
    said = " ".join(statement.text for statement in answer.statements)
    if len(WORD.findall(said)) >= WORDS_MIN and language(said) not in languages:
        return f"Write in the language of the sources: {', '.join(sorted(languages))}."
    return None


def language(text: str) -> str:
    return language_of(text, [word.lower() for word in WORD.findall(text[:4_000])])


def text_of(task: SectionTask, sources: Sequence[tuple[SourceText, str]], peoples_lines: Sequence[str]) -> str:
    """Return the text of the request: the section, its present text, the pages that it may name, and the sources."""
    fence = Fence()
    usual = dict(TEMPLATES.get(task.page_type, ()))
    form = "Sentences that read as one paragraph." if task.slug in PROSE else "Statements that stand as a list."
    about = {"Page": f"{task.page_type}: {task.page_title}", "Section": task.heading or usual.get(task.slug, task.slug)}
    names = [one_line(title, TITLE_MAX) for title, _, _ in task.related][:RELATED_MAX]
    parts = [
        fence.around("what to write", "\n".join(f"{name}: {one_line(text, 500)}" for name, text in about.items())),
        form,
        fence.around("lines of people, which stay", "\n".join(peoples_lines)) if peoples_lines else "",
        fence.around("present text", task.body[:CHARACTERS_MAX]) if task.body.strip() else "",
        fence.around("other pages", "\n".join(names)) if names else "",
        *(fence.around(f"source s{n}", with_header(source, text)) for n, (source, text) in enumerate(sources, start=1)),
        "Write the section from these sources.",
    ]
    return "\n\n".join(filter(None, parts))


def with_header(source: SourceText, text: str) -> str:
    """Return the text of a source below a line with its kind, day and title."""
    facts: Mapping[str, str | None] = {
        "kind": source.kind,
        "day": source.captured_at.date().isoformat(),
        "title": source.title and one_line(source.title, TITLE_MAX),
    }
    return f"{', '.join(f'{name}: {fact}' for name, fact in facts.items() if fact)}\n\n{text}"
