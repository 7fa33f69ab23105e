"""The Statement Execution API of Databricks, as much of it as the connector uses, in front of Spark SQL.

Spark is the engine that Databricks SQL comes from; the information schema of Unity Catalog, which it lacks, is
made from its own catalog. Usage: server.py CERTIFICATE KEY TOKEN WAREHOUSE FOLDER; prints its port on standard output.
"""
import datetime
import decimal
import json
import re
import ssl
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pyspark import InheritableThread
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession, functions as F
from pyspark.sql.types import StructType

CERTIFICATE, KEY, TOKEN, WAREHOUSE, FOLDER = sys.argv[1:6]
CHUNK_ROWS = 2000

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.default.parallelism": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.warehouse.dir": FOLDER + "/warehouse",
    "spark.sql.sources.default": "parquet",
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": "-Dderby.system.home=" + FOLDER,
}
builder = SparkSession.builder.master("local[1]").appName("peer")
for name, value in SETTINGS.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")

RELATIONS = {
    "tables": "table_catalog string, table_schema string, table_name string, table_type string, comment string",
    "columns": "table_catalog string, table_schema string, table_name string, column_name string,"
    " ordinal_position int, column_default string, is_nullable string, full_data_type string, data_type string,"
    " comment string",
    "table_constraints": "constraint_catalog string, constraint_schema string, constraint_name string,"
    " constraint_type string",
    "referential_constraints": "constraint_catalog string, constraint_schema string, constraint_name string,"
    " unique_constraint_catalog string, unique_constraint_schema string, unique_constraint_name string",
    "key_column_usage": "constraint_catalog string, constraint_schema string, constraint_name string,"
    " table_catalog string, table_schema string, table_name string, column_name string, ordinal_position int,"
    " position_in_unique_constraint int",
}
INFORMATION_SCHEMA = re.compile(r"`\w+`\.information_schema\.(\w+)")


# The session catalog forgets NOT NULL.
NOT_NULL = set()
NEW_TABLE = re.compile(r"create table `\w+`\.`(\w+)`\.`(\w+)` \((.*)\)", re.S | re.I)


def remember(text):
    match = NEW_TABLE.match(text)
    for column in re.findall(r"`(\w+)` [\w(),]+ not null", match.group(3)) if match else []:
        NOT_NULL.add((match.group(1), match.group(2), column))


def option(value):
    return value.get() if value.isDefined() else None


def catalog_rows():
    catalog = spark._jsparkSession.sessionState().catalog()
    jvm = spark._jvm
    tables, columns = [], []
    for database in [d.name for d in spark.catalog.listDatabases()]:
        found = catalog.listTables(database)
        for index in range(found.size()):
            identifier = found.apply(index)
            if not identifier.database().isDefined():
                continue
            table = catalog.getTableMetadata(identifier)
            name = identifier.table()
            place = ("spark_catalog", database, name)
            tables.append((*place, table.tableType().name(), option(table.comment())))
            schema = StructType.fromJson(json.loads(table.schema().json()))
            for position, field in enumerate(schema.fields):
                kind = field.dataType.simpleString()
                default = field.metadata.get("CURRENT_DEFAULT")
                nullable = "NO" if (database, name, field.name) in NOT_NULL else "YES"
                comment = field.metadata.get("comment")
                columns.append((*place, field.name, position, default, nullable, kind, kind.upper(), comment))
    return {"tables": tables, "columns": columns}


def with_information_schema(text):
    names = set(INFORMATION_SCHEMA.findall(text))
    if not names:
        return text
    rows = catalog_rows()
    mark = uuid.uuid4().hex
    for name in names:
        spark.createDataFrame(rows.get(name, []), RELATIONS[name]).createOrReplaceTempView(f"is_{name}_{mark}")
    return INFORMATION_SCHEMA.sub(lambda match: f"is_{match.group(1)}_{mark}", text)


def argument(parameter):
    value, kind = parameter.get("value"), parameter.get("type", "STRING")
    if value is None or kind == "STRING":
        return value
    if kind == "BIGINT":
        return int(value)
    if kind == "DOUBLE":
        return float(value)
    if kind == "BOOLEAN":
        return value == "true"
    if kind.startswith("DECIMAL"):
        return decimal.Decimal(value)
    if kind == "TIMESTAMP":
        return datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    raise ValueError(kind)


def written(index, kind):
    column = F.col(f"c{index}")
    if kind == "timestamp":
        return F.date_format(column, "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX")
    if kind == "timestamp_ntz":
        return F.date_format(column, "yyyy-MM-dd'T'HH:mm:ss.SSSSSS")
    if kind == "binary":
        return F.base64(column)
    if kind == "variant" or re.match("array|map|struct", kind):
        return F.to_json(column)
    return column.cast("string")


