#!/usr/bin/env python3
"""A small HTTP server with byte ranges and faults, for hub_test.cpp.

    range_server.py FOLDER PORT_FILE     serves until killed; writes its port and "\\n" to PORT_FILE

/plain/NAME      the file, whole or by range
/norange/NAME    the file, always whole
/cut/NAME        without a range: the header promises all, half comes; with one: the rest
/busy/NAME       503 to the first request, then the file
/endless/NAME    no length, and no end before 70 MB
Anything else is looked up in FOLDER as it is, and is 404 when not there. FOLDER/requests.log gets a
line for each request: path and range.
"""
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FOLDER, PORT_FILE = sys.argv[1:]
seen = set()


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        wanted = self.headers.get("Range", "")
        with open(os.path.join(FOLDER, "requests.log"), "a") as log:
            log.write(f"{self.path} {wanted or '-'}\n")
        mode, _, name = self.path.lstrip("/").partition("/")
        if mode not in ("plain", "norange", "cut", "busy", "endless"):
            mode, name = "plain", self.path.lstrip("/")
        first = self.path not in seen
        seen.add(self.path)
        if mode == "busy" and first:
            self.send_error(503)
        elif mode == "endless":
            self.send_endless()
        elif not os.path.isfile(os.path.join(FOLDER, name)):
            self.send_error(404)
        else:
            self.send_file(os.path.join(FOLDER, name), mode, wanted)

    def send_endless(self):
        self.send_response(200)
        self.end_headers()
        try:
            for _ in range(70):
                self.wfile.write(b"x" * 1_000_000)
        except OSError:
            pass

    def send_file(self, path, mode, wanted):
        with open(path, "rb") as file:
            data = file.read()
        start = 0
        if wanted and mode != "norange":
            start = int(wanted.removeprefix("bytes=").split("-")[0])
            if start >= len(data):
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        body = data[start:]
        self.wfile.write(body[:len(body) // 2] if mode == "cut" and not wanted else body)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(PORT_FILE + ".new", "w") as out:
    out.write(f"{server.server_port}\n")
os.rename(PORT_FILE + ".new", PORT_FILE)
server.serve_forever()
