"""The fixtures, the server's own API to compare with, and objects that a case may change or delete."""

from __future__ import annotations

import json
import secrets
import time
import urllib.error
import urllib.request
from types import SimpleNamespace
from typing import Any

from harness import FixtureError

SPARE_TABLES = ("payments", "refunds", "invoices", "shipments", "returns")


class World(SimpleNamespace):
    """The fixtures as attributes, as `fixtures.ts` describes them."""

    # The API, without the client.

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and body of a request below `/api/v1`."""
        request = urllib.request.Request(
            f"{self.url}/api/v1{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            # Waits for discoveries and checks, so that a case finds their results.
            headers={
                "Authorization": f"Bearer {self.key}",
                "Content-Type": "application/json",
                "Prefer": "wait=30",
            },
        )
        # A key may send 100 requests a second, those of the client among them.
        time.sleep(0.02)
        try:
            with urllib.request.urlopen(request) as response:
                return response.status, json.loads(response.read() or b"{}")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")

    def get(self, path: str) -> Any:
        """`data` of a reply. @raises FixtureError"""
        return self.must("GET", path)

    def must(self, method: str, path: str, body: Any = None) -> Any:
        status, reply = self.ask(method, path, body)
        while status == 429:
            time.sleep(reply["error"]["details"]["retry_after"])
            status, reply = self.ask(method, path, body)
        if status >= 300:
            raise FixtureError(f"{method} {path}: {status} {json.dumps(reply)[:300]}")
        return reply.get("data", reply)

    def is_gone(self, path: str) -> bool:
        return self.ask("GET", path)[0] == 404

    # Objects of one case.

    def name(self, kind: str = "mine") -> str:
        return f"{kind}-{secrets.token_hex(3)}"

    def table(self, name: str) -> str:
        """`schema.table`, as the client's documentation writes paths."""
        return f"app.{name}"

    def spare_tables(self) -> list[str]:
        """Paths of tables without schedules; removes those that other cases left."""
        kept = set(vars(self.schedules).values())
        for schedule in self.get("/sdk/freshness/schedules?limit=100")["data"]:
            if schedule["id"] not in kept:
                self.must("DELETE", f"/sdk/freshness/schedules/{schedule['id']}")
        return [self.table(name) for name in SPARE_TABLES]

    def delete_metrics(self) -> None:
        """Deletes all metrics but those of the fixtures."""
        for metric in self.get("/sdk/metrics/shop?limit=100")["items"]:
            if metric["id"] not in vars(self.metric).values():
                self.must("DELETE", f"/sdk/metrics/shop/{metric['id']}")

    def fresh_schedule(self) -> str:
        path = self.spare_tables()[0]
        body = {
            "asset_id": "shop",
            "table_path": path,
            "monitoring_mode": "explicit",
            "expected_interval_hours": 24,
            "check_interval": "1h",
            "freshness_column": "updated_at",
        }
        return self.must("POST", "/sdk/freshness/schedules", body)["id"]

    def fresh_source(self) -> str:
        """A discovered source."""
        body = {"name": self.name(), "source_type": "postgresql", "connection_config": vars(self.connection)}
        made = self.must("POST", "/sdk/assets", body)
        self.must("POST", f"/sdk/assets/{made['id']}/discover")
        return made["id"]

    def fresh_destination(self) -> str:
        body = {
            "name": self.name(),
            "destination_type": "webhook",
            "config": {"url": f"{self.receiver}/mine"},
        }
        return self.must("POST", "/sdk/alerts/destinations", body)["id"]

    def fresh_rule(self, **more: Any) -> str:
        body = {
            "name": self.name(),
            "destination_ids": [self.destination],
            "event_types": ["connection_failed"],
        }
        return self.must("POST", "/sdk/alerts/rules", {**body, **more})["id"]

    def fresh_badge(self) -> str:
        return self.must("POST", "/sdk/badges", {"asset_id": "shop", "label": self.name()})["id"]

    def fresh_key(self) -> str:
        return self.must("POST", "/api-keys", {"name": self.name(), "scope": "read-only"})["id"]

    def fresh_validity(self) -> str:
        body = {
            "rule_type": "NOT_NULL",
            "table_path": self.table("customers"),
            "column_name": "email",
            "name": self.name(),
        }
        return self.must("POST", "/sdk/validity/shop", body)["uuid"]

    def fresh_metric(self) -> str:
        body = {"metric_type": "row_count", "table_path": self.table("payments")}
        return self.must("POST", "/sdk/metrics/shop", body)["id"]

    def fresh_check(self) -> str:
        body = {
            "child_table_path": self.table("orders"),
            "child_column_name": "customer_id",
            "parent_table_path": self.table("customers"),
            "parent_column_name": "id",
            "name": self.name(),
        }
        return self.must("POST", "/sdk/referential/shop", body)["id"]

    def fresh_alert(self, rule: str | None = None) -> str:
        """A triggered alert of a rule, or of a new one."""
        rule = rule or self.fresh_validity()
        self.must("POST", f"/sdk/validity/shop/{rule}/check", {})
        return next(
            alert["id"]
            for alert in self.get("/sdk/alerts?limit=100")["data"]
            if alert["event"]["details"].get("rule_id") == rule
        )

    def incident(self, status: str = "open") -> str:
        """The id of an incident of a new alert, with this status; the id of the alert if the server has no incidents."""
        body = {"rule_type": "RANGE", "column_name": "amount", "rule_config": {"max": 1}, "name": self.name()}
        # A table without other alerts: an action on an incident is one on all of its alerts.
        rule = self.must("POST", "/sdk/validity/shop", {**body, "table_path": self.table("claims")})["uuid"]
        alert = self.fresh_alert(rule)
        for _ in range(60):
            code, reply = self.ask("GET", f"/sdk/incidents?alert_id={alert}")
            if code == 404:
                return alert
            if reply["data"]["incidents"]:
                break
            time.sleep(0.5)
        id = reply["data"]["incidents"][0]["id"]
        actions = {"acknowledged": "acknowledge", "resolved": "resolve", "dismissed": "dismiss", "snoozed": "snooze"}
        if status in actions:
            body = {"duration_hours": 1} if status == "snoozed" else {}
            self.must("POST", f"/sdk/incidents/{id}/{actions[status]}", body)
        return id

    def slack_connection(self) -> str:
        """The id of a connected workspace; an unrelated id if the server has none."""
        status, reply = self.ask("GET", "/sdk/slack/connections")
        there = reply["data"]["connections"] if status == 200 else []
        return there[0]["id"] if there else self.rule

    def alert(self, id: str) -> dict[str, Any]:
        return self.get(f"/sdk/alerts/{id}")


def load(text: str) -> World:
    """@param text the JSON of `Fixtures`"""
    fixtures = json.loads(text, object_hook=lambda fields: SimpleNamespace(**fields))
    world = World(**vars(fixtures))
    world.tables = vars(fixtures.tables)
    return world
