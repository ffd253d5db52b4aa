"""Writes lax-coercion.json: what pydantic's lax mode makes of JSON values, per declared type.

Run with any Python 3 that has pydantic 2: python lax-coercion.py > lax-coercion.json
"""

import json
import math
import platform
from datetime import datetime, timezone
from typing import Literal, Optional

import pydantic
from pydantic import TypeAdapter, ValidationError

NUMBERS = [0, 1, -1, 2, 0.0, 1.0, -0.5, 1.5, 10.5, 1e5, 1e21, 1e30, 9007199254740991]
TEXTS = [
    "", " ", "x", "abc", "0", "1", "2", "-1", "+5", "007", "2.0", "2.000", "2.", ".5", "5.", "0.5", " 0.5 ", " 2 ",
    "1.5", "-1.5", "1e5", "1E5", "1e-3", "1_000", "1__0", "_1", "1_", "1_000.5", "0x10", "1,5", "- 1", "--1", "+-1",
    "inf", "-inf", "Infinity", "nan", "NaN", "1e400", "\n3\t", "٣", "1 2", "-0", "-0.0", "2.0.0", ".", "+", "-", "e5",
    "1e", "0.10", "00.5", "9007199254740991", "+2.0", "-007", "2.01", "1_0.0", "+.5",
    "true", "TRUE", "True", "false", "False", "yes", "Yes", "no", "NO", "on", "ON", "off", "y", "Y", "n", "t", "T", "f",
    "F", " true ", "none", "null", "oui", "1.0", "0.0",
]
OTHERS = [None, True, False, [], [1], {}, {"a": 1}]
DATES = [
    "2024-01-01", "2024-01-01T00:00:00", "2024-01-01T12:34:56Z", "2024-01-01T12:34:56z", "2024-01-01 12:34:56",
    "2024-01-01_12:34:56", "2024-01-01t12:34", "2024-01-01T12:34:56.5", "2024-01-01T12:34:56.123456+02:00",
    "2024-01-01T12:34:56.1234567Z", "2024-01-01T12:34:56,5Z", "2024-01-01T12:34:56-0530", "2024-01-01T12:34:56+05",
    "2024-01-01T12:34:56 +02:00", "2024-01-01T12:34:56+24:00", "2024-01-01T12:34:56+23:59", "2024-01-01T24:00:00",
    "2024-01-01T23:60:00", "2024-01-01T23:59:60", "2024-02-29", "2023-02-29", "2024-13-01", "2024-00-01", "2024-01-00",
    "2024-01-32", "2024-04-31", "yesterday", "x", "", " ", "2024", "2024-01", "2024-1-1", "2024/01/01", "20240101",
    "2024-01-01T", "2024-01-01X", "2024-01-01T12", "2024-01-01T1:00", "2024-01-01T12:34:56Zjunk", "0000-01-01",
    "0001-01-01", "9999-12-31T23:59:59.999Z", "10000-01-01", "a024-01-01", "2024-a1-01", "2024-01-a1", "2024-01_01",
    "1700000000", "1700000000.5", "-1", "1700000000000", " 2024-01-01", "2024-01-01 ", "1e9", "1_700_000_000", "+5",
    "0", "20000000000", "20000000001", "99999999999999999", "2024-01-01T12:34:56.", "2024-01-01T12:34:56+", "nan", "inf",
    "2024-01-01T12:34Z", "2024-01-01T12:34:5Z", "-001-01-01", "2024-01-01T00:30:00+01:00", "12:30", "2024-W01-1", "1.5",
]
DATE_NUMBERS = [0, 1, -1, 1.5, 1700000000, 1700000000.123, 1700000000000, 20000000000, 20000000001, 1e12, 253402300799,
                253402300800, 1e15, 1e18, 1e30, -62135596800, -62135596801, -1e15, 0.0004, 0.0005, 1.9999]

MODELS = {
    "number": float,
    "integer": int,
    "boolean": bool,
    "string": str,
    "array": list,
    "object": dict,
    "literal": Literal["asc", "desc"],
    "dateTime": datetime,
    "metric": float | int | bool,
    "metadata": float | int | str | bool | None,
}


def plain(value):
    if isinstance(value, datetime):
        value = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
        value = value.astimezone(timezone.utc)
        return value.strftime("%Y-%m-%dT%H:%M:%S.").rjust(20, "0") + f"{value.microsecond // 1000:03d}Z"
    if isinstance(value, float) and not math.isfinite(value):
        return {"nonFinite": str(value)}
    return value


def outcome(adapter, value):
    try:
        return {"value": plain(adapter.validate_python(value))}
    except ValidationError as error:
        return {"errors": [
            {"loc": [str(part) for part in item["loc"]], "type": item["type"], "msg": item["msg"]}
            for item in error.errors(include_url=False)
        ]}
    except OverflowError as error:
        return {"crash": str(error)}


rows = []
for name, annotation in MODELS.items():
    adapter = TypeAdapter(annotation)
    inputs = NUMBERS + TEXTS + OTHERS
    if name == "dateTime":
        inputs = DATES + DATE_NUMBERS + OTHERS
    if name in ("metric", "metadata"):
        inputs = [0, 2, 1.5, "", "x", "2", "true", " true ", "1_000"] + OTHERS
    if name == "literal":
        inputs = ["asc", "desc", "ASC", "", 1, None, [], True]
    for value in inputs:
        rows.append({"declared": name, "input": value, **outcome(adapter, value)})

provenance = {"script": "lax-coercion.py", "pydantic": pydantic.VERSION, "python": platform.python_version()}
lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
print(f'{{"provenance": {json.dumps(provenance)}, "rows": [\n{lines}\n]}}')
