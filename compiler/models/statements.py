"""Turning a model's statements into the text of a section. A statement must cite sources of the request.

All markup of a statement is escaped, except for bold titles that the section may name. So links, images, HTML and
footnotes have no effect, and no source can make a page load external content or forge a citation.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from rapidfuzz import fuzz

from ..extraction.texts.text import fold_text, padded
from ..planner import SectionTask, SourceText
from ..quoting import MARKUP, mark, quoted
from .answers import SectionTextAnswer, StatementAnswer, is_verbatim, quotations
from .fencing import CONTROL, one_line

STATEMENTS_MAX, TEXT_MAX, SOURCES_MAX = 24, 600, 8
ALIKE = 90  # per cent of equal letters, from which on two lines say the same
PROSE = frozenset({"overview", "summary"})
BOLD = re.compile(r"\*\*(?=\S)([^*\r\n]{1,500})\*\*")
OPENING = re.compile(r"^[\s#+=-]+")  # characters that would begin a heading or a list
NUMBERED = re.compile(r"^(\d{1,9})(?=[.)])")


def lines_of(
    answer: SectionTextAnswer,
    slug: str,
    shown: Mapping[str, SourceText],
    titles: Collection[str],
    others: Sequence[str],
) -> list[str]:
    """Return a line for each valid statement, unless an earlier statement or another line says nearly the same."""
    lead = "" if slug in PROSE else "- "
    said = [plain_words(line) for line in others]
    lines = []
    for statement in answer.statements[:STATEMENTS_MAX]:
        line = line_of(statement, shown, titles)
        if line is None or any(fuzz.ratio(plain_words(line), other, score_cutoff=ALIKE) for other in said):
            continue
        said.append(plain_words(line))
        lines.append(lead + line)
    return lines


def line_of(statement: StatementAnswer, shown: Mapping[str, SourceText], titles: Collection[str]) -> str | None:
    """Return the line of a statement: `Text “quote” [^ref]`.

    None is returned without a source, or if text in quotation marks is in none of its sources.
    """
    sources = [shown[handle] for handle in dict.fromkeys(statement.sources) if handle in shown][:SOURCES_MAX]
    text = one_line(CONTROL.sub(" ", statement.text), TEXT_MAX)
    if not sources or not all(is_said(quote, sources) for quote in quotations(text)):
        return None
    quote = " ".join((statement.quote or "").split())
    quotes = [quoted(quote)] if quote and is_said(quote, sources) and quote not in text else []
    if not text and not quotes:
        return None
    return " ".join(filter(None, [literal(text, titles), *quotes, *dict.fromkeys(map(mark, sources))]))


def is_said(quote: str, sources: Sequence[SourceText]) -> bool:
    return any(is_verbatim(quote, source) for source in sources)


def literal(text: str, titles: Collection[str]) -> str:
    """Return the text with all markup escaped, except for titles in bold."""
    return NUMBERED.sub(r"\1\\", "".join(pieces(OPENING.sub("", text), titles)))


def pieces(text: str, titles: Collection[str]) -> Iterator[str]:
    for n, part in enumerate(BOLD.split(text)):
        is_bold = n % 2 == 1
        escaped = MARKUP.sub(lambda found: "\\" + found[0], part)
        yield f"**{part}**" if is_bold and part in titles else escaped


def plain_words(line: str) -> str:
    """Return a line without markup and citations, to compare it with other lines."""
    return " ".join(re.sub(r"\[\^[^\]\s]*\]|[*\\]|^- ", "", line).split())


SHOWN_MAX = 40_000  # characters of all sources in a request
SOURCE_MAX = 6_000  # characters of one source in a request
READ_MAX = 200_000  # characters of one source that are searched
GAP = "[…]"


def newest_that_fit(task: SectionTask) -> list[tuple[SourceText, str]]:
    """Return the newest sources that fit into a request, at least one, each with the text to show, newest first."""
    newest = sorted(task.sources, key=lambda source: (source.captured_at, str(source.id)), reverse=True)
    found: list[tuple[SourceText, str]] = []
    left = SHOWN_MAX
    for source in newest:
        text = passages(source.content[:READ_MAX], (task.page_title, *sorted(task.page_aliases)))
        left -= len(text)
        if found and left < 0:
            break
        found.append((source, text))
    return found


def passages(text: str, names: Iterable[str]) -> str:
    """Return the text, or the first line and the lines around the names if it is long."""
    if len(text) <= SOURCE_MAX:
        return text
    lines = text.splitlines()
    wanted = [padded(fold_text(name).strip()) for name in names if fold_text(name).strip()]
    saying = [n for n, line in enumerate(lines) if any(name in fold_text(line) for name in wanted)]
    near = {0} | {n + step for n in saying for step in (-1, 0, 1)}
    return "\n".join(shorten_lines(lines, sorted(near)))


def shorten_lines(lines: Sequence[str], wanted: Sequence[int]) -> Iterator[str]:
    """Yield these lines up to SOURCE_MAX characters, with GAP in place of omitted ones."""
    left, last = SOURCE_MAX, -1
    for n in wanted:
        if not 0 <= n < len(lines) or left <= 0:
            continue
        if n != last + 1:
            yield GAP
        yield lines[n][:left]
        left, last = left - len(lines[n]), n
