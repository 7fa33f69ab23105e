"""Validity and referential checks."""

from __future__ import annotations

from harness import case, equal, expect, holds


@case("validity.summary")
def validity_summary(c, w):
    def counted(found):
        there = w.get("/sdk/validity/shop?limit=100")["items"]
        equal(found, total_rules=len(there), error=1)
        expect(found.failing > 0, "failing is 0")

    yield "name", lambda: c.validity.summary("shop"), counted


@case("validity.list")
def validity_list(c, w):
    yield (
        "all",
        lambda: c.validity.list("shop", limit=100),
        lambda found: holds(found, uuid=w.validity.failing, latest_status="fail", severity="critical"),
    )
    yield (
        "filters",
        lambda: c.validity.list(w.source.id, rule_type="NOT_NULL", is_active=True, limit=100),
        lambda found: holds(found, uuid=w.validity.broken, latest_status="error"),
    )


@case("validity.get")
def validity_get(c, w):
    yield (
        "id",
        lambda: c.validity.get("shop", w.validity.failing),
        lambda found: equal(found, uuid=w.validity.failing, name="Emails are known", column_name="email"),
    )


RULES = [
    ("UNIQUE", "email", None),
    ("REGEX", "email", {"pattern": "^[^@]+@[^@]+$"}),
    ("RANGE", "id", {"min": 1, "max": 100}),
    ("ENUM", "country", {"allowed_values": ["DE", "FR"]}),
    ("CUSTOM_SQL", None, {"sql_expression": "id > 0"}),
]


@case("validity.create")
def validity_create(c, w):
    def create(**options):
        made = c.validity.create("shop", table_path=w.table("customers"), **options)
        equal(w.get(f"/sdk/validity/shop/{made.uuid}"), rule_type=options["rule_type"])
        return made

    yield "plain", lambda: create(rule_type="NOT_NULL", column_name="email"), lambda made: equal(
        made, severity="warning"
    )
    for kind, column, config in RULES:
        yield (
            kind,
            lambda kind=kind, column=column, config=config: create(
                rule_type=kind,
                **({"column_name": column} if column else {}),
                **({"rule_config": config} if config else {}),
            ),
            lambda made, kind=kind: equal(made, rule_type=kind),
        )
    yield (
        "options",
        lambda: create(
            rule_type="NOT_NULL",
            column_name="email",
            name="Mine",
            description="Why",
            error_message="Empty",
            severity="critical",
            alert_threshold_percent=5.0,
            treat_null_as_valid=False,
            check_interval="hourly",
        ),
        lambda made: equal(
            made, name="Mine", description="Why", alert_threshold_percent=5, check_interval="hourly"
        ),
    )


@case("validity.update")
def validity_update(c, w):
    id = w.fresh_validity()
    yield (
        "all",
        lambda: c.validity.update(
            "shop",
            id,
            severity="info",
            name="renamed",
            description="Why",
            alert_threshold_percent=10.0,
            treat_null_as_valid=True,
            check_interval="weekly",
        ),
        lambda found: (
            equal(found, uuid=id, severity="info", name="renamed"),
            equal(w.get(f"/sdk/validity/shop/{id}"), name="renamed"),
        ),
    )
    yield "is_active", lambda: c.validity.update("shop", id, is_active=False), lambda found: equal(
        found, is_active=False
    )


@case("validity.delete")
def validity_delete(c, w):
    id = w.fresh_validity()
    yield "id", lambda: c.validity.delete("shop", id), lambda _: expect(
        w.is_gone(f"/sdk/validity/shop/{id}"), "it is still there"
    )


@case("validity.check")
def validity_check(c, w):
    yield (
        "plain",
        lambda: c.validity.check("shop", w.validity.failing),
        lambda found: equal(found, status="fail", total_rows=20, invalid_count=3, invalid_percent=15),
    )
    yield (
        "samples",
        lambda: c.validity.check("shop", w.validity.failing, sample_limit=2),
        lambda found: expect(found.invalid_samples, "no samples"),
    )
    yield "error", lambda: c.validity.check("shop", w.validity.broken), lambda found: (
        equal(found, status="error"),
        expect(found.error_message, "no message"),
    )


@case("validity.results")
def validity_results(c, w):
    yield "failures", lambda: c.validity.results("shop", w.validity.failing), lambda found: holds(
        found, status="fail", invalid_count=3
    )
    yield "errors", lambda: c.validity.results("shop", w.validity.broken, limit=10), lambda found: holds(
        found, status="error"
    )


@case("referential.summary")
def referential_summary(c, w):
    def counted(found):
        equal(found, total_checks=len(w.get("/sdk/referential/shop?limit=100")["items"]))
        expect(found.failing_checks > 0 and found.last_check_at, "failing_checks is 0")

    yield "name", lambda: c.referential.summary("shop"), counted


@case("referential.list")
def referential_list(c, w):
    def one(found):
        holds(found, id=w.referential, name="Orders have customers", child_column_name="customer_id")

    yield "all", lambda: c.referential.list("shop", limit=100), one
    yield "active", lambda: c.referential.list(w.source.id, is_active=True), one


@case("referential.get")
def referential_get(c, w):
    def shown(found):
        equal(found, id=w.referential, name="Orders have customers")
        expect(found.last_checked_at, "last_checked_at is missing")

    yield "id", lambda: c.referential.get("shop", w.referential), shown


@case("referential.create")
def referential_create(c, w):
    def create(**options):
        made = c.referential.create(
            "shop",
            child_table_path=w.table("orders"),
            child_column_name="customer_id",
            parent_table_path=w.table("customers"),
            parent_column_name="id",
            **options,
        )
        equal(w.get(f"/sdk/referential/shop/{made.id}"), child_column_name="customer_id")
        return made

    yield "plain", create, lambda made: equal(made, capture_interval="daily", is_active=True)
    options = dict(
        name="Mine",
        description="Why",
        capture_interval="hourly",
        max_orphan_count=5,
        min_child_count=1,
        max_child_count=50,
    )
    yield "options", lambda: create(**options), lambda made: equal(made, **options)
    yield "percent", lambda: create(max_orphan_percent=2.5), lambda made: equal(made, max_orphan_percent=2.5)


@case("referential.update")
def referential_update(c, w):
    id = w.fresh_check()
    options = dict(name="renamed", description="Why", capture_interval="weekly", max_orphan_count=9)
    yield (
        "all",
        lambda: c.referential.update("shop", id, **options),
        lambda found: (
            equal(found, id=id, **options),
            equal(w.get(f"/sdk/referential/shop/{id}"), **options),
        ),
    )
    yield "is_active", lambda: c.referential.update("shop", id, is_active=False), lambda found: equal(
        found, is_active=False
    )


@case("referential.delete")
def referential_delete(c, w):
    id = w.fresh_check()
    yield "id", lambda: c.referential.delete("shop", id), lambda _: expect(
        w.is_gone(f"/sdk/referential/shop/{id}"), "it is still there"
    )


@case("referential.execute")
def referential_execute(c, w):
    yield (
        "id",
        lambda: c.referential.execute("shop", w.referential),
        lambda found: equal(found, status="fail", total_child_rows=100, orphan_count=8, orphan_percent=8),
    )


@case("referential.results")
def referential_results(c, w):
    yield "id", lambda: c.referential.results("shop", w.referential), lambda found: holds(
        found, status="fail", orphan_count=8
    )
