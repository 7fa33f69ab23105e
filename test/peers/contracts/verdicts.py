"""Tests a data contract for each line of YAML in JSON, and prints its result and its checks."""

import json
import logging
import os
import sys
import warnings

answers = os.dup(1)
# What the library prints is no answer.
os.dup2(2, 1)
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")

from datacontract.data_contract import DataContract  # noqa: E402


def run(text):
    found = DataContract(data_contract_str=text, server="shop").test()
    checks = [
        {"type": check.type, "name": check.name, "result": check.result, "reason": check.reason}
        for check in found.checks
    ]
    return {"result": found.result, "checks": checks}


for line in sys.stdin:
    os.write(answers, (json.dumps(run(json.loads(line)), default=lambda one: getattr(one, "value", str(one))) + "\n").encode())
