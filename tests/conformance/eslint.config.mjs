// graphql-eslint over the contract and the documents: recommended and relay. What differs from them says why.

import graphql from "@graphql-eslint/eslint-plugin";

const { configs } = graphql;
const documents = "tests/conformance/codegen/*.graphql";
const recommended = configs["flat/schema-recommended"].rules;
const [, naming] = recommended["@graphql-eslint/naming-convention"];

const common = {
  plugins: { "@graphql-eslint": graphql },
  languageOptions: {
    parser: graphql.parser,
    parserOptions: { graphQLConfig: { schema: "schema/schema.graphql", documents } },
  },
};

const decided = {
  // Federation's own names begin with an underscore.
  "@graphql-eslint/naming-convention": [
    "error",
    {
      ...naming,
      types: { style: "PascalCase", ignorePattern: "^_" },
      FieldDefinition: { style: "camelCase", ignorePattern: "^_" },
      allowLeadingUnderscore: true,
    },
  ],
  // Whatever has an identity is a Node and has its id from there; the rest are values: edges, payloads, scores.
  "@graphql-eslint/strict-id-in-types": "off",
  // Short lists that take a `limit` are lists, and connections give `nodes` beside their edges, as GitHub's do.
  "@graphql-eslint/relay-edge-types": [
    "error",
    { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false },
  ],
  // Results of a search are walked forward alone.
  "@graphql-eslint/relay-arguments": ["error", { includeBoth: false }],
};

export default [
  {
    ...common,
    files: ["schema/schema.graphql"],
    rules: { ...recommended, ...configs["flat/schema-relay"].rules, ...decided },
  },
  { ...common, files: [documents], rules: configs["flat/operations-recommended"].rules },
];
