"""Real receivers for the outputs: web, mail and MQTT servers that tests can break."""

from __future__ import annotations

import base64
import getpass
import itertools
import json
import shutil
import signal
import socket
import socketserver
import ssl
import subprocess
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import paho.mqtt.client as paho

from free_ports import free_port
from ssdpt.monitor.messages import Event
from waiting import wait_until

_NUMBERS = itertools.count(1)


def an_event(machine="pump-3", **more):
    values = {"kind": "anomaly", "level": "alarm", "began": 1.7e9, "message": "a bearing rattles"}
    return Event(**{"id": f"{next(_NUMBERS):032x}", "machine": machine, **values, **more})


def certificate(folder):
    """A key and a self-signed certificate for 127.0.0.1, which is its own authority."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=test", "-keyout", str(key), "-out", str(cert)),
            *("-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"),
        ],
        check=True,
        capture_output=True,
    )
    return key, cert


class WebReceiver:
    """Answers POSTs with the given codes, then with 200; keeps what it was sent."""

    def __init__(self, *codes, headers=(), port=0, answer=b""):
        self.posts = []
        answers = iter(codes)
        posts = self.posts

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                code = next(answers, 200)
                posts.append((code, dict(self.headers), body, self.path))
                self.send_response(code)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def taken(self):
        """The bodies that were answered with 200."""
        return [json.loads(body) for code, _, body, _ in self.posts if code == 200]


class MailSink:
    """A mail server; `answers` are given in turn instead of 250, by command."""

    def __init__(self, user="", password="", key_and_cert=None, **answers):
        self.mails = []  # (recipients, text)
        self.secured = []  # for each mail: whether it came encrypted
        sink = self
        replies = {command.upper(): iter(lines) for command, lines in answers.items()}

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                self.encrypted, self.recipients = False, []
                self.say("220 sink")
                while line := self.rfile.readline().decode().strip():
                    command = line.split(" ", 1)[0].upper()
                    scripted = next(replies.get(command, iter(())), None)
                    if scripted is not None:
                        self.say(scripted)
                    elif not self.answer(command, line):
                        return

            def say(self, text):
                self.wfile.write(text.encode() + b"\r\n")

            def answer(self, command, line):
                if command == "EHLO":
                    offers = ["sink"]
                    offers += ["STARTTLS"] if key_and_cert and not self.encrypted else []
                    offers += ["AUTH PLAIN"] if user else []
                    for offer in offers[:-1]:
                        self.say(f"250-{offer}")
                    self.say(f"250 {offers[-1]}")
                elif command == "STARTTLS":
                    self.say("220 go ahead")
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                    context.load_cert_chain(key_and_cert[1], key_and_cert[0])
                    try:
                        self.connection = context.wrap_socket(self.request, server_side=True)
                    except (ssl.SSLError, OSError):
                        return False
                    self.setup()
                    self.encrypted = True
                elif command == "AUTH":
                    given = base64.b64decode(line.split()[2]).decode()
                    right = given == f"\0{user}\0{password}"
                    self.say("235 welcome" if right else f"535 not {given!r}")
                elif command == "RCPT":
                    self.recipients.append(line.partition("<")[2].rstrip(">"))
                    self.say("250 ok")
                elif command == "DATA":
                    self.say("354 go ahead")
                    lines = []
                    while (text := self.rfile.readline().decode().rstrip("\r\n")) != ".":
                        lines.append(text)
                    sink.mails.append((self.recipients, "\n".join(lines)))
                    sink.secured.append(self.encrypted)
                    self.say("250 taken")
                elif command == "QUIT":
                    self.say("221 bye")
                    return False
                else:
                    self.say("250 ok")
                return True

            def setup(self):
                if not hasattr(self, "connection"):
                    self.connection = self.request
                self.rfile = self.connection.makefile("rb")
                self.wfile = self.connection.makefile("wb", buffering=0)

            def finish(self):
                self.rfile.close()
                self.wfile.close()
                self.connection.close()

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Broker:
    """A mosquitto of our own that comes and goes; it keeps sessions while it is away."""

    def __init__(self, folder, *more):
        self.port = free_port()
        self._config = folder / "mosquitto.conf"
        lines = [
            f"listener {self.port} 127.0.0.1",
            f"user {getpass.getuser()}",
            "persistence true",
            f"persistence_location {folder}/",
            *(more or ("allow_anonymous true",)),
        ]
        self._config.write_text("\n".join(lines) + "\n")
        self._process = None

    def start(self):
        program = shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin") or "mosquitto"
        self._process = subprocess.Popen(
            [program, "-c", str(self._config)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(self._answers)
        return self

    def _answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1.0).close()
        except OSError:
            return False
        return True

    def stop(self):
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)
            self._process = None

    def freeze(self):
        """It hangs: connections stay open, and nothing is answered."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self._process.send_signal(signal.SIGCONT)

    __enter__ = start

    def __exit__(self, *_):
        self.stop()


class Subscriber:
    """Receives everything below some topics, also what came while it or the broker was away."""

    def __init__(self, port, *topics, keep=True):
        """`keep`: the broker remembers it while it is away; not for a broker of others."""
        self.messages = []  # (topic, payload, retained)
        self._subscribed = threading.Event()
        self._client = paho.Client(
            paho.CallbackAPIVersion.VERSION2,
            client_id=f"subscriber-{uuid.uuid4().hex[:8]}",
            clean_session=not keep,
        )
        self._client.reconnect_delay_set(0.05, 0.2)
        self._client.on_connect = lambda client, *_: client.subscribe([(t, 1) for t in topics])
        self._client.on_subscribe = lambda *_: self._subscribed.set()
        self._client.on_message = self._on_message
        self._port = port

    def __enter__(self):
        self._client.connect("127.0.0.1", self._port)
        self._client.loop_start()
        assert self._subscribed.wait(60)
        return self

    def __exit__(self, *_):
        self._client.disconnect()
        self._client.loop_stop()

    def _on_message(self, _client, _data, message):
        # The broker repeats what we had not acknowledged when it went away, and marks that. What
        # the output sends twice it does not mark.
        received = (message.topic, message.payload, bool(message.retain))
        if not (message.dup and received in self.messages):
            self.messages.append(received)

    def say(self, topic, payload, *, retain=False):
        self._client.publish(topic, payload, qos=1, retain=retain).wait_for_publish(60)

    def payloads(self, topic):
        return [payload for where, payload, _ in list(self.messages) if where == topic]

    def last(self, topic):
        return (self.payloads(topic) or [None])[-1]

    def contents(self, topic):
        return [json.loads(payload) for payload in self.payloads(topic)]
