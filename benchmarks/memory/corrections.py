"""Generates pairs of statements: in half of them the later statement corrects the earlier one, in the rest not.

The statements are built from the templates and words below; the same seed gives the same pairs. The seed also holds out
half of the templates of each outcome, with all their cases, so that rules fitted to the other templates have not seen
them.
"""

import random
from dataclasses import dataclass
from enum import StrEnum

SEED, COUNT = 18, 400


class Outcome(StrEnum):
    """The effect of the later statement on the earlier one."""

    OVERRIDES = "overrides"
    ADDS = "adds"
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True)
class Case:
    """Two statements about `subject`, whose page has the earlier one. The newest valid statement answers `question`.

    `way` is the template of the later statement: either all cases of one way are held out, or none.
    """

    number: int
    subject: str
    earlier: str
    later: str
    question: str
    outcome: Outcome
    way: str
    held_out: bool


@dataclass(frozen=True, slots=True)
class Fact:
    """A kind of statement, such as `{S} stores its data in {V}`, split into parts so that it can also be negated."""

    verb: str
    plain: str
    rest: str
    noun: str
    question: str
    values: tuple[str, ...]


def facts(text: str) -> tuple[Fact, ...]:
    """Parse a table of facts with two lines for each: the parts of the fact, then its values."""
    lines = text.strip().splitlines()
    return tuple(fact(first, second) for first, second in zip(lines[::2], lines[1::2], strict=True))


def fact(first: str, values: str) -> Fact:
    verb, plain, rest, noun, question = first.split(" | ")
    return Fact(verb, plain, rest, noun, question, tuple(values.strip().split("; ")))


OF_THINGS = facts("""
stores | store | its data in {V} | database | Which database does {S} store its data in?
    Postgres; MySQL; MongoDB; SQLite; Cassandra; Redis
runs | run | on {V} | host | Where does {S} run?
    Hetzner; Azure; our own servers; Heroku; a rack in Graz; Linode
ships | ship | on {V} | release day | On which day does {S} ship?
    Mondays; Tuesdays; Wednesdays; Thursdays; Fridays
reports | report | to {V} | owner | Whom does {S} report to?
    Ines Halloran; Joram Pfeil; Kaja Lindqvist; Nuri Castellano; the platform group
costs | cost | {V} a month | price | How much does {S} cost a month?
    40 euros; 90 euros; 150 euros; 310 euros; 1,200 euros
uses | use | {V} for its queue | queue | What does {S} use for its queue?
    Kafka; RabbitMQ; NATS; Celery; a table of jobs
keeps | keep | logs for {V} | log retention | How long does {S} keep logs?
    a week; thirty days; ninety days; half a year; two years
signs | sign | users in with {V} | login | How does {S} sign users in?
    passwords; passkeys; Okta; mailed links; client certificates
""")
OF_PEOPLE = facts("""
lives | live | in {V} | home | Where does {S} live?
    Lisbon; Graz; Tartu; Cork; Ghent; Bergen
works | work | as {V} | job | What does {S} work as?
    a nurse; a baker; a surveyor; a bookbinder; a beekeeper; a glazier
trains | train | for {V} | goal | What does {S} train for?
    a marathon; a triathlon; the rowing finals; a climbing tour; the long swim
drives | drive | {V} | car | Which car does {S} drive?
    an old Volvo; a blue Skoda; a small Fiat; a grey Toyota; an electric Renault
plays | play | {V} | instrument | Which instrument does {S} play?
    the cello; the clarinet; the accordion; the trumpet; the harp
sees | see | the dentist on {V} | appointment | When does {S} see the dentist?
    the 3rd of May; the 9th of June; the 14th of June; the 2nd of July; the 21st of July
studies | study | {V} in the evenings | course | What does {S} study in the evenings?
    Finnish; botany; statistics; Korean; pottery
collects | collect | {V} | hobby | What does {S} collect?
    stamps; old maps; pocket knives; pressed flowers; postcards
""")

