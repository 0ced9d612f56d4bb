"""`cairn owners`: whose wikis there are in a tenant."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...options import AsJson, Tenant
from ...output import say, show, table

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

    from ...session import session

    async def work(database: "Database") -> "Owner":
        found = await find_tenant(database, tenant)
        return await create_owner(database, found.id, OwnerKind(kind), slug, name or slug, language)

    owner = session(work)
    if as_json:
        show(owner_to_dict(owner))
    else:
        say(f"Made the {owner.kind} {owner.slug}. Next: cairn import PATH --tenant {tenant} --owner {owner.slug}")


@app.command("list", epilog="Example: cairn owners list --tenant acme --json")
def list_all(tenant: Tenant, as_json: AsJson = False) -> None:
    """List the owners of a tenant."""
    from resolvers.auth.owners import list_owners
    from resolvers.tenants.tenants import find_tenant

    from ...session import session

    async def work(database: "Database") -> "list[Owner]":
        return await list_owners(database, (await find_tenant(database, tenant)).id)

    owners = session(work)
    if as_json:
        show([owner_to_dict(owner) for owner in owners])
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

    from ...session import find_wiki, session
    from ..indexes import due, read

    async def work(database: "Database") -> "Owner":
        wiki = await find_wiki(database, tenant, slug)
        owner = await set_language(database, wiki.tenant.id, wiki.owner.id, language)
        if reindex:
            await read(database, await due(database, tenant, slug))
        return owner

    owner = session(work)
    if as_json:
        show(owner_to_dict(owner))
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
    from resolvers.auth.owners import WikiSettings, set_owner_settings

    from ...session import find_wiki, session

    async def work(database: "Database") -> "Owner":
        wiki = await find_wiki(database, tenant, slug)
        return await set_owner_settings(database, wiki.tenant.id, wiki.owner.id, WikiSettings(score_boost=score_boost))

    owner = session(work)
    if as_json:
        show(owner_to_dict(owner))
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
    from ...session import find_wiki, session

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


@app.command("policy", epilog="Example: cairn owners policy mara member=review member/decision=closed --tenant acme")
def policy(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Whose wiki it is: the owner's slug or id.")],
    tenant: Tenant,
    rules: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ROLE[/TYPE]=POLICY...",
            help="All rules anew: member, service, admin or compiler, and open, review or closed. None opens the wiki.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say whose writes become proposals in a wiki, or are refused, by the role and the type of the page."""
    from ...session import find_wiki, session

    async def work(database: "Database") -> bool:
        from db.scope import Role
        from resolvers.auth.owners import WikiSettings, update_wiki_settings
        from resolvers.proposals.gate import read_rule

        scope = (await find_wiki(database, tenant, slug)).scope(Role.ADMIN)
        return await update_wiki_settings(database, scope, WikiSettings(write_policy=[*map(read_rule, rules or ())]))

    changed = session(work)
    if as_json:
        show({"writePolicy": rules or [], "changed": changed})
    else:
        say(f"The write policy of {slug} is: {', '.join(rules or ['open to all'])}.")


