"""Markup of site generators, wikis and messengers is recognised and never quoted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.planner.verbatim import is_verbatim
from compiler.extraction.readings import Reading
from tests.compiler.extraction.stories import compiled, leading_names, note, notes


def said(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [sentence.text for sentence in Reading(note(0, text)).sentences]


@pytest.mark.parametrize(
    "markup",
    [
        '{{< figure src="/a.png" caption="Queue depth" width="600px" >}}',
        "{{% notice tip %}}",
        "{% include toc.html %}",
        "{% highlight rust %}\nfn next() -> Token\n{% endhighlight %}",
        "{: .note}",
        "import Callout from '../components/Callout'",
        "import { Demo } from '../components/Demo';",
        "export const meta = { hero: 'cover.png' }",
        '<Demo\n  title="Heads up"\n  source="fib.plv"\n/>',
        "[[File:Org.png|thumb|600px|caption=Org chart]]",
        '{| class="wikitable"\n! Goal !! Due\n|-\n| Learn || May\n|}',
        "{{Infobox\n| status = Accepted\n}}",
        "{{Infobox decision|status=Accepted}}",
        "__NOTOC__",
        '<ref name="un">See the directory.</ref>',
        "status:: Accepted",
        "<!-- a\nlong comment -->",
        "== Heading ==",
        "[[toc]]",
        "[[_TOC_]]",
        ":LOGBOOK:\n  CLOCK: [2024-03-22 Fri 10:00:00]--[2024-03-22 Fri 11:00:00] =>  01:00:00\n:END:",
        '![Our rack, 600px](rack.png "Caption: rack")',
    ],
)
def test_markup_is_no_sentence(markup: str) -> None:
    assert said(f"Before it.\n\n{markup}\n\nAfter it.") == ["Before it.", "After it."]


def test_outliner_task_markers_and_tags_are_removed_from_sentences() -> None:
    outline = "- TODO ask Dana\n\t- LATER benchmark it\n- #decision we chose Martin\n- TODO"
    assert said(outline) == ["ask Dana", "benchmark it", "we chose Martin", "TODO"]


def test_links_in_indented_blocks_are_found() -> None:
    reading = Reading(note(0, "- meeting\n\t- [[Dana Whitlock]] and\n\t\t- [[Project Heron]]"))
    assert {key for key, sighting in reading.sightings.items() if "link" in sighting.marks} == {
        "dana whitlock",
        "project heron",
    }


def test_a_block_of_nothing_but_tags_is_never_quoted() -> None:
    days = ["- #standup\n\t- The tile server is fast.", "- #standup", "- #standup\n\t- Nobody came today."]
    wiki = compiled([note(day, text) for day, text in enumerate(days)])
    assert wiki.all
    assert "“#" not in "".join(page.markdown() for page in wiki.all)


def test_a_possessive_before_a_full_stop_is_no_initial() -> None:
    assert said("I live above the ironmonger's. Greta lent me two chairs.") == [
        "I live above the ironmonger's.",
        "Greta lent me two chairs.",
    ]


@pytest.mark.parametrize(
    "header", ["---\ntitle: Left\ntags:\n  - a\n---\n", '+++\ntitle = "Left"\n[params]\nx = 1\n+++\n', "---\n---\n"]
)
def test_front_matter_is_no_sentence(header: str) -> None:
    assert said(f"{header}Only this.") == ["Only this."]


def test_text_that_only_resembles_front_matter_or_a_block_is_read() -> None:
    assert said("---\nA rule stands above this sentence.\n---\nAnd below.")[0] == "A rule stands above this sentence."
    assert said("{{ is never closed.\nStill read.")[-1] == "Still read."


def test_emphasis_and_lists_of_wikis_are_read_as_text() -> None:
    assert said("'''Present:''' Ola Berg\n; Today\n: Ola pairs with [[Theresa Quist|Theresa]].") == [
        "Present: Ola Berg",
        "Today",
        "Ola pairs with Theresa.",
    ]


CHAT = """[03/09/2023, 18:04:11] Tomás Lind: Messages and calls are end-to-end encrypted.
[03/09/2023, 18:06:02] Priya Nair: My floor is worse than in the pictures.
[03/09/2023, 18:09:15] Ken Oduya: <Media omitted>
[03/09/2023, 18:12:00] Tomás Lind: Hey Ken! Look at the floor.
"""


def test_chat_turns_have_speakers_and_messenger_notices_are_dropped() -> None:
    sentences = Reading(note(0, CHAT)).sentences
    assert [(sentence.speaker, sentence.text) for sentence in sentences] == [
        ("Priya Nair", "My floor is worse than in the pictures."),
        ("Tomás Lind", "Hey Ken!"),
        ("Tomás Lind", "Look at the floor."),
    ]
    assert "priya nair" in sentences[0].words, "a speaker is named by the first person"
    assert "lind" not in sentences[2].words


def test_speakers_are_people_and_greetings_are_no_names() -> None:
    sightings = Reading(note(0, CHAT)).sightings
    assert sightings["tomas lind"].is_person
    assert "person" in sightings["priya nair"].marks
    assert not {"hey ken", "hey", "media", "messages", "look"} & {
        key for key, sighting in sightings.items() if sighting.marks - {"open"}
    }


@pytest.mark.parametrize(
    "text",
    [
        "Date: 2024-01-01\nStatus: Accepted\nAuthor: Mara",
        "- Rosalind: the fix is live.\n- Jun: ship it.\n- Jun: test it.",
        "User: hello\nAssistant: hi\nUser: bye",
    ],
)
def test_labels_lists_and_roles_are_no_speakers(text: str) -> None:
    assert not any(sentence.speaker for sentence in Reading(note(0, text)).sentences)


def test_a_chat_quote_on_another_page_names_its_speaker() -> None:
    texts = [CHAT.replace("My floor is worse", f"The floor of Alder Street is worse ({day})") for day in range(3)]
    wiki = compiled([note(day, text) for day, text in enumerate(texts)])
    (page,) = [page for page in wiki.all if page.card.title == "Alder Street"]
    assert "Priya Nair: “The floor of Alder Street is worse (2) than in the pictures.”" in page.markdown()


OPENINGS = (
    "{{<",
    "{%",
    "{|",
    "{{",
    "<!--",
    "<pre",
    "<Demo",
    "---",
    "+++",
    "[[File:",
    "Mara: ",
    "`" * 3,
    "# ",
    "word ",
    "|}",
)


@given(st.lists(st.sampled_from((*OPENINGS, "}}", "%}", "-->", ">", "\n", "Then Bo spoke. ")), max_size=80))
def test_sentences_of_any_mixture_of_markup_are_verbatim(parts: list[str]) -> None:
    text = "".join(parts)
    assert [one for one in said(text) if not is_verbatim(one, text)] == []


def test_sentences_after_a_line_of_code_between_fences_are_read() -> None:
    text = "We start it with:\n\n```make kiln```\n\nThe kiln is old.\n\n```\nleft out\n```\n\nThe glaze is blue."
    assert said(text)[-2:] == ["The kiln is old.", "The glaze is blue."]


@pytest.mark.parametrize("batch", [1, 50])
def test_a_page_of_a_hyphenated_tag_has_the_tag_as_another_name(batch: int) -> None:
    texts = ["Thai food for our #date-night.", "#date-night at the harbour.", "No #date-night this week."]
    wiki = compiled(notes(*texts), batch)
    assert leading_names(wiki) == {"date night", "date-night"}
    assert len(wiki.all) == 1
