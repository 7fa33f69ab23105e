"""Data contracts. The client adds `/api/v1` to these paths itself, so its base URL must not end with it."""

from __future__ import annotations

import io
import zipfile

from anomalyarmor import Client

from harness import case, equal, expect

CONTRACT = """\
version: 1.0.0
apiVersion: v3.1.0
kind: DataContract
id: 53581432-6c55-4ba2-a65f-72344a91553a
name: orders
status: active
schema:
  - name: orders
    physicalName: app.orders
    logicalType: object
    properties:
      - name: id
        logicalType: integer
        required: true
        primaryKey: true
      - name: amount
        logicalType: number
"""
INVALID = CONTRACT.replace("kind: DataContract\n", "").replace("status: active\n", "status: 7\n")


def contracts(w):
    return Client(api_key=w.key, api_url=w.url).contracts


@case("contracts.validate")
def validate(_, w):
    c = contracts(w)

    def accepted(found):
        equal(found, valid=True, errors=[])
        equal(found["contract_summary"], name="orders", version="1.0.0", apiVersion="v3.1.0")

    yield "text", lambda: c.validate(CONTRACT), accepted
    yield "bytes", lambda: c.validate(CONTRACT.encode()), accepted

    def refused(found):
        equal(found, valid=False)
        first = found["errors"][0]
        expect(
            first["message"] and {"yaml_path", "code", "line", "column"} <= set(first),
            f"an error has {sorted(first)}",
        )

    yield "invalid", lambda: c.validate(INVALID), refused


@case("contracts.plan")
def plan(_, w):
    c = contracts(w)

    def planned(found):
        equal(found, valid=True, errors=[])
        expect("diffs" in found and "summary" in found, "no diffs")

    yield "plain", lambda: c.plan(w.source.id, CONTRACT), planned
    yield "options", lambda: c.plan(
        w.source.id, CONTRACT, mode="odcs-pure", include=["validity"], exclude=["metrics"]
    ), planned
    yield "invalid", lambda: c.plan(w.source.id, INVALID), lambda found: equal(found, valid=False)


@case("contracts.apply")
def apply(_, w):
    c = contracts(w)
    source = w.fresh_source()

    def applied(found):
        equal(found, valid=True, errors=[])
        expect(
            isinstance(found["applied"], dict) and isinstance(found["unsupported_domains"], list), "no result"
        )

    yield "plain", lambda: c.apply(source, CONTRACT), applied
    yield "prune", lambda: c.apply(
        source, CONTRACT, prune=True, include=["validity"], exclude=["metrics"]
    ), applied


@case("contracts.export_asset")
def export_asset(_, w):
    c = contracts(w)

    def is_contract(found):
        expect(b"apiVersion" in found and b"customers" in found, found[:80].decode("utf8", "replace"))

    yield "plain", lambda: c.export_asset(w.source.id), is_contract
    yield "options", lambda: c.export_asset(
        w.source.id, mode="odcs-pure", include=["schema"], exclude=["metrics"]
    ), is_contract


@case("contracts.submit_bulk_job")
def submit_bulk_job(_, w):
    c = contracts(w)

    def known(id):
        expect(c.get_job_status(id)["status"], "no status")

    yield "all", lambda: c.submit_bulk_job(scope="all"), known
    yield "assets", lambda: c.submit_bulk_job(
        scope="assets", asset_public_ids=[w.source.id], mode="odcs-pure"
    ), known
    yield "warehouse", lambda: c.submit_bulk_job(
        scope="warehouse", scope_name="shop", include=["schema"]
    ), known


@case("contracts.get_job_status")
def get_job_status(_, w):
    c = contracts(w)
    yield "all", lambda: c.get_job_status(c.submit_bulk_job(scope="all")), lambda found: expect(
        found["status"], "no status"
    )


@case("contracts.wait_for_job")
def wait_for_job(_, w):
    c = contracts(w)
    seen = []
    yield (
        "all",
        lambda: c.wait_for_job(
            c.submit_bulk_job(scope="all"), poll_interval=0.1, timeout=30, on_progress=seen.append
        ),
        lambda found: (equal(found, status="completed"), expect(seen, "on_progress was never called")),
    )


@case("contracts.download_zip")
def download_zip(_, w):
    c = contracts(w)

    def download():
        job = c.submit_bulk_job(scope="assets", asset_public_ids=[w.source.id])
        c.wait_for_job(job, poll_interval=0.1, timeout=30)
        return c.download_zip(job)

    yield (
        "one asset",
        download,
        lambda found: expect(
            len(zipfile.ZipFile(io.BytesIO(found)).namelist()) == 1, "it holds more than one contract"
        ),
    )
