"""Tags, badges and API keys."""

from __future__ import annotations

from harness import case, equal, expect, holds, lacks


def applied(count):
    return lambda result: equal(result, applied=count, failed=0, total=count)


@case("tags.create")
def tags_create(c, w):
    def create(path, **more):
        name = w.name("new")
        made = c.tags.create(asset="shop", name=name, object_path=path, **more)
        holds(w.get("/sdk/tags?asset_id=shop&limit=100")["tags"], name=name)
        return made

    yield "table", lambda: create(w.table("orders")), lambda made: equal(made, category="business")
    yield (
        "column",
        lambda: create(
            "app.customers.country",
            object_type="column",
            category="governance",
            description="Where they live",
        ),
        lambda made: equal(made, object_type="column", category="governance", description="Where they live"),
    )


@case("tags.apply")
def tags_apply(c, w):
    paths = [w.table("orders"), "app.customers.country"]
    yield (
        "paths",
        lambda: c.tags.apply(
            asset="shop", tag_names=[w.name(), w.name()], object_paths=paths, category="technical"
        ),
        applied(4),
    )
    yield (
        "unknown path",
        lambda: c.tags.apply(asset="shop", tag_names=[w.name()], object_paths=["app.missing"]),
        lambda result: equal(result, applied=0, failed=1, total=1),
    )


@case("tags.bulk_apply")
def tags_bulk_apply(c, w):
    assets = ["shop", w.archive.id]
    yield "assets", lambda: c.tags.bulk_apply(tag_name=w.name(), asset_ids=assets), applied(2)


@case("tags.list")
def tags_list(c, w):
    yield "all", lambda: c.tags.list(asset="shop"), lambda found: holds(
        found, name="money", object_type="table"
    )
    yield (
        "category",
        lambda: c.tags.list(asset="shop", category="governance", limit=500),
        lambda found: (holds(found, name="personal"), lacks(found, category="business")),
    )


@case("badges.create")
def badges_create(c, w):
    def create(**options):
        made = c.badges.create(asset="shop", **options)
        equal(w.get(f"/sdk/badges/{made.id}"), asset_id=w.source.id)
        expect((made.badge_url or "").startswith("http"), f"badge_url is {made.badge_url}")
        return made

    yield "plain", create, lambda made: equal(
        made, label="AnomalyArmor", is_active=True, asset_id=w.source.id
    )
    yield (
        "options",
        lambda: create(
            label="Money",
            tag_filters=["money"],
            schema_drift_enabled=False,
            freshness_enabled=True,
            include_upstream=True,
        ),
        lambda made: equal(
            made, label="Money", tag_filters=["money"], schema_drift_enabled=False, include_upstream=True
        ),
    )


@case("badges.list")
def badges_list(c, w):
    for variant, options in (("active", {}), ("all", {"active_only": False})):
        yield variant, lambda options=options: c.badges.list(**options), lambda found: holds(
            found, id=w.badge
        )


@case("badges.get")
def badges_get(c, w):
    yield "id", lambda: c.badges.get(w.badge), lambda found: equal(
        found, id=w.badge, label="shop", asset_id=w.source.id
    )


@case("badges.update")
def badges_update(c, w):
    badge = w.fresh_badge()
    yield (
        "label",
        lambda: c.badges.update(badge, label="renamed", tag_filters=["money"]),
        lambda found: (
            equal(found, id=badge, label="renamed"),
            equal(w.get(f"/sdk/badges/{badge}"), label="renamed"),
        ),
    )
    yield "upstream", lambda: c.badges.update(badge, include_upstream=True), lambda found: equal(
        found, include_upstream=True
    )
    yield "is_active", lambda: c.badges.update(badge, is_active=False), lambda found: equal(
        found, is_active=False
    )


@case("badges.get_status")
def badges_get_status(c, w):
    yield (
        "id",
        lambda: c.badges.get_status(w.badge),
        lambda found: equal(found, badge_id=w.badge, status=w.get(f"/sdk/badges/{w.badge}")["status"]),
    )


@case("badges.delete")
def badges_delete(c, w):
    badge = w.fresh_badge()
    yield "id", lambda: c.badges.delete(badge), lambda _: expect(
        w.is_gone(f"/sdk/badges/{badge}"), "it is still there"
    )


@case("api_keys.list")
def api_keys_list(c, w):
    yield "active", c.api_keys.list, lambda found: holds(found, id=w.apiKey, name="reader", scope="read-only")
    revoked = w.fresh_key()
    w.must("DELETE", f"/api-keys/{revoked}")
    yield "revoked", lambda: c.api_keys.list(include_revoked=True), lambda found: holds(
        found, id=revoked, is_active=False
    )


@case("api_keys.create")
def api_keys_create(c, w):
    def usable(made):
        expect(made.key.startswith(made.key_prefix), "the key does not start with key_prefix")
        equal(w.get(f"/api-keys/{made.id}"), name=made.name, scope=made.scope)

    yield "plain", lambda: c.api_keys.create(name=w.name()), usable
    yield (
        "scope",
        lambda: c.api_keys.create(name=w.name(), scope="read-write"),
        lambda made: (usable(made), equal(made, scope="read-write")),
    )


@case("api_keys.get")
def api_keys_get(c, w):
    yield "id", lambda: c.api_keys.get(w.apiKey), lambda found: equal(found, id=w.apiKey, name="reader")


@case("api_keys.revoke")
def api_keys_revoke(c, w):
    key = w.fresh_key()
    yield "id", lambda: c.api_keys.revoke(key), lambda found: equal(found, id=key, is_active=False)


@case("api_keys.usage")
def api_keys_usage(c, w):
    def counted(found):
        equal(found, rate_limit_per_min=5000, can_create=True)
        expect(found["current_count"] >= 2, f"current_count is {found['current_count']}")

    yield "all", c.api_keys.usage, counted
