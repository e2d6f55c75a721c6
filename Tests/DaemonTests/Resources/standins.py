"""A mail server and a web server with a cache, as the examples of the article need them.

Prints the ports of both, and then what they get: "mail TO SUBJECT ID" and "refresh PATH".
"""
import http.server, socketserver, threading


def say(text):
    print(text, flush=True)


class Mail(socketserver.StreamRequestHandler):
    def handle(self):
        self.answer("220 ready")
        to = ""
        while line := self.rfile.readline().decode().strip():
            verb = line[:4].upper()
            if verb == "RCPT":
                to = line.split("<")[1].split(">")[0]
            if verb == "DATA":
                self.answer("354 go on")
                self.receive(to)
            self.answer("221 bye" if verb == "QUIT" else "250 fine")
            if verb == "QUIT":
                return

    def receive(self, to):
        headers = {}
        while (line := self.rfile.readline().decode().rstrip("\r\n")) != ".":
            name, colon, value = line.partition(": ")
            if colon:
                headers.setdefault(name, value)
        say(f"mail {to} {headers['Subject']} {headers['Message-ID']}")

    def answer(self, text):
        self.wfile.write((text + "\r\n").encode())


class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.headers["X-Refresh"] == "yes":
            say(f"refresh {self.path}")
        self.send_response(200 if len(self.path) < 20 else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


mail = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mail)
web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
threading.Thread(target=web.serve_forever, daemon=True).start()
say(f"{mail.server_address[1]} {web.server_address[1]}")
mail.serve_forever()
