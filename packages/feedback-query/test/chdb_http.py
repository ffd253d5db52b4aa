# ClickHouse's own engine (chdb 4.4.0) behind as much of ClickHouse's HTTP interface as its clients use: queries with
# settings and bound parameters in the address or in a form, inserts with their rows in the body, error codes. For tests
# and benchmarks, on this machine only: `python chdb_http.py FOLDER [PORT]` prints the port and serves until it is killed.
# The engine runs one statement at a time, so statements wait for each other here as they would not in a server.
import os
import re
import sys
import threading
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import session

# Source: ClickHouse's table of exception codes and their HTTP statuses; every other failure is 500.
STATUS_OF_CODE = {"60": 404, "81": 404, "62": 400, "47": 400, "159": 408, "164": 403, "192": 403, "516": 403}
# Settings of the HTTP interface itself, which the engine inside a process does not know.
HTTP_ONLY = {"wait_end_of_query", "cancel_http_readonly_queries_on_client_close", "enable_http_compression"}
# Largest value of a parameter in bytes, as in the server's `http_max_field_value_size`.
MAX_FIELD_BYTES = 131_072

engine = session.Session(sys.argv[1])
turn = threading.Lock()


def written(value):
    """A setting as SQL."""
    return value if re.fullmatch(r"-?\d+(\.\d+)?", value) else "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


class Refused(Exception):
    pass


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.answer(200, b"Ok.\n")

    def do_POST(self):
        try:
            given = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
            body = self.read_body()
            kind = self.headers.get("Content-Type", "")
            if kind.startswith("multipart/form-data"):
                for name, value in read_form(kind, body):
                    given[name] = value
                body = b""
            self.answer(200, run(given, body))
        except Exception as error:  # Whatever went wrong is for the client to judge.
            code = (re.search(r"Code: (\d+)", str(error)) or [None, "1001"])[1]
            self.answer(STATUS_OF_CODE.get(code, 500), str(error).encode(), [("X-ClickHouse-Exception-Code", code)])

    def read_body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in [*headers, ("Content-Length", str(len(body)))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def read_form(kind, body):
    message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    for part in message.iter_parts():
        value = part.get_payload(decode=True)
        if len(value) > MAX_FIELD_BYTES:
            raise Refused("Code: 1000. DB::Exception: Field value too long. (POCO_EXCEPTION)")
        yield part.get_param("name", header="content-disposition"), value.decode()


def run(given, body):
    given = dict(given)
    rows = body if "query" in given else b""
    sql = given.pop("query", None) or body.decode()
    database = given.pop("database", "default")
    for name in ("query_id", "session_id", "role"):
        given.pop(name, None)
    params = {name[6:]: value for name, value in given.items() if name.startswith("param_")}
    settings = {n: v for n, v in given.items() if not n.startswith("param_") and n not in HTTP_ONLY}
    clause = ", ".join(f"{name} = {written(value)}" for name, value in settings.items())
    if clause and re.match(r"\s*(SELECT|WITH)\b", sql, re.IGNORECASE):
        sql = f"{sql}\nSETTINGS {clause}"
    elif clause and re.match(r"\s*INSERT\b", sql, re.IGNORECASE):
        sql = re.sub(r"\bFORMAT\s+(\w+)\s*$", f"SETTINGS {clause} FORMAT \\1", sql.rstrip())
    if rows:
        sql = f"{sql}\n{rows.decode()}"
    with turn:
        engine.query(f"USE `{database}`")
        return engine.query(sql, "TabSeparated", params=params).bytes()


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
# The test that started this process holds the other end; when it is gone, so is this.
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
# What was answered is on the disk; the engine's own way out writes a complaint.
os._exit(0)
