"""Where the server listens and how long a session lasts."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Self

from pydantic import Field, field_validator, model_validator

from ssdpt.config.settings import Settings

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
    proxies: tuple[str, ...] = Field(
        (), description="addresses or networks whose X-Forwarded-For and -Proto are trusted"
    )
    session_days: float = Field(30.0, gt=0, description="days that a browser session lasts")
    page: Path = Field(PAGE, description="folder of the built page")

    @model_validator(mode="after")
    def _whole_certificate(self) -> Self:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("TLS needs a certificate and its key, both or neither")
        return self

    @field_validator("proxies")
    @classmethod
    def _addresses(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(_network(value)) for value in values)

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
