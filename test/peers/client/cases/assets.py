"""Assets, jobs, schema and lineage."""

from __future__ import annotations

from harness import case, equal, expect, holds


@case("assets.list")
def assets_list(c, w):
    def both(found):
        holds(found, id=w.source.id, name="shop", source_type="postgresql")
        holds(found, id=w.archive.id)

    yield "all", c.assets.list, both
    yield "source", lambda: c.assets.list(source="postgresql"), both
    yield (
        "asset_type",
        lambda: c.assets.list(asset_type="table", limit=100),
        lambda found: holds(found, qualified_name=w.tables["orders"], asset_type="table"),
    )
    yield "search", lambda: c.assets.list(search="archive"), lambda found: holds(found, id=w.archive.id)
    yield "page", lambda: c.assets.list(limit=1, offset=1), lambda found: expect(
        len(found) == 1, f"{len(found)} items"
    )


@case("assets.get")
def assets_get(c, w):
    yield "id", lambda: c.assets.get(w.source.id), lambda found: equal(found, id=w.source.id, name="shop")
    yield "name", lambda: c.assets.get("shop"), lambda found: equal(
        found, id=w.source.id, qualified_name="shop"
    )
    orders = w.tables["orders"]
    yield "table", lambda: c.assets.get(orders), lambda found: equal(
        found, qualified_name=orders, name="orders"
    )


@case("assets.create")
def assets_create(c, w):
    def create(**more):
        name = w.name("new")
        made = c.assets.create(
            name=name, source_type="postgresql", connection_config=vars(w.connection), **more
        )
        equal(w.get(f"/sdk/assets/{made.id}"), name=name)
        return made

    yield "plain", create, lambda made: equal(made, source_type="postgresql")
    yield "description", lambda: create(description="Orders"), lambda made: equal(made, description="Orders")


@case("assets.test_connection")
def assets_test_connection(c, w):
    for variant, asset in (("id", w.source.id), ("name", "shop")):
        yield (
            variant,
            lambda asset=asset: c.assets.test_connection(asset),
            lambda result: equal(result, success=True, error_message=None),
        )


@case("assets.trigger_discovery")
def assets_trigger_discovery(c, w):
    source = w.fresh_source()

    def known(job):
        equal(job, asset_id=source)
        equal(w.get(f"/sdk/jobs/{job.job_id}"), asset_id=source, workflow_name="discovery")

    yield "id", lambda: c.assets.trigger_discovery(source), known


@case("jobs.status")
def jobs_status(c, w):
    yield (
        "discovery",
        lambda: c.jobs.status(w.job),
        lambda found: equal(found, job_id=w.job, status="completed", asset_id=w.source.id, progress=100),
    )


@case("schema.summary")
def schema_summary(c, w):
    yield (
        "all",
        c.schema.summary,
        lambda found: equal(found, total_changes=3, critical_count=1, warning_count=1, info_count=1),
    )


@case("schema.changes")
def schema_changes(c, w):
    def three(found):
        expect(len(found) == 3, f"{len(found)} changes, not 3")
        removed = holds(found, column_name="note", severity="critical", qualified_name=w.tables["legacy"])
        expect(removed.old_value and not removed.new_value, "the old value of a removed column is missing")
        added = holds(found, column_name="added", severity="info")
        expect(added.new_value and not added.old_value, "the new value of an added column is missing")

    yield "all", c.schema.changes, three
    yield "asset", lambda: c.schema.changes(asset_id="shop"), three
    yield "unacknowledged", lambda: c.schema.changes(unacknowledged_only=True), three

    def one(found):
        holds(found, column_name="note")
        expect(len(found) == 1, f"{len(found)} changes, not 1")

    yield "severity", lambda: c.schema.changes(severity="critical"), one


@case("schema.get")
def schema_get(c, w):
    def found_all(found):
        equal(found, asset_id=w.source.id, qualified_name="shop", total_unacknowledged=3)
        expect(len(found["recent_changes"]) == 3, f"{len(found['recent_changes'])} changes")

    yield "source", lambda: c.schema.get("shop"), found_all


@case("schema.create_baseline")
def schema_create_baseline(c, w):
    source = w.fresh_source()

    def taken(found):
        equal(found, asset_id=source)
        expect(found.table_count >= 10 and found.column_count > 30, f"{found.table_count} tables")

    yield "plain", lambda: c.schema.create_baseline(source), taken
    yield (
        "description",
        lambda: c.schema.create_baseline(source, description="Release 7"),
        lambda found: equal(found, asset_id=source, description="Release 7"),
    )


@case("schema.enable_monitoring")
def schema_enable_monitoring(c, w):
    source = w.fresh_source()
    yield (
        "plain",
        lambda: c.schema.enable_monitoring(source),
        lambda found: equal(found, asset_id=source, monitoring_enabled=True, schedule_type="daily"),
    )
    yield (
        "hourly",
        lambda: c.schema.enable_monitoring(source, schedule_type="hourly", auto_create_baseline=False),
        lambda found: equal(found, monitoring_enabled=True, schedule_type="hourly"),
    )


@case("schema.disable_monitoring")
def schema_disable_monitoring(c, w):
    source = w.fresh_source()
    w.must("POST", f"/sdk/schema/{source}/monitoring", {"schedule_type": "daily"})
    yield (
        "id",
        lambda: c.schema.disable_monitoring(source),
        lambda found: equal(found, asset_id=source, monitoring_enabled=False),
    )


@case("schema.dry_run")
def schema_dry_run(c, w):
    def counted(found):
        # A table was dropped after the last discovery.
        known = w.get("/sdk/assets/shop")["table_count"]
        equal(found, tables_in_baseline=known, tables_in_current=known - 1)
        equal(found.changes_summary, table_removed=1)
        expect(found.asset_id in (w.source.id, "shop"), f"asset_id is {found.asset_id}")
        expect(found.total_changes == sum(found.changes_summary.values()), "total_changes is no sum")

    yield "source", lambda: c.schema.dry_run("shop"), counted
    yield (
        "table",
        lambda: c.schema.dry_run("shop", table_path=w.table("legacy"), lookback_days=14),
        lambda found: expect(found.tables_in_current == 1, f"tables_in_current is {found.tables_in_current}"),
    )


@case("lineage.get")
def lineage_get(c, w):
    customers, orders, payments = (w.tables[name] for name in ("customers", "orders", "payments"))

    def both(found):
        equal(found.root, qualified_name=orders)
        holds(found.upstream, qualified_name=customers)
        holds(found.downstream, qualified_name=payments)
        holds(found.edges, source=customers, target=orders)

    yield "name", lambda: c.lineage.get(orders), both
    yield (
        "direction",
        lambda: c.lineage.get(orders, direction="upstream"),
        lambda found: (
            holds(found.upstream, name="customers"),
            expect(not found.downstream, "downstream is not empty"),
        ),
    )
    yield (
        "depth",
        lambda: c.lineage.get(customers, depth=2),
        lambda found: holds(found.downstream, qualified_name=payments),
    )
    yield "source", lambda: c.lineage.get("shop"), lambda found: equal(found.root, id=w.source.id)


@case("lineage.list")
def lineage_list(c, w):
    yield "all", c.lineage.list, lambda found: holds(found, qualified_name=w.tables["orders"])
