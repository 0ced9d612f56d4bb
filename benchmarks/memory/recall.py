"""Measures which evidence a question finds: with one wiki per conversation, and with all conversations in one wiki."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from ..search.quality import names
from .conversations import Conversation, combined, read_all
from .peers import Answer, Dense, System, lexical
from .scores import APART, GOALS, MEASURES, TOGETHER, Means, Ranked, Score, by_kind, score
from .service import Hit, Service, running, stderr

WIDTH = 165  # characters that the tables need
ENOUGH = 10  # sessions and turns that are scored
ALL_TURNS = 5_882  # turns of the whole set
SECONDS_GOAL = 10.0
OURS, DENSE = "Cairn", "dense"
Data = Annotated[Path | None, typer.Option(help="The folder of conversations.", show_default="beside the checkout")]


@dataclass(frozen=True, slots=True)
class Results:
    """Means by system, setting and kind of question; and by system and conversation, over all questions.

    `retained` is how many seconds it took to retain all turns, as sessions, in one wiki.
    """

    figures: Mapping[str, Mapping[str, Mapping[str, Means]]]
    conversations: Mapping[str, Mapping[str, Means]]
    turns: int
    retained: float

    @property
    def projected(self) -> float:
        """The seconds for the whole set, projected from the pace of this part."""
        return self.retained * ALL_TURNS / self.turns


def recall(
    data: Data = None,
    conversations: Annotated[str, typer.Option(help="Names, separated by commas; default: all.")] = "",
    embeddings: Annotated[str, typer.Option(help="An embedding server, such as http://127.0.0.1:11434/v1.")] = "",
    model: Annotated[str, typer.Option(help="The model of the embedding server.")] = "",
    json: Annotated[Path | None, typer.Option(help="A JSON file for all figures.")] = None,
) -> None:
    """Ask the questions that people asked about conversations, and score the sessions and turns that are found.

    A hit counts as the turn that its lines belong to. A session has the rank of its first hit.
    """
    if bool(embeddings) != bool(model):
        raise typer.BadParameter("--embeddings and --model go together.")
    chosen = read_all(data, names(conversations))
    peers: dict[str, System] = {"bm25s": lexical}
    if model:
        peers[DENSE] = Dense(embeddings, model)
    with running() as service:
        results = measure_systems(service, chosen, peers)
    Console(width=max(WIDTH, Console().width)).print(*tables(results), sep="\n")
    if json is not None:
        json.write_bytes(orjson.dumps(as_json(results), option=orjson.OPT_INDENT_2))


def measure_systems(service: Service, chosen: Sequence[Conversation], peers: Mapping[str, System]) -> Results:
    """Score Cairn and its peers. A peer whose library is not installed is left out with a message."""
    everything = combined(chosen)
    took: dict[str, float] = {}

    def ours(conversation: Conversation) -> Answer:
        wiki = service.wiki(f"memory-{conversation.name}".replace("_", "-"))
        began = time.perf_counter()
        wiki.retain(conversation.sources)
        took[conversation.name] = time.perf_counter() - began
        turns = {source.ref: source.turns for source in conversation.sources}
        return lambda text: ranked(turns, wiki.search(text, lambda hits: len({hit.ref for hit in hits}) >= ENOUGH))

    figures: dict[str, dict[str, dict[str, Means]]] = {}
    separate_means: dict[str, dict[str, Means]] = {}
    systems: dict[str, System] = {OURS: ours, **peers}
    with Progress(console=stderr, disable=not stderr.is_terminal) as bars:
        task = bars.add_task("", total=2 * len(systems) * len(everything.queries))
        for name, system in systems.items():
            bars.update(task, description=name)
            try:
                separate = {each.name: list(score_questions(system, each, bars, task)) for each in chosen}
                whole = list(score_questions(system, everything, bars, task))
            except ImportError as error:
                stderr.print(f"{name} is not measured: {error}. Try: pip install 'cairn-wiki[benchmarks]'")
                continue
            figures[name] = {
                APART: by_kind(pair for pairs in separate.values() for pair in pairs),
                TOGETHER: by_kind(whole),
            }
            separate_means[name] = {each: by_kind(pairs)["all"] for each, pairs in separate.items()}
    return Results(figures, separate_means, len(everything.turns.documents), took[everything.name])


def score_questions(
    system: System, conversation: Conversation, bars: Progress, task: Any
) -> Iterator[tuple[str, Score]]:
    """Yield the kind and the score of each question."""
    answer = system(conversation)
    for query in conversation.queries:
        sessions, turns = conversation.sessions.judged[query.id], conversation.turns.judged[query.id]
        yield query.kind, score(answer(query.text), sessions, turns)
        bars.advance(task)


def ranked(turns: Mapping[str, Sequence[str]], hits: Sequence[Hit]) -> Ranked:
    """Return the turns of the hits and their sessions, each at the position of its first hit."""
    turns_found = (turn for hit in hits for turn in turns[hit.ref][hit.line_start - 1 : hit.line_end])
    return Ranked(list(dict.fromkeys(hit.ref for hit in hits)), list(dict.fromkeys(turns_found)))


def tables(results: Results) -> list[Table | str]:
    pace = (
        f"{results.turns:,} turns were retained in {results.retained:.1f} s: {results.projected:.1f} s for "
        f"{ALL_TURNS:,}, the goal is at most {SECONDS_GOAL:g}."
    )
    return [against_goals(results), by_category(results), by_conversation(results), pace]


def against_goals(results: Results) -> Table:
    table = Table("what", "goal", OURS, "met", *(name for name in results.figures if name != OURS))
    for goal in GOALS:
        reached = {name: each[goal.setting]["all"][goal.measure] for name, each in results.figures.items()}
        own = reached.pop(OURS)
        met = "yes" if own.mean >= goal.minimum else "NO"
        table.add_row(
            goal.what, f"≥ {goal.minimum:g}", str(own), met, *(f"{interval.mean:.3f}" for interval in reached.values())
        )
    return table


def by_category(results: Results) -> Table:
    table = Table("wikis", "kind", "n", "system", *MEASURES.values(), title="with Wilson's 95 % intervals")
    for setting in (APART, TOGETHER):
        for kind in results.figures[OURS][setting]:
            for name, figures in results.figures.items():
                own = figures[setting][kind]
                count = str(own["hit1"].count)
                table.add_row(setting, kind, count, name, *(str(own[measure]) for measure in MEASURES))
            table.add_section()
    return table


def by_conversation(results: Results) -> Table:
    table = Table("conversation", "n", "system", *MEASURES.values())
    for conversation in results.conversations[OURS]:
        for name, figures in results.conversations.items():
            own = figures[conversation]
            table.add_row(
                conversation, str(own["hit1"].count), name, *(f"{own[measure].mean:.3f}" for measure in MEASURES)
            )
    return table


def as_json(results: Results) -> dict[str, Any]:
    goals = [
        {**asdict(goal), **{name: each[goal.setting]["all"][goal.measure] for name, each in results.figures.items()}}
        for goal in GOALS
    ]
    retained = {"turns": results.turns, "seconds": results.retained, "projected": results.projected, "of": ALL_TURNS}
    return {"goals": goals, "figures": results.figures, "conversations": results.conversations, "retained": retained}
