"""Verifies a contract with Soda Core 4 for each line of JSON, a data source and a contract, and prints what it found and when."""

import json
import logging
import os
import sys
import time

answers = os.dup(1)
# What the library prints is no answer.
os.dup2(2, 1)

from soda_core.common.env_config_helper import EnvConfigHelper  # noqa: E402

if EnvConfigHelper().soda_core_telemetry_enabled:
    raise SystemExit("telemetry is not switched off")

from soda_core.common.data_source_impl import DataSourceImpl  # noqa: E402
from soda_core.common.yaml import ContractYamlSource, DataSourceYamlSource  # noqa: E402
from soda_core.contracts.contract_verification import ContractVerificationSession  # noqa: E402

logging.disable(logging.INFO)


def run(request):
    started = time.perf_counter()
    source = DataSourceImpl.from_yaml_source(DataSourceYamlSource.from_str(request["configuration"]))
    with source:
        session = ContractVerificationSession.execute(
            contract_yaml_sources=[ContractYamlSource.from_str(request["checks"])],
            data_source_impls=[source],
        )
    seconds = time.perf_counter() - started
    values, outcomes = {}, {}
    for verified in session.contract_verification_results:
        for result in verified.check_results:
            values[result.check.name] = result.threshold_value
            outcomes[result.check.name] = {"PASSED": "pass", "WARN": "warn", "FAILED": "fail"}.get(result.outcome.name)
    return {
        "milliseconds": seconds * 1000,
        "values": values,
        "outcomes": outcomes,
        "errors": session.get_errors_str() if session.has_errors else "",
    }


for line in sys.stdin:
    os.write(answers, (json.dumps(run(json.loads(line)), default=float) + "\n").encode())
