"""The commands of freshness, metrics, validity and referential checks."""

from __future__ import annotations

from harness import case, expect
from shell import line, says


@case("$ freshness summary")
def freshness_summary(sh, w):
    there = w.get("/sdk/freshness/summary")
    yield "all", lambda: sh("freshness", "summary"), says(
        f"Total Assets: {there['total_tables']}", f"Stale: {there['stale']}"
    )


@case("$ freshness get")
def freshness_get(sh, w):
    yield "fresh", lambda: sh("freshness", "get", w.tables["orders"]), says(
        w.tables["orders"], "Status: Fresh", "Threshold: 24h"
    )
    yield "stale", lambda: sh("freshness", "get", w.tables["events"], code=1), says(
        "Status: Stale", "Hours Since Update: 720"
    )


@case("$ freshness list")
def freshness_list(sh, w):
    def both(output):
        expect("Fresh" in line(output, w.tables["orders"]), "orders are not fresh")
        expect("Stale" in line(output, w.tables["events"]), "events are not stale")

    yield "all", lambda: sh("freshness", "list"), both
    yield "status", lambda: sh("freshness", "list", "--status", "stale", "--limit", "10"), says(
        w.tables["events"], never=(w.tables["orders"],)
    )


@case("$ freshness check")
def freshness_check(sh, w):
    yield "fresh", lambda: sh("freshness", "check", w.tables["orders"]), says("FRESH", w.tables["orders"])
    yield "stale", lambda: sh("freshness", "check", w.tables["events"], code=1), says(
        "STALE", "Threshold: 24.0h"
    )
    yield "age", lambda: sh("freshness", "check", w.tables["orders"], "--max-age", "0.01", code=1), says(
        "STALE"
    )
    yield "unknown", lambda: sh("freshness", "check", "shop.missing", code=3), says("Error")


@case("$ freshness refresh")
def freshness_refresh(sh, w):
    yield "table", lambda: sh("freshness", "refresh", w.tables["orders"]), says(
        "Refresh initiated", "Job ID: 0"
    )


@case("$ metrics summary")
def metrics_summary(sh, w):
    total = w.get("/sdk/metrics/shop/summary")["total_metrics"]
    yield "name", lambda: sh("metrics", "summary", "shop"), says(f"Total Metrics: {total}", "Health: ")


@case("$ metrics list")
def metrics_list(sh, w):
    yield "all", lambda: sh("metrics", "list", "shop"), says("row_count", "app.orders")
    yield "filters", lambda: sh("metrics", "list", "shop", "--type", "mean", "--active"), says(
        "app.nothing", never=("row_count",)
    )


@case("$ metrics get")
def metrics_get(sh, w):
    yield "id", lambda: sh("metrics", "get", "shop", w.metric.rows), says(
        "row_count", w.metric.rows, "app.orders", "Active: Yes"
    )


@case("$ metrics capture")
def metrics_capture(sh, w):
    yield "id", lambda: sh("metrics", "capture", "shop", w.metric.rows), says("Snapshots created: 1")


@case("$ validity summary")
def validity_summary(sh, w):
    there = w.get("/sdk/validity/shop/summary")
    yield "name", lambda: sh("validity", "summary", "shop"), says(
        f"Total Rules: {there['total_rules']}", "Errors: 1"
    )


@case("$ validity list")
def validity_list(sh, w):
    id = w.validity.failing[:8]
    yield "all", lambda: sh("validity", "list", "shop", "--limit", "100"), lambda output: expect(
        "fail" in line(output, id) and "Critical" in line(output, id), "it did not fail"
    )
    yield "filters", lambda: sh(
        "validity", "list", "shop", "--type", "NOT_NULL", "--active", "--limit", "100"
    ), says(id)


@case("$ validity get")
def validity_get(sh, w):
    yield "id", lambda: sh("validity", "get", "shop", w.validity.failing), says(
        "Emails are known", "NOT_NULL", "Latest Status: fail"
    )


@case("$ validity check")
def validity_check(sh, w):
    yield "failing", lambda: sh(
        "validity", "check", "shop", w.validity.failing, "--samples", "2", code=1
    ), says("Status: fail", "Total Rows: 20", "Invalid Count: 3")
    yield "error", lambda: sh("validity", "check", "shop", w.validity.broken, code=1), says("Status: error")


@case("$ referential list")
def referential_list(sh, w):
    yield "all", lambda: sh("referential", "list", "shop", "--limit", "100"), says(
        w.referential[:8], "customer_id"
    )
    yield "active", lambda: sh("referential", "list", "shop", "--active"), says(w.referential[:8])


@case("$ referential get")
def referential_get(sh, w):
    yield "id", lambda: sh("referential", "get", "shop", w.referential), says(
        "Orders have customers", w.referential, "Last Check: "
    )


@case("$ referential execute")
def referential_execute(sh, w):
    yield "failing", lambda: sh("referential", "execute", "shop", w.referential, code=1), says(
        "Status: fail", "Orphan Count: 8", "Orphan Percent: 8.00%"
    )


@case("$ referential results")
def referential_results(sh, w):
    yield "id", lambda: sh("referential", "results", "shop", w.referential, "--limit", "5"), says(
        "fail", "8.00%"
    )
