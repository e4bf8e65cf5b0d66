"""Where the server listens and how long a session lasts."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Self

from pydantic import Field, field_validator, model_validator

from ssdpt.config.settings import Settings
from ssdpt.server.tls import Certificate, TlsVersion, load_certificate

THIS_COMPUTER = ("127.0.0.1", "::1")  # of a proxy on the same computer
PAGE = Path(__file__).parent / "static"


class ServerSettings(Settings):
    """How clients reach the server."""

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8765, ge=0, le=65535, description="port to listen on; 0 = any free port")
    certificate: Path | None = Field(
        None, description="file of the TLS certificate (PEM); empty = plain HTTP"
    )
    key: Path | None = Field(None, description="file of the private key of the certificate (PEM)")
    key_password_file: Path | None = Field(
        None, description="file with the password of the key on its first line"
    )
    tls_minimum: TlsVersion = Field("1.2", description="oldest version of TLS that is accepted")
    hsts_days: float = Field(
        30.0,
        ge=0,
        description="days that browsers stay with HTTPS on all ports of this host; 0 = not",
    )
    proxies: tuple[str, ...] = Field(
        (), description="addresses or networks whose X-Forwarded-For and -Proto are trusted"
    )
    session_days: float = Field(30.0, gt=0, description="days that a browser session lasts")
    page: Path = Field(PAGE, description="folder of the built page")

    @model_validator(mode="after")
    def _whole_certificate(self) -> Self:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("TLS needs a certificate and its key, both or neither")
        if self.key_password_file is not None and self.key is None:
            raise ValueError("a password of the key needs a certificate and its key")
        return self

    @field_validator("proxies")
    @classmethod
    def _addresses(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(_network(value)) for value in values)

    def load_certificate(self) -> Certificate | None:
        """The certificate, read and checked; None for plain HTTP."""
        if self.certificate is None or self.key is None:
            return None
        return load_certificate(
            self.certificate, self.key, self.key_password_file, self.tls_minimum
        )

    @property
    def loopback(self) -> bool:
        """Whether only this computer can reach the server."""
        return is_loopback(self.host)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text.strip(), strict=False)
    except ValueError as error:
        raise ValueError(
            f"'{text}' is not an address or network; write 172.18.0.2 or 10.0.0.0/8"
        ) from error


def is_loopback(host: str) -> bool:
    """Whether a name or address can only be this computer."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
