"""The settings. Only this module reads environment variables; each setting is the variable CAIRN_<NAME>."""

import os
import re
import secrets
import tempfile
from datetime import time
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from compiler import PLANNER, WRITER

from .setting_types import Dsns, Hosts, Hour, Issuer, Names, Networks, Origin, Origins, Prices, RoleNames, Toolsets

PREFIX = "CAIRN_"
FOREIGN = re.compile(r"CAIRN_(TEST_.*|SERVICE_(HOST|PORT.*)|PORT_\d+_.*)")
PASSWORD = re.compile(r"(://[^/@\s:]*:)[^\s?#]*(?=@)|(\bpassword=)[^&\s]+")
TOKEN = re.compile(r"[!-~]{32,1000}")


class Settings(BaseModel):
    """The settings of an operator. With the defaults, Cairn runs an embedded Postgres in the user's data folder."""

    model_config = ConfigDict(extra="forbid", validate_default=True)

    def __init__(self, **given: Any) -> None:
        """Read the settings from the environment. The given values take precedence."""
        super().__init__(**from_environment() | given)

    database_url: str | None = Field(None, description="PostgreSQL 16 or newer; else the embedded server")
    data_dir: Path = Field(
        default_factory=lambda: user_data_path("cairn"),
        description="The folder of the embedded server and the token secret",
    )
    host: str = Field("127.0.0.1", description="The address to listen on")
    port: int = Field(8000, ge=0, le=65535, description="The port to listen on; 0: a free one")
    workers: int = Field(1, ge=1, le=64, description="Processes that serve")
    public_url: Origin = Field(None, description="The address for clients, as `https://wiki.example.org`")

    tenant: str | None = Field(None, description="Default of --tenant: a slug or id")
    owner: str | None = Field(None, description="Default of --owner: a slug or id")

    jwt_secret: SecretStr | None = Field(
        None, description="HS256 secret of at least 32 bytes; else, without JWKS, a file in the data folder"
    )
    jwks_url: str | None = Field(None, description="The public keys for RS256 and ES256 tokens")
    jwt_issuer: str | None = Field(None, description="The `iss` that tokens must have")
    jwt_audience: str | None = Field(None, description="The `aud` that tokens must have")
    oauth: Literal["off", "own", "external"] = Field(
        "off",
        description="OAuth for MCP clients: none, by this service, by CAIRN_JWT_ISSUER",
    )
    local_token: SecretStr | None = Field(
        None, description="A token that signs in browsers on this machine, as in `cairn demo`"
    )
    oidc_issuer: Issuer = Field(None, description="The OpenID Connect provider for signing in to the reader")
    oidc_client_id: str | None = Field(None, description="The client id of this service at the provider")
    oidc_client_secret: SecretStr | None = Field(None, description="The client secret, if any")
    oidc_tenant: str | None = Field(None, description="The tenant of those who sign in: a slug or id")
    oidc_scopes: str = Field("openid profile", description="Scopes to request, space-separated")
    oidc_owner_claim: str = Field(
        "preferred_username", description="The claim with the slug of a person's owner; people must not choose it"
    )
    oidc_creates_owners: bool = Field(False, description="Make an owner of the kind user for newcomers")
    oidc_role: Literal["reader", "member", "admin", "none"] = Field(
        "member", description="The role without a claim; `none` refuses"
    )
    oidc_role_claim: str | None = Field(None, description="The claim that gives roles, such as `groups`")
    oidc_roles: RoleNames = Field(
        None, description="Roles by its values, as `wiki-admins=admin,staff=member`; the strongest counts"
    )
    oidc_hours: float = Field(12.0, gt=0, le=720, description="Hours that a sign-in lasts")
    admin_token: SecretStr | None = Field(
        None, description="The bearer token for /api/admin, of at least 32 characters; else off"
    )

    pool_size: int = Field(8, ge=1, le=500, description="Connections of each process for reads, and as many for writes")
    pool_queue: int = Field(256, ge=0, description="Requests that may wait for a connection of each pool")
    statement_timeout: float = Field(10.0, ge=0.001, le=10**6, description="Seconds that a statement may take")
    statement_cache: int = Field(512, ge=0, description="Prepared statements per connection; 0 behind poolers")

    listen_url: str | None = Field(None, description="Postgres itself, where CAIRN_DATABASE_URL is a pooler")
    read_database_urls: Dsns = Field(None, description="Standbys that answer reads, comma-separated")
    read_max_lag: float = Field(10.0, ge=1, le=3600, description="Seconds that they may lag")
    read_wait: float = Field(0.5, ge=0, le=10, description="Seconds that a read waits for its client's write")

    max_body: int = Field(2_000_000, ge=1, description="Bytes of a request body")
    max_import: int = Field(100_000_000, ge=1, description="Bytes of an imported upload; unpacked 20-fold")
    attachments_dir: Path | None = Field(None, description="A folder for attachments and originals; else in Postgres")
    ingest_hosts: Hosts = Field(
        None, description="Hosts that an ingest may fetch from, comma-separated, `*.` for all below; else none"
    )
    webhook_networks: Networks = Field(
        None, description="Private networks for webhooks, over http too, comma-separated, or `*`; else none"
    )
    max_cost: int = Field(20_000, ge=1, description="Rows of one operation")
    max_depth: int = Field(16, ge=1, description="Levels of one operation")
    max_fields: int = Field(500, ge=1, description="Fields of one document")
    max_aliases: int = Field(100, ge=0, description="Aliases of one operation")
    max_tokens: int = Field(4000, ge=1, description="Tokens of one document")

    max_variables: int = Field(10_000, ge=1, description="Values in the variables")
    max_errors: int = Field(20, ge=1, description="Errors shown in one answer")
    max_concurrent: int = Field(
        1000, ge=0, description="Requests of a credential at once in each process; 0: unlimited"
    )
    max_operations: int = Field(100, ge=1, description="Operations at once on a WebSocket")
    max_streams: int = Field(100, ge=1, description="Streams of a credential at once in each process")
    request_timeout: float = Field(
        30.0, gt=0, allow_inf_nan=False, description="Seconds from a whole request to its answer"
    )
    import_timeout: float = Field(
        600.0, gt=0, allow_inf_nan=False, description="Seconds of an import or an export over REST"
    )
    credential_rate: float = Field(
        50_000, ge=0, le=10**9, allow_inf_nan=False, description="Rows a second of a credential; 0: unlimited"
    )
    credential_burst: float = Field(
        500_000,
        ge=1,
        le=10**9,
        allow_inf_nan=False,
        description="Rows of a credential at once after a rest",
    )
    tenant_rate: float = Field(
        200_000, ge=0, le=10**9, allow_inf_nan=False, description="Rows a second of a tenant; 0: unlimited"
    )
    tenant_burst: float = Field(
        2_000_000,
        ge=1,
        le=10**9,
        allow_inf_nan=False,
        description="Rows of a tenant at once after a rest",
    )
    introspection: Literal["everyone", "admin", "nobody"] = Field("everyone", description="Who may introspect")

    allowed_hosts: Hosts = Field(
        None, description="Host names to answer, comma-separated, `*.` for all below; else any"
    )
    cors_origins: Origins = Field(None, description="Origins whose pages may call, comma-separated, or `*`; else none")
    hsts_seconds: int = Field(0, ge=0, description="Seconds of Strict-Transport-Security; 0: no header")
    compress_over: int = Field(1024, ge=0, description="Bytes from which answers are gzipped; 0: never")
    forwarded_allow_ips: Networks = Field(None, description="Trusted proxies, comma-separated, or `*`")

    keep_alive: float = Field(
        75.0,
        gt=0,
        allow_inf_nan=False,
        description="Seconds that an idle connection is kept; a proxy's must be shorter",
    )
    drain_delay: float = Field(0.0, ge=0, allow_inf_nan=False, description="Seconds to go on accepting after SIGTERM")
    drain_timeout: float = Field(10.0, gt=0, allow_inf_nan=False, description="Seconds that running requests then have")

    metrics: Literal["off", "local", "token"] = Field("off", description="Access to /metrics")
    metrics_token: SecretStr | None = Field(
        None, description="The bearer token for /metrics, of at least 16 characters"
    )
    metrics_dir: Path | None = Field(None, description="The folder where processes add up their metrics")
    slow_operation: float = Field(1.0, ge=0, description="Seconds from which an operation is logged; 0: never")
    slow_loop: float = Field(
        0.25,
        ge=0,
        allow_inf_nan=False,
        description="Seconds from which blocking the event loop is logged; 0: never",
    )

    documents: Literal["any", "apq", "trusted"] = Field(
        "apq",
        description="Documents that run: any text, any text and registered hashes, or trusted documents",
    )
    documents_dir: Path | None = Field(None, description="The folder of trusted documents")

    toolsets: Toolsets = Field(None, description="The toolsets that MCP lists by default, comma-separated")
    tools_older_names: bool = Field(False, description="List the tools `search_wiki` and `read_wiki_page` too")
    seed_dir: Path | None = Field(None, description="A folder of `*.md` that become knowledge entries at the start")
    seed_tenant: str | None = Field(None, description="The tenant of these entries: a slug or id")
    seed_owner: str | None = Field(None, description="The owner of these entries: a slug or id")

    worker: bool = Field(False, description="Run jobs in each serving process too")
    planner: str = Field(PLANNER, description="The planner: `module:Class`")
    section_writer: str = Field(WRITER, description="The section writer: `module:Class`")
    deterministic_links: bool = Field(True, description="Link entities that share a source, a city or a journal")
    model: str | None = Field(None, description="The model that compiles, as `openai:…` or `anthropic:…`; else rules")
    models: Names = Field(None, description="Other models that a compile may name, comma-separated")
    model_timeout: float = Field(120.0, gt=0, description="Seconds of a request to a model")
    model_requests: int = Field(4, ge=1, le=100, description="Requests to models at once in each process")
    model_job_tokens: int = Field(1_000_000, ge=0, description="Tokens of a job; 0: unlimited")
    model_job_cost: float = Field(0.0, ge=0, description="US dollars of a job; 0: unlimited")
    model_day_tokens: int = Field(5_000_000, ge=0, description="Tokens of a tenant a day; 0: unlimited")
    model_day_cost: float = Field(0.0, ge=0, description="US dollars of a tenant a day; 0: unlimited")
    model_prices: Prices = Field(
        None, description="US dollars for a million tokens, as `openai:x=1.25/10`, comma-separated"
    )
    embedding_url: str | None = Field(None, description="A server of embeddings, as `http://localhost:11434/v1`")
    embedding_model: str | None = Field(None, description="The embedding model")
    embedding_dimensions: int | None = Field(None, ge=1, le=4_000, description="Dimensions of the model's vectors")
    embedding_key: SecretStr | None = Field(None, description="The bearer token of the embedding server")
    embedding_timeout: float = Field(30.0, gt=0, allow_inf_nan=False, description="Seconds for a batch of texts")
    embedding_wait: float = Field(
        1.0, gt=0, le=10, description="Seconds that a search waits for its vector; then words rank"
    )
    embedding_batch: int = Field(32, ge=1, le=256, description="Texts in a batch")
    sweep_at: Hour | Literal["never"] = Field(time(3), description="When the daily sweep begins, in UTC; or `never`")
    keep_days: int = Field(365, ge=0, le=9_999, description="Days that jobs and the activity log are kept; 0: forever")

    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="The least severe entries")
    log_format: Literal["json", "console"] = Field("json", description="JSON lines, or text for people")

    @model_validator(mode="after")
    def metrics_have_a_token(self) -> "Settings":
        token = self.metrics_token.get_secret_value() if self.metrics_token else ""
        if self.metrics == "token" and len(token) < 16:
            raise ValueError("CAIRN_METRICS=token needs CAIRN_METRICS_TOKEN of at least 16 characters")
        return self

    @field_validator("admin_token")
    @classmethod
    def admin_token_is_long_enough(cls, given: SecretStr | None) -> SecretStr | None:
        if given is not None and not TOKEN.fullmatch(given.get_secret_value()):
            raise ValueError(
                "it needs at least 32 visible ASCII characters without spaces; `openssl rand -base64 48` prints one"
            )
        return given

    @model_validator(mode="after")
    def embeddings_have_a_model(self) -> "Settings":
        parts = urlsplit(self.embedding_url or "")
        if self.embedding_url and (parts.scheme not in ("http", "https") or not parts.netloc):
            raise ValueError("CAIRN_EMBEDDING_URL needs an address such as http://localhost:11434/v1")
        if self.embedding_url and not (self.embedding_model and self.embedding_dimensions):
            raise ValueError("CAIRN_EMBEDDING_URL needs CAIRN_EMBEDDING_MODEL and CAIRN_EMBEDDING_DIMENSIONS")
        return self

    @model_validator(mode="after")
    def oauth_has_a_server(self) -> "Settings":
        if self.oauth == "external" and not (self.jwks_url and self.jwt_issuer):
            raise ValueError("CAIRN_OAUTH=external needs CAIRN_JWT_ISSUER and CAIRN_JWKS_URL")
        if self.oauth == "own" and self.jwks_url and not self.jwt_secret:
            raise ValueError("CAIRN_OAUTH=own signs tokens itself: it needs CAIRN_JWT_SECRET beside CAIRN_JWKS_URL")
        return self

    @model_validator(mode="after")
    def sign_ins_have_a_client(self) -> "Settings":
        if self.oidc_issuer and not (self.oidc_client_id and self.oidc_tenant):
            raise ValueError("CAIRN_OIDC_ISSUER needs CAIRN_OIDC_CLIENT_ID and CAIRN_OIDC_TENANT")
        if self.oidc_issuer and self.jwks_url and self.jwt_secret is None:
            raise ValueError("CAIRN_OIDC_ISSUER needs CAIRN_JWT_SECRET beside CAIRN_JWKS_URL, to sign sessions with")
        return self

    @model_validator(mode="after")
    def seeds_have_a_wiki(self) -> "Settings":
        if self.seed_dir is not None and not (self.seed_tenant and self.seed_owner):
            raise ValueError("CAIRN_SEED_DIR needs CAIRN_SEED_TENANT and CAIRN_SEED_OWNER")
        return self

    @property
    def base_url(self) -> str:
        """Return the base URL of the service, without a final slash: the public URL, else the address it listens on."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"

    @property
    def embedded(self) -> bool:
        return self.database_url is None


def from_environment() -> dict[str, str]:
    """Return the settings that have a non-empty variable, by name. The case of the variables does not matter."""
    environment = {name.lower(): value for name, value in os.environ.items() if value}
    variables = {name: f"{PREFIX}{name}".lower() for name in Settings.model_fields}
    return {name: environment[variable] for name, variable in variables.items() if variable in environment}


def values_of(name: str) -> tuple[str, ...]:
    """Return the values that a setting allows if its type is a Literal, else none."""
    annotation = Settings.model_fields[name].annotation
    return tuple(map(str, get_args(annotation))) if get_origin(annotation) is Literal else ()


def sources_of(settings: Settings) -> dict[str, str]:
    """Return the source of each setting's value: `environment` or `default`."""
    return {name: "environment" if name in settings.model_fields_set else "default" for name in Settings.model_fields}


