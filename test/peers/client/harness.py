"""Runs cases against the client, and reports for each call whether it works and why not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pydantic

CASES: dict[str, Callable[..., Iterator[tuple]]] = {}
"""By method, such as `assets.list`, or command, such as `$ assets list`: a generator of variants."""

NOT_THERE = ("There is nothing at this path", "This path takes ")


class Wrong(Exception):
    """The client returned something else than the server has."""


def case(name: str):
    """Registers a generator of variants: (name, call, check of the returned value)."""

    def register(function):
        assert name not in CASES, f"{name} has two cases"
        CASES[name] = function
        return function

    return register


def expect(condition: Any, otherwise: str) -> None:
    """@raises Wrong with the text, unless the condition holds"""
    if not condition:
        raise Wrong(otherwise)


def field(item: Any, name: str) -> Any:
    """A field of a model or a dict. @raises Wrong if a dict does not have it"""
    if not isinstance(item, dict):
        return getattr(item, name)
    expect(name in item, f"{name} is missing")
    return item[name]


def equal(item: Any, **fields: Any) -> None:
    """@raises Wrong that names the first field with another value"""
    for name, expected in fields.items():
        found = field(item, name)
        expect(found == expected, f"{name} is {short(found)}, not {short(expected)}")


def holds(items: Any, **fields: Any) -> Any:
    """The first item with these values. @raises Wrong if none has them"""
    for item in items:
        if all(field(item, name) == expected for name, expected in fields.items()):
            return item
    wanted = ", ".join(f"{name} {short(value)}" for name, value in fields.items())
    raise Wrong(f"{len(items)} items, none of them with {wanted}" if items else "an empty list")


def lacks(items: Any, **fields: Any) -> None:
    """@raises Wrong if an item has these values"""
    for item in items:
        if all(field(item, name) == value for name, value in fields.items()):
            raise Wrong(f"an item that was filtered out: {fields}")


def short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."


def stable(text: str) -> str:
    """Replaces what differs from run to run: ids, ports, times, database names."""
    for pattern, replacement in (
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<id>"),
        (r"source_[0-9a-f]{12}", "<database>"),
        (r"127\.0\.0\.1:\d+", "<host>"),
        (r"\d{4}-\d\d-\d\d[T ][\d:.+Z]+", "<time>"),
        (r"(mine|new)-[0-9a-f]{6}\b", r"\1"),
    ):
        text = re.sub(pattern, replacement, text)
    return text


class Recorder:
    """Records the requests of every HTTP client of this process, with their replies."""

    def __init__(self) -> None:
        self.exchanges: list[dict[str, Any]] = []
        send = httpx.Client.send

        def record(client: httpx.Client, request: httpx.Request, **options: Any) -> httpx.Response:
            response = send(client, request, **options)
            response.read()
            self.exchanges.append(
                {
                    "method": request.method,
                    "path": request.url.path,
                    "query": request.url.query.decode(),
                    "body": request.content.decode("utf8", "replace"),
                    "status": response.status_code,
                    "reply": response.text[:2000],
                }
            )
            return response

        httpx.Client.send = record  # type: ignore[method-assign]

    def reason(self, error: BaseException) -> str:
        """The reason of a failure in one line, the same in every run."""
        # A check that does not find at the server what the client reported raises a FixtureError.
        if isinstance(error, (Wrong, FixtureError)):
            return f"wrong: {stable(str(error))}"
        if isinstance(error, pydantic.ValidationError):
            return f"parse: {parse_errors(error)}"
        last = self.exchanges[-1] if self.exchanges else None
        if last and last["status"] >= 400:
            message = message_of(last["reply"])
            if last["status"] in (404, 405) and message.startswith(NOT_THERE):
                return "no such endpoint"
            return f"refused: {last['status']} {stable(message)}"
        return f"raised: {type(error).__name__} {stable(short(str(error)))}"


def message_of(reply: str) -> str:
    try:
        return str(json.loads(reply)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return short(reply)


def parse_errors(error: pydantic.ValidationError) -> str:
    """Pydantic's errors as `Model.field message`, each once."""
    found: dict[str, None] = {}
    for each in error.errors():
        path = ".".join(str(part) for part in each["loc"] if not isinstance(part, int))
        message = (
            each["msg"].replace("Input should be a valid", "must be").replace("Field required", "missing")
        )
        found[f"{error.title}.{path} {message}"] = None
    return "; ".join(found)


class FixtureError(Exception):
    """The server refused a request of a case's setup or check."""


def run(name: str, recorder: Recorder, *arguments: Any) -> list[dict[str, Any]]:
    """The outcome of every variant of a case: `works`, or a reason, with the last request and its reply."""
    outcomes = []
    variants = CASES[name](*arguments)
    while True:
        try:
            variant, call, check = next(variants)
        except StopIteration:
            return outcomes
        except Exception as error:
            raise FixtureError(f"{name}: {type(error).__name__} {error}") from error
        recorder.exchanges.clear()
        reason = "works"
        try:
            check(call())
        except (KeyError, AttributeError, TypeError, IndexError) as error:
            # A missing attribute or key: the client, or the check, expected another shape.
            reason = recorder.reason(Wrong(f"{type(error).__name__} {error}"))
        except Exception as error:
            reason = recorder.reason(error)
        last = recorder.exchanges[-1] if recorder.exchanges else None
        outcomes.append({"variant": variant, "reason": reason, "exchange": last})


def verdict(outcomes: list[dict[str, Any]]) -> str:
    """`works`, the reasons, or the variants that do not work and their reasons."""
    failed = [outcome for outcome in outcomes if outcome["reason"] != "works"]
    if not failed:
        return "works"
    # Grouped by kind, each part once: variants mostly fail for the same reason.
    parts: dict[str, dict[str, None]] = {}
    for outcome in failed:
        kind, colon, rest = outcome["reason"].partition(": ")
        parts.setdefault(kind + colon, {}).update(dict.fromkeys(without_choices(rest).split("; ")))
    reasons = "; ".join(kind + "; ".join(rest) for kind, rest in parts.items())
    if len(failed) == len(outcomes):
        return reasons
    names = ", ".join(outcome["variant"] for outcome in failed)
    return f"works except {names}: {reasons}"


def without_choices(text: str) -> str:
    """Removes lists of allowed values, which change whenever the server accepts more."""
    return re.sub(r"[;?] [aA]llowed are [^;]*", "", re.sub(r"of [^;]*, not ", "of […], not ", text))
