"""A server for webhooks that refuses bodies with a word. Prints its port; writes each body that it
takes to a file, and each request to another whose name ends with ".all".

Arguments: the file, the status of a refusal, the word, and a value of Retry-After that the first
five requests get with 503.
"""
import http.server, json, sys

log = open(sys.argv[1], "a", buffering=1)
requests = open(sys.argv[1] + ".all", "a", buffering=1)
status = int(sys.argv[2])
word = sys.argv[3]
waits = 5 if len(sys.argv) > 4 else 0


class Refuser(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global waits
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        answer = ""
        requests.write(json.dumps({
            "key": self.headers["Idempotency-Key"],
            "taken": waits == 0 and word not in body,
            "body": body,
        }) + "\n")
        if waits > 0:
            waits -= 1
            self.send_response(503)
            self.send_header("Retry-After", sys.argv[4])
        elif word in body:
            answer = "no " + word
            self.send_response(status)
        else:
            log.write(body)
            log.flush()
            self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.send_header("X-Seen", self.headers.get("X-Token", ""))
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuser)
print(server.server_address[1], flush=True)
server.serve_forever()
