"""The HTTP service: its routes, its middleware, and its background tasks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager, suppress

import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from content.limits import ORIGINAL
from db.database import Database
from db.migrate import pending
from db.replicas.replica import SILENT
from db.replicas.replicas import ReplicaSettings
from db.scope import Role
from resolvers.auth.credentials import Credentials, Signing, Tokens
from resolvers.auth.jwks import Jwks
from resolvers.auth.oidc import ClaimRules, Provider
from resolvers.errors import Unavailable
from resolvers.pages.renaming import rewrite_rest
from schema import v0
from schema.root import make_engine

from .blob_folder import use_blob_folder
from .documents.store import Documents
from .embeddings import use_embeddings
from .fetching import use_fetching
from .graphiql.page import graphiql_routes
from .http.errors import ErrorMiddleware, router_error_response
from .http.graphql import GraphQLEndpoint
from .http.headers import browser_rules, security_headers
from .http.health import health_routes
from .http.idempotency import deleting_old_answers
from .http.limits import Bounds
from .http.positions import Positions
from .http.request import Bodies, document_limits
from .mcp.caller import ToolBackend
from .mcp.endpoint import ToolsEndpoint
from .mcp.seed import load_seed
from .mcp.server import toolsets_of
from .oauth.routes import authorization_server, oauth_routes, resource_of
from .observability.event_loop_watchdog import watch_loop
from .observability.logging import RequestLog, configure
from .observability.observers import Observers
from .rest.admin.application import admin_application
from .rest.admin.paths import PATH as ADMIN
from .rest.application import MountAll, rest_application
from .rest.endpoint import PATH as REST
from .settings import Settings, signing_secret
from .subscriptions.routes import streaming_endpoint, without_streams
from .subscriptions.streams import Streams
from .web.endpoint import Web, error_page, wants_html
from .web.graphiql import SessionGraphQL
from .web.rendering import compile_templates
from .web.routes import web_routes
from .web.session import position_cookie
from .worker import compiling

log = structlog.get_logger()
REWRITE_INTERVAL = 15.0  # seconds


@asynccontextmanager
async def rewriting_links(database: Database) -> AsyncIterator[None]:
    """Rewrite links to renamed pages in the background during the block.

    It finishes the renames of all processes: a rename rewrites only some texts at once.
    """
    rewriting = asyncio.create_task(rewrite_pending_links(database))
    try:
        yield
    finally:
        rewriting.cancel()
        with suppress(asyncio.CancelledError):
            await rewriting


async def rewrite_pending_links(database: Database) -> None:
    while True:
        await asyncio.sleep(REWRITE_INTERVAL)
        try:
            if rewritten := await rewrite_rest(database):
                log.info("links were rewritten after renames", texts=rewritten)
        except Exception as error:
            log.warning("links could not be rewritten after renames", reason=type(error).__name__)


def create_app(settings: Settings, *, dsn: str) -> ASGIApp:
    """Return the ASGI application of the service. The database at `dsn` must have all migrations when it starts."""
    database = Database(
        dsn,
        size=settings.pool_size,
        queue=settings.pool_queue,
        statement_timeout=settings.statement_timeout,
        statement_cache=settings.statement_cache,
        replicas=ReplicaSettings(settings.read_database_urls or (), settings.read_max_lag, settings.read_wait),
    )
    use_embeddings(settings, database)
    use_blob_folder(settings, database)
    use_fetching(settings, database)
    jwks = Jwks(settings.jwks_url) if settings.jwks_url else None
    tokens = Tokens(
        secret=signing_secret(settings),
        jwks=jwks,
        issuer=settings.jwt_issuer,
        audience=settings.jwt_audience,
        resource=resource_of(settings),
    )
    oauth = authorization_server(settings, database)
    engine, credentials = make_engine(document_limits(settings)), Credentials(database, tokens)
    observers = Observers(settings, engine, database)
    documents = Documents(settings.documents, settings.documents_dir)
    bounds = Bounds.of(settings, database)
    streams = Streams(engine, database, credentials, settings, documents, bounds)
    graphql = GraphQLEndpoint(
        engine,
        database,
        credentials,
        documents,
        max_body=settings.max_body,
        bounds=bounds,
        compress_over=settings.compress_over,
        streaming=streaming_endpoint(streams),
    )
    graphql_v0 = GraphQLEndpoint(
        v0.make_engine(document_limits(settings)),
        database,
        credentials,
        documents,
        max_body=settings.max_body,
        bounds=bounds,
        compress_over=settings.compress_over,
        contract="v0",
    )
    tools = ToolsEndpoint(
        ToolBackend(database, bounds, settings.base_url, toolsets_of(settings)), credentials, settings
    )
    local = settings.local_token.get_secret_value() if settings.local_token else None
    provider = provider_of(settings, database)
    web = Web(
        database,
        credentials,
        bounds,
        Bodies(settings.max_body),
        settings.compress_over,
        streams,
        local,
        files=Bodies(settings.max_body + ORIGINAL.maximum),
        oauth=oauth,
        provider=provider,
    )
    observers.watch_streams(streams.count_open)

    async def answer_router_error(request: Request, error: Exception) -> Response:
        """Return the response for an unknown path or method: a page for browsers, and JSON for programs."""
        if wants_html(request):
            return await error_page(web, request, error)
        return await router_error_response(request, error)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if missing := await pending(dsn, log.warning):
            raise Unavailable(f"The database lacks {len(missing)} migrations. Run `cairn migrate` first.")
        await database.open()
        try:
            await asyncio.gather(database.fill(), asyncio.to_thread(compile_templates))
            async with (
                observers.observing(),
                deleting_old_answers(database),
                credentials.log.storing(),
                rewriting_links(database),
                compiling(settings, database, observers.job),
                streams.open(),
                tools.open(),
                load_seed(database, settings),
            ):
                with documents.reloading(), watch_loop(settings.slow_loop):
                    yield
        finally:
            await database.close()

    paths = Starlette(
        routes=[
            *web_routes(web),
            *oauth_routes(settings, oauth),
            *graphiql_routes("/graphql", SessionGraphQL(web, graphql, "/graphql")),
            *health_routes(database),
            MountAll(REST, rest_application(settings, database, credentials, bounds)),
            *(
                [MountAll(ADMIN, admin_application(settings, database, bounds, credentials.log))]
                if settings.admin_token
                else []
            ),
            *observers.routes(),
        ],
        middleware=[Middleware(ErrorMiddleware)],
        exception_handlers={HTTPException: answer_router_error},
        lifespan=lifespan,
    )
    shortcuts: dict[str, ASGIApp] = {
        "/graphql": graphql,
        "/graphql/v0": without_streams(graphql_v0),
        "/mcp": tools,
    }
    app: ASGIApp = add_shortcuts(paths, shortcuts)
    if settings.read_database_urls:
        app = Positions(app, database, position_cookie, settings.read_max_lag + SILENT)
    for rule in reversed(browser_rules(settings)):
        app = rule.cls(app, *rule.args, **rule.kwargs)
    return RequestLog(app, settings, security_headers(settings), list(observers))


def provider_of(settings: Settings, database: Database) -> Provider | None:
    """Return the OpenID Connect provider for sign-ins to the reader, or None if the settings have none."""
    if settings.oidc_issuer is None:
        return None
    pairs = (pair.rpartition("=") for pair in settings.oidc_roles or ())
    rules = ClaimRules(
        settings.oidc_owner_claim,
        settings.oidc_creates_owners,
        None if settings.oidc_role == "none" else Role(settings.oidc_role),
        settings.oidc_role_claim,
        {value: Role(role) for value, _, role in pairs},
    )
    return Provider(
        database,
        Signing(signing_secret(settings), settings.jwt_issuer, settings.jwt_audience),
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id or "",
        client_secret=settings.oidc_client_secret.get_secret_value() if settings.oidc_client_secret else None,
        tenant=settings.oidc_tenant or "",
        scopes=settings.oidc_scopes,
        rules=rules,
        seconds=settings.oidc_hours * 3_600,
    )


def add_shortcuts(app: ASGIApp, shortcuts: Mapping[str, ASGIApp]) -> ASGIApp:
    """Return an application that passes requests for the busiest paths directly to theirs, without the router."""

    def choose(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        return shortcuts.get(scope.get("path", ""), app)(scope, receive, send)

    return choose


def from_environment() -> ASGIApp:
    """Create the application in a worker process, from the environment, which is the same for all workers."""
    settings = Settings()
    configure(settings)
    if settings.database_url is None:
        raise Unavailable("A worker needs CAIRN_DATABASE_URL; `cairn serve` sets it.")
    return create_app(settings, dsn=settings.database_url)
