"""Runs statements in fakesnow: a JSON object a line in, one a line out, with values as the SQL API writes them."""

import datetime
import decimal
import json
import sys

import fakesnow
import snowflake.connector

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
TYPES = ["fixed", "real", "text", "date", "timestamp_ntz", "variant", "timestamp_ltz", "timestamp_tz"]
TYPES += ["timestamp_ntz", "object", "array", "binary", "time", "boolean"]


def seconds(moment):
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.timezone.utc)
    since = moment - EPOCH
    return f"{since.days * 86400 + since.seconds}.{since.microseconds:06d}000"


def wire(value):
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return seconds(value)
    if isinstance(value, datetime.date):
        return str((value - EPOCH.date()).days)
    if isinstance(value, datetime.time):
        return f"{value.hour * 3600 + value.minute * 60 + value.second}.{value.microsecond:06d}000"
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex().upper()
    if isinstance(value, float):
        return "NaN" if value != value else str(value)
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    return value if isinstance(value, str) else str(value)


def bound(binding):
    kind, value = binding["type"], binding["value"]
    if value is None:
        return None
    if kind == "FIXED":
        return int(value)
    if kind == "REAL":
        return float(value)
    if kind == "BOOLEAN":
        return value == "true"
    if kind == "BINARY":
        return bytes.fromhex(value)
    if kind == "TIMESTAMP_NTZ":
        return (EPOCH + datetime.timedelta(microseconds=int(value) // 1000)).replace(tzinfo=None)
    return value


def column(described, values):
    kind = TYPES[described.type_code]
    scale = described.scale
    # fakesnow calls a sum a FIXED of scale 0 also where it is none.
    if kind == "fixed" and any(isinstance(value, float) for value in values):
        kind = "real"
    return {"name": described.name, "type": kind, "scale": scale}


def shown(connection, statement):
    """SHOW by names: fakesnow describes a column of imported keys that its rows do not have."""
    rows = connection.cursor(snowflake.connector.DictCursor).execute(statement).fetchall()
    names = list(rows[0]) if rows else []
    return {
        "columns": [{"name": name, "type": "text", "scale": None} for name in names],
        "rows": [[wire(row[name]) for name in names] for row in rows],
    }


def answer(connection, request):
    if request["statement"].startswith("show "):
        return shown(connection, request["statement"])
    # Its view of columns lacks this one, which Snowflake documents.
    statement = request["statement"].replace("datetime_precision as", "null as")
    cursor = connection.cursor()
    bindings = request.get("bindings") or {}
    values = [bound(bindings[str(position + 1)]) for position in range(len(bindings))]
    cursor.execute(statement, values or None)
    described = cursor.description or []
    rows = cursor.fetchall()
    columns = [column(one, [row[index] for row in rows]) for index, one in enumerate(described)]
    return {"columns": columns, "rows": [[wire(value) for value in row] for row in rows]}


with fakesnow.patch():
    snowflake.connector.paramstyle = "qmark"
    connection = snowflake.connector.connect(database="SHOP", schema="PUBLIC")
    for line in sys.stdin:
        try:
            reply = answer(connection, json.loads(line))
        except snowflake.connector.errors.Error as error:
            said = (error.raw_msg or str(error)) if hasattr(error, "raw_msg") else str(error)
            reply = {"code": f"{error.errno:06d}", "sqlState": error.sqlstate, "message": said}
        except Exception as error:  # what fakesnow did not translate
            reply = {"code": "002000", "sqlState": "42601", "message": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)
