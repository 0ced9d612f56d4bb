"""The documentation is short, its links lead somewhere, and it uses the words of docs/glossary.md."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
DECISIONS = DOCS / "decisions"
BANNED_WORDS = ROOT / "tests" / "style" / "banned_words.txt"
WORDS_MAX = 20_000
DECISION_WORDS_MAX = 350
DECISIONS_MAX = 20
LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+(?:\([^()\s]*\))?)\)")
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]+`")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
DECISION_HEADINGS = ["Context", "Decision", "Consequences", "Alternatives considered"]
TABLES_FROM_CODE = {DOCS / "reference" / name for name in ("limits.md", "metrics.md")}


def pages() -> list[Path]:
    """Return every Markdown page of the repository, except those in app, compiler and tests."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    written = (ROOT / name for name in listed if not name.startswith(("app/", "compiler/", "tests/")))
    return sorted(page for page in written if page.exists())


def words(page: Path) -> int:
    return len(page.read_text(encoding="utf-8").split())


def without_code(text: str) -> str:
    return CODE.sub("", FENCED.sub("", text))


def anchors(page: Path) -> set[str]:
    """Return the fragments that GitHub gives the headings of a page."""
    headings = HEADING.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> Iterator[str]:
    for target in LINK.findall(without_code(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = target.partition("#")
        file = Path(os.path.normpath(page.parent / path)) if path else page
        if not file.exists() or (fragment and file.suffix == ".md" and fragment not in anchors(file)):
            yield target


def test_the_documentation_is_short() -> None:
    counted = {page: words(page) for page in DOCS.rglob("*.md") if DECISIONS not in page.parents}
    assert sum(counted.values()) <= WORDS_MAX, sorted(counted.items(), key=lambda one: -one[1])[:10]


def test_every_page_is_in_the_index_of_its_folder() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    listed = {DOCS / target.partition("#")[0] for target in LINK.findall(index)}
    expected = {page for page in DOCS.rglob("*.md") if page.name != "README.md"}
    assert sorted(expected - listed) == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    assert list(broken_links(page)) == []


def test_decisions_are_few_short_and_of_one_form() -> None:
    decisions = sorted(DECISIONS.glob("*.md"))
    assert len(decisions) <= DECISIONS_MAX
    for number, decision in enumerate(decisions, 1):
        assert decision.name.startswith(f"{number:04d}-")
        text = decision.read_text(encoding="utf-8")
        assert text.startswith(f"# {number}. ")
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == DECISION_HEADINGS, decision.name
        assert words(decision) <= DECISION_WORDS_MAX, decision.name


def banned_words() -> re.Pattern[str]:
    lines = BANNED_WORDS.read_text(encoding="utf-8").splitlines()
    entries = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return re.compile(rf"\b(?:{'|'.join(entries)})\b", re.IGNORECASE)


def test_no_page_uses_a_private_word() -> None:
    banned = banned_words()
    read = [page for page in pages() if page.name != "CHANGELOG.md"]
    found = [
        f"{page.relative_to(ROOT)}:{number}: {match.group()}"
        for page in read
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        if not (page in TABLES_FROM_CODE and line.startswith("|"))
        for match in banned.finditer(line)
    ]
    assert found == []
