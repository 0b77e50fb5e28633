"""A client that knows its business: it reconnects with its token, asks again what was not answered, and
notes what it is told."""

import asyncio
import random

from sitting import Sitting, View
from wire import Connection, Lost

# How long an answer may take before the client thinks that its server hangs, and goes to another.
ANSWER_MAX = 2.5

# How soon something is tried again: at first, and at last.
AGAIN = (0.02, 0.25)

# How soon a match that ought to have come with the welcome is asked for.
SHOWN_WITHIN = 1.5

EVENTS = {"seated", "started", "moved", "ended"}


class Client:
    def __init__(self, trial, name, home=None):
        self.trial, self.name, self.home = trial, name, home
        self.rng = random.Random(f"{trial.seed}/{name}")
        self.token, self.player = None, None
        self.node, self.connection = None, None
        self.views = {}
        self.followed = set()
        self.pending = {}
        self.number = 0
        self.connecting = asyncio.Lock()
        self.changed = asyncio.Event()
        # By match: the number of the last move that was acknowledged.
        self.played = {}
        trial.clients.append(self)

    @property
    def is_connected(self):
        return self.connection is not None and self.connection.is_open

    async def connected(self):
        """Waits until there is a connection that has been welcomed."""
        async with self.connecting:
            pause = AGAIN[0]
            while not self.is_connected:
                try:
                    await self.connect(self.trial.choose(self))
                except Lost:
                    await asyncio.sleep(pause * self.rng.uniform(0.5, 1))
                    pause = min(2 * pause, AGAIN[1])

    async def connect(self, node):
        connection = await Connection.open(node.port, self.hear)
        self.node, self.views = node, {}
        hello = {"type": "hello", "name": self.name}
        if self.token:
            hello["token"] = self.token
        welcome = await self.request(connection, hello)
        if welcome is None or welcome["type"] != "welcome":
            connection.abort()
            raise Lost(f"{welcome}")
        if self.token and not welcome["resumed"]:
            self.trial.violation(None, "token", f"{self.name} was forgotten by {node.name}")
        self.token, self.player = welcome["token"], welcome["player"]["id"]
        self.connection = connection
        connection.ended.add_done_callback(self.lost)
        self.trial.counts["connections"] += 1
        told = {entry["match"] for entry in welcome["following"]}
        for match_id in self.followed:
            wait = SHOWN_WITHIN if match_id in told else 0
            self.trial.spawn(self.shown(match_id, connection, wait))

    def lost(self, ended):
        if ended.result() == "closed with 4001":
            self.trial.counts["replaced"] += 1
        self.changed.set()
        if not self.trial.is_over:
            self.trial.spawn(self.connected())

    async def shown(self, match_id, connection, wait):
        """What is followed is followed on the new connection, too."""
        await asyncio.sleep(wait)
        is_wanted = lambda: connection.is_open and match_id in self.followed and match_id not in self.views
        if is_wanted():
            self.trial.counts["not shown after the welcome"] += wait > 0
            await self.ask({"type": "watch", "match": match_id}, is_wanted)

    async def request(self, connection, request):
        """The answer; none if the connection is lost, or hangs."""
        self.number += 1
        number, answer = self.number, asyncio.get_running_loop().create_future()
        self.pending[number] = answer
        connection.send({**request, "id": number})
        done = {answer, connection.ended}
        await asyncio.wait(done, timeout=ANSWER_MAX, return_when="FIRST_COMPLETED")
        self.pending.pop(number, None)
        if answer.done():
            return answer.result()
        if connection.is_open:
            self.trial.counts["unanswered"] += 1
            connection.abort()
        return None

    async def ask(self, request, is_wanted=lambda: True):
        """Asks until it is answered otherwise than by something that may succeed later."""
        now = asyncio.get_running_loop().time
        began, pause, answer, key = now(), AGAIN[0], None, object()
        self.trial.asking[key] = (self, request, began)
        try:
            while is_wanted():
                await self.connected()
                answer = await self.request(self.connection, request)
                if answer is None:
                    continue
                if answer["type"] != "error" or not answer["retryable"]:
                    self.trial.waited(self, request, now() - began)
                    return answer
                self.trial.counts[f"refused: {answer['code']}"] += 1
                await asyncio.sleep(pause * self.rng.uniform(0.5, 1))
                pause = min(2 * pause, AGAIN[1])
            return answer
        finally:
            del self.trial.asking[key]

    def hear(self, connection, message):
        kind = message["type"]
        if kind == "match":
            view = self.view(connection, message["match"])
            view.show(message, self.violation(message))
            if "re" not in message:
                self.look_after(view)
        elif kind == "events":
            view = self.view(connection, message["match"])
            view.asks = False
            for event in message["events"]:
                self.tell(view, {**event, "match": message["match"]})
        elif kind in EVENTS and message["match"] in self.views:
            self.tell(self.view(connection, message["match"]), message)
        self.changed.set()
        answer = self.pending.get(message.get("re"))
        if answer and not answer.done():
            answer.set_result(message)

    def view(self, connection, match_id):
        view = self.views.get(match_id)
        if view is None or view.connection is not connection:
            sitting = self.trial.sittings.get(match_id)
            if sitting is None:
                sitting = self.trial.sittings[match_id] = Sitting(match_id)
            view = self.views[match_id] = View(self, connection, sitting)
        return view

    def tell(self, view, event):
        if view.asks and event["seq"] > view.seq + 1:
            return
        if not view.tell(event, self.violation(event)) and not view.asks:
            view.asks = True
            self.trial.counts["gaps"] += 1
            resync = {"type": "resync", "match": event["match"], "since": view.seq}
            self.trial.spawn(self.ask(resync, lambda: view.asks and view.connection.is_open))

    def violation(self, message):
        sitting = self.trial.sittings.get(message["match"])
        return lambda kind, what: self.trial.violation(sitting, kind, what)

    def look_after(self, view):
        """A match that was created, and nobody heard of it: the answer was lost with its connection."""
        match_id = view.sitting.id
        if match_id in self.followed or view.host != self.player:
            return
        if view.status == "open":
            view.sitting.may_end_by.add("aborted")
            self.trial.spawn(self.leave(match_id))
        elif view.status == "running" and view.you is not None:
            view.sitting.may_end_by.add("resignation")
            self.trial.spawn(self.ask({"type": "resign", "match": match_id}))

    async def until(self, ready):
        """Waits until something that it was told makes this true."""
        while not ready():
            self.changed.clear()
            await self.changed.wait()

    async def follow(self, request):
        """The match that this request makes, or opens; none if it is refused for good."""
        while True:
            answer = await self.ask(request)
            if answer.get("code") == "already_seated":
                # It was done when it was asked first, and that was not heard.
                request = {"type": "watch", "match": request["match"]}
                continue
            if answer["type"] != "match":
                what = f"{self.name} on {self.node.name}: {request}: {answer}"
                self.trial.violation(None, "refused", what)
                return None
            self.followed.add(answer["match"])
            return answer["match"]

    async def leave(self, match_id):
        self.followed.discard(match_id)
        self.views.pop(match_id, None)
        await self.ask({"type": "leave", "match": match_id}, lambda: not self.trial.is_over)

    async def move(self, match_id, seat, ply, move):
        """Plays a move. Gives whether the match goes on."""
        request = {"type": "move", "match": match_id, "ply": ply, "move": move, "takebacks": 0}
        answer = await self.ask(request)
        sitting = self.trial.sittings[match_id]
        if answer["type"] != "ok":
            self.trial.violation(sitting, "refused", f"{self.name} on {self.node.name}: {request}: {answer}")
            return False
        self.played[match_id] = ply
        sitting.acknowledged.append((answer["seq"], seat, ply, move))
        self.trial.counts["moves"] += 1
        view = self.views.get(match_id)
        is_whole = view and view.connection is self.connection and not view.asks
        if is_whole and view.seq < answer["seq"]:
            self.trial.violation(sitting, "early", f"{view} is told later of what was answered: {answer}")
        return True
