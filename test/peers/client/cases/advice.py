"""What only the newer clients ask for: health, recommendations, coverage, briefings, investigations, intelligence."""

from __future__ import annotations

from harness import case, equal, expect, holds


@case("health.summary")
def health_summary(c, w):
    def summarized(found):
        # Critical alerts are open, and a table is stale.
        equal(found, overall_status="critical")
        equal(found.schema_drift, total_changes=3)
        equal(found.freshness, stale_count=w.get("/sdk/freshness/summary")["stale"])
        expect(found.alerts.unresolved_alerts > 0, "unresolved_alerts is 0")
        expect(found.needs_attention and found.needs_attention[0].title, "needs_attention is empty")

    yield "all", c.health.summary, summarized


@case("recommendations.freshness")
def recommend_freshness(c, w):
    w.spare_tables()

    def analyzed(found):
        expect(found.asset_id in (w.source.id, "shop"), f"asset_id is {found.asset_id}")
        expect(found.tables_analyzed > 0, "tables_analyzed is 0")
        equal(found, tables_with_recommendations=len(found.recommendations))

    yield "name", lambda: c.recommendations.freshness("shop"), analyzed
    yield (
        "options",
        lambda: c.recommendations.freshness(w.source.id, min_confidence=0.0, limit=5, include_monitored=True),
        lambda found: (analyzed(found), expect(len(found.recommendations) <= 5, "more than the limit")),
    )


@case("recommendations.metrics")
def recommend_metrics(c, w):
    def found_some(found):
        expect(found.columns_analyzed > 0, "columns_analyzed is 0")
        expect(found.recommendations and found.recommendations[0].suggested_metric_type, "no recommendations")

    yield "name", lambda: c.recommendations.metrics("shop"), found_some
    yield (
        "options",
        lambda: c.recommendations.metrics(
            w.source.id, table_path=w.table("customers"), min_confidence=0.1, limit=5
        ),
        lambda found: expect(
            all(each.table_path.endswith("customers") for each in found.recommendations), "other tables"
        ),
    )


@case("recommendations.coverage")
def recommend_coverage(c, w):
    def counted(found):
        equal(found, total_tables=w.get("/sdk/assets/shop")["table_count"])
        expect(
            0 < found.monitored_tables <= found.total_tables, f"monitored_tables is {found.monitored_tables}"
        )
        expect(found.recommendations and found.recommendations[0].reasoning, "no recommendations")

    yield "name", lambda: c.recommendations.coverage("shop"), counted
    yield (
        "limit",
        lambda: c.recommendations.coverage(w.source.id, limit=2),
        lambda found: expect(len(found.recommendations) <= 2, "more than the limit"),
    )


@case("recommendations.thresholds")
def recommend_thresholds(c, w):
    yield (
        "name",
        lambda: c.recommendations.thresholds("shop"),
        lambda found: expect(found.monitored_items_analyzed > 0, "monitored_items_analyzed is 0"),
    )
    yield (
        "options",
        lambda: c.recommendations.thresholds(w.source.id, days=7, limit=5),
        lambda found: equal(found, items_with_recommendations=len(found.recommendations)),
    )


@case("coverage.company")
def coverage_company(c, w):
    def counted(found):
        equal(found, asset_count=len(found.per_asset))
        holds(found.per_asset, asset_id=w.source.id, asset_name="shop")
        expect(
            0 <= found.company_score <= 100 and found.tier_distribution,
            f"company_score is {found.company_score}",
        )

    yield "all", c.coverage.company, counted


@case("coverage.get")
def coverage_get(c, w):
    def scored(found):
        equal(found, total_tables=w.get("/sdk/assets/shop")["table_count"])
        expect(0 < found.score < 100 and found.tier and found.breakdown, f"score is {found.score}")

    for variant, asset in (("id", w.source.id), ("name", "shop")):
        yield variant, lambda asset=asset: c.coverage.get(asset), scored


@case("coverage.gaps")
def coverage_gaps(c, w):
    yield (
        "plain",
        lambda: c.coverage.gaps(w.source.id),
        lambda found: (
            equal(found, total_tables=w.get("/sdk/assets/shop")["table_count"]),
            expect(found.recommendations and found.recommendations[0].suggested_monitoring, "no gaps"),
        ),
    )
    yield "limit", lambda: c.coverage.gaps(w.source.id, limit=1), lambda found: expect(
        len(found.recommendations) == 1, f"{len(found.recommendations)} gaps"
    )


@case("coverage.apply")
def coverage_apply(c, w):
    source = w.fresh_source()

    def applied(found):
        equal(found, applied_count=len(found.applied), failed_count=len(found.failed))
        expect(found.applied_count > 0, "applied_count is 0")

    yield "one table", lambda: c.coverage.apply(
        source, types=["metrics"], table_paths=["app.orders"]
    ), applied
    yield "all", lambda: c.coverage.apply(source), applied


@case("briefings.today")
def briefings_today(c, w):
    yield "all", c.briefings.today, lambda found: expect(found.get("title") and len(found) > 1, "no title")


@case("investigations.explain")
def investigations_explain(c, w):
    question = "Why are emails missing?"
    yield (
        "question",
        lambda: c.investigations.explain(w.source.id, question=question, event_type="validity"),
        lambda found: (equal(found, question=question), expect(found.triggers, "no evidence")),
    )
    for event in ("anomaly", "freshness", "schema_change"):
        yield (
            event,
            lambda event=event: c.investigations.explain(w.source.id, event_type=event),
            lambda found: expect(found.question, "no question"),
        )


@case("investigations.get")
def investigations_get(c, w):
    # Investigations belong to alerts, and no method lists them; the id of an alert is used until the server has them.
    yield (
        "id",
        lambda: c.investigations.get(w.alerts.triggered),
        lambda found: expect(
            found.investigation_id and (found.triggers or found.root_cause_hypothesis), "no evidence"
        ),
    )


@case("intelligence.ask")
def intelligence_ask(c, w):
    question = "Which tables have customer data?"
    for variant, options in (("plain", {}), ("related", {"include_related_assets": True})):
        yield (
            variant,
            lambda options=options: c.intelligence.ask("shop", question, **options),
            lambda found: (
                equal(found, question=question),
                expect("customers" in found.answer, found.answer),
            ),
        )


@case("intelligence.generate")
def intelligence_generate(c, w):
    for variant, options in (("plain", {}), ("options", {"include_schemas": "app", "force_refresh": True})):
        yield (
            variant,
            lambda options=options: c.intelligence.generate("shop", **options),
            lambda found: equal(w.get(f"/sdk/jobs/{found.job_id}"), job_id=found.job_id),
        )
