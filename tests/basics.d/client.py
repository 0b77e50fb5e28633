"""A client of the protocol, as far as the checks need one."""

import itertools
import json

from server import PATIENCE, Failed
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


class Lost(Failed):
    """The connection has ended."""


class Client:
    """One connection. With a token it resumes that player's session."""

    def __init__(self, url, **hello):
        # The library compresses otherwise, which only costs time here.
        self.socket = connect(url, compression=None, open_timeout=PATIENCE, close_timeout=1)
        self.ids = itertools.count(1)
        self.unread = []
        self.welcome = self.ask("hello", **hello)

    def close(self):
        self.socket.close()

    def send(self, kind, **fields):
        """Sends a request and returns its number."""
        request = {"type": kind, "id": next(self.ids), **fields}
        try:
            self.socket.send(json.dumps(request))
        except ConnectionClosed as closed:
            raise Lost(str(closed)) from None
        return request["id"]

    def receive(self):
        try:
            return json.loads(self.socket.recv(timeout=PATIENCE))
        except TimeoutError:
            raise Failed(f"the server sends nothing for {PATIENCE} s") from None
        except ConnectionClosed as closed:
            raise Lost(str(closed)) from None

    def ask(self, kind, **fields):
        """Sends a request and returns its answer. Keeps the messages that arrive before it."""
        number = self.send(kind, **fields)
        while True:
            message = self.receive()
            if message.get("re") != number:
                self.unread.append(message)
            elif message["type"] == "error":
                raise Failed(f"`{kind}` is refused: {message['message']}")
            else:
                return message

    def next(self):
        """The next message, in the order in which the server sent them."""
        return self.unread.pop(0) if self.unread else self.receive()

    def next_of(self, kinds, match):
        """The next message of one of these types about a match. Skips all others."""
        while True:
            message = self.next()
            if message["type"] == "error":
                raise Failed(f"the server sends an error: {message['message']}")
            if message["type"] in kinds and message.get("match") == match:
                return message
