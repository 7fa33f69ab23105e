"""The commands of contracts, which only the newer client has; their base URL must not end with `/api/v1`."""

from __future__ import annotations

import zipfile

from harness import case, expect
from shell import says

from .contracts import CONTRACT, INVALID

DBT_MODEL = """\
version: 2
models:
  - name: orders
    columns:
      - name: id
        tests: [not_null, unique]
      - name: status
        tests:
          - accepted_values:
              values: [paid, open]
"""
EXPECTATIONS = """\
{
  "expectation_suite_name": "orders",
  "expectations": [
    {"expectation_type": "expect_column_values_to_not_be_null", "kwargs": {"column": "id"}},
    {"expectation_type": "expect_column_values_to_be_in_set", "kwargs": {"column": "status", "value_set": ["paid"]}}
  ]
}
"""


@case("$ contract validate")
def validate(sh, w):
    path = sh.file("orders.yaml", CONTRACT)
    yield "file", lambda: sh("contract", "validate", "--file", path, url=w.url), says("OK", "orders v1.0.0")
    yield "input", lambda: sh("contract", "validate", "--file", "-", input=CONTRACT, url=w.url), says(
        "OK", "<stdin>"
    )
    invalid = sh.file("invalid.yaml", INVALID)
    yield "invalid", lambda: sh("contract", "validate", "--file", invalid, code=5, url=w.url), says(
        "Invalid", "kind"
    )


@case("$ contract plan")
def plan(sh, w):
    path = sh.file("orders.yaml", CONTRACT)
    yield "file", lambda: sh("contract", "plan", "--asset", w.source.id, "--file", path, url=w.url), says(
        "for asset", w.source.id
    )
    yield (
        "options",
        lambda: sh(
            "contract",
            "plan",
            "-a",
            w.source.id,
            "-f",
            path,
            "--mode",
            "odcs-pure",
            "--include",
            "validity",
            url=w.url,
        ),
        says("for asset"),
    )


@case("$ contract apply")
def apply(sh, w):
    path = sh.file("orders.yaml", CONTRACT)
    source = w.fresh_source()
    yield "file", lambda: sh("contract", "apply", "--asset", source, "--file", path, url=w.url), says(source)
    yield "prune", lambda: sh(
        "contract", "apply", "-a", source, "-f", path, "--prune", "--exclude", "metrics", url=w.url
    ), says(source)


@case("$ contract pull")
def pull(sh, w):
    yield "asset", lambda: sh("contract", "pull", "--asset", w.source.id, url=w.url), says(
        "apiVersion", "customers"
    )
    path = str(sh.home / "shop.yaml")
    yield "file", lambda: sh(
        "contract", "pull", "--asset", w.source.id, "-o", path, "--mode", "odcs-pure", url=w.url
    ), says("Wrote")
    archive = str(sh.home / "all.zip")
    for variant, options in (("all", ["--all"]), ("warehouse", ["--warehouse", "shop"])):
        yield (
            variant,
            lambda options=options: sh(
                "contract", "pull", *options, "-o", archive, "--timeout", "30", url=w.url
            ),
            lambda output: (
                says("Wrote")(output),
                expect(zipfile.ZipFile(archive).namelist(), "an empty archive"),
            ),
        )


@case("$ contract diff")
def diff(sh, w):
    left = sh.file("left.yaml", CONTRACT)
    right = sh.file("right.yaml", CONTRACT.replace("name: amount", "name: total"))
    yield "different", lambda: sh("contract", "diff", left, right), says("Diff")
    yield "same", lambda: sh("contract", "diff", left, left), says("equivalent")


@case("$ migrate-from dbt")
def migrate_from_dbt(sh, w):
    project = sh.file("dbt/dbt_project.yml", "name: shop\n").rsplit("/", 1)[0]
    sh.file("dbt/models/schema.yml", DBT_MODEL)
    yield "output", lambda: sh("migrate-from", "dbt", project, "--name", "shop"), says("apiVersion", "orders")


@case("$ migrate-from great-expectations")
def migrate_from_great_expectations(sh, w):
    project = sh.file("gx/expectations/orders.json", EXPECTATIONS).rsplit("/", 2)[0]
    sh.file("gx/great_expectations.yml", "config_version: 3.0\n")
    yield "output", lambda: sh("migrate-from", "great-expectations", project), says("apiVersion", "orders")
