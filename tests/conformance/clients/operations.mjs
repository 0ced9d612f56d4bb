// What an application asks for, as text; and what must hold of the answers whoever asks.

import assert from "node:assert/strict";

export const PAGE = /* GraphQL */ `
  query Page($tenantId: ID!, $slug: String!) {
    wikiPage(tenantId: $tenantId, type: ENTITY, slug: $slug) {
      __typename id title version aliases
      sections { __typename id heading bodyMd }
      children { __typename id title }
    }
  }
`;

export const PAGES = /* GraphQL */ `
  query Pages($first: Int!, $after: String) {
    wikiPages(first: $first, after: $after, orderBy: TITLE) {
      totalCount
      edges { cursor node { __typename id title } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`;

export const RENAME = /* GraphQL */ `
  mutation Rename($input: UpdateWikiPageInput!) {
    updateWikiPage(input: $input) {
      changed
      userErrors { code field message }
      conflict { currentVersion page { __typename id version } }
      page { __typename id title version }
    }
  }
`;

export const WRONG = /* GraphQL */ `
  query Wrong($after: String) { wikiPages(first: 2, after: $after) { nodes { __typename id } } }
`;

export function isAustin(page) {
  assert.equal(page.title, "Austin, Texas");
  assert.ok(page.aliases.includes("atx"));
  assert.ok(page.sections.length > 0 && page.sections.every((section) => section.id && section.bodyMd !== undefined));
}

// `read({first, after})` gives a connection; the pages of it must be the whole list, once and in order.
export async function walkPages(read) {
  const titles = [];
  let after = null;
  let total;
  do {
    const { edges, pageInfo, totalCount } = await read({ first: 7, after });
    titles.push(...edges.map(({ node }) => node.title));
    total = totalCount;
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  } while (after !== null);
  assert.ok(total > 14, `only ${total} pages: nothing was walked`);
  assert.equal(titles.length, total);
  assert.equal(new Set(titles).size, total);
}

// `rename(input)` gives the payload: a stale version is a conflict, an empty title a user error, the rest a change.
export async function renamePage({ id, title, version }, rename) {
  const stale = await rename({ pageId: id, title: "Elsewhere", expectedVersion: version + 7 });
  assert.deepEqual([stale.conflict.currentVersion, stale.conflict.page.id, stale.page], [version, id, null]);
  const empty = await rename({ pageId: id, title: "" });
  assert.deepEqual([empty.page, empty.userErrors.length, empty.userErrors[0].field], [null, 1, ["title"]]);
  const done = await rename({ pageId: id, title: `${title} `, expectedVersion: version });
  assert.deepEqual([done.userErrors, done.conflict, done.page.id], [[], null, id]);
}

// A fetch that is given up as soon as the request has left, whatever the client does with the signal.
export function abortingFetch(controller) {
  return (input, init) => {
    const answer = fetch(input, { ...init, signal: init.signal ?? controller.signal });
    queueMicrotask(() => controller.abort());
    return answer;
  };
}

export const isBadInput = (errors) => assert.equal(errors?.[0]?.extensions?.code, "BAD_USER_INPUT");
