"""A real OPC UA server whose values a test sets, and which it can stop, freeze and start again."""

from __future__ import annotations

import asyncio
import threading

from asyncua import Server, ua
from asyncua.crypto.permission_rules import User, UserRole
from asyncua.server.user_managers import UserManager

from free_ports import free_port


class _OneUser(UserManager):
    def get_user(self, iserver, username=None, password=None, certificate=None):
        if (username, password) == ("ssdpt", "secret"):
            return User(role=UserRole.User)
        return None


class OpcuaServer:
    """Nodes ns=2;s=Running, Speed and Load. asyncua's own server on a thread of its own."""

    def __init__(self, *, signs_in=False):
        self.port = free_port()
        self.endpoint = f"opc.tcp://127.0.0.1:{self.port}"
        self._signs_in = signs_in

    def start(self):
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,))
        self._thread.start()
        assert ready.wait(60)
        return self

    def stop(self):
        self.ask(self._server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()

    __enter__ = start

    def __exit__(self, *_):
        self.stop()

    def ask(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def set(self, name, value, status=ua.StatusCodes.Good):
        value = ua.DataValue(ua.Variant(value), ua.StatusCode(status))
        self.ask(self._nodes[name].write_value(value))

    def freeze(self):
        """It hangs, with its connections open, until the event that is returned is set."""
        go_on = threading.Event()
        self._loop.call_soon_threadsafe(go_on.wait)
        return go_on

    def _run(self, ready):
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._begin())
        ready.set()
        self._loop.run_forever()

    async def _begin(self):
        users = _OneUser() if self._signs_in else None
        self._server = Server(user_manager=users)
        await self._server.init()
        self._server.set_endpoint(self.endpoint)
        self._server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
        await self._server.register_namespace("http://example.org/plant")
        self._nodes = {}
        for name, value in (("Running", True), ("Speed", 24.5), ("Load", 61.0)):
            node_id = ua.NodeId(name, 2)
            self._nodes[name] = await self._server.nodes.objects.add_variable(node_id, name, value)
        await self._server.start()
