"""A model writes the text of a page once it cites enough sources. Until then its sections quote them."""

from typing import Any

from resolvers.auth.wiki_settings import WikiSettings, update_wiki_settings
from resolvers.jobs.queue import ask_for_compile
from resolvers.sources.compile_requests import rebuild_page
from tests.compiler.models.scripted_model import ScriptedModel, page
from tests.compiler.scripted_compiler import compile_all, pages_by_title, retain_texts
from tests.wiki import Wiki

TEXT = "Momofuku is a restaurant in Toronto, open until ten."


def planning(prompt: str) -> Any:
    """Propose an update of the page if it exists, else the page."""
    if "p1 | entity | Momofuku" in prompt:
        return {"updates": [{"page": "p1", "sections": [{"slug": "overview", "sources": ["s1"]}]}]}
    return {"pages": [page("Momofuku", "s1")]}


def text_requests(model: ScriptedModel) -> int:
    """Return how many section texts the model was asked for."""
    return sum("what to write" in prompt for prompt in model.prompts)


async def test_a_model_is_asked_for_text_from_the_third_source_on(new_wiki: Wiki) -> None:
    requests = []
    for number in range(4):
        model = ScriptedModel(planning)
        await retain_texts(new_wiki, f"{TEXT} Visit {number}.", start=number)
        *_, job = [job for job in await compile_all(new_wiki, model.compiler()) if job["trigger"] == "retain"]
        requests.append(text_requests(model))
        assert job["metrics"]["usage"].get("sections_by_rules", 0) == 1 - requests[-1]
        body = (await pages_by_title(new_wiki))["Momofuku"]["body_md"]
        assert ("“" in body) is (not requests[-1]), "rules quote"
    assert requests == [0, 0, 1, 1]


async def test_versions_of_a_source_count_as_one_source_for_synthesis(new_wiki: Wiki) -> None:
    for version in range(3):
        model = ScriptedModel(planning)
        await retain_texts(new_wiki, f"{TEXT} Again {version}.")
        await compile_all(new_wiki, model.compiler())
        assert text_requests(model) == 0


async def test_a_rebuilt_page_needs_as_many_sources_for_synthesis(new_wiki: Wiki) -> None:
    await retain_texts(new_wiki, TEXT, f"{TEXT} Twice.")
    both = [{"slug": "overview", "sources": ["s1", "s2"]}]
    plan = {"pages": [{"type": "entity", "title": "Momofuku", "sections": both}]}
    await compile_all(new_wiki, ScriptedModel(lambda prompt: plan).compiler())
    page_id = (await pages_by_title(new_wiki))["Momofuku"]["id"]
    for least, texts in ((3, 0), (2, 1)):
        await update_wiki_settings(new_wiki.database, new_wiki.scope, WikiSettings(min_sources_for_synthesis=least))
        model = ScriptedModel(planning)
        await rebuild_page(new_wiki.database, new_wiki.scope, page_id)
        await compile_all(new_wiki, model.compiler())
        assert text_requests(model) == texts


async def test_a_theme_needs_enough_sources(new_wiki: Wiki) -> None:
    await retain_texts(new_wiki, "Rain on Monday.", "Rain on Tuesday.", "Rain on Friday.")
    thin = page("Rain at weekends", "s1", "s2", type="theme")
    model = ScriptedModel(lambda prompt: {"pages": [thin, page("Rain on weekdays", "s1", "s2", "s3", type="theme")]})
    await ask_for_compile(new_wiki.database, new_wiki.scope)
    (job,) = await compile_all(new_wiki, model.compiler())
    assert list(await pages_by_title(new_wiki)) == ["Rain on weekdays"]
    assert job["metrics"]["dropped"] == {"too_few_sources": 1}
