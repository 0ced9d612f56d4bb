"""An admin sets the weight of the pages of a wiki beside evidence in search."""

from typing import Any

import pytest

from db.scope import Role
from resolvers.auth.owners import find_owner
from resolvers.context import Context
from schema.root import make_engine
from tests.schema.executing import execute_document
from tests.wiki import Wiki

ENGINE = make_engine()
SET = """mutation ($boost: Float!, $owner: String) { updateWikiSettings(input: {scoreBoost: $boost, owner: $owner}) {
    changed owner { scoreBoost } userErrors { field code message } } }"""


async def boosted(wiki: Wiki, boost: float, **variables: Any) -> dict[str, Any]:
    answer = await execute_document(ENGINE, Context(wiki.database, wiki.scope), SET, boost=boost, **variables)
    assert "errors" not in answer, answer
    done: dict[str, Any] = answer["data"]["updateWikiSettings"]
    return done


async def test_the_default_score_boost_is_nine_tenths_and_admins_change_it(wiki: Wiki) -> None:
    admin = wiki.with_role(Role.ADMIN)
    assert (await find_owner(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id)).score_boost == 0.9
    assert await boosted(admin, 1.5) == {"changed": True, "owner": {"scoreBoost": 1.5}, "userErrors": []}
    assert (await wiki.actions())[-1] == "wiki.settings_updated"
    assert not (await boosted(admin, 1.5))["changed"]
    assert [(await boosted(admin, edge))["owner"]["scoreBoost"] for edge in (0, 10)] == [0, 10]


@pytest.mark.parametrize("boost", [-0.001, 10.001, 1e300])
async def test_a_boost_out_of_bounds_is_an_error_of_its_field(wiki: Wiki, boost: float) -> None:
    done = await boosted(wiki.with_role(Role.ADMIN), boost)
    assert done["owner"] is None
    (error,) = done["userErrors"]
    assert (error["field"], error["code"]) == (["scoreBoost"], "BAD_USER_INPUT")
    assert "between 0 and 10" in error["message"]


async def test_only_admins_set_the_score_boost(wiki: Wiki) -> None:
    for role in (Role.READER, Role.MEMBER, Role.SERVICE):
        answer = await execute_document(ENGINE, Context(wiki.database, wiki.with_role(role).scope), SET, boost=1.0)
        assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    admin = wiki.with_role(Role.ADMIN)
    answer = await execute_document(
        ENGINE, Context(admin.database, admin.scope), SET, boost=1.0, owner="of-another-tenant"
    )
    assert answer["errors"][0]["extensions"]["code"] == "NOT_FOUND"
