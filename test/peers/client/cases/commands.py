"""The other commands of both versions."""

from __future__ import annotations

from harness import case, equal, expect
from shell import line, says


@case("$ auth login")
def auth_login(sh, w):
    yield (
        "options",
        lambda: sh("auth", "login", "--api-key", w.key, "--api-url", sh.url, signed_in=False),
        lambda output: (
            says("Successfully authenticated")(output),
            expect(w.key in (sh.home / ".armor/config.yaml").read_text(), "the key is not kept"),
        ),
    )
    yield "prompt", lambda: sh(
        "auth", "login", "--api-url", sh.url, input=f"{w.key}\n", signed_in=False
    ), says("Successfully")
    wrong = f"{w.key[:-4]}zzzz"
    yield "wrong key", lambda: sh(
        "auth", "login", "-k", wrong, "--api-url", sh.url, code=2, signed_in=False
    ), says("Authentication failed")


@case("$ auth status")
def auth_status(sh, w):
    yield "signed in", lambda: sh("auth", "status"), says("Authenticated", sh.url, w.key[-4:])


@case("$ auth logout")
def auth_logout(sh, w):
    config = sh.home / ".armor/config.yaml"
    yield "signed in", lambda: sh("auth", "logout"), lambda output: (
        says("Logged out")(output),
        expect(not config.exists(), "the key is still kept"),
    )


@case("$ assets list")
def assets_list(sh, w):
    yield "all", lambda: sh("assets", "list"), says("shop", "archive", "postgresql")
    yield "source", lambda: sh("assets", "list", "--source", "postgresql"), says("shop", "archive")
    yield "type", lambda: sh("assets", "list", "--type", "table", "--limit", "100"), says(
        "orders", "customers"
    )
    yield "search", lambda: sh("assets", "list", "--search", "archive"), says("archive")


@case("$ assets get")
def assets_get(sh, w):
    yield "name", lambda: sh("assets", "get", "shop"), says("shop", w.source.id, "postgresql")
    yield "table", lambda: sh("assets", "get", w.tables["orders"]), says(w.tables["orders"], "table")


@case("$ schema summary")
def schema_summary(sh, w):
    yield "all", lambda: sh("schema", "summary"), says("Total Changes: 3", "Critical: 1", "Info: 1")


@case("$ schema changes")
def schema_changes(sh, w):
    yield "all", lambda: sh("schema", "changes"), says(w.tables["legacy"], "note", "added", "price")
    yield (
        "filters",
        lambda: sh("schema", "changes", "--asset", "shop", "--severity", "critical", "--unacknowledged"),
        says("note", "Critical", never=("added", "price")),
    )


@case("$ api-keys list")
def api_keys_list(sh, w):
    yield "active", lambda: sh("api-keys", "list"), says("reader", "read-only")
    name = w.name()
    id = w.must("POST", "/api-keys", {"name": name, "scope": "read-only"})["id"]
    w.must("DELETE", f"/api-keys/{id}")
    yield "revoked", lambda: sh("api-keys", "list", "--include-revoked"), lambda output: expect(
        "No" in line(output, name), "it is active"
    )


@case("$ api-keys create")
def api_keys_create(sh, w):
    yield "plain", lambda: sh("api-keys", "create", "--name", w.name()), says("Key: aa_")
    yield "scope", lambda: sh("api-keys", "create", "--scope", "read-write", input=f"{w.name()}\n"), says(
        "Key: aa_"
    )


@case("$ api-keys revoke")
def api_keys_revoke(sh, w):
    id = w.fresh_key()
    yield "yes", lambda: sh("api-keys", "revoke", id, "--yes"), lambda _: equal(
        w.get(f"/api-keys/{id}"), is_active=False
    )


@case("$ lineage get")
def lineage_get(sh, w):
    customers, orders, payments = (w.tables[name] for name in ("customers", "orders", "payments"))
    yield "both", lambda: sh("lineage", "get", orders), says(
        orders, "Upstream", customers, "Downstream", payments
    )
    yield "options", lambda: sh(
        "lineage", "get", customers, "--depth", "2", "--direction", "downstream"
    ), says(payments)


@case("$ intelligence ask")
def intelligence_ask(sh, w):
    question = "Which tables have customer data?"
    yield "plain", lambda: sh("intelligence", "ask", "shop", question), says(question, "customers")
    yield "json", lambda: sh("intelligence", "ask", "shop", question, "--json", "--include-related"), says(
        '"answer"', "customers"
    )


@case("$ intelligence generate")
def intelligence_generate(sh, w):
    yield "plain", lambda: sh("intelligence", "generate", "shop"), says("Job ID: ")
    yield "options", lambda: sh(
        "intelligence", "generate", "shop", "--schemas", "app", "--force", "--json"
    ), says('"job_id"')


@case("$ jobs status")
def jobs_status(sh, w):
    yield "discovery", lambda: sh("jobs", "status", w.job), says(
        w.job, "Status: completed", "Workflow: discovery", "Progress: 100%"
    )


@case("$ tags create")
def tags_create(sh, w):
    name = w.name("new")
    yield (
        "options",
        lambda: sh(
            "tags",
            "create",
            name,
            "--asset",
            "shop",
            "--path",
            "app.orders",
            "--category",
            "technical",
            "--description",
            "Mine",
        ),
        says(f"Tag created: {name}", "Category: technical", "orders"),
    )


@case("$ tags apply")
def tags_apply(sh, w):
    yield "two", lambda: sh(
        "tags", "apply", f"{w.name()},{w.name()}", "--asset", "shop", "--paths", "app.orders,app.customers"
    ), says("Applied 4 tags", never=("Failed",))


@case("$ tags bulk-apply")
def tags_bulk_apply(sh, w):
    yield "two", lambda: sh("tags", "bulk-apply", w.name(), "--assets", f"shop,{w.archive.id}"), says(
        "Applied tag to 2 assets", never=("Failed",)
    )


@case("$ tags list")
def tags_list(sh, w):
    yield "all", lambda: sh("tags", "list", "--asset", "shop"), says("money", "personal", "Total: ")
    yield "category", lambda: sh("tags", "list", "--asset", "shop", "--category", "governance"), says(
        "money", never=("technical",)
    )


@case("$ badges create")
def badges_create(sh, w):
    yield "plain", lambda: sh("badges", "create", "Quality", "--asset", "shop"), says(
        "Badge created: Quality", "URL: http"
    )
    yield (
        "options",
        lambda: sh(
            "badges",
            "create",
            "Money",
            "--asset",
            "shop",
            "--tags",
            "money",
            "--no-schema-drift",
            "--include-upstream",
        ),
        says("Badge created: Money"),
    )


@case("$ badges list")
def badges_list(sh, w):
    yield "active", lambda: sh("badges", "list"), lambda output: expect(
        "Yes" in line(output, w.badge[:8]), "it is not active"
    )
    yield "all", lambda: sh("badges", "list", "--all", "--limit", "100"), says(w.badge[:8])


@case("$ badges get")
def badges_get(sh, w):
    yield "id", lambda: sh("badges", "get", w.badge), says("Badge: shop", w.source.id, "Freshness: Yes")


@case("$ badges delete")
def badges_delete(sh, w):
    id = w.fresh_badge()
    yield "yes", lambda: sh("badges", "delete", id, "--yes"), lambda _: expect(
        w.is_gone(f"/sdk/badges/{id}"), "it is still there"
    )


@case("$ badges status")
def badges_status(sh, w):
    status = w.get(f"/sdk/badges/{w.badge}")["status"]
    yield "id", lambda: sh("badges", "status", w.badge), says(f"Status: {status}", "URL: http")
