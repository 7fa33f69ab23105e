"""Alert rules, destinations, and Slack by OAuth."""

from __future__ import annotations

import inspect

from harness import case, equal, expect, holds, lacks

EVENTS = ["freshness_stale", "freshness_alert", "schema_drift"]
"""Types of events as the client's documentation writes them."""


@case("alerts.rules")
def rules(c, w):
    off = w.fresh_rule(is_active=False)
    yield "all", c.alerts.rules, lambda found: (
        holds(found, id=w.rule, name="Everything", enabled=True),
        holds(found, id=off, enabled=False),
    )
    yield "enabled", lambda: c.alerts.rules(enabled_only=True), lambda found: (
        holds(found, id=w.rule),
        lacks(found, id=off),
    )


@case("alerts.get_rule")
def get_rule(c, w):
    yield "id", lambda: c.alerts.get_rule(w.rule), lambda found: equal(
        found, id=w.rule, name="Everything", enabled=True
    )


@case("alerts.create_rule")
def create_rule(c, w):
    def create(**options):
        name = w.name("new")
        made = c.alerts.create_rule(name=name, destination_ids=[w.destination], **options)
        equal(w.get(f"/sdk/alerts/rules/{made.id}"), name=name, destination_ids=[w.destination])
        return made

    yield "plain", create, lambda made: equal(made, enabled=True)
    yield (
        "filters",
        lambda: create(
            description="Money", event_types=["validity_failure"], severities=["critical"], is_active=False
        ),
        lambda made: equal(made, description="Money", enabled=False),
    )
    yield "event words", lambda: create(event_types=EVENTS), lambda made: equal(made, enabled=True)
    yield "tags", lambda: create(tag_filter_mode="any", tag_filter_tags=["money"]), lambda made: equal(
        made, enabled=True
    )
    if "is_notify_code_authors" in inspect.signature(c.alerts.create_rule).parameters:
        yield (
            "code authors",
            lambda: create(is_notify_code_authors=False, code_author_min_confidence=0.8),
            lambda made: equal(made, is_notify_code_authors=False),
        )


@case("alerts.update_rule")
def update_rule(c, w):
    rule = w.fresh_rule()
    yield (
        "name",
        lambda: c.alerts.update_rule(rule, name="renamed", severities=["critical"]),
        lambda found: (
            equal(found, id=rule, name="renamed"),
            equal(w.get(f"/sdk/alerts/rules/{rule}"), severities=["critical"]),
        ),
    )
    yield "is_active", lambda: c.alerts.update_rule(rule, is_active=False), lambda found: equal(
        found, id=rule, is_active=False
    )


@case("alerts.delete_rule")
def delete_rule(c, w):
    rule = w.fresh_rule()
    yield "id", lambda: c.alerts.delete_rule(rule), lambda _: expect(
        w.is_gone(f"/sdk/alerts/rules/{rule}"), "it is still there"
    )


@case("alerts.list_rule_destinations")
def list_rule_destinations(c, w):
    yield "id", lambda: c.alerts.list_rule_destinations(w.rule), lambda found: holds(
        found, id=w.destination, destination_type="webhook"
    )


@case("alerts.link_destinations_to_rule")
def link_destinations_to_rule(c, w):
    rule, more = w.fresh_rule(), w.fresh_destination()

    def linked(found):
        equal(found, rule_id=rule, linked_count=1)
        expect(more in w.get(f"/sdk/alerts/rules/{rule}")["destination_ids"], "it is not linked")

    yield "id", lambda: c.alerts.link_destinations_to_rule(rule, [more]), linked


@case("alerts.unlink_destination_from_rule")
def unlink_destination_from_rule(c, w):
    more = w.fresh_destination()
    rule = w.fresh_rule(destination_ids=[w.destination, more])
    yield (
        "id",
        lambda: c.alerts.unlink_destination_from_rule(rule, more),
        lambda _: equal(w.get(f"/sdk/alerts/rules/{rule}"), destination_ids=[w.destination]),
    )


# -- destinations


def configs(w):
    """Configurations as the client's documentation writes them."""
    yield "webhook", {"url": f"{w.receiver}/new", "headers": {"X-Team": "data"}}
    yield "slack", {"webhook_url": "https://hooks.slack.com/services/T000/B000/abcdef"}
    yield "email", {"email": "ops@example.com"}
    yield "email", {"recipients": ["ops@example.com", "data@example.com"]}
    yield "teams", {"webhook_url": "https://example.webhook.office.com/webhookb2/1/IncomingWebhook/2/3"}
    yield "pagerduty", {"api_token": "abc", "routing_key": "0123456789abcdef0123456789abcdef"}


