"""Freshness: states, the gate of pipelines, schedules."""

from __future__ import annotations

from anomalyarmor.exceptions import StalenessError

from harness import Wrong, case, equal, expect, holds, lacks


@case("freshness.summary")
def freshness_summary(c, w):
    def counted(found):
        there = w.get("/sdk/freshness/summary")
        equal(
            found, total_assets=there["total_tables"], fresh_count=there["fresh"], stale_count=there["stale"]
        )
        expect(
            found.stale_count > 0 and 0 < found.freshness_rate < 100,
            f"freshness_rate is {found.freshness_rate}",
        )

    yield "all", c.freshness.summary, counted


@case("freshness.get")
def freshness_get(c, w):
    orders, events = w.tables["orders"], w.tables["events"]

    def stale(found):
        equal(found, qualified_name=events, status="stale", is_stale=True, staleness_threshold_hours=24)
        expect((found.hours_since_update or 0) > 700, f"hours_since_update is {found.hours_since_update}")

    yield "fresh", lambda: c.freshness.get(orders), lambda found: equal(
        found, qualified_name=orders, status="fresh", is_stale=False
    )
    yield "stale", lambda: c.freshness.get(events), stale
    yield (
        "paused",
        lambda: c.freshness.get(w.tables["customers"]),
        lambda found: (
            equal(found, is_stale=False),
            expect(found.status in ("unknown", "disabled"), f"status is {found.status}"),
        ),
    )
    for variant, asset in (("source", "shop"), ("source id", w.source.id)):
        yield variant, lambda asset=asset: c.freshness.get(asset), lambda found: equal(
            found, asset_id=w.source.id, is_stale=True
        )


@case("freshness.list")
def freshness_list(c, w):
    orders, events, customers = (w.tables[name] for name in ("orders", "events", "customers"))

    def both(found):
        holds(found, qualified_name=orders, is_stale=False)
        holds(found, qualified_name=events, is_stale=True)

    yield "all", c.freshness.list, both
    for status, table, other in (
        ("fresh", orders, events),
        ("stale", events, orders),
        ("disabled", customers, orders),
    ):
        yield (
            status,
            lambda status=status: c.freshness.list(status=status),
            lambda found, table=table, other=other: (
                holds(found, qualified_name=table),
                lacks(found, qualified_name=other),
            ),
        )
    yield "unknown", lambda: c.freshness.list(status="unknown", limit=10), lambda found: lacks(
        found, qualified_name=orders
    )


@case("freshness.require_fresh")
def require_fresh(c, w):
    orders = w.tables["orders"]

    def refusal(*arguments, **options):
        """Returns the StalenessError that stops a pipeline."""
        try:
            c.freshness.require_fresh(*arguments, **options)
        except StalenessError as error:
            return error
        raise Wrong("no StalenessError was raised")

    yield "fresh", lambda: c.freshness.require_fresh(orders), lambda found: equal(
        found, qualified_name=orders
    )
    yield "stale", lambda: refusal(w.tables["events"]), lambda error: expect(
        error.hours_since_update > 700, str(error)
    )
    yield "age", lambda: refusal(orders, max_age_hours=0.01), lambda error: equal(error, threshold_hours=0.01)
    yield "source", lambda: refusal("shop"), lambda error: expect("stale" in str(error), str(error))


@case("freshness.refresh")
def freshness_refresh(c, w):
    for variant, asset in (("table", w.tables["orders"]), ("source", "shop")):
        yield (
            variant,
            lambda asset=asset: c.freshness.refresh(asset),
            lambda found: (
                expect(found["status"], "no status"),
                equal(w.get(f"/sdk/jobs/{found['job_id']}"), job_id=found["job_id"]),
            ),
        )


@case("freshness.list_schedules")
def list_schedules(c, w):
    def all_of_them(found):
        for id in vars(w.schedules).values():
            holds(found, id=id, asset_id=w.source.id)

    yield "all", c.freshness.list_schedules, all_of_them
    yield "asset", lambda: c.freshness.list_schedules(asset_id="shop"), all_of_them
    yield (
        "active",
        lambda: c.freshness.list_schedules(active_only=True),
        lambda found: (holds(found, id=w.schedules.fresh, is_active=True), lacks(found, id=w.schedules.off)),
    )


@case("freshness.create_schedule")
def create_schedule(c, w):
    first, second, *_ = w.spare_tables()

    def create(path, **options):
        made = c.freshness.create_schedule(asset_id="shop", table_path=path, check_interval="1h", **options)
        holds(w.get("/sdk/freshness/schedules?limit=100")["data"], id=made.id)
        expect(made.table_path.endswith(path), f"table_path is {made.table_path}")
        return made

    yield "plain", lambda: create(first), lambda made: equal(
        made, monitoring_mode="auto_learn", is_active=True
    )
    yield (
        "explicit",
        lambda: create(
            second,
            expected_interval_hours=6,
            monitoring_mode="explicit",
            freshness_column="updated_at",
            is_active=False,
        ),
        lambda made: equal(made, expected_interval_hours=6, freshness_column="updated_at", is_active=False),
    )


@case("freshness.bulk_create_schedules")
def bulk_create_schedules(c, w):
    first, second, *_ = w.spare_tables()

    def two(found):
        equal(found, created=2, failed=0, total=2)
        there = [schedule["table_path"] for schedule in w.get("/sdk/freshness/schedules?limit=100")["data"]]
        expect(
            all(any(path.endswith(each) for path in there) for each in (first, second)), "they are not there"
        )

    yield (
        "two",
        lambda: c.freshness.bulk_create_schedules(
            asset_id="shop",
            schedules=[
                {"table_path": first, "check_interval": "1h"},
                {
                    "table_path": second,
                    "monitoring_mode": "explicit",
                    "expected_interval_hours": 24,
                    "freshness_column": "updated_at",
                },
            ],
        ),
        two,
    )
    yield (
        "one of two",
        lambda: c.freshness.bulk_create_schedules(
            "shop", [{"table_path": w.spare_tables()[2]}, {"table_path": "app.missing"}]
        ),
        lambda found: equal(found, created=1, failed=1, total=2),
    )


@case("freshness.update_schedule")
def update_schedule(c, w):
    id = w.fresh_schedule()
    yield (
        "interval",
        lambda: c.freshness.update_schedule(id, check_interval="6h", expected_interval_hours=12),
        lambda found: equal(found, id=id, check_interval="6h", expected_interval_hours=12),
    )
    yield "mode", lambda: c.freshness.update_schedule(id, monitoring_mode="auto_learn"), lambda found: equal(
        found, monitoring_mode="auto_learn"
    )
    yield "is_active", lambda: c.freshness.update_schedule(id, is_active=False), lambda found: equal(
        found, is_active=False
    )


@case("freshness.delete_schedule")
def delete_schedule(c, w):
    id = w.fresh_schedule()
    yield (
        "id",
        lambda: c.freshness.delete_schedule(id),
        lambda _: lacks(w.get("/sdk/freshness/schedules?limit=100")["data"], id=id),
    )


@case("freshness.dry_run")
def freshness_dry_run(c, w):
    yield (
        "fresh",
        lambda: c.freshness.dry_run("shop", w.table("orders"), expected_interval_hours=24.0),
        lambda found: equal(found, threshold_hours=24, lookback_days=7, would_alert_now=False),
    )
    yield (
        "stale",
        lambda: c.freshness.dry_run("shop", w.table("events"), expected_interval_hours=1.0, lookback_days=14),
        lambda found: equal(found, threshold_hours=1, lookback_days=14, would_alert_now=True),
    )
