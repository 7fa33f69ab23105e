"""
Calls every public method of every resource of the installed client, and every command of its command line, against a
server. Reads fixtures as JSON from standard input, and writes one JSON object to standard output: `methods` and
`commands` with a verdict and the outcome of each variant, `missing` with those that have no case, and `unused` with
cases of what this version does not have. Arguments are prefixes of the methods to call; all by default.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys

from harness import CASES, Recorder, run, verdict

RECORDER = Recorder()

from anomalyarmor import Client  # noqa: E402

import cases.advice  # noqa: E402, F401
import cases.alert_commands  # noqa: E402, F401
import cases.alerts  # noqa: E402, F401
import cases.assets  # noqa: E402, F401
import cases.check_commands  # noqa: E402, F401
import cases.checks  # noqa: E402, F401
import cases.commands  # noqa: E402, F401
import cases.freshness  # noqa: E402, F401
import cases.labels  # noqa: E402, F401
import cases.metrics  # noqa: E402, F401
import cases.notifications  # noqa: E402, F401
import shell  # noqa: E402
import world  # noqa: E402

# The older client has no contracts.
if importlib.util.find_spec("anomalyarmor.resources.contracts"):
    import cases.contract_commands  # noqa: F401


def methods(client: Client) -> list[str]:
    """Public methods of all resources, as `resource.method`."""
    return [
        f"{resource}.{name}"
        for resource, instance in vars(client).items()
        if type(instance).__module__.startswith("anomalyarmor.resources.")
        for name, _ in inspect.getmembers(instance, inspect.ismethod)
        if not name.startswith("_")
    ]


def main() -> None:
    w = world.load(sys.stdin.read())
    client = Client(api_key=w.key, api_url=f"{w.url}/api/v1")
    shown = sys.argv[1:]

    def wanted(names: list[str]) -> list[str]:
        return [name for name in names if not shown or any(name.startswith(each) for each in shown)]

    found: dict = {"methods": {}, "commands": {}, "missing": [], "unused": []}
    unused = set(CASES)
    for kind, names, first in (
        ("methods", methods(client), client),
        ("commands", shell.names(), shell.Shell(w)),
    ):
        unused -= set(names)
        for name in wanted(names):
            if name not in CASES:
                found["missing"].append(name)
                continue
            outcomes = run(name, RECORDER, first, w)
            found[kind][name] = {"verdict": verdict(outcomes), "variants": outcomes}
    found["unused"] = sorted(unused)
    json.dump(found, sys.stdout)


main()
