"""GraphiQL for people who are signed in to the reader: its requests are authenticated by the reader's cookie."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from resolvers.errors import Forbidden, NoCredential

from ..http.errors import error_body
from ..http.request import header, parse_headers
from .endpoint import Web
from .session import check_same_origin, credential


class SessionGraphQL:
    """The GraphQL endpoint of the GraphiQL page. A request without `Authorization` gets the credential of the cookie.

    It has its own path and accepts only requests of pages of this service, because browsers also send the cookie with
    requests of other sites.
    """

    own_path = "/graphiql/graphql"

    def __init__(self, web: Web, api: ASGIApp, path: str) -> None:
        """Create the endpoint in front of `api`, which serves GraphQL at `path`."""
        self.web = web
        self.api = api
        self.path = path

    def has_session(self, request: Request) -> bool:
        """Return whether the browser has a credential. It may have expired."""
        try:
            credential(request, self.web.local_token)
        except NoCredential:
            return False
        return True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            check_same_origin(request)
        except Forbidden as error:
            refusal = Response(error_body(error.message, error.code), 403, media_type="application/json")
            await refusal(scope, receive, send)
            return
        headers = list(scope["headers"])
        if header(scope, b"authorization") is None and self.has_session(request):
            headers.append(
                (b"authorization", f"Bearer {credential(request, self.web.local_token)}".encode("latin-1", "replace"))
            )
        api_scope = {**scope, "path": self.path, "raw_path": self.path.encode(), "headers": headers}
        parse_headers(api_scope)
        await self.api(api_scope, receive, send)
