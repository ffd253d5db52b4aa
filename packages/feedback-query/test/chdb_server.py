# ClickHouse's engine inside this process (chdb 4.4.0) for the conformance tests: one JSON object a line on standard
# input, `{"sql": ..., "params": {...}}`, and one a line back, `{"rows": [...]}` or `{"error": ...}`.
import json
import sys

from chdb import session

ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\b": "\\b", "\f": "\\f"})


def written(value):
    """A parameter travels as ClickHouse writes a field of a tab-separated file."""
    return value.translate(ESCAPES) if isinstance(value, str) else value


clickhouse = session.Session()
for line in sys.stdin:
    order = json.loads(line)
    try:
        params = {name: written(value) for name, value in order["params"].items()}
        text = str(clickhouse.query(order["sql"], "JSONEachRow", params=params))
        answer = {"rows": [json.loads(row) for row in text.splitlines() if row]}
    except Exception as error:  # Whatever went wrong is for the test to judge.
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