class Statement:
    def __init__(self, request):
        self.id = str(uuid.uuid4())
        self.state = "PENDING"
        self.request = request
        self.error = None
        self.columns, self.rows, self.truncated = [], [], False
        self.ended = threading.Event()
        self.thread = InheritableThread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            self.state = "RUNNING"
            spark.sparkContext.setJobGroup(self.id, self.id, interruptOnCancel=True)
            text = with_information_schema(self.request["statement"])
            remember(text)
            arguments = {p["name"]: argument(p) for p in self.request.get("parameters", [])}
            frame = spark.sql(text, args=arguments) if arguments else spark.sql(text)
            kinds = [field.dataType.simpleString() for field in frame.schema.fields]
            names = frame.columns
            limit = self.request.get("row_limit")
            if names:
                if limit is not None:
                    frame = frame.limit(limit + 1)
                frame = frame.toDF(*[f"c{index}" for index in range(len(names))])
                frame = frame.select(*[written(index, kind) for index, kind in enumerate(kinds)])
            if self.state == "CANCELED":
                return
            rows = [list(row) for row in frame.collect()]
            self.truncated = limit is not None and len(rows) > limit
            self.rows = rows[:limit] if limit is not None else rows
            self.columns = [
                {"name": name, "position": index, "type_text": kind.upper(), "type_name": kind.split("(")[0].upper()}
                for index, (name, kind) in enumerate(zip(names, kinds))
            ]
            if self.state == "RUNNING":
                self.state = "SUCCEEDED"
        except Exception as thrown:
            if self.state == "RUNNING":
                self.state = "FAILED"
                self.error = failure(thrown)
        finally:
            self.ended.set()

    def cancel(self):
        if self.state in ("PENDING", "RUNNING"):
            self.state = "CANCELED"
            threading.Thread(target=self.end, daemon=True).start()

    def end(self):
        """A cancel that comes before the first job is lost, so it is said until the statement has ended."""
        while not self.ended.wait(0.1):
            spark.sparkContext.cancelJobGroup(self.id)

    def chunk(self, index):
        start, end = index * CHUNK_ROWS, (index + 1) * CHUNK_ROWS
        if not self.rows:
            return {}
        chunk = {"chunk_index": index, "row_offset": start, "data_array": self.rows[start:end]}
        if end < len(self.rows):
            chunk["next_chunk_index"] = index + 1
        chunk["row_count"] = len(chunk["data_array"])
        return chunk

    def reply(self):
        status = {"state": self.state}
        if self.error:
            status.update(self.error)
        body = {"statement_id": self.id, "status": status}
        if self.state == "SUCCEEDED":
            body["manifest"] = {
                "format": "JSON_ARRAY",
                "schema": {"column_count": len(self.columns), "columns": self.columns},
                "total_row_count": len(self.rows),
                "truncated": self.truncated,
            }
            body["result"] = self.chunk(0)
        return body


def failure(thrown):
    message = str(thrown)
    state = thrown.getSqlState() if isinstance(thrown, PySparkException) else None
    found = re.search(r"\[[A-Z_.]+\] .*", message, re.S)
    error = {"error": {"error_code": "BAD_REQUEST", "message": (found.group(0) if found else message)[:2000]}}
    return {**error, **({"sql_state": state} if state else {})}


statements = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def route(self):
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"null")
        if self.path == "/running":
            return 200, len(spark.sparkContext.statusTracker().getActiveJobsIds())
        if self.headers.get("authorization") != f"Bearer {TOKEN}":
            return 403, {"error_code": 403, "message": "Invalid access token."}
        if self.path == f"/api/2.0/sql/warehouses/{WAREHOUSE}":
            return 200, {"id": WAREHOUSE, "state": "RUNNING"}
        if self.command == "POST" and self.path == "/api/2.0/sql/statements":
            statement = Statement(body)
            statements[statement.id] = statement
            statement.ended.wait(int(body["wait_timeout"][:-1]))
            if body["on_wait_timeout"] == "CANCEL":
                statement.cancel()
            return 200, statement.reply()
        match = re.fullmatch(r"/api/2\.0/sql/statements/([\w-]+)(/cancel|/result/chunks/(\d+))?", self.path)
        statement = match and statements.get(match.group(1))
        if not statement:
            return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": f"Endpoint {self.path} does not exist."}
        if match.group(2) == "/cancel":
            statement.cancel()
            return 200, {}
        return 200, statement.chunk(int(match.group(3))) if match.group(3) else statement.reply()

    def answer(self):
        self.send(*self.route())

    do_GET = do_POST = answer


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print("port", server.server_port, flush=True)
server.serve_forever()
