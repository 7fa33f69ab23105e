"""Alerts and incidents."""

from __future__ import annotations

import inspect
from datetime import datetime, timedelta, timezone

from harness import case, equal, expect, holds, lacks


@case("alerts.summary")
def summary(c, w):
    def counted(found):
        rules = w.get("/sdk/alerts/rules?limit=100")["data"]
        equal(found, total_rules=len(rules), active_rules=sum(rule["is_active"] for rule in rules))
        states = w.get("/sdk/alerts/summary")["by_status"]
        unresolved = states["triggered"] + states["acknowledged"]
        # Snoozed alerts may count as unresolved or not.
        expect(
            unresolved <= found.unresolved_alerts <= unresolved + states["snoozed"],
            f"unresolved_alerts is {found.unresolved_alerts}, not {unresolved}",
        )
        expect(found.recent_alerts > 0, "recent_alerts is 0")

    yield "all", c.alerts.summary, counted


@case("alerts.list")
def list_alerts(c, w):
    def all_of_them(found):
        there = {alert["id"] for alert in w.get("/sdk/alerts?limit=100")["data"]}
        expect({alert.id for alert in found} == there, f"{len(found)} alerts, not {len(there)}")
        shown = holds(found, id=w.alerts.triggered, qualified_name=w.tables["customers"], severity="warning")
        expect("Known emails" in shown.message, f"message is {shown.message}")

    yield "all", lambda: c.alerts.list(limit=100), all_of_them
    yield (
        "status",
        lambda: c.alerts.list(status="resolved"),
        lambda found: (
            holds(found, id=w.alerts.resolved, status="resolved"),
            lacks(found, id=w.alerts.triggered),
        ),
    )
    yield "severity", lambda: c.alerts.list(severity="critical"), lambda found: (
        holds(found, severity="critical"),
        lacks(found, severity="warning"),
    )
    for variant, asset in (
        ("asset name", w.tables["customers"]),
        ("source name", "shop"),
        ("asset id", w.source.id),
    ):
        yield variant, lambda asset=asset: c.alerts.list(asset_id=asset, limit=100), lambda found: holds(
            found, id=w.alerts.triggered
        )
    now = datetime.now(timezone.utc)
    day = timedelta(days=1)
    yield (
        "dates",
        lambda: c.alerts.list(from_date=(now - day).isoformat(), to_date=(now + day).isoformat(), limit=100),
        lambda found: holds(found, id=w.alerts.triggered),
    )
    yield (
        "past dates",
        lambda: c.alerts.list(from_date=(now - 9 * day).isoformat(), to_date=(now - 8 * day).isoformat()),
        lambda found: expect(found == [], f"{len(found)} alerts of a time without any"),
    )


@case("alerts.list_inbox")
def list_inbox(c, w):
    def new(found):
        shown = holds(found, id=w.alerts.triggered, alert_state="new", event_type="validity_failure")
        expect("Known emails" in shown.title, f"title is {shown.title}")

    yield "all", lambda: c.alerts.list_inbox(limit=100), new
    yield "new", lambda: c.alerts.list_inbox(state="new", limit=100), lambda found: (
        new(found),
        lacks(found, id=w.alerts.acknowledged),
    )
    for state in ("acknowledged", "resolved", "dismissed"):
        yield (
            state,
            lambda state=state: c.alerts.list_inbox(state=state, limit=100),
            lambda found, state=state: (
                holds(found, id=getattr(w.alerts, state), alert_state=state),
                lacks(found, id=w.alerts.triggered),
            ),
        )
    yield "severity", lambda: c.alerts.list_inbox(severity="critical"), lambda found: holds(
        found, severity="critical"
    )
    yield "event type", lambda: c.alerts.list_inbox(event_type="validity_failure", limit=100), new
    for event in ("freshness_stale", "schema_drift"):
        yield (
            event,
            lambda event=event: c.alerts.list_inbox(event_type=event, limit=100),
            lambda found: (expect(found, "an empty list"), lacks(found, id=w.alerts.triggered)),
        )


# -- lifecycle


@case("alerts.acknowledge")
def acknowledge(c, w):
    yield from transitions(w, "acknowledged", {}, {"notes": "On it"}, call=c.alerts.acknowledge)


@case("alerts.resolve")
def resolve(c, w):
    yield from transitions(w, "resolved", *closings(c.alerts.resolve), call=c.alerts.resolve)


@case("alerts.dismiss")
def dismiss(c, w):
    yield from transitions(w, "dismissed", *closings(c.alerts.dismiss), call=c.alerts.dismiss)


