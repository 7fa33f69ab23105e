"""Metrics."""

from __future__ import annotations

from harness import case, equal, expect, holds, lacks


@case("metrics.summary")
def metrics_summary(c, w):
    def counted(found):
        count = len(w.get("/sdk/metrics/shop?limit=100")["items"])
        equal(found, total_metrics=count)
        expect(count >= 2, "no metrics")

    for variant, asset in (("name", "shop"), ("id", w.source.id)):
        yield variant, lambda asset=asset: c.metrics.summary(asset), counted


@case("metrics.list")
def metrics_list(c, w):
    def rows(found):
        shown = holds(found, id=w.metric.rows, metric_type="row_count")
        expect(shown.table_path.endswith("app.orders"), f"table_path is {shown.table_path}")

    yield "all", lambda: c.metrics.list("shop", limit=100), rows
    yield "filters", lambda: c.metrics.list(
        w.source.id, metric_type="row_count", is_active=True
    ), lambda found: (rows(found), lacks(found, id=w.metric.empty))


@case("metrics.get")
def metrics_get(c, w):
    yield "plain", lambda: c.metrics.get("shop", w.metric.rows), lambda found: equal(
        found, id=w.metric.rows, metric_type="row_count"
    )
    yield (
        "snapshots",
        lambda: c.metrics.get(w.source.id, w.metric.rows, include_snapshots=True, snapshot_limit=2),
        lambda found: equal(found, id=w.metric.rows),
    )


@case("metrics.create")
def metrics_create(c, w):
    def create(**options):
        made = c.metrics.create("shop", table_path=w.table("payments"), **options)
        equal(w.get(f"/sdk/metrics/shop/{made.id}"), metric_type=options["metric_type"])
        return made

    yield "plain", lambda: create(metric_type="row_count"), lambda made: equal(
        made, capture_interval="daily", is_active=True
    )
    yield (
        "column",
        lambda: create(metric_type="null_percent", column_name="amount", capture_interval="hourly"),
        lambda made: equal(made, column_name="amount", capture_interval="hourly"),
    )
    yield "sensitivity", lambda: create(
        metric_type="mean", column_name="amount", sensitivity=2.5
    ), lambda made: equal(made, sensitivity=2.5)
    yield (
        "percentile",
        lambda: create(metric_type="percentile", column_name="amount", percentile_value=95),
        lambda made: equal(made, percentile_value=95),
    )
    yield (
        "groups",
        lambda: c.metrics.create("shop", "row_count", w.table("orders"), group_by_columns=["status"]),
        lambda made: equal(made, group_by_columns=["status"]),
    )
    # A fractional sensitivity would also break the cases that list metrics.
    w.delete_metrics()


@case("metrics.update")
def metrics_update(c, w):
    id = w.fresh_metric()
    yield (
        "interval",
        lambda: c.metrics.update("shop", id, capture_interval="hourly", sensitivity=2.0),
        lambda found: (
            equal(found, id=id, capture_interval="hourly", sensitivity=2),
            equal(w.get(f"/sdk/metrics/shop/{id}"), sensitivity=2),
        ),
    )
    yield "is_active", lambda: c.metrics.update("shop", id, is_active=False), lambda found: equal(
        found, is_active=False
    )


@case("metrics.delete")
def metrics_delete(c, w):
    id = w.fresh_metric()
    yield "id", lambda: c.metrics.delete("shop", id), lambda _: expect(
        w.is_gone(f"/sdk/metrics/shop/{id}"), "it is still there"
    )


@case("metrics.capture")
def metrics_capture(c, w):
    yield (
        "id",
        lambda: c.metrics.capture("shop", w.metric.rows),
        lambda found: (equal(found, snapshot_count=1), equal(found["snapshots"][0], value=100)),
    )


@case("metrics.snapshots")
def metrics_snapshots(c, w):
    yield "all", lambda: c.metrics.snapshots("shop", w.metric.rows), lambda found: holds(found, value=100)
    yield "page", lambda: c.metrics.snapshots("shop", w.metric.rows, limit=2, offset=1), lambda found: expect(
        len(found) == 2, f"{len(found)} snapshots"
    )
    # The mean of no rows is null.
    yield "no value", lambda: c.metrics.snapshots("shop", w.metric.empty), lambda found: expect(
        len(found) == 1, f"{len(found)} snapshots"
    )


@case("metrics.dry_run")
def metrics_dry_run(c, w):
    yield (
        "rows",
        lambda: c.metrics.dry_run("shop", w.table("orders"), "row_count"),
        lambda found: (
            equal(found, metric_type="row_count", avg_value=100),
            expect(found.total_snapshots >= 3, "no snapshots"),
        ),
    )
    yield (
        "column",
        lambda: c.metrics.dry_run(
            "shop", w.table("payments"), "mean", column_name="amount", sensitivity=2.0, lookback_days=14
        ),
        lambda found: equal(found, metric_type="mean", lookback_days=14),
    )
