"""Answers all requests of a connection as the first one: 204 to /taken, else 500 with how many there
were on the connection. Prints its port."""
import http.server


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    first = None
    count = 0

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.first = self.first or self.path
        self.count += 1
        if self.first == "/taken":
            self.send_response(204)
            self.end_headers()
            return
        body = str(self.count).encode()
        self.send_response(500)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