def closings(method):
    """Arguments of resolve and dismiss; the older client takes only notes."""
    yield {}
    yield {"notes": "Fixed the pipeline"}
    if "pr_url" in inspect.signature(method).parameters:
        yield {
            "notes": "Fixed the pipeline",
            "action_category": "code_change",
            "action_detail": "Reverted",
            "root_cause_category": "pipeline_failure",
            "root_cause_detail": "A late file",
            "pr_url": "https://example.com/pull/7",
            "job_run_id": "run-7",
            "external_link": "https://example.com/tickets/7",
        }


def transitions(w, state, *variants, call):
    for options in variants:
        alert = w.fresh_alert()

        def changed(found, alert=alert):
            equal(found, id=alert, status=state)
            equal(w.alert(alert), status=state)

        yield (
            "plain" if not options else "notes" if list(options) == ["notes"] else "details",
            lambda alert=alert, options=options: call(alert, **options),
            changed,
        )


@case("alerts.snooze")
def snooze(c, w):
    for variant, options in (("hours", {}), ("notes", {"notes": "After the release"})):
        alert = w.fresh_alert()

        def asleep(found, alert=alert):
            equal(found, id=alert, status="snoozed")
            ends = datetime.fromisoformat(found["snoozed_until"].replace("Z", "+00:00"))
            hours = (ends - datetime.now(timezone.utc)).total_seconds() / 3600
            expect(23 < hours <= 24, f"it sleeps for {hours:.0f} hours")

        yield variant, lambda alert=alert, options=options: c.alerts.snooze(
            alert, duration_hours=24, **options
        ), asleep


@case("alerts.history")
def history(c, w):
    def listed(found):
        holds(found, action="acknowledged")
        expect(all("timestamp" in entry for entry in found), "timestamp is missing")

    yield "id", lambda: c.alerts.history(w.alerts.acknowledged), listed


@case("alerts.trends")
def trends(c, w):
    yield "plain", c.alerts.trends, lambda found: trend(found, "7d")
    for period in ("24h", "30d", "90d"):
        yield period, lambda period=period: c.alerts.trends(
            period=period
        ), lambda found, period=period: trend(found, period)


def trend(found, period):
    equal(found, period=period)
    expect(found["trends"], "no trends")


@case("alerts.preview")
def preview(c, w):
    def matched(found):
        expect(found.alerts_would_match >= 5, f"alerts_would_match is {found.alerts_would_match}")
        expect(found.sample_alerts and found.alerts_by_type, "no samples")

    yield "rule", lambda: c.alerts.preview(rule_id=w.rule), matched
    yield "all", c.alerts.preview, matched
    yield (
        "filters",
        lambda: c.alerts.preview(event_types=["validity_failure"], severities=["critical"], lookback_days=30),
        lambda found: equal(
            found, lookback_hours=720, alerts_would_match=1, alerts_by_severity={"critical": 1}
        ),
    )
    yield (
        "event words",
        lambda: c.alerts.preview(event_types=["freshness_stale", "freshness_alert", "schema_drift"]),
        lambda found: expect(found.alerts_would_match > 0, "alerts_would_match is 0"),
    )


# -- incidents


@case("alerts.list_incidents")
def list_incidents(c, w):
    id = w.incident()
    yield "all", c.alerts.list_incidents, lambda found: expect(
        holds(found, id=id).title and holds(found, id=id).event_type, "no title or event type"
    )
    for status in ("open", "acknowledged", "snoozed", "resolved", "dismissed"):
        w.incident(status)
        yield status, lambda status=status: c.alerts.list_incidents(
            status=status
        ), lambda found, status=status: (
            holds(found, status=status),
            expect(all(incident.status == status for incident in found), "others"),
        )
    yield "severity", lambda: c.alerts.list_incidents(severity="critical", limit=10), lambda found: (
        holds(found, severity="critical"),
        lacks(found, severity="warning"),
    )
    yield "event type", lambda: c.alerts.list_incidents(event_type="freshness_stale"), lambda found: expect(
        found, "an empty list"
    )


@case("alerts.get_incident")
def get_incident(c, w):
    id = w.incident()

    def whole(found):
        equal(found, id=id)
        expect(found["title"] and found["activities"], "no title or no activities")

    yield "id", lambda: c.alerts.get_incident(id), whole


@case("alerts.comment_on_incident")
def comment_on_incident(c, w):
    id = w.incident()

    def kept(found):
        equal(found, activity_type="comment")
        holds(w.get(f"/sdk/incidents/{id}")["activities"], id=found["id"])

    yield "id", lambda: c.alerts.comment_on_incident(id, "Looking into it"), kept
