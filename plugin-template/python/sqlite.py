"""A connector of Tidemark as a program: SQLite, by Python's own sqlite3.

It reads one request a line from stdin, writes one answer a line to stdout, and ends when stdin does.
The protocol is in docs/plugins.md of Tidemark. Needs Python 3.11 with SQLite 3.38 or newer.
"""

import base64
import json
import math
import sqlite3
import statistics
import sys

database = None


class Refused(Exception):
    def __init__(self, kind, code, message, hint=None, fault=None):
        super().__init__(message)
        self.fields = {"kind": kind, "code": code, "message": message, "hint": hint, "fault": fault}


class StandardDeviation:
    """stddev_samp(value), which SQLite lacks and the ANSI dialect writes."""

    def __init__(self):
        self.values = []

    def step(self, value):
        if value is not None:
            self.values.append(float(value))

    def finalize(self):
        return statistics.stdev(self.values) if len(self.values) > 1 else None


READS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}


def reads_only(action, *_):
    # mode=ro keeps the file as it is; without this, ATTACH would open others.
    return sqlite3.SQLITE_OK if action in READS else sqlite3.SQLITE_DENY


def connect(config, timeout_ms):
    global database
    uri = "file:" + "".join(c if c.isalnum() or c in "/._-" else "".join(f"%{b:02x}" for b in c.encode()) for c in config["path"])
    database = sqlite3.connect(uri + "?mode=ro", uri=True, isolation_level=None, timeout=timeout_ms / 1000)
    database.text_factory = lambda text: text.decode("utf-8", "replace")
    database.create_aggregate("stddev_samp", 1, StandardDeviation)
    # SQLite reads nothing when it opens a file; this fails now if it is no database.
    database.execute("select count(*) from sqlite_schema")
    return {}


def query(text, values, max_rows, timeout_ms):
    database.set_authorizer(reads_only)
    cursor = database.execute(text, [decode(value) for value in values])
    if cursor.description is None:
        raise Refused("invalid-query", "NOT_A_SELECT", text, "Only SELECT statements run in a monitored database.")
    rows = cursor.fetchall() if max_rows is None else cursor.fetchmany(max_rows)
    cursor.close()
    return {
        "columns": [column[0] for column in cursor.description or []],
        "rows": [[encode(value) for value in row] for row in rows],
    }


def validate(text, values, timeout_ms):
    database.set_authorizer(reads_only)
    database.execute("explain " + text, [decode(value) for value in values]).close()
    return {}


# A table without its columns, a column of a table, in the order in which they were declared.
CATALOG = """select t.name, t.type, c.cid, c.name, c.type, c."notnull", c.dflt_value, c.pk
  from pragma_table_list t left join pragma_table_xinfo(t.name, 'main') c on c.hidden <> 1
 where t.schema = 'main' and t.type <> 'shadow' and lower(substr(t.name, 1, 7)) <> 'sqlite_'"""


def introspect(tables):
    database.set_authorizer(None)
    names = None if tables is None else {t["name"] for t in tables if (t["catalog"], t["schema"]) == ("main", "main")}
    found = {}
    for name, table_type, cid, column, declared, notnull, default, pk in database.execute(CATALOG):
        if names is not None and name not in names:
            continue
        kind = "view" if table_type == "view" else "table"
        table = found.setdefault(name, {
            "catalog": "main", "schema": "main", "name": name, "kind": kind,
            "comment": None, "columns": [], "constraints": [],
        })
        if column is not None:
            table["columns"].append({
                "name": column, "ordinal": cid + 1, "type": canonical(declared), "rawType": declared or "ANY",
                "kind": kind_of(canonical(declared)), "default": default, "comment": None,
                # An integer primary key is the row id, which is never NULL.
                "nullable": not (notnull or (pk == 1 and canonical(declared) == "integer")),
            })
    return {"tables": list(found.values())}


SYNONYMS = {"int": "integer", "double precision": "double", "bool": "boolean"}
KINDS = [
    ("date", "date"), ("time", "time"), ("bool", "boolean"), ("json", "json"), ("int", "integer"),
    ("char", "text"), ("text", "text"), ("clob", "text"), ("blob", "binary"),
    ("real", "float"), ("floa", "float"), ("doub", "float"), ("dec", "decimal"), ("num", "decimal"),
]


def canonical(declared):
    text = " ".join((declared or "any").lower().split())
    return SYNONYMS.get(text, text)


def kind_of(name):
    if name.startswith(("datetime", "timestamp")):
        return "timestamp"
    return next((kind for part, kind in KINDS if part in name), "other")


def encode(value):
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    # A number of JSON holds integers to 2^53.
    if isinstance(value, int) and abs(value) >= 2**53:
        return str(value)
    return value


def decode(value):
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, dict):
        return value
    mark, text = next(iter(value.items()))
    if mark == "$bytes":
        return base64.b64decode(text)
    if mark == "$date":
        # As SQLite's own date functions write it: 2024-02-29 12:34:56.
        return text.replace("T", " ").replace(".000Z", "").replace("Z", "")
    return int(text) if mark == "$integer" else float(text)


def classify(error):
    """What SQLite complains of. Its message may quote rows: without a hint, Tidemark shows a sentence of its own."""
    text = str(error)
    code = getattr(error, "sqlite_errorname", "SQLITE_ERROR")
    if "no such column" in text:
        return {"kind": "missing-object", "code": code, "message": text, "fault": "column"}
    if "no such table" in text:
        return {"kind": "missing-object", "code": code, "message": text, "fault": "table"}
    if "syntax error" in text or "incomplete input" in text:
        return {"kind": "invalid-query", "code": code, "message": text, "fault": "syntax"}
    if code in ("SQLITE_READONLY", "SQLITE_AUTH", "SQLITE_PERM"):
        hint = "The database is open for reading only; nothing was written."
        return {"kind": "permission", "code": code, "message": text, "hint": hint}
    if code == "SQLITE_CANTOPEN":
        hint = "SQLite cannot open the file: check path, and the right of this service to read it."
        return {"kind": "missing-object", "code": code, "message": text, "hint": hint}
    if code == "SQLITE_NOTADB":
        hint = "The file is not a database: path must name an SQLite file, and one that is not encrypted."
        return {"kind": "other", "code": code, "message": text, "hint": hint}
    kind = "other" if code in ("SQLITE_BUSY", "SQLITE_IOERR", "SQLITE_CORRUPT") else "invalid-query"
    return {"kind": kind, "code": code, "message": text}


METHODS = {"connect": connect, "introspect": introspect, "query": query, "validate": validate, "close": lambda: {}}

for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]}
    try:
        answer["result"] = METHODS[request["method"]](**request["params"])
    except Refused as error:
        answer["error"] = error.fields
    except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as error:
        answer["error"] = classify(error)
    print(json.dumps(answer), flush=True)
    if request["method"] == "close":
        break
