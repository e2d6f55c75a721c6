"""A server for webhooks that fails by chance. Prints its port; writes each request to a file.

Arguments: the file, a seed, and how many of 100 requests fail; and what Retry-After says, if all
requests fail and it does.
"""
import http.server, json, random, sys

log = open(sys.argv[1], "a", buffering=1)
chance = random.Random(int(sys.argv[2]))
failures = int(sys.argv[3])


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fails = chance.randrange(100) < failures
        kind = chance.randrange(4) if fails else None
        if len(sys.argv) > 4:
            kind = 2
        taken = kind is None or kind == 0
        log.write(json.dumps({
            "key": self.headers["Idempotency-Key"],
            "signature": self.headers["Tarn-Signature"],
            "taken": taken,
            "body": body.decode(),
        }) + "\n")
        # Taken, but the answer is lost.
        if kind == 0:
            self.close_connection = True
            return
        self.send_response({None: 200, 1: 500, 2: 503, 3: 429}[kind])
        if kind == 2:
            self.send_header("Retry-After", sys.argv[4] if len(sys.argv) > 4 else "0")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