@case("alerts.list_destinations")
def list_destinations(c, w):
    yield "all", c.alerts.list_destinations, lambda found: holds(
        found, id=w.destination, name="Receiver", destination_type="webhook"
    )
    off = w.fresh_destination()
    w.must("PATCH", f"/sdk/alerts/destinations/{off}", {"is_active": False})
    yield "active", lambda: c.alerts.list_destinations(active_only=True), lambda found: (
        holds(found, id=w.destination),
        lacks(found, id=off),
    )


@case("alerts.create_destination")
def create_destination(c, w):
    for kind, config in configs(w):
        variant = kind if "recipients" not in config else "email recipients"
        yield (
            variant,
            lambda kind=kind, config=config: c.alerts.create_destination(
                name=w.name("new"), destination_type=kind, config=config
            ),
            lambda made, kind=kind: (
                equal(made, destination_type=kind, is_active=True),
                equal(w.get(f"/sdk/alerts/destinations/{made.id}"), name=made.name),
            ),
        )


@case("alerts.get_destination")
def get_destination(c, w):
    yield "id", lambda: c.alerts.get_destination(w.destination), lambda found: equal(
        found, id=w.destination, name="Receiver"
    )


@case("alerts.update_destination")
def update_destination(c, w):
    id = w.fresh_destination()
    yield (
        "name",
        lambda: c.alerts.update_destination(id, name="renamed", config={"url": f"{w.receiver}/other"}),
        lambda found: (
            equal(found, id=id, name="renamed"),
            equal(w.get(f"/sdk/alerts/destinations/{id}")["config"], url=f"{w.receiver}/other"),
        ),
    )
    yield "is_active", lambda: c.alerts.update_destination(id, is_active=False), lambda found: equal(
        found, id=id, is_active=False
    )


@case("alerts.delete_destination")
def delete_destination(c, w):
    id = w.fresh_destination()
    yield "id", lambda: c.alerts.delete_destination(id), lambda _: expect(
        w.is_gone(f"/sdk/alerts/destinations/{id}"), "it is still there"
    )


@case("alerts.test_destination")
def test_destination(c, w):
    yield (
        "webhook",
        lambda: c.alerts.test_destination(w.destination),
        lambda found: (
            equal(found, destination_id=w.destination, test_sent=True),
            expect(found["message"], "no message"),
        ),
    )


@case("alerts.bulk_create_destinations")
def bulk_create_destinations(c, w):
    def two(made):
        expect(
            [each.destination_type for each in made] == ["email", "pagerduty"], f"{len(made)} destinations"
        )
        for each in made:
            equal(w.get(f"/sdk/alerts/destinations/{each.id}"), name=each.name)

    asked = [
        {"name": w.name("new"), "destination_type": kind, "config": config}
        for kind, config in configs(w)
        if kind == "pagerduty" or "email" in config
    ]
    yield "two", lambda: c.alerts.bulk_create_destinations(asked), two


# -- Slack by OAuth


@case("alerts.list_slack_connections")
def list_slack_connections(c, w):
    yield "all", c.alerts.list_slack_connections, lambda found: expect(
        found and found[0]["team_name"], "an empty list"
    )


@case("alerts.get_slack_oauth_url")
def get_slack_oauth_url(c, w):
    yield "all", c.alerts.get_slack_oauth_url, lambda found: expect(
        "slack.com" in found["auth_url"], found["auth_url"]
    )


@case("alerts.get_slack_channels")
def get_slack_channels(c, w):
    id = w.slack_connection()
    yield "id", lambda: c.alerts.get_slack_channels(id), lambda found: expect(
        found and found[0]["name"], "an empty list"
    )


@case("alerts.create_slack_destination")
def create_slack_destination(c, w):
    id = w.slack_connection()
    yield (
        "channel",
        lambda: c.alerts.create_slack_destination(
            id, channel_id="C01", channel_name="alerts", name=w.name("new")
        ),
        lambda made: equal(made, destination_type="slack"),
    )


@case("alerts.bulk_create_slack_destinations")
def bulk_create_slack_destinations(c, w):
    id = w.slack_connection()
    channels = [{"channel_id": f"C0{n}", "channel_name": f"alerts-{n}"} for n in (1, 2)]
    yield (
        "two",
        lambda: c.alerts.bulk_create_slack_destinations(id, channels),
        lambda made: expect(len(made) == 2, f"{len(made)} destinations"),
    )
