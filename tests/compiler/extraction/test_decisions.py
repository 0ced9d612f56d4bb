"""Decisions are recognised in sentences of many languages, with their titles and reasons."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.extraction.decisions import spaceless
from compiler.extraction.decisions.decisions import decisions
from compiler.extraction.decisions.sentences import (
    ANNOUNCED,
    ARRANGED,
    BODY,
    CHANGED,
    DONE,
    FROM_NOW,
    TAKEN,
    may_decide,
)
from compiler.extraction.readings import Reading
from tests.compiler.extraction.stories import body, compiled, note, titles


def read(text: str) -> list[tuple[str, str]]:
    """Return the title and the reason of each decision in a text."""
    return [(decision.title, decision.why) for decision in decisions(Reading(note(0, text)))]


@pytest.mark.parametrize(
    ("text", "title", "why"),
    [
        ("We decided to spend April in Lisbon because the flights are cheap.",
         "Spend April in Lisbon", "because the flights are cheap."),
        ("Marco and I decided to write it in Python, because it is quick.",
         "Write it in Python", "because it is quick."),
        ("Decidimos adiar a entrega porque faltam testes.", "Adiar a entrega", "porque faltam testes."),
        ("Nous avons décidé de revenir en octobre parce qu'il fait beau.",
         "Revenir en octobre", "parce qu'il fait beau."),
        ("我们决定每周三不开会，因为大家都写不完代码。", "每周三不开会", "因为大家都写不完代码。"),
        ("費用が高いので、自社サーバーをやめることにした。", "自社サーバーをやめる", "費用が高いので"),
        ("塩分を控えるために、夜のラーメンをやめることにした。", "夜のラーメンをやめる", "塩分を控えるため"),
        ("Decision: no meetings on Wednesday.", "No meetings on Wednesday", ""),
        ("Bornes : nous avons choisi Voltéa, car la prime tombe en juin.",
         "Nous avons choisi Voltéa", "car la prime tombe en juin."),
        ("We settled on Blue Harbor because it is near.", "We settled on Blue Harbor", "because it is near."),
        ("Hemos decidido pasar la Nochebuena en su piso de Lugo, que es más grande que el mío.",
         "Pasar la Nochebuena en su piso de Lugo", ""),
    ],
)  # fmt: skip
def test_decisions_are_read_with_title_and_reason(text: str, title: str, why: str) -> None:
    assert read(text) == [(title, why)]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("We decided against using Kafka because of cost.", "Against using Kafka"),
        ("We opted against Kafka since it is dear.", "Against Kafka"),
        ("Marco and I decided against using Kafka.", "Against using Kafka"),
        ("We chose not to use Kafka because of cost.", "We chose not to use Kafka"),
        ("We decided to not use Kafka.", "Not use Kafka"),
        ("Decidimos não usar o Kafka porque é caro.", "Não usar o Kafka"),
        ("Optámos por não usar o Kafka.", "Não usar o Kafka"),
        ("Hemos decidido no usar Kafka porque es caro.", "No usar Kafka"),
        ("Nous avons décidé de ne pas utiliser Kafka parce que c'est cher.", "Ne pas utiliser Kafka"),
        ("Wir haben uns gegen Kafka entschieden, weil es teuer ist.", "Gegen Kafka"),
        ("Wir haben uns dagegen entschieden, Kafka zu nutzen, weil es teuer ist.",
         "Wir haben uns dagegen entschieden, Kafka zu nutzen"),
        ("Wir haben beschlossen, Kafka nicht zu nutzen.", "Kafka nicht zu nutzen"),
        ("Abbiamo deciso di non usare Kafka perché costa.", "Non usare Kafka"),
        ("Мы решили не использовать Kafka, потому что дорого.", "Не использовать Kafka"),
        ("我们决定不使用Kafka，因为太贵。", "不使用Kafka"),
        ("費用が高いので、Kafkaを使わないことにした。", "Kafkaを使わない"),
        ("비용 때문에 Kafka를 사용하지 않기로 했다.", "Kafka를 사용하지 않기로 했다"),
        ("Kafka를 쓰지 말기로 결정했습니다.", "Kafka를 쓰지 말기로 결정했습니다"),
        ("เราตัดสินใจไม่ใช้ Kafka เพราะแพง", "ไม่ใช้ Kafka"),
    ],
)  # fmt: skip
def test_a_negative_decision_keeps_its_negation_in_title_and_summary(text: str, title: str) -> None:
    assert [found for found, _ in read(text)] == [title]
    (page,) = [page for page in compiled([note(0, text)]).all if page.card.type == "decision"]
    assert page.card.title == title
    assert page.card.summary == text, "the summary says all of it"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("We decided earlier this year to use Roam for the notes.", "Use Roam for the notes"),
        ("We agreed at the meeting on Tuesday to hire Tom.", "Hire Tom"),
        ("I decided last night not to buy the Brompton.", "I decided last night not to buy the Brompton"),
        ("We decided on Monday that Tom leads the Kestrel team.", "Tom leads the Kestrel team"),
        ("We decided together to move to Lisbon.", "Move to Lisbon"),
        ("We agreed in principle to join Kestrel.", "In principle to join Kestrel"),
        ("We decided to meet in Lisbon to paint.", "Meet in Lisbon to paint"),
    ],
)
def test_a_title_does_not_say_when_it_was_decided(text: str, title: str) -> None:
    assert [found for found, _ in read(f"{text[:-1]} because it is near.")] == [title]


def test_a_decision_and_its_opposite_get_separate_pages() -> None:
    why = "because the rent is dear."
    wiki = compiled(
        [note(0, f"We decided to drop the shop {why}"), note(1, f"We decided against dropping it all {why}")]
    )
    assert set(titles(wiki, "decision")) == {"Drop the shop", "Against dropping it all"}


@pytest.mark.parametrize(
    "text",
    [
        "Have we decided to move?",
        "We have not decided yet.",
        "If we decided to go, Nora would cry.",
        "Nous n'avons pas encore décidé de la date.",
        "Haben wir das Zelt noch nicht entschieden?",
        "还没决定什么时候删掉旧的。",
        "이 방법을 사용하기로 결정했다면, 최소한 백업을 해두시기 바라요.",
        "She is decidedly kind.",
    ],
)
def test_undecided_sentences_are_no_decisions(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        'She said: "I decided to leave the Opera because of Karl."',
        "Nora told me that we decided to leave the Opera because of Karl.",
        "“We decided to leave the Opera,” said Karl, because he had to.",
        "He smiled. „Ich habe mich für Berlin entschieden, weil es groß ist.“",
        "张总说：“我们决定不再用纸质单据，因为太慢。”",
        "If we decided to leave the Opera, Karl would cry because he loves it.",
        "Whenever I decided to call Karl, he was out because of work.",
        "I agreed that the Opera was dull, because it was.",
        "Everybody agreed that March was hard.",
        "I chose the blue one in the end.",
        "I chose not to answer.",
        "I picked that spot because it was quiet.",
        "I chose them 'cause they help.",
        "I agreed to sit in from October.",
        "We will see Karl on Monday because he is back.",
        "We moved the sofa.",
        "Did we decide on the Opera, because Karl asked?",
        "To be decided. We will ask Karl, because he knows.",
        "The dog decided to stay at Karl's because of the rain.",
        "Using Alpen Pay since 3 weeks.",
        "I'm moving on Monday because Karl is late.",
        "We walked from the station because it was late.",
        "Karl says we are moving the queue from Redis to Postgres because it is old.",
        "If we keep Alpen Pay, it is because of Karl.",
        "On prend le train demain.",
        "Is the Vortek replaced?",
        "Karl says the Vortek is replaced.",
        "If the Vortek is replaced, we need Karl.",
        "The old one was replaced.",
        "The Vortek is not replaced.",
        "The Vortek is often replaced.",
        "Wir nehmen Holz statt Stahl.",
    ],
)
def test_reported_conditional_and_trivial_decisions_are_ignored(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("- Decided to freeze deploys of the Billing Service, so that finance can close.",
         "Freeze deploys of the Billing Service"),
        ("Agreed to retire Alpen Pay because nobody uses it.", "Retire Alpen Pay"),
        ("We moved the queue to Postgres, because it has transactions.", "Moved the queue to Postgres"),
        ("We will keep events in Kafka, as four teams read them.", "Keep events in Kafka"),
        ("I compared them: we go with Nordwerk, since it is quiet.", "We go with Nordwerk"),
        ("Wir haben vereinbart, den Vertrag mit Holz-Petersen abzuschließen, weil er gut ist.",
         "Vertrag mit Holz-Petersen abzuschließen"),
        ("我们选择用消息队列青鸟，因为对方的接口常常超时。", "消息队列青鸟"),
        ("## Decision\n\nWe use Flutter for the app.\n", "We use Flutter for the app"),
        ("## Beschlüsse\n\n- Wir beauftragen Holz mit dem Steg.\n", "Beauftragen Holz mit dem Steg"),
        ("== Decisions ==\n* We will drop the old path.\n", "Drop the old path"),
        ("I'm moving the job queue from Redis to Postgres because lost mails cost customers.",
         "Moving the job queue from Redis to Postgres"),
        ("5 June: rewriting the Admin in Htmx and dropping Vue, because Vue 2 is dead.",
         "Rewriting the Admin in Htmx and dropping Vue"),
        ("We moved the show from October to November because of the floor.", "Moved the show from October to November"),
        ("Agreed 24 Aug: sell through TicketNest rather than paper books, so that row D stays free.",
         "Sell through TicketNest rather than paper books"),
        ("Am 6.3. entschieden: Luftwärmepumpe statt Pellets, da fürs Lager kein Platz ist.",
         "Luftwärmepumpe statt Pellets"),
        ("Wir bleiben bei Tekla, da die Umschulung auf Allplan teurer ist.", "Bleiben bei Tekla"),
        ("Décidé ce soir : on réforme Noisette à la fin du mois.", "Réforme Noisette à la fin du mois"),
        ("On enrubanne la première coupe au lieu de faire du foin, car il annonce un orage.",
         "Enrubanne la première coupe au lieu de faire du foin"),
        ("On quitte Thermobel pour Calorys, car Calorys répond vite.", "Quitte Thermobel pour Calorys"),
        ("On garde Nuage Breton un an de plus, car changer serait risqué.", "Garde Nuage Breton un an de plus"),
        ("Se votó: el club va a Valdecuna en autobús.", "El club va a Valdecuna en autobús"),
        ("结论：外壳选恒模，不选立塑。", "外壳选恒模，不选立塑"),
        ("Godotを採用することに決定。", "Godotを採用"),
        ("Vote : la cotisation de Tilleul passe à 18 € par foyer.", "La cotisation de Tilleul passe à 18 € par foyer"),
        ("Adopté à l'unanimité en réunion : la parcelle 7 est à l'école.", "La parcelle 7 est à l'école"),
        ("40 min Diskussion. Einigung: die Firmware erscheint unter MIT.", "Die Firmware erscheint unter MIT"),
        ("Long talk. All agreed in the end that tips go to Fern every Friday.", "Tips go to Fern every Friday"),
        ("The Vortek has been retired.", "The Vortek has been retired"),
        ("Le bulletin papier est remplacé par une lettre de Maïté.",
         "Le bulletin papier est remplacé par une lettre de Maïté"),
        ("We stay with Postwing. Reason: the fault was ours.", "Stay with Postwing"),
        ("Nous achetons les Grandes Noues, car sans cette prairie on manque d'herbe.", "Achetons les Grandes Noues"),
        ("Mira: Hi!\nNora: Hello!\nMira: We decided to run the Harbor Half, because it is near.",
         "Run the Harbor Half"),
    ],
)  # fmt: skip
def test_decisions_are_read_from_phrasings_of_minutes_and_teams(text: str, title: str) -> None:
    assert [found for found, _ in read(text)] == [title]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("RESOLVED precept up 6%, because the rec needs new swings.", "Precept up 6%"),
        ("Precept. Long. RESOLVED precept held at £24,600 for Aldwick.", "Precept held at £24,600 for Aldwick"),
        ("ParishBooks: agreed move accounts to ParishBooks from April.", "Move accounts to ParishBooks from April"),
        ("Phone box: Decided the Heartline goes in the phone box.", "The Heartline goes in the phone box"),
        ("Abbiamo stabilito che Davide lavora con Serri.", "Davide lavora con Serri"),
        ("Scelta la cascina Bellaria per la gita.", "Scelta la cascina Bellaria per la gita"),
        ("Il a été décidé de garder Alpalift.", "Garder Alpalift"),
        ("Se acordó que Lucía lleva las cuentas.", "Lucía lleva las cuentas"),
        ("Ficou combinado que a Rita abre a loja.", "A Rita abre a loja"),
        ("Beschlossen: die Kasse führt Svenja.", "Die Kasse führt Svenja"),
        ("Die Galerie wird gestrichen, weil sie zu teuer ist.", "Die Galerie wird gestrichen"),
        ("We keep TicketNest as only four people complained.", "Keep TicketNest"),
        ("Ab sofort kein Essen mehr am Lötplatz!", "Ab sofort kein Essen mehr am Lötplatz"),
        ("Da oggi Nico e Tobia in isole diverse, perché Nico parla.", "Da oggi Nico e Tobia in isole diverse"),
        ("Stand auf der Bastelmesse abgesagt, 45 € Storno.", "Stand auf der Bastelmesse abgesagt, 45 € Storno"),
        ("Si fa la gita a Bellaria, visto che il museo è chiuso.", "Si fa la gita a Bellaria"),
    ],
)
def test_decisions_are_read_from_terse_minutes_in_many_languages(text: str, title: str) -> None:
    assert [found for found, _ in read(text)] == [title]


@pytest.mark.parametrize(
    "text",
    [
        "Agreed with Tom about Aldwick.",
        "Agreed, said Tom of Aldwick.",
        "Resolved the login issue of Aldwick.",
        "Your notes in Aldwick will be replaced.",
        "From now on you find Aldwick in the menu.",
        "Der Inhalt wird nicht verschoben, weil Aldwick fehlt.",
        "Wenn Aldwick abgesagt, fahren alle heim.",
        "Désormais la page Aldwick a un titre.",
    ],
)
def test_agreement_instructions_and_conditions_are_no_decisions(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "pattern", [TAKEN, ANNOUNCED, BODY, DONE, CHANGED, ARRANGED, FROM_NOW], ids=lambda pattern: pattern.pattern[:9]
)
def test_the_quick_check_for_decisions_misses_no_decision_phrase(pattern: re.Pattern[str]) -> None:
    @given(st.from_regex(pattern))
    def passes_the_quick_check(text: str) -> None:
        assert may_decide(text)

    passes_the_quick_check()


@pytest.mark.parametrize(
    "pattern",
    [spaceless.TAKEN, spaceless.TAKEN_END, spaceless.FROM_NOW, spaceless.CHOSEN, spaceless.CHANGED],
    ids=lambda pattern: pattern.pattern[-9:],
)
def test_the_quick_check_misses_no_phrase_of_scripts_without_spaces(pattern: re.Pattern[str]) -> None:
    @given(st.from_regex(pattern))
    def passes_the_quick_check(text: str) -> None:
        assert may_decide(text)

    passes_the_quick_check()


@pytest.mark.parametrize(
    "text", ["## Decision\n\nNot accepted.\n", "## Decision\n\nTo be decided.\n", "## Decisions\n\nNone.\n"]
)
def test_a_decision_heading_without_a_decision_yields_none(text: str) -> None:
    assert read(text) == []


def test_a_decision_page_has_context_decision_rationale_and_consequences() -> None:
    text = (
        "Three writers wait for each other. We chose PostgreSQL over SQLite since Marco needs several writers. "
        "Consequently the setup is harder."
    )
    wiki = compiled([note(0, text)])
    (title,) = titles(wiki, "decision")
    assert body(wiki, title, "context") == "- 2026-04-01: “Three writers wait for each other.” [^n0]"
    assert "We chose PostgreSQL over SQLite" in body(wiki, title, "decision")
    assert body(wiki, title, "rationale") == "- 2026-04-01: “since Marco needs several writers.” [^n0]"
    assert body(wiki, title, "consequences") == "- 2026-04-01: “Consequently the setup is harder.” [^n0]"


def test_the_same_decision_in_two_notes_has_one_page() -> None:
    text = "We decided to sell the car because the garage is dear."
    wiki = compiled([note(0, text), note(1, text)], batch=1)
    assert titles(wiki, "decision") == ["Sell the car"]