@app.command("lint", epilog="Example: cairn owners lint mara --stale-after 30 --every 1 --tenant acme")
def lint_settings(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Whose wiki it is: the owner's slug or id.")],
    tenant: Tenant,
    stale_after: Annotated[
        int | None, typer.Option(metavar="DAYS", help="A page not changed for these is stale.")
    ] = None,
    oversize: Annotated[int | None, typer.Option(metavar="CHARACTERS", help="A longer page is too long.")] = None,
    min_pages: Annotated[
        int | None, typer.Option(metavar="N", help="Pages that say a name before it needs one.")
    ] = None,
    every: Annotated[
        int | None, typer.Option(metavar="DAYS", help="A worker lints again after these; 0: never.")
    ] = None,
    after_sources: Annotated[
        int | None, typer.Option(metavar="N", help="A worker lints after so many new sources; 0: never.")
    ] = None,
    sensitivity: Annotated[
        bool | None, typer.Option("--sensitivity/--no-sensitivity", help="Ask for a sensitivity of every page.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Set by what a wiki is linted, and how often. What is left out stays as it is."""
    from ...session import find_wiki, session

    async def work(database: "Database") -> "Owner":
        from resolvers.auth.owners import WikiSettings, set_owner_settings

        wiki = await find_wiki(database, tenant, slug)
        settings = WikiSettings(
            stale_after_days=stale_after,
            oversize_characters=oversize,
            lint_min_pages=min_pages,
            lint_every_days=every,
            lint_after_sources=after_sources,
            requires_sensitivity=sensitivity,
        )
        return await set_owner_settings(database, wiki.tenant.id, wiki.owner.id, settings)

    owner = session(work)
    if as_json:
        show(owner_to_dict(owner))
    else:
        one = owner.settings
        say(
            f"Pages of {owner.slug} are stale after {one.stale_after_days} days and too long from "
            f"{one.oversize_characters:,} characters on; names need a page from {one.lint_min_pages} pages on. "
            f"Its wiki is linted every {one.lint_every_days} days and after {one.lint_after_sources} sources."
        )


class Ceiling(StrEnum):
    INTERNAL = "internal"
    CONFIDENTIAL = "confidential"
    SECRET = "secret"  # noqa: S105  a level


@app.command("ceilings", epilog="Example: cairn owners ceilings mara --reader internal --member secret --tenant acme")
def ceilings(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Whose wiki it is: the owner's slug or id.")],
    tenant: Tenant,
    reader: Annotated[Ceiling | None, typer.Option(help="The most sensitive that readers see.")] = None,
    member: Annotated[Ceiling | None, typer.Option(help="The most sensitive that members by grant see.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say how sensitive what others read in a wiki may be. What is left out stays as it is."""
    from ...session import find_wiki, session

    async def work(database: "Database") -> "Owner":
        from resolvers.auth.owners import WikiSettings, set_owner_settings

        wiki = await find_wiki(database, tenant, slug)
        given = WikiSettings(reader_ceiling=reader and reader.value, member_ceiling=member and member.value)
        return await set_owner_settings(database, wiki.tenant.id, wiki.owner.id, given)

    owner = session(work)
    if as_json:
        show(owner_to_dict(owner))
    else:
        one = owner.settings
        say(f"In the wiki of {owner.slug} readers see up to {one.reader_ceiling}, members up to {one.member_ceiling}.")


class Threshold(StrEnum):
    """The significances, repeated here because resolvers.proposals.gate is slow to import."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@app.command("decisions", epilog="Example: cairn owners decisions mara --threshold high --tenant acme")
def decisions(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Whose wiki it is: the owner's slug or id.")],
    tenant: Tenant,
    threshold: Annotated[
        Threshold | None, typer.Option(help="The least significance of a decision that gets a page.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say which decisions of a wiki get a page; the others go into its log alone."""
    from ...session import find_wiki, session

    async def work(database: "Database") -> "Owner":
        from resolvers.auth.owners import WikiSettings, set_owner_settings

        wiki = await find_wiki(database, tenant, slug)
        given = WikiSettings(decision_threshold=threshold and threshold.value)
        return await set_owner_settings(database, wiki.tenant.id, wiki.owner.id, given)

    owner = session(work)
    if as_json:
        show(owner_to_dict(owner))
    else:
        say(f"Decisions of {owner.slug} get a page from the significance {owner.settings.decision_threshold} on.")


def owner_to_dict(owner: "Owner") -> dict[str, Any]:
    return {
        "id": owner.id,
        "tenantId": owner.tenant_id,
        "slug": owner.slug,
        "kind": owner.kind,
        "name": owner.name,
        "language": owner.language,
        "scoreBoost": owner.score_boost,
        "staleAfterDays": owner.settings.stale_after_days,
        "oversizeCharacters": owner.settings.oversize_characters,
        "lintMinPages": owner.settings.lint_min_pages,
        "lintEveryDays": owner.settings.lint_every_days,
        "lintAfterSources": owner.settings.lint_after_sources,
        "requiresSensitivity": owner.settings.requires_sensitivity,
        "readerCeiling": owner.settings.reader_ceiling,
        "memberCeiling": owner.settings.member_ceiling,
        "decisionThreshold": owner.settings.decision_threshold,
        "createdAt": owner.created_at,
    }