def unknown_variables() -> dict[str, str | None]:
    """Return the variables CAIRN_… that are no settings, each with the name of a similar setting, if there is any.

    Variables that Kubernetes sets for a service called `cairn`, and variables of the tests, are left out.
    """
    known = [name.upper() for name in Settings.model_fields]
    variables = sorted(name for name in os.environ if name.startswith(PREFIX) and not FOREIGN.fullmatch(name))
    unknown = (name.removeprefix(PREFIX) for name in variables if name.removeprefix(PREFIX) not in known)
    similar = {name: next(iter(get_close_matches(name, known, 1)), None) for name in unknown}
    return {f"{PREFIX}{name}": match and f"{PREFIX}{match}" for name, match in similar.items()}


def masked(value: object) -> str:
    """Return the value of a setting as text to display, without secrets and without passwords in URLs."""
    if isinstance(value, list):
        return ",".join(map(masked, value))
    return "" if value is None else PASSWORD.sub(r"\1\2**********", str(value))


def telemetry_wanted() -> frozenset[str]:
    """Return `traces`, `metrics`, both or neither, according to OpenTelemetry's standard environment variables."""
    variables = {name.removeprefix("OTEL_"): value for name, value in os.environ.items() if name.startswith("OTEL_")}
    if variables.get("SDK_DISABLED", "").lower() == "true":
        return frozenset()

    def is_wanted(signal: str) -> bool:
        exporter = variables.get(f"{signal.upper()}_EXPORTER")
        endpoints = ("EXPORTER_OTLP_ENDPOINT", f"EXPORTER_OTLP_{signal.upper()}_ENDPOINT")
        return exporter == "otlp" or (exporter is None and any(variables.get(name) for name in endpoints))

    return frozenset(filter(is_wanted, ("traces", "metrics")))


def signing_secret(settings: Settings) -> str | None:
    """Return the secret that signs tokens: the setting; else None with a JWKS, else a generated, stored secret."""
    if settings.jwt_secret is not None:
        return settings.jwt_secret.get_secret_value()
    return None if settings.jwks_url else load_or_create_secret(settings.data_dir.expanduser() / "token-secret")


def load_or_create_secret(path: Path) -> str:
    """Return the secret in a file, which only its owner may read; create the file if it does not exist.

    If two processes do this at once, only one can create the file, and the other reads it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    secret = secrets.token_urlsafe(48)
    handle, draft = tempfile.mkstemp(dir=path.parent)  # its permissions never allow other users to read it
    with os.fdopen(handle, "w") as file:
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())  # a power loss must not leave an empty file under the name
    try:
        os.link(draft, path)
    except FileExistsError:
        return path.read_text()
    finally:
        Path(draft).unlink()
    return secret
