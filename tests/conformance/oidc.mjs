// A real OpenID Connect provider with one client, for the tests of signing in: `node oidc.mjs PORT REDIRECT [SECRET]`.
// It signs in whoever fills in its form, under the name that they give. Prints its address as its first line.
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const [port, redirect, secret] = process.argv.slice(2);
const server = createServer();
server.listen(Number(port), "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "cairn",
        ...(secret ? { client_secret: secret } : { token_endpoint_auth_method: "none" }),
        redirect_uris: [redirect],
        post_logout_redirect_uris: [new URL("/sign-in", redirect).href],
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
    ],
    claims: { openid: ["sub"], profile: ["name", "preferred_username", "groups"] },
    findAccount: (context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: `The person ${id}`, preferred_username: id, groups: ["staff"] }),
    }),
    pkce: { required: () => true },
    cookies: { keys: ["a key of the tests"] },
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
