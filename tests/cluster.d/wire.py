"""A client's end of a WebSocket, as far as Plyhouse needs one: text, pings and closing."""

import asyncio
import json

UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA

# How long a node may take to accept a connection, and to answer the upgrade.
CONNECT_MAX = 2.0


class Lost(Exception):
    """The connection has ended, or never came about."""


def frame(opcode, payload):
    """Masked, with a mask of zeros."""
    head = bytes([0x80 | opcode])
    if len(payload) < 126:
        head += bytes([0x80 | len(payload)])
    else:
        head += bytes([0x80 | 126]) + len(payload).to_bytes(2, "big")
    return head + bytes(4) + payload


class Connection(asyncio.Protocol):
    """One connection; what comes is handed to `heard`, message by message, until it ends."""

    def __init__(self, heard):
        loop = asyncio.get_running_loop()
        self.heard = heard
        self.upgraded = loop.create_future()
        self.ended = loop.create_future()
        self.transport = None
        self.buffer = bytearray()

    @classmethod
    async def open(cls, port, heard):
        connection = None

        async def opened():
            nonlocal connection
            loop = asyncio.get_running_loop()
            _, connection = await loop.create_connection(lambda: cls(heard), "127.0.0.1", port)
            await asyncio.wait({connection.upgraded, connection.ended}, return_when="FIRST_COMPLETED")

        try:
            await asyncio.wait_for(opened(), CONNECT_MAX)
        except (OSError, asyncio.TimeoutError) as error:
            if connection:
                connection.abort()
            raise Lost(repr(error)) from error
        if not connection.upgraded.done():
            raise Lost("it ended before the upgrade")
        return connection

    @property
    def is_open(self):
        return not self.ended.done()

    def send(self, message):
        if self.is_open:
            self.transport.write(frame(TEXT, json.dumps(message).encode()))

    def abort(self):
        """Ends it at once, without a goodbye."""
        self.end("ended by this client")
        if self.transport:
            self.transport.abort()

    def end(self, why):
        if not self.ended.done():
            self.ended.set_result(why)

    def connection_made(self, transport):
        self.transport = transport
        transport.write(UPGRADE)

    def connection_lost(self, error):
        self.end(repr(error) if error else "closed")

    def data_received(self, data):
        self.buffer += data
        if not self.upgraded.done():
            head, blank, rest = self.buffer.partition(b"\r\n\r\n")
            if not blank:
                return
            if not head.startswith(b"HTTP/1.1 101"):
                return self.abort()
            self.upgraded.set_result(None)
            self.buffer = rest
        while self.is_open and self.take_frame():
            pass

    def take_frame(self):
        """Handles the first frame in the buffer, if all of it is there. A server masks nothing."""
        buffer = self.buffer
        if len(buffer) < 2:
            return False
        length, start = buffer[1] & 0x7F, 2
        if length >= 126:
            start = 4 if length == 126 else 10
            length = int.from_bytes(buffer[2:start], "big")
        if len(buffer) < start + length:
            return False
        opcode, payload = buffer[0] & 0xF, bytes(buffer[start : start + length])
        del buffer[: start + length]
        if opcode == TEXT:
            self.heard(self, json.loads(payload))
        elif opcode == PING:
            self.transport.write(frame(PONG, payload))
        elif opcode == CLOSE:
            code = int.from_bytes(payload[:2], "big")
            self.end(f"closed with {code}")
            self.transport.write(frame(CLOSE, payload[:2]))
            self.transport.close()
        return True
