"""Runs a scan of Soda Core for each line of JSON, a configuration and checks, and prints what it found and when."""

import json
import logging
import os
import sys
import time

answers = os.dup(1)
# What the library prints is no answer.
os.dup2(2, 1)
logging.disable(logging.CRITICAL)

from soda.scan import Scan  # noqa: E402
from soda.telemetry.soda_telemetry import SodaTelemetry  # noqa: E402

SodaTelemetry.get_instance()
if SodaTelemetry.soda_config.send_anonymous_usage_stats:
    raise SystemExit("the configuration that switches telemetry off was not read")


def run(request):
    scan = Scan()
    scan.set_data_source_name("shop")
    scan.add_configuration_yaml_str(request["configuration"])
    scan.add_sodacl_yaml_str(request["checks"])
    started = time.perf_counter()
    scan.execute()
    seconds = time.perf_counter() - started
    # It leaves its transaction open, and with it a lock on the table.
    for source in scan._data_source_manager.data_sources.values():
        source.connection.close()
    checks = scan.get_scan_results()["checks"]
    values = {check["name"]: check["diagnostics"].get("value") for check in checks}
    outcomes = {check["name"]: check["outcome"] for check in checks}
    return {
        "milliseconds": seconds * 1000,
        "values": values,
        "outcomes": outcomes,
        "errors": scan.get_error_logs_text() or "",
    }


for line in sys.stdin:
    os.write(answers, (json.dumps(run(json.loads(line)), default=str) + "\n").encode())
