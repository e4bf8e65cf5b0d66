"""Signs in to a mail server without sending anything; Apprise can only send."""

from __future__ import annotations

import contextlib
import smtplib
import ssl
from dataclasses import dataclass, field

from ssdpt.monitor.outputs.base import TryAgain
from ssdpt.sentences import Sentence


@dataclass(frozen=True, slots=True)
class MailServer:
    """A mail server as Apprise understood its address."""

    host: str
    port: int
    mode: str  # starttls, ssl, or without encryption
    user: str
    password: str = field(repr=False)
    verify: bool  # its certificate

    def probe(self, timeout: float) -> str:
        """What was found, for people. TryAgain: why it did not work."""
        try:
            with contextlib.closing(self._connected(timeout)) as server:
                server.ehlo_or_helo_if_needed()
                signs_in = bool(self.user and self.password)
                if signs_in:
                    server.login(self.user, self.password)
                with contextlib.suppress(OSError):
                    server.quit()
        except smtplib.SMTPAuthenticationError as error:
            raise TryAgain(Sentence("outputs.wrongLogin", status=error.smtp_code)) from None
        except smtplib.SMTPNotSupportedError:
            raise TryAgain(Sentence("outputs.unsupportedMail")) from None
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise TryAgain(Sentence("outputs.unreachable", reason=reason)) from None
        return Sentence("outputs.signedIn") if signs_in else Sentence("outputs.reachable")

    def _connected(self, timeout: float) -> smtplib.SMTP:
        context = ssl.create_default_context()
        if not self.verify:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if self.mode == "ssl":
            return smtplib.SMTP_SSL(self.host, self.port, timeout=timeout, context=context)
        server = smtplib.SMTP(self.host, self.port, timeout=timeout)
        if self.mode == "starttls":
            try:
                server.starttls(context=context)
            except Exception:
                server.close()
                raise
        return server
