"""Users with passwords and roles, and tokens for programs and sessions."""

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
from ssdpt.monitor.store.base import StoreBase, storable
from ssdpt.monitor.store.tables import tokens, users
from ssdpt.sentences import Sentence

Role = Literal["viewer", "operator", "admin"]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_MIN_PASSWORD = 8  # characters
_MAX_PASSWORD = 1024  # characters; hashing longer ones only takes time
_COST = (2**14, 8, 5)  # n, r and p of scrypt: 16 MiB, some tenths of a second
_DAY = 86400.0


@dataclass(frozen=True, slots=True)
class User:
    """A viewer reads; an operator acknowledges, comments, labels and mutes; an admin does all."""

    name: str
    role: Role


class Users(StoreBase):
    """Stores only salted hashes of passwords, and hashes of tokens."""

    def add_user(self, name: str, role: Role, password: str) -> None:
        """Add a user; SsdptError if the name, role or password is not valid."""
        if not _NAME.fullmatch(name):
            raise SsdptError(Sentence("store.wrongUserName", name=storable(name)))
        _check_role(role)
        row = {"name": name, "role": role, "password": _hash(_checked(password))}
        with self.database.write() as connection:
            # People would confuse Anna and anna.
            for existing in connection.scalars(select(users.c.name)):
                if existing.casefold() == name.casefold():
                    raise _taken(existing)
            insert = self.database.insert(users).values(row)
            result = connection.execute(
                insert.on_conflict_do_nothing(index_elements=["name"]),
                execution_options={"preserve_rowcount": True},
            )
            if result.rowcount == 0:
                raise _taken(name)

    def set_password(self, name: str, password: str) -> None:
        """Set a new password; sessions and tokens of the user end."""
        hashed = _hash(_checked(password))
        with self.database.write() as connection:
            changed = update(users).where(users.c.name == name).values(password=hashed)
            if connection.execute(changed).rowcount == 0:
                raise _unknown(name)
            connection.execute(delete(tokens).where(tokens.c.user == name))

    def set_role(self, name: str, role: Role) -> None:
        """Give a user another role, also in sessions that are open."""
        _check_role(role)
        with self.database.write() as connection:
            changed = update(users).where(users.c.name == storable(name)).values(role=role)
            if connection.execute(changed).rowcount == 0:
                raise _unknown(name)

    def remove_user(self, name: str) -> None:
        """Remove a user and their tokens."""
        with self.database.write() as connection:
            if (
                connection.execute(delete(users).where(users.c.name == storable(name))).rowcount
                == 0
            ):
                raise _unknown(name)

    def users(self) -> list[User]:
        """All users, by name."""
        with self.database.read() as connection:
            rows = connection.execute(select(users.c.name, users.c.role).order_by(users.c.name))
            return [User(row.name, row.role) for row in rows]

    def check_password(self, name: str, password: str) -> User | None:
        """The user, if the password is right. Takes as long for users that do not exist."""
        with self.database.read() as connection:
            row = connection.execute(select(users).where(users.c.name == storable(name))).first()
        if len(password) > _MAX_PASSWORD:
            return None
        matches = _matches(password, _dummy_hash() if row is None else row.password)
        return User(row.name, row.role) if matches and row is not None else None

    def device_token(self, name: str) -> str:
        """What a browser keeps after a sign-in, to be known as one of this user later.

        It opens nothing. It is signed with the user's password hash, so a new password ends it.
        """
        stored = self._password_hash(name)
        if stored is None:
            raise _unknown(name)
        device = secrets.token_urlsafe(16)
        return f"{device}.{_device_signature(stored, name, device)}"

    def known_device(self, name: str, token: str) -> str:
        """The id of a device in which this user has signed in; empty if the token is not theirs."""
        device, _, signature = token.partition(".")
        stored = self._password_hash(name) or _dummy_hash()
        expected = _device_signature(stored, name, device)
        matches = hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace"))
        return device if matches and stored != _dummy_hash() else ""

    def _password_hash(self, name: str) -> str | None:
        with self.database.read() as connection:
            query = select(users.c.password).where(users.c.name == storable(name))
            stored: str | None = connection.scalar(query)
        return stored

    def new_token(self, name: str, days: float | None) -> str:
        """A new token for a user, valid for so many days (None: until it is revoked)."""
        token = secrets.token_urlsafe(32)
        now = time.time()
        expires = None if days is None else now + days * _DAY
        with self.database.write() as connection:
            if (
                connection.scalar(select(users.c.name).where(users.c.name == storable(name)))
                is None
            ):
                raise _unknown(name)
            connection.execute(delete(tokens).where(tokens.c.expires < now))
            row = {"digest": _digest(token), "user": name, "expires": expires}
            connection.execute(tokens.insert().values(row))
        return token

    def check_token(self, token: str) -> User | None:
        """The user of a token; None if it is unknown, revoked or expired."""
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
        """Revoke one token, as when someone signs out."""
        with self.database.write() as connection:
            connection.execute(delete(tokens).where(tokens.c.digest == _digest(token)))

    def revoke_tokens(self, name: str) -> None:
        """Revoke all tokens of a user."""
        with self.database.write() as connection:
            connection.execute(delete(tokens).where(tokens.c.user == storable(name)))


def _check_role(role: str) -> None:
    if role not in get_args(Role):
        raise SsdptError(Sentence("store.wrongRole", role=role, roles=get_args(Role)))


def _taken(name: str) -> SsdptError:
    return SsdptError(Sentence("store.userExists", name=name))


def _unknown(name: str) -> SsdptError:
    return SsdptError(Sentence("store.noUser", name=storable(name)))


def _checked(password: str) -> str:
    length = len(password)
    if length < _MIN_PASSWORD:
        raise SsdptError(Sentence("store.passwordTooShort", length=length, least=_MIN_PASSWORD))
    if length > _MAX_PASSWORD:
        raise SsdptError(Sentence("store.passwordTooLong", length=length, most=_MAX_PASSWORD))
    return password


def _hash(password: str) -> str:
    """scrypt$n$r$p$salt$hash, so that the cost can be raised without locking anyone out."""
    salt = secrets.token_bytes(16)
    digest = _scrypt(password, salt, _COST)
    return "$".join(("scrypt", *map(str, _COST), salt.hex(), digest.hex()))


def _matches(password: str, stored: str) -> bool:
    _, n, r, p, salt, expected = stored.split("$")
    digest = _scrypt(password, bytes.fromhex(salt), (int(n), int(r), int(p)))
    return hmac.compare_digest(digest, bytes.fromhex(expected))


def _scrypt(password: str, salt: bytes, cost: tuple[int, int, int]) -> bytes:
    n, r, p = cost
    # OpenSSL counts a little more than 128·n·r·p bytes.
    memory = 128 * r * (n + p + 2) + 2**20
    secret = password.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(secret, salt=salt, n=n, r=r, p=p, maxmem=memory, dklen=32)


def _device_signature(stored: str, name: str, device: str) -> str:
    """`stored`: the hash of the user's password, with its salt."""
    message = f"device {name} {device}".encode("utf-8", "surrogatepass")
    return hmac.new(stored.encode(), message, hashlib.sha256).hexdigest()


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _dummy_hash() -> str:
    """No password has this hash; checking it takes as long as checking any other."""
    return "$".join(("scrypt", *map(str, _COST), "00" * 16, "00" * 32))
