"""Who may do what: users with passwords, and tokens for programs and sessions."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass
from typing import Literal, get_args

from sqlalchemy import delete, or_, select, update

from ssdpt.errors import SsdptError
from ssdpt.monitor.store.machines import StoreBase, plain
from ssdpt.monitor.store.tables import tokens, users

Role = Literal["viewer", "operator", "admin"]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_SHORTEST_PASSWORD = 8
_LONGEST_PASSWORD = 1024  # more would only keep the computer busy
_COST = (2**14, 8, 5)  # scrypt's n, r and p: 16 MiB, some tenths of a second
_DAY = 86400.0


@dataclass(frozen=True, slots=True)
class User:
    """viewer reads; operator acknowledges, comments, labels and mutes; admin does all."""

    name: str
    role: Role


class Users(StoreBase):
    """Only salted hashes of passwords, and hashes of tokens, are kept."""

    def add_user(self, name: str, role: Role, password: str) -> None:
        if not _NAME.fullmatch(name):
            raise SsdptError(
                f"user '{plain(name)}': a name has letters, digits and . _ @ -, at most 64 of them"
            )
        if role not in get_args(Role):
            raise SsdptError(f"role '{role}': choose one of {', '.join(get_args(Role))}")
        row = {"name": name, "role": role, "password": _hash(_checked(password))}
        with self.database.write() as connection:
            # People take Anna and anna for one.
            for known in connection.scalars(select(users.c.name)):
                if known.casefold() == name.casefold():
                    raise _taken(known)
            insert = self.database.insert(users).values(row)
            made = connection.execute(
                insert.on_conflict_do_nothing(index_elements=["name"]),
                execution_options={"preserve_rowcount": True},
            )
            if made.rowcount == 0:
                raise _taken(name)

    def set_password(self, name: str, password: str) -> None:
        """A new password; whoever is logged in with the old one is logged out."""
        hashed = _hash(_checked(password))
        with self.database.write() as connection:
            changed = update(users).where(users.c.name == name).values(password=hashed)
            if connection.execute(changed).rowcount == 0:
                raise _unknown(name)
            connection.execute(delete(tokens).where(tokens.c.user == name))

    def remove_user(self, name: str) -> None:
        """Their tokens go with them."""
        with self.database.write() as connection:
            if connection.execute(delete(users).where(users.c.name == plain(name))).rowcount == 0:
                raise _unknown(name)

    def users(self) -> list[User]:
        with self.database.read() as connection:
            rows = connection.execute(select(users.c.name, users.c.role).order_by(users.c.name))
            return [User(row.name, row.role) for row in rows]

    def check_password(self, name: str, password: str) -> User | None:
        """The user, if it is the right one. Takes as long for names that there are not."""
        with self.database.read() as connection:
            row = connection.execute(select(users).where(users.c.name == plain(name))).first()
        if len(password) > _LONGEST_PASSWORD:
            return None
        right = _matches(password, _nobody() if row is None else row.password)
        return User(row.name, row.role) if right and row is not None else None

    def new_token(self, name: str, days: float | None) -> str:
        """A token that stands for a user, for so many days (None = until revoked); shown once."""
        token = secrets.token_urlsafe(32)
        now = time.time()
        expires = None if days is None else now + days * _DAY
        with self.database.write() as connection:
            if connection.scalar(select(users.c.name).where(users.c.name == plain(name))) is None:
                raise _unknown(name)
            connection.execute(delete(tokens).where(tokens.c.expires < now))
            row = {"digest": _digest(token), "user": name, "expires": expires}
            connection.execute(tokens.insert().values(row))
        return token

    def check_token(self, token: str) -> User | None:
        """Whom it stands for; None where it is unknown, revoked or too old."""
        query = (
            select(users.c.name, users.c.role)
            .join(tokens, tokens.c.user == users.c.name)
            .where(
                tokens.c.digest == _digest(token),
                or_(tokens.c.expires.is_(None), tokens.c.expires > time.time()),
            )
        )
        with self.database.read() as connection:
            row = connection.execute(query).first()
        return None if row is None else User(row.name, row.role)

    def revoke_token(self, token: str) -> None:
        """This one only, as when someone logs out."""
        with self.database.write() as connection:
            connection.execute(delete(tokens).where(tokens.c.digest == _digest(token)))

    def revoke_tokens(self, name: str) -> None:
        """All of a user."""
        with self.database.write() as connection:
            connection.execute(delete(tokens).where(tokens.c.user == plain(name)))


def _taken(name: str) -> SsdptError:
    return SsdptError(
        f"user '{name}': is there already; choose a name that differs by more than capital letters"
    )


def _unknown(name: str) -> SsdptError:
    return SsdptError(f"user '{plain(name)}': there is none of this name")


def _checked(password: str) -> str:
    if not _SHORTEST_PASSWORD <= len(password) <= _LONGEST_PASSWORD:
        raise SsdptError(
            f"the password has {len(password)} signs; take at least {_SHORTEST_PASSWORD} "
            f"(at most {_LONGEST_PASSWORD})"
        )
    return password


def _hash(password: str) -> str:
    """scrypt$n$r$p$salt$hash, so that a higher cost can come without locking anyone out."""
    salt = secrets.token_bytes(16)
    found = _scrypt(password, salt, _COST)
    return "$".join(("scrypt", *map(str, _COST), salt.hex(), found.hex()))


def _matches(password: str, kept: str) -> bool:
    _, n, r, p, salt, expected = kept.split("$")
    found = _scrypt(password, bytes.fromhex(salt), (int(n), int(r), int(p)))
    return hmac.compare_digest(found, bytes.fromhex(expected))


def _scrypt(password: str, salt: bytes, cost: tuple[int, int, int]) -> bytes:
    n, r, p = cost
    # OpenSSL counts a little more than 128·n·r·p bytes.
    most = 128 * r * (n + p + 2) + 2**20
    secret = password.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(secret, salt=salt, n=n, r=r, p=p, maxmem=most, dklen=32)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _nobody() -> str:
    """No password has this hash; trying it costs what trying any other does."""
    return "$".join(("scrypt", *map(str, _COST), "00" * 16, "00" * 32))
