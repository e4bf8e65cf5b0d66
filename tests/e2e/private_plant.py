"""A service that uses every feature and knows a secret of every kind."""

from __future__ import annotations

import subprocess
from pathlib import Path

import httpx
from monitor_service import ConfiguredService

from free_ports import free_port

SPEED = 8.0  # of the service's clock
ROLES = ("viewer", "operator", "admin")
# Each is planted where its name says, and must appear nowhere else. No common beginning: what was
# cut off after some letters is found as well.
SECRETS = {
    "camera in user": "q7Vd2Xm9Lk",
    "camera in query": "w3Bz8Rt5Hc",
    "added camera": "e9Nf4Jy6Ps",
    "tried camera": "r2Gk7Wq8Dv",
    "refused camera": "t5Hx3Zc9Mb",
    "mqtt password": "y8Lp4Tn2Fs",
    "wrong mqtt password": "u6Cj9Xr3Kw",
    "webhook path": "i4Qm7Bd5Zt",
    "webhook key": "o9Vs2Hg8Jn",
    "webhook template": "p3Wf6Ky4Xc",
    "heartbeat path": "a7Rz9Lt2Bq",
    "notify url": "s5Dp8Mv3Gh",
    "notify token": "d2Kc6Jx7Nw",
    "mail password": "f8Tb4Qs9Vy",
    "opcua password": "h6Xd2Pm8Lc",
    "password of viewer": "j9By4Gt3Qv",
    "password of operator": "k5Hs7Cw2Zr",
    "password of admin": "z8Mf3Nj6Dx",
    "password that was changed": "x4Lq9Vb7Tp",
    "wrong password": "c2Wr6Ks5Yg",
    "old password": "v7Jd8Hn3Fz",
}


class PrivatePlant(ConfiguredService):
    """The service with users; its requests are the admin's."""

    def __init__(self, command, folder, broker, receiver, mailbox):
        self._ssdpt = command
        self._files(folder / "secrets")
        super().__init__(command, folder, _config(folder, broker, receiver, mailbox))
        self._command.insert(2, "--verbose")
        self.data = folder / "data"
        self.tokens = {}

    def _files(self, folder):
        folder.mkdir(mode=0o700)
        for name in ("mqtt", "wrong mqtt", "opcua", "mail"):
            (folder / name.replace(" ", "_")).write_text(SECRETS[f"{name} password"] + "\n")
        (folder / "webhook").write_text(SECRETS["webhook key"] + "\n")
        (folder / "addresses").write_text(
            f"json://127.0.0.1:{free_port()}/{SECRETS['notify token']}\n"
        )

    def run(self, *arguments, text=None):
        """A command of ssdpt; gives what it prints."""
        done = subprocess.run(
            [self._ssdpt, *map(str, arguments)],
            input=text,
            capture_output=True,
            text=True,
            timeout=300,
        )
        return done.stdout + done.stderr

    def add_users(self):
        """One of each role; the service need not run."""
        for role in ROLES:
            self.add_user(role, role, SECRETS[f"password of {role}"])
            self.tokens[role] = self.run("user", "token", role, "--data", self.data).strip()

    def add_user(self, name, role, password):
        options = ("--role", role, "--data", self.data, "--password-file", "-")
        self.run("user", "add", name, *options, text=password)

    def headers(self, role="admin"):
        return {"Authorization": f"Bearer {self.tokens[role]}"} if role else {}

    def ask(self, method, path, role="admin", **more):
        """The answer, whatever it is."""
        address = self.address + path.lstrip("/")
        return httpx.request(method, address, headers=self.headers(role), timeout=60, **more)

    def get(self, path):
        return self.ask("GET", path).raise_for_status().json()

    def post(self, path, **body):
        return self.ask("POST", path, **body).raise_for_status().json()

    def put(self, path, **body):
        return self.ask("PUT", path, **body).raise_for_status().json()

    @property
    def log(self):
        return self._log.read_text()

    @property
    def arguments(self):
        """As everyone on the computer sees them."""
        return Path(f"/proc/{self._process.pid}/cmdline").read_text()

    def change_config(self, text):
        """Write a configuration file, whole."""
        fresh = self.path.with_suffix(".fresh")
        fresh.write_text(text)
        fresh.replace(self.path)


def _config(folder, broker, receiver, mailbox):
    secrets, nobody = folder / "secrets", free_port()
    host = receiver.url.removeprefix("http://")
    mail = f"ssdpt:{{password}}@127.0.0.1:{mailbox.port}/?from=a@example.org&to=b@example.org"
    camera = f"rtsp://root:{SECRETS['camera in user']}@127.0.0.1:{nobody}/axis"
    query = f"http://127.0.0.1:{nobody}/live?user=root&pwd={SECRETS['camera in query']}"
    plc = f"opc.tcp://127.0.0.1:{nobody}"
    at_node = {"endpoint": plc, "user": "ssdpt", "password_file": str(secrets / "opcua")}
    mqtt = {"host": "127.0.0.1", "port": broker.port, "user": "ssdpt"}
    return {
        **{"name": "Works", "speed": SPEED, "retention": {"post_roll": 8.0}},
        "machines": [
            {
                **{"id": "fan-1", "name": "Roof fan", "site": "Hall C"},
                "alarm": {"smoothing": 5.0, "rejoin_within": 0},
                "source": {"kind": "simulated", "machine": "fan", "seed": 7, "speed": SPEED},
            },
            {"id": "camera-1", "source": {"kind": "network", "url": camera}},
            {"id": "camera-2", "source": {"kind": "network", "url": query}},
            {
                **{"id": "mill-1", "source": {"kind": "pushed"}},
                "operating_data": {
                    **{"kind": "opcua", "speed_rpm": {"node": "ns=2;s=Speed"}, **at_node}
                },
            },
            {
                "id": "mill-2",
                "source": {
                    **{"kind": "mqtt", **mqtt, "topic": "mill/vibration"},
                    "password_file": str(secrets / "wrong_mqtt"),
                },
                "sensor": {"snapshots": True},
            },
        ],
        "outputs": [
            {
                **{"kind": "mqtt", **mqtt, "prefix": "works"},
                "password_file": str(secrets / "mqtt"),
            },
            {
                **{"kind": "webhook", "url": f"{receiver.url}/{SECRETS['webhook path']}"},
                "secret_file": str(secrets / "webhook"),
            },
            {
                **{"kind": "webhook", "url": f"http://127.0.0.1:{nobody}/hook"},
                "template": {"key": SECRETS["webhook template"], "text": "{{ event.message }}"},
            },
            {"kind": "heartbeat", "url": f"{receiver.url}/{SECRETS['heartbeat path']}", "every": 5},
            {
                **{"kind": "notify", "urls_file": str(secrets / "addresses")},
                "urls": [f"json://me:{SECRETS['notify url']}@{host}/", f"mailto://{mail}"],
                "password_file": str(secrets / "mail"),
            },
        ],
    }
