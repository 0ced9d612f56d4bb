// Runs what relay-compiler and graphql-codegen made, and checks that persisted texts go by their own SHA-256.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import assert from "node:assert/strict";
import { authorization as headers, check, url } from "./check.mjs";

const require = createRequire(import.meta.url);
const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const maps = {
  relay: read("./build/relay-documents.json"),
  codegen: read("./build/codegen/persisted-documents.json"),
};

for (const [tool, documents] of Object.entries(maps)) {
  await check(`${tool}: documents go by their sha256`, () => {
    assert.ok(Object.keys(documents).length > 5);
    for (const [id, text] of Object.entries(documents))
      assert.equal(id.replace(/^sha256:/, ""), createHash("sha256").update(text).digest("hex"));
  });
}

const ran = {
  codegen: () => require("./build/js/codegen/run.js").run({ url, headers, tenantId: process.env.CAIRN_TENANT }),
  relay: () => require("./build/js/relay/run.js").run({ url, headers, pageId: process.env.CAIRN_PAGE }, maps.relay),
};

for (const [tool, run] of Object.entries(ran)) {
  await check(`${tool}: the generated documents are answered`, async () => {
    const told = await run();
    assert.ok(told.length > 0 && told.every((line) => line.endsWith(" true")), told.join(", "));
  });
}
