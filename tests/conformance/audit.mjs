// The GraphQL-over-HTTP audits of graphql-http: MUST, SHOULD and MAY alike have to be "ok".

import { serverAudits } from "graphql-http";
import { authorization, check, url } from "./check.mjs";

const fetchFn = (input, { headers, ...init } = {}) => fetch(input, { ...init, headers: { ...headers, ...authorization } });

for (const audit of serverAudits({ url, fetchFn })) {
  await check(`${audit.id} ${audit.name}`, async () => {
    const result = await audit.fn();
    if (result.status !== "ok") throw new Error(`${result.status}: ${result.reason}`);
  });
}
