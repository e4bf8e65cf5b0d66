"""HTTPS: the certificate of the server and its key, checked before the server starts."""

from __future__ import annotations

import contextlib
import math
import ssl
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from ssdpt.common.secret import read_secret
from ssdpt.errors import SsdptError
from ssdpt.sentences import Sentence

TlsVersion = Literal["1.2", "1.3"]
_VERSIONS: dict[TlsVersion, ssl.TLSVersion] = {
    "1.2": ssl.TLSVersion.TLSv1_2,
    "1.3": ssl.TLSVersion.TLSv1_3,
}
_WARN_DAYS = 14.0  # before a certificate expires
_DAY = 86400.0
_IGNORE_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME of OpenSSL, which Python has no name for


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate that fits its key, and when it is valid (seconds since 1970)."""

    path: Path
    context: ssl.SSLContext
    begins: float
    expires: float
    refusal: str  # why browsers will not accept it whatever the time; empty: nothing found

    def problem(self) -> str:
        """What is wrong with it now, in a sentence; empty if nothing is."""
        now, path = time.time(), self.path
        if self.refusal:
            return Sentence("service.certificateRefused", path=path, reason=self.refusal)
        if now < self.begins:
            return Sentence("service.certificateNotYet", path=path, day=_day(self.begins))
        day = _day(self.expires)
        if now > self.expires:
            return Sentence("service.certificateExpired", path=path, day=day)
        if self.expires - now < _WARN_DAYS * _DAY:
            return Sentence("service.certificateExpires", path=path, day=day)
        return ""


def load_certificate(
    certificate: Path, key: Path, password_file: Path | None, oldest: TlsVersion
) -> Certificate:
    """Read both; SsdptError if they cannot be used. An expired one can: monitoring must go on."""
    _check_content(certificate, "certificate", b"CERTIFICATE-----")
    _check_content(key, "private key", b"PRIVATE KEY-----")
    password = None if password_file is None else read_secret(password_file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = _VERSIONS[oldest]
    asked = False

    def answer() -> str:
        nonlocal asked
        asked = True
        return password or ""

    try:
        # Without a function OpenSSL would ask for the password at the terminal, and wait.
        context.load_cert_chain(certificate, key, answer)
    except ssl.SSLError as error:
        if asked and password is None:
            reason = f"{key}: is protected by a password; name its file with --key-password-file"
        elif asked:
            reason = f"{password_file}: not the password of {key}"
        elif error.reason == "KEY_VALUES_MISMATCH":
            reason = f"{key}: not the key of the certificate {certificate}"
        else:
            reason = f"{certificate}, {key}: cannot be used for HTTPS ({error.reason or error})"
        raise SsdptError(reason) from None
    return _tried(certificate, context)


def _check_content(path: Path, what: str, mark: bytes) -> None:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SsdptError(f"{path}: the {what} cannot be read ({error.strerror})") from error
    if mark not in content:
        raise SsdptError(f"{path}: there is no {what} in it; give the PEM file of the {what}")


def _tried(path: Path, context: ssl.SSLContext) -> Certificate:
    """Greet oneself in memory, as a browser that trusts this certificate would."""
    browser = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    browser.check_hostname = False
    browser.load_verify_locations(path)
    browser.verify_flags = ssl.VerifyFlags(
        browser.verify_flags | ssl.VERIFY_X509_PARTIAL_CHAIN | _IGNORE_TIME
    )
    to_server, to_browser = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = browser.wrap_bio(to_browser, to_server)
    server = context.wrap_bio(to_server, to_browser, server_side=True)
    try:
        # Greetings go back and forth until both have no more to say.
        for end in (client, server, client, server, client):
            with contextlib.suppress(ssl.SSLWantReadError):
                end.do_handshake()
        shown = client.getpeercert() or {}
    except ssl.SSLError as error:
        reason = getattr(error, "verify_message", "") or error.reason or str(error)
        return Certificate(path, context, -math.inf, math.inf, reason)
    begins, expires = (
        ssl.cert_time_to_seconds(str(shown[name])) for name in ("notBefore", "notAfter")
    )
    return Certificate(path, context, begins, expires, "")


def _day(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
