"""The header of a mail names its sender and its subject, and only lines of the sender are quoted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.extraction.readings import Reading
from content.notes.mail import mail_of
from tests.compiler.extraction.stories import compiled, note, notes, page, titles

HEADER = """From: {sender}
To: Board
Date: Mon, 3 Mar 2025 10:00:00 +0100
Subject: {subject}

"""
MAILS = [
    HEADER.format(sender="Ottilie Brandt <o.brandt@example.org>", subject="Boiler")
    + "Dear all,\n\nI found that the boiler failed again.\n\n-- \nOttilie Brandt\nTreasurer, Weir Street 4",
    HEADER.format(sender='"Ottilie Brandt" <o.brandt@example.org>', subject="Re: AW: Boiler")
    + "The plumber wants 900 euros.\n\nOn Mon, 3 Mar 2025, Henk Jansma wrote:\n> Ask Zephyr Heating for a quote.",
    HEADER.format(sender="Ottilie Brandt (o.brandt@example.org)", subject="Fwd: Quote")
    + "See below.\n\n---------- Forwarded message ---------\nFrom: Zephyr Heating <z@example.org>\n\nDear Ms Brandt",
]


def test_a_mail_sender_gets_a_page_that_quotes_only_their_own_lines() -> None:
    wiki = compiled(notes(*MAILS))
    assert titles(wiki, "entity") == ["Ottilie Brandt"]
    texts = "".join(section.body for section in page(wiki, "Ottilie Brandt").sections.values())
    assert "boiler failed again" in texts
    assert not [word for word in ("Subject", "o.brandt", "Treasurer", "Zephyr", "Henk") if word in texts]


@pytest.mark.parametrize(
    ("sender", "name"),
    [
        ('"Brandt, Ottilie" <o.brandt@example.org>', "Ottilie Brandt"),
        ("van der Brandt, Ottilie M. <o.brandt@example.org>", "Ottilie M. van der Brandt"),
        ('"Brandt, Ottilie (Sales)" <o.brandt@example.org>', "Ottilie Brandt"),
        ('"Ottilie Brandt, PhD" <o.brandt@example.org>', "Ottilie Brandt"),
        ('"Zephyr Heating, Inc." <z@example.org>', "Zephyr Heating"),
        ('"Brandt, Ottilie, Weir Street" <o.brandt@example.org>', ""),
    ],
)
def test_a_sender_may_be_written_with_the_family_name_first(sender: str, name: str) -> None:
    mail = mail_of(f"{HEADER.format(sender=sender, subject='Boiler')}It failed.".splitlines())
    assert mail is not None
    assert mail.sender == name


def test_the_heading_of_a_mail_is_its_subject_without_reply_prefixes() -> None:
    assert [{line.heading for line in Reading(note(0, mail)).lines} for mail in MAILS] == [
        {"Boiler"},
        {"Boiler"},
        {"Quote"},
    ]


def test_what_introduces_an_answered_mail_in_two_lines_is_left_out() -> None:
    header = HEADER.format(sender="Ottilie Brandt <o.brandt@example.org>", subject="Re: Boiler")
    introduced = "On Mon, Mar 3, 2025 at 10:00 AM Henk Jansma <\nh.jansma@example.org> wrote:\n"
    mail = mail_of(f"{header}The plumber came.\n\n{introduced}\n> Ask Zephyr Heating.\n".splitlines())
    assert mail is not None
    assert "\n".join(mail.said).split() == ["The", "plumber", "came."]
    own = f"{header}On Monday I met the plumber, and later he\nwrote: two lines:\nYes, and no."
    assert (mail := mail_of(own.splitlines())) is not None
    assert mail.said[-3:] == own.splitlines()[-3:]


def test_minutes_and_chats_are_no_mails() -> None:
    for text in (
        "Date: 3 March\nPresent: Anna, Bo\n\nFrom: here on we wait.",
        "From: the desk of nobody\n\nTo: be or not to be.",
        "Anna: From whom?\nBo: From Anna.\nAnna: To whom?",
    ):
        assert mail_of(text.splitlines()) is None


def test_a_quoted_line_outside_a_mail_is_prose() -> None:
    assert [line.sentences[0].text for line in Reading(note(0, "> Slow is smooth.")).lines] == ["Slow is smooth."]


LINES = [*"\n".join(MAILS).splitlines(), "", "  \t", "-- ", "> a", "---", "Von: x"]


@given(st.lists(st.sampled_from(LINES), max_size=30))
def test_a_parsed_mail_contains_only_text_of_its_lines(lines: list[str]) -> None:
    mail = mail_of(lines)
    assert mail is None or (set(mail.said) <= set(lines) and mail.subject in "\n".join(lines))
