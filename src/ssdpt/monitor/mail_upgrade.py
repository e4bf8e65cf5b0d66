"""Outputs of kind `mail`, which earlier releases had, as those of kind `notify`."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

# How a mail server is reached: the scheme of its address, and its `mode`.
_SCHEMES: dict[Any, tuple[str, dict[str, str]]] = {
    "starttls": ("mailtos", {"mode": "starttls"}),
    "tls": ("mailtos", {"mode": "ssl"}),
    "none": ("mailto", {}),
}
_PORT = 587  # where the file named none
_KEPT = ("password_file", "level", "max_per_hour")  # settings that `notify` has as well


def mail_to_notify(mail: dict[str, Any]) -> bool:
    """Change the settings in place; False where they make no sense, so that the check says so.

    One address for each recipient: one whose mail is put off gets it later, the others not twice.
    """
    host, sender, recipients = mail.get("host"), mail.get("sender"), mail.get("to")
    tls = mail.get("tls", "starttls")
    if not isinstance(host, str) or not isinstance(sender, str):
        return False
    if not isinstance(recipients, list) or not recipients or str(tls) not in _SCHEMES:
        return False
    if not all(str(text).isprintable() for text in (host, sender, mail.get("user"), *recipients)):
        return False
    scheme, mode = _SCHEMES[str(tls)]
    user = mail.get("user")
    login = f"{quote(str(user), safe='')}:{{password}}@" if user else ""
    server = f"{login}{host}:{mail.get('port', _PORT)}"
    common = {"smtp": host, "from": sender, **mode}
    urls = [
        f"{scheme}://{server}/?{urlencode({**common, 'to': str(one)}, safe='@')}"
        for one in recipients
    ]
    kept = {name: mail[name] for name in _KEPT if name in mail}
    known = {"kind", "host", "port", "tls", "user", "sender", "to", *kept}
    unknown = {name: value for name, value in mail.items() if name not in known}
    mail.clear()
    # Mails had no pictures, and were never about the service itself.
    mail |= {"kind": "notify", "urls": urls, "wait_for_picture": 0, "service": False}
    mail |= {**kept, **unknown}
    return True
