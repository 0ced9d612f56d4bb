"""`cairn owners`: manage the owners of a tenant and the settings of their wikis."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...options import AsJson, Tenant
from ...output import print_json, print_table, say

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.auth.owners import Owner

app = typer.Typer(help="Manage owners and the settings of their wikis.", no_args_is_help=True)


class Kind(StrEnum):
    """The kinds of owner, repeated here because resolvers.auth.owners is slow to import."""

    AGENT = "agent"
    USER = "user"
    SHARED = "shared"


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="owners", epilog="Example: cairn owners list --tenant acme")


@app.command("create", epilog="Example: cairn owners create ada --tenant acme --kind agent --name Ada")
def create(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Slug of the owner, unique in the tenant.")],
    tenant: Tenant,
    kind: Annotated[Kind, typer.Option(help="Kind of owner: an agent, a user or a shared space.")],
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Display name. Defaults to the slug.")] = None,
    language: Annotated[
        str, typer.Option(metavar="LANGUAGE", help="Language of the pages, such as german or de.")
    ] = "english",
    as_json: AsJson = False,
) -> None:
    """Create an owner with an empty wiki."""
    from resolvers.auth.owners import OwnerKind, create_owner
    from resolvers.tenants.tenants import find_tenant

    from ...session import run_in_session

    async def work(database: "Database") -> "Owner":
        found = await find_tenant(database, tenant)
        return await create_owner(database, found.id, OwnerKind(kind), slug, name or slug, language)

    owner = run_in_session(work)
    if as_json:
        print_json(owner_to_dict(owner))
    else:
        say(f"Created the {owner.kind} {owner.slug}. Next: cairn import PATH --tenant {tenant} --owner {owner.slug}")


@app.command("list", epilog="Example: cairn owners list --tenant acme --json")
def list_all(tenant: Tenant, as_json: AsJson = False) -> None:
    """List the owners of a tenant."""
    from resolvers.auth.owners import list_owners
    from resolvers.tenants.tenants import find_tenant

    from ...session import run_in_session

    async def work(database: "Database") -> "list[Owner]":
        return await list_owners(database, (await find_tenant(database, tenant)).id)

    owners = run_in_session(work)
    if as_json:
        print_json([owner_to_dict(owner) for owner in owners])
    else:
        rows = [(owner.slug, owner.kind, owner.name, owner.language, owner.id) for owner in owners]
        print_table(["slug", "kind", "name", "language", "id"], rows)


@app.command("language", epilog="Example: cairn owners language mara german --tenant acme --reindex")
def language(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Slug or id of the owner of the wiki.")],
    language: Annotated[
        str, typer.Argument(metavar="LANGUAGE", help="Language such as german or de, or `simple` for none.")
    ],
    tenant: Tenant,
    reindex: Annotated[bool, typer.Option("--reindex", help="Index the whole wiki for search again now.")] = False,
    as_json: AsJson = False,
) -> None:
    """Set the language of a wiki. Search stems words by it, unless a page has its own `lang`."""
    from resolvers.auth.owners import set_language

    from ...indexes import find_unindexed, index_wikis
    from ...session import find_wiki, run_in_session

    async def work(database: "Database") -> "Owner":
        wiki = await find_wiki(database, tenant, slug)
        owner = await set_language(database, wiki.tenant.id, wiki.owner.id, language)
        if reindex:
            await index_wikis(database, await find_unindexed(database, tenant, slug))
        return owner

    owner = run_in_session(work)
    if as_json:
        print_json(owner_to_dict(owner))
    else:
        say(f"The language of {owner.slug}'s wiki is now {owner.language}.")
        if not reindex:
            say(f"To index its pages in this language, run: cairn reindex --tenant {tenant} --owner {owner.slug}")


@app.command("boost", epilog="Example: cairn owners boost team 1.2 --tenant acme")
def boost(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Slug or id of the owner of the wiki.")],
    score_boost: Annotated[float, typer.Argument(metavar="BOOST", help="Factor between 0 and 10. New wikis have 0.9.")],
    tenant: Tenant,
    as_json: AsJson = False,
) -> None:
    """Set the score boost of a wiki. Scores of its pages are multiplied by it when pages and sources are searched
    together."""
    owner = change_settings(tenant, slug, score_boost=score_boost)
    if as_json:
        print_json(owner_to_dict(owner))
    else:
        say(f"The scores of {owner.slug}'s pages are now multiplied by {owner.score_boost:g}.")


@app.command("synthesis", epilog="Example: cairn owners synthesis mara 5 --tenant acme")
def synthesis(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Slug or id of the owner of the wiki.")],
    sources: Annotated[int, typer.Argument(metavar="N", min=1, max=100, help="Minimum number of sources.")],
    tenant: Tenant,
    as_json: AsJson = False,
) -> None:
    """Set the minimum number of sources for synthesis. A model writes the text of pages that cite as many; other
    pages quote their sources."""
    from ...session import find_wiki, run_in_session

    async def work(database: "Database") -> bool:
        from db.scope import Role
        from resolvers.auth.wiki_settings import WikiSettings, update_wiki_settings

        scope = (await find_wiki(database, tenant, slug)).scope(Role.ADMIN)
        return await update_wiki_settings(database, scope, WikiSettings(min_sources_for_synthesis=sources))

    changed = run_in_session(work)
    if as_json:
        print_json({"minSourcesForSynthesis": sources, "changed": changed})
    else:
        say(f"A model writes the text of pages of {slug} that cite {sources} sources or more.")


@app.command("policy", epilog="Example: cairn owners policy mara member=review member/decision=closed --tenant acme")
def policy(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Slug or id of the owner of the wiki.")],
    tenant: Tenant,
    rules: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ROLE[/TYPE]=POLICY...",
            help=(
                "Rules that replace the present ones. Roles: member, service, admin, compiler. "
                "Policies: open, review, closed. Without rules, all writes are open."
            ),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Set the write policy of a wiki. It says which writes need a review or are refused, by role and page type."""
    from ...session import find_wiki, run_in_session

    async def work(database: "Database") -> bool:
        from db.scope import Role
        from resolvers.auth.wiki_settings import WikiSettings, update_wiki_settings
        from resolvers.proposals.gate import read_rule

        scope = (await find_wiki(database, tenant, slug)).scope(Role.ADMIN)
        return await update_wiki_settings(database, scope, WikiSettings(write_policy=[*map(read_rule, rules or ())]))

    changed = run_in_session(work)
    if as_json:
        print_json({"writePolicy": rules or [], "changed": changed})
    else:
        say(f"The write policy of {slug} is: {', '.join(rules or ['open to all'])}.")