# {S} subject, {O} another subject, {old} and {new} values, {verb} {plain} {noun} of the fact, {was} and {is} its rest.
OVERRIDES = (
    "{S} no longer {verb} {was}, it's {new} now.",
    "We switched {S} from {old} to {new} last night.",
    "Correction: {S} {verb} {is}, not {old}.",
    "I was wrong about {S}: the {noun} is {new}.",
    "Scrap what I said about {old}. {S} {verb} {is}.",
    "It was decided against {old} for {S}; {new} it will be.",
    "Changed our mind: {S} {verb} {is} instead.",
    "{S} used to {plain} {was}, but these days it's {new}.",
    "Turns out {S} {verb} {is} after all, {old} was a mix-up.",
    "Update on {S}: the {noun} is {new} from now on.",
    "{old} is out for {S}, {new} is in.",
    "{new} has replaced {old} as the {noun} of {S}.",
    "Forget {old}. As of this week {S} {verb} {is}.",
    "{S} moved on from {old} to {new} over the weekend.",
    "Please note that the {noun} of {S} has been changed to {new}.",
    "The decision on the {noun} of {S} was reversed: {new}, and not {old}.",
    "It isn't {old} any more with {S}. We're at {new}.",
    "Actually, {S} {verb} {is} nowadays.",
    "Since Friday it is {new} rather than {old} for {S}.",
    "{S} gave up on {old} in favour of {new}.",
    "The {noun} of {S} was {old} until last week; today it is {new}.",
    "{S} dropped {old} and {verb} {is}.",
    "That's old news about {S}! Now it's {new}.",
    "Instead of {old}, {S} now has {new} as {noun}.",
    "My mistake, the {noun} of {S} should read {new}.",
    "{S} doesn't {plain} {was} anymore, {new} took over.",
    "Ignore my earlier note on {S}, the {noun} became {new}.",
    "{S} went back on {old}: {new} is the {noun} now.",
    "We had {old} down for {S}, which is outdated. It is {new}.",
    "{S} traded {old} for {new}.",
    "After all that talk {S} settled on {new} and let {old} go.",
    "Good news, {S} finally made the move: goodbye {old}, hello {new}.",
    "Strike {old} from the page on {S} and put {new} there.",
    "{S} stopped with {old} in March and {verb} {is} ever since.",
    "What we wrote about {S} has to be corrected: {old} should have been {new}.",
    "From Monday on {S} {verb} {is}; the days of {old} are over.",
)
ADDS = (
    "{S} still {verb} {was}, nothing new there.",
    "Confirmed once more: {S} {verb} {was}.",
    "We looked at {new} for {S} but stay with {old}.",
    "{S} will not switch from {old} to {new}, I asked.",
    "Nobody intends to replace {old} as the {noun} of {S}.",
    "Someone suggested {new} to {S}. No decision yet.",
    "{S} {verb} {was}, and everybody seems happy with it.",
    "By the way, {S} has had {old} as {noun} for three years.",
    "There was a rumour that {S} has {new} now. It is not true.",
    "{old} was recommended to {S} by an old friend.",
    "If {old} ever fails, {S} could try {new} one day.",
    "{S} talked about why it is {old}: it was there, and it was cheap.",
    "Is it still {old} with {S}? Yes, and it stays that way.",
    "{S} celebrated a whole year with {old}.",
    "The {noun} of {S} came up again today; {old} it remains.",
    "{S} no longer worries about {old}, it turned out fine.",
)
UNRELATED = (
    "{O} no longer {verb} {was}, it's {new} now.",
    "{O} switched from {old} to {new} last night.",
    "Correction: {O} {verb} {is}, not {old}.",
    "I no longer remember where I met {S}.",
    "Instead of lunch we took a walk and talked about {S}.",
    "I changed my mind about the film that {S} likes.",
    "{S} sent me a photo of the harbour, what a sunset.",
    "The meeting with {S} was moved from ten to eleven.",
    "We replaced the lamp in the hall. {S} noticed at once.",
    "{O} used to {plain} {was}, but these days it's {new}.",
    "Somebody corrected the spelling on the poster for {S}.",
    "{O} gave up on {old} in favour of {new}.",
    "Thanks for asking about {S}, all is well.",
    "{S} was late today, the tram did not come anymore.",
    "{O} traded {old} for {new}, just like everybody.",
    "Let us talk about {S} another day.",
)
WAYS = {Outcome.OVERRIDES: OVERRIDES, Outcome.ADDS: ADDS, Outcome.UNRELATED: UNRELATED}
SHARES = {Outcome.OVERRIDES: 2, Outcome.ADDS: 1, Outcome.UNRELATED: 1}
EARLIER = (
    "{S} {verb} {was}.", "{S} {verb} {was}, as far as I know.", "For the record: {S} {verb} {was}.",
    "Did I tell you? {S} {verb} {was}.", "Just so you know, {S} {verb} {was} at the moment.",
    "The {noun} of {S} is {old}.",
)  # fmt: skip
FIRST = (
    "Amber", "Birch", "Copper", "Delta", "Ember", "Falcon", "Granite", "Hazel", "Indigo", "Juniper", "Krill",
    "Larch", "Maple", "Nimbus", "Onyx", "Poplar", "Quartz", "Raven", "Sable", "Tundra", "Umber", "Velvet",
    "Willow", "Zephyr",
)  # fmt: skip
SECOND = (
    "Anchor", "Beacon", "Compass", "Dynamo", "Engine", "Forge", "Gate", "Hopper", "Island", "Jetty", "Kiln",
    "Ladder", "Mill", "Needle", "Orbit", "Pulley", "Quarry", "Relay", "Sluice", "Turbine",
)  # fmt: skip
GIVEN = (
    "Ada", "Bruno", "Carla", "Dario", "Elif", "Femke", "Goran", "Hanne", "Ilse", "Jonas", "Kerem", "Liv",
    "Marek", "Nadja", "Otto", "Pia", "Rasmus", "Selma", "Tomas", "Wanda",
)  # fmt: skip
FAMILY = (
    "Abelson", "Brandt", "Corvin", "Duarte", "Eklund", "Ferrante", "Grimaldi", "Hauser", "Ivarsson", "Jelinek",
    "Kovacs", "Lorenz", "Moreau", "Novak", "Oduya", "Petrov", "Rinaldi", "Sandoval", "Tanaka", "Vesely",
)  # fmt: skip


