"""The commands of alerts, rules, destinations and incidents."""

from __future__ import annotations

from harness import case, expect
from shell import line, says


@case("$ alerts summary")
def alerts_summary(sh, w):
    rules = w.get("/sdk/alerts/rules?limit=100")["pagination"]["total"]
    yield "all", lambda: sh("alerts", "summary"), says(f"Total Rules: {rules}", "Unresolved: ")


@case("$ alerts list")
def alerts_list(sh, w):
    yield "all", lambda: sh("alerts", "list"), says(w.tables["customers"], "Known emails", "Critical")
    yield (
        "filters",
        lambda: sh("alerts", "list", "--status", "resolved", "--severity", "warning"),
        says("Known emails, resolved", never=("Known emails, triggered",)),
    )


@case("$ alerts rules list")
def rules_list(sh, w):
    off = w.name()
    w.fresh_rule(name=off, is_active=False)

    def enabled(output):
        expect("Yes" in line(output, "Everything"), "an active rule is not enabled")
        return output

    yield "all", lambda: sh("alerts", "rules", "list", "--limit", "100"), lambda output: expect(
        "No" in line(enabled(output), off), "an inactive rule is enabled"
    )
    yield "enabled", lambda: sh("alerts", "rules", "list", "--enabled"), lambda output: (
        enabled(output),
        says(never=(off,))(output),
    )


@case("$ alerts rules get")
def rules_get(sh, w):
    yield "id", lambda: sh("alerts", "rules", "get", w.rule), says("Everything", w.rule, "Active: Yes")


@case("$ alerts rules delete")
def rules_delete(sh, w):
    for variant, options, answer in (("yes", ["--yes"], None), ("prompt", [], "y\n")):
        id = w.fresh_rule()
        yield (
            variant,
            lambda id=id, options=options, answer=answer: sh(
                "alerts", "rules", "delete", id, *options, input=answer
            ),
            lambda _, id=id: expect(w.is_gone(f"/sdk/alerts/rules/{id}"), "it is still there"),
        )


@case("$ alerts destinations list")
def destinations_list(sh, w):
    yield "all", lambda: sh("alerts", "destinations", "list"), lambda output: expect(
        "webhook" in line(output, "Receiver") and "Yes" in line(output, "Receiver"), "it is not active"
    )
    yield "active", lambda: sh("alerts", "destinations", "list", "--active", "--limit", "100"), says(
        "Receiver"
    )


@case("$ alerts destinations get")
def destinations_get(sh, w):
    yield "id", lambda: sh("alerts", "destinations", "get", w.destination), says(
        "Receiver", "webhook", "Active: Yes"
    )


@case("$ alerts destinations delete")
def destinations_delete(sh, w):
    id = w.fresh_destination()
    yield "yes", lambda: sh("alerts", "destinations", "delete", id, "--yes"), lambda _: expect(
        w.is_gone(f"/sdk/alerts/destinations/{id}"), "it is still there"
    )


@case("$ incidents list")
def incidents_list(sh, w):
    yield "all", lambda: sh("incidents", "list"), says("validity", "Critical")
    yield (
        "filters",
        lambda: sh(
            "incidents",
            "list",
            "--status",
            "open",
            "--severity",
            "critical",
            "--event-type",
            "freshness_stale",
            "--limit",
            "10",
        ),
        says("is stale", never=("Known emails",)),
    )


@case("$ incidents get")
def incidents_get(sh, w):
    id = w.incident()
    yield "id", lambda: sh("incidents", "get", id), says(
        id, "Severity: ", "Activity Timeline", never=("Incident: -",)
    )


@case("$ incidents ack")
def incidents_ack(sh, w):
    for variant, options in (("plain", []), ("notes", ["--notes", "On it"])):
        id = w.fresh_alert()
        yield variant, lambda id=id, options=options: sh("incidents", "ack", id, *options), says(
            "acknowledged", "Status: acknowledged"
        )


@case("$ incidents resolve")
def incidents_resolve(sh, w):
    for variant, options in (("plain", []), ("notes", ["--notes", "Fixed"])):
        id = w.fresh_alert()
        yield variant, lambda id=id, options=options: sh("incidents", "resolve", id, *options), says(
            "resolved", "Status: resolved"
        )


@case("$ incidents comment")
def incidents_comment(sh, w):
    id = w.incident()
    yield "text", lambda: sh("incidents", "comment", id, "Looking into it"), says("Comment added", "Time: ")