@app.command("lint", epilog="Example: cairn owners lint mara --stale-after 30 --every 1 --tenant acme")
def lint_settings(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Slug or id of the owner of the wiki.")],
    tenant: Tenant,
    stale_after: Annotated[
        int | None, typer.Option(metavar="DAYS", help="Days without a change after which a page is stale.")
    ] = None,
    oversize: Annotated[
        int | None, typer.Option(metavar="CHARACTERS", help="Maximum length of a page in characters.")
    ] = None,
    min_pages: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Number of pages that must mention a name before lint reports that it needs a page."
        ),
    ] = None,
    every: Annotated[
        int | None, typer.Option(metavar="DAYS", help="Days between two runs of lint by a worker, or 0 for none.")
    ] = None,
    after_sources: Annotated[
        int | None,
        typer.Option(metavar="N", help="Number of new sources after which a worker runs lint, or 0 for none."),
    ] = None,
    sensitivity: Annotated[
        bool | None, typer.Option("--sensitivity/--no-sensitivity", help="Report pages without a sensitivity.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Set the limits and the schedule of lint for a wiki. Omitted options are unchanged."""
    owner = change_settings(
        tenant,
        slug,
        stale_after_days=stale_after,
        oversize_characters=oversize,
        lint_min_pages=min_pages,
        lint_every_days=every,
        lint_after_sources=after_sources,
        requires_sensitivity=sensitivity,
    )
    if as_json:
        print_json(owner_to_dict(owner))
    else:
        settings = owner.settings
        say(
            f"Pages of {owner.slug} are stale after {settings.stale_after_days} days and too long from "
            f"{settings.oversize_characters:,} characters on; names need a page from {settings.lint_min_pages} pages "
            f"on. Its wiki is linted every {settings.lint_every_days} days and after {settings.lint_after_sources} "
            "sources."
        )


class Ceiling(StrEnum):
    INTERNAL = "internal"
    CONFIDENTIAL = "confidential"
    SECRET = "secret"  # noqa: S105  a level


@app.command("ceilings", epilog="Example: cairn owners ceilings mara --reader internal --member secret --tenant acme")
def ceilings(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Slug or id of the owner of the wiki.")],
    tenant: Tenant,
    reader: Annotated[Ceiling | None, typer.Option(help="Highest sensitivity that readers can read.")] = None,
    member: Annotated[Ceiling | None, typer.Option(help="Highest sensitivity that members by grant can read.")] = None,
    as_json: AsJson = False,
) -> None:
    """Set the highest sensitivity that others can read in a wiki. Omitted options are unchanged."""
    owner = change_settings(
        tenant, slug, reader_ceiling=reader and reader.value, member_ceiling=member and member.value
    )
    if as_json:
        print_json(owner_to_dict(owner))
    else:
        settings = owner.settings
        say(
            f"In the wiki of {owner.slug}, readers can read up to {settings.reader_ceiling} and members up to "
            f"{settings.member_ceiling}."
        )


class Threshold(StrEnum):
    """The significances, repeated here because resolvers.proposals.gate is slow to import."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@app.command("decisions", epilog="Example: cairn owners decisions mara --threshold high --tenant acme")
def decisions(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Slug or id of the owner of the wiki.")],
    tenant: Tenant,
    threshold: Annotated[Threshold | None, typer.Option(help="Minimum significance.")] = None,
    as_json: AsJson = False,
) -> None:
    """Set how significant a decision must be to get a page. Others are only logged."""
    owner = change_settings(tenant, slug, decision_threshold=threshold and threshold.value)
    if as_json:
        print_json(owner_to_dict(owner))
    else:
        say(
            f"Decisions of {owner.slug} get a page if their significance is "
            f"{owner.settings.decision_threshold} or higher."
        )


def change_settings(tenant: str, slug: str, **changes: Any) -> "Owner":
    """Change these fields of WikiSettings for a wiki, and return its owner."""
    from ...session import find_wiki, run_in_session

    async def work(database: "Database") -> "Owner":
        from resolvers.auth.owners import set_owner_settings
        from resolvers.auth.wiki_settings import WikiSettings

        wiki = await find_wiki(database, tenant, slug)
        return await set_owner_settings(database, wiki.tenant.id, wiki.owner.id, WikiSettings(**changes))

    return run_in_session(work)


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