def cases(seed: int = SEED, count: int = COUNT) -> list[Case]:
    """Return `count` cases, half of them overriding and half held out. No two have the same subject."""
    rng = random.Random(seed)
    things = rng.sample([f"{first} {second}" for first in FIRST for second in SECOND], count)
    people = rng.sample([f"{first} {second}" for first in GIVEN for second in FAMILY], count)
    hidden = {way for ways in WAYS.values() for way in rng.sample(ways, len(ways) // 2)}
    drawn = [outcome for outcome, share in SHARES.items() for _ in range(share)]
    cases_made: list[Case] = []
    turns = dict.fromkeys([(outcome, held) for outcome in Outcome for held in (False, True)], 0)
    for number in range(count):
        outcome, held_out = drawn[number // 2 % len(drawn)], number % 2 == 1
        ways = [way for way in WAYS[outcome] if (way in hidden) is held_out]
        way = ways[turns[outcome, held_out] % len(ways)]
        turns[outcome, held_out] += 1
        subjects, facts = (things, OF_THINGS) if rng.random() < 0.5 else (people, OF_PEOPLE)
        words = template_values(rng, rng.choice(facts), subjects[number], subjects[number - 1])
        earlier, later = rng.choice(EARLIER).format(**words), way.format(**words)
        question = words["question"]
        cases_made.append(Case(number, words["S"], capital(earlier), capital(later), question, outcome, way, held_out))
    return cases_made


def template_values(rng: random.Random, fact: Fact, subject: str, other: str) -> dict[str, str]:
    """Return the values of the templates' placeholders, with an old and a new value of the fact."""
    old, new = rng.sample(fact.values, 2)
    return {
        "S": subject, "O": other, "old": old, "new": new, "was": fact.rest.format(V=old), "is": fact.rest.format(V=new),
        "verb": fact.verb, "plain": fact.plain, "noun": fact.noun, "question": fact.question.format(S=subject),
    }  # fmt: skip


def capital(text: str) -> str:
    return text[0].upper() + text[1:]
