"""Has requests of Schemathesis name what exists, and writes down what came back. `WORLD` names a file of JSON with:

seed       of what is chosen here
recipes    by method and path, parts of requests that succeed: paths, query, headers, bodies
values     by name of a parameter or field, values that exist
restore    the address that puts the database back as it was
failures   a file that gets a line of JSON for each failure
statuses   a file that gets the counts of replies: by method and path, by status
"""

import atexit
import json
import os
import random
import urllib.request
from collections import Counter, defaultdict

import schemathesis
from schemathesis.core import NotSet
from schemathesis.core.parameters import ParameterLocation

with open(os.environ["WORLD"], encoding="utf-8") as file:
    world = json.load(file)

chance = random.Random(world["seed"])
statuses: dict[str, Counter[int]] = defaultdict(Counter)
failures = open(world["failures"], "w", encoding="utf-8")
MAX_EXCERPT = 1_500
MAX_REPLY_BYTES = 262_144
YAML = ("application/yaml", "application/x-yaml", "text/yaml")
# Paths of POST that store nothing.
STORES_NOTHING = ("dry-run", "/plan", "/validate", "/preview", "/impact")


@schemathesis.serializer(*YAML)
def send_as_it_is(context, value):
    """The document describes the text of a contract, which would be written as a scalar of YAML."""
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else json.dumps(value).encode()


@schemathesis.deserializer(*YAML)
def read_as_it_is(context, response):
    return response.text


def label(case):
    return f"{case.operation.method.upper()} {case.operation.path}"


def is_other_method(case):
    """Whether it asks for a method that the path does not take."""
    return case.method.upper() != case.operation.method.upper()


def is_good(case, location):
    """Whether the part was generated to be valid; what was made to be wrong stays so."""
    component = case.meta.components.get(location) if case.meta else None
    return component is None or component.mode.is_positive


def name_existing(value, key=None):
    """A body whose texts name what exists: most of the time, and where there was a text."""
    if isinstance(value, dict):
        return {name: name_existing(item, name) for name, item in value.items()}
    if isinstance(value, list):
        items = [name_existing(item, key) for item in value]
        # Most lists take each item once.
        return [item for index, item in enumerate(items) if item not in items[:index]] if key in world["values"] else items
    known = world["values"].get(key)
    return chance.choice(known) if isinstance(value, str) and known and chance.random() < 0.8 else value


def choose(part, likelihood, is_first):
    return bool(part) and (is_first or chance.random() < likelihood)


@schemathesis.hook
def before_call(context, case, kwargs):
    # A provider is not there.
    if "/oauth/" in case.path:
        kwargs["allow_redirects"] = False
    recipe = world["recipes"].get(label(case))
    if recipe is None or is_other_method(case):
        return
    # Until it succeeds, it is asked as the recipe says and not more.
    is_first = not any(status < 400 for status in statuses[label(case)])
    if case.path_parameters and is_good(case, ParameterLocation.PATH) and choose(recipe["paths"], 0.95, is_first):
        case.path_parameters = {**case.path_parameters, **chance.choice(recipe["paths"][: 1 if is_first else None])}
    if is_good(case, ParameterLocation.QUERY):
        if is_first:
            case.query = dict(recipe["query"])
        elif recipe["query"] and chance.random() < 0.8:
            case.query = {**(case.query or {}), **recipe["query"]}
        else:
            known = [name for name in case.query or {} if name in world["values"] and chance.random() < 0.8]
            if known:
                case.query = {**case.query, **{name: chance.choice(world["values"][name]) for name in known}}
    if is_first or chance.random() < 0.8:
        for name, value in recipe["headers"].items():
            case.headers[name] = value
    if isinstance(case.body, NotSet) or case.body is None or not is_good(case, ParameterLocation.BODY):
        return
    if case.media_type == "application/json" and choose(recipe["bodies"], 0.35, is_first):
        case.body = chance.choice(recipe["bodies"])
    elif is_first and not recipe["bodies"] and isinstance(case.body, dict):
        case.body = {}
    else:
        body = name_existing(case.body)
        if body != case.body:
            case.body = body


@schemathesis.hook
def after_call(context, case, response):
    if is_other_method(case):
        return
    statuses[label(case)][response.status_code] += 1
    is_change = case.method.upper() != "GET" and not any(word in case.path for word in STORES_NOTHING)
    if is_change and response.status_code < 400:
        with urllib.request.urlopen(urllib.request.Request(world["restore"], method="POST")) as reply:
            reply.read()


@schemathesis.hook
def filter_failure(context, failure, case, response):
    request = response.request
    body = request.body.decode("utf-8", "replace") if isinstance(request.body, bytes) else request.body
    record = {
        "code": failure.code,
        "title": failure.title,
        "message": failure.message[:MAX_EXCERPT],
        "operation": f"{case.method.upper()} {case.operation.path}",
        "url": request.url[:MAX_EXCERPT],
        "type": request.headers.get("content-type"),
        "body": str(body)[:MAX_EXCERPT] if body is not None else None,
        "status": response.status_code,
        "reply": response.content[:MAX_REPLY_BYTES].decode("utf-8", "replace"),
    }
    failures.write(json.dumps(record) + "\n")
    return True


@atexit.register
def write_statuses():
    failures.close()
    with open(world["statuses"], "w", encoding="utf-8") as file:
        json.dump(statuses, file)
