"""`cairn owners`: whose wikis there are in a tenant."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import AsJson, Tenant
from ..output import say, show, table

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.auth.owners import Owner

app = typer.Typer(help="Whose wikis there are in a tenant.", no_args_is_help=True)


class Kind(StrEnum):
    """The kinds of owner, repeated here because resolvers.auth.owners is slow to import."""

    AGENT = "agent"
    USER = "user"
    SHARED = "shared"


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="owners", epilog="Example: cairn owners list --tenant acme")


@app.command("create", epilog="Example: cairn owners create ada --tenant acme --kind agent --name Ada")
def create(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Its name in commands, unique in the tenant.")],
    tenant: Tenant,
    kind: Annotated[Kind, typer.Option(help="An agent, a user, or a space that several share.")],
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Its name for people; else the slug.")] = None,
    language: Annotated[
        str, typer.Option(metavar="LANGUAGE", help="What its pages are written in, like german or de.")
    ] = "english",
    as_json: AsJson = False,
) -> None:
    """Make an owner with an empty wiki."""
    from resolvers.auth.owners import OwnerKind, create_owner
    from resolvers.tenants.tenants import find_tenant

    from ..session import session

    async def work(database: "Database") -> "Owner":
        found = await find_tenant(database, tenant)
        return await create_owner(database, found.id, OwnerKind(kind), slug, name or slug, language)

    owner = session(work)
    if as_json:
        show(shown(owner))
    else:
        say(f"Made the {owner.kind} {owner.slug}. Next: cairn import PATH --tenant {tenant} --owner {owner.slug}")


@app.command("list", epilog="Example: cairn owners list --tenant acme --json")
def list_all(tenant: Tenant, as_json: AsJson = False) -> None:
    """List the owners of a tenant."""
    from resolvers.auth.owners import list_owners
    from resolvers.tenants.tenants import find_tenant

    from ..session import session

    async def work(database: "Database") -> "list[Owner]":
        return await list_owners(database, (await find_tenant(database, tenant)).id)

    owners = session(work)
    if as_json:
        show([shown(owner) for owner in owners])
    else:
        rows = [(owner.slug, owner.kind, owner.name, owner.language, owner.id) for owner in owners]
        table(["slug", "kind", "name", "language", "id"], rows)


@app.command("language", epilog="Example: cairn owners language mara german --tenant acme --reindex")
def language(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Whose wiki it is: the owner's slug or id.")],
    language: Annotated[str, typer.Argument(metavar="LANGUAGE", help="Like german or de; `simple` for none.")],
    tenant: Tenant,
    reindex: Annotated[bool, typer.Option("--reindex", help="Let search read the whole wiki again at once.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say in which language a wiki is written. Search takes the words of a page by it, unless the page has a `lang`."""
    from resolvers.auth.owners import set_language

    from ..session import find_wiki, session
    from .indexes import due, read

    async def work(database: "Database") -> "Owner":
        wiki = await find_wiki(database, tenant, slug)
        owner = await set_language(database, wiki.tenant.id, wiki.owner.id, language)
        if reindex:
            await read(database, await due(database, tenant, slug))
        return owner

    owner = session(work)
    if as_json:
        show(shown(owner))
    else:
        say(f"{owner.slug}'s wiki is in {owner.language} now.")
        if not reindex:
            say(f"For search to take its pages so, run: cairn reindex --tenant {tenant} --owner {owner.slug}")


@app.command("boost", epilog="Example: cairn owners boost team 1.2 --tenant acme")
def boost(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Whose wiki it is: the owner's slug or id.")],
    score_boost: Annotated[float, typer.Argument(metavar="BOOST", help="Between 0 and 10; 0.9 unless it is set.")],
    tenant: Tenant,
    as_json: AsJson = False,
) -> None:
    """Set by what the scores of a wiki's pages are multiplied where evidence is searched beside them."""
    from resolvers.auth.owners import set_score_boost

    from ..session import find_wiki, session

    async def work(database: "Database") -> "Owner":
        wiki = await find_wiki(database, tenant, slug)
        return await set_score_boost(database, wiki.tenant.id, wiki.owner.id, score_boost)

    owner = session(work)
    if as_json:
        show(shown(owner))
    else:
        say(f"The scores of {owner.slug}'s pages are multiplied by {owner.score_boost:g} now.")


@app.command("synthesis", epilog="Example: cairn owners synthesis mara 5 --tenant acme")
def synthesis(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Whose wiki it is: the owner's slug or id.")],
    sources: Annotated[int, typer.Argument(metavar="N", min=1, max=100, help="How many sources a page has to cite.")],
    tenant: Tenant,
    as_json: AsJson = False,
) -> None:
    """Say from how many sources on a model writes the text of a page. With fewer, its sections quote them."""
    from ..session import find_wiki, session

    async def work(database: "Database") -> bool:
        from db.scope import Role
        from resolvers.auth.owners import WikiSettings, update_wiki_settings

        scope = (await find_wiki(database, tenant, slug)).scope(Role.ADMIN)
        return await update_wiki_settings(database, scope, WikiSettings(min_sources_for_synthesis=sources))

    changed = session(work)
    if as_json:
        show({"minSourcesForSynthesis": sources, "changed": changed})
    else:
        say(f"A model writes the text of pages of {slug} that cite {sources} sources or more.")


def shown(owner: "Owner") -> dict[str, Any]:
    return {
        "id": owner.id,
        "tenantId": owner.tenant_id,
        "slug": owner.slug,
        "kind": owner.kind,
        "name": owner.name,
        "language": owner.language,
        "scoreBoost": owner.score_boost,
        "createdAt": owner.created_at,
    }
