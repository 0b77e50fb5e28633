"""Where matches are played and watched: match after match, until the trial closes."""

import asyncio

from client import Client

# Games that last when moves are chosen at random.
GAMES = ["othello", "go", "gomoku", "draughts"]

# Some are played by a clock, which a fault of the servers would make somebody lose by.
CLOCKS = [
    None,
    {"kind": "fischer", "main_ms": 30000, "increment_ms": 5000},
    {"kind": "move", "move_ms": 20000},
]

# How long a player may be away. A client that can connect is never away for so long.
PATIENCE_MS = 20000

# How many of a hundred turns end in resignation, so that matches end at every ply.
RESIGNATIONS = 0.5


class Table:
    """Two seats, and who sits there."""

    def __init__(self, trial, name, think):
        self.trial, self.name, self.think = trial, name, think
        self.rng = trial.rng_of(name)
        self.match = None
        # When the last move was acknowledged.
        self.moved_at = 0.0

    def client(self, part, number):
        nodes = self.trial.servers.nodes
        return Client(self.trial, f"{self.name}{part}", nodes[number % len(nodes)])

    def terms(self, seats):
        request = {"type": "create", "game": self.rng.choice(GAMES), "seats": seats}
        request["listed"] = self.rng.random() < 0.5
        if any("bot" in seat for seat in seats if isinstance(seat, dict)):
            request["pace_ms"] = self.rng.randint(200, 1000)
        else:
            request["patience_ms"] = PATIENCE_MS
        if clock := self.rng.choice(CLOCKS):
            request["clock"] = clock
        return request

    async def play(self, client, seat):
        """Sits there until the match is over, or the trial."""
        match = self.match

        def is_due():
            view = client.views.get(match)
            if self.trial.is_closing or view is None:
                return self.trial.is_closing
            is_new = view.ply > client.played.get(match, -1)
            return view.status == "ended" or view.turn == seat and is_new and not view.asks

        while True:
            await client.until(is_due)
            if self.trial.is_closing or client.views[match].status == "ended":
                return
            # Nobody thinks for so long that it would cost the match.
            await asyncio.sleep(min(self.rng.expovariate(1 / self.think), 4 * self.think))
            view = client.views.get(match)
            if self.trial.is_closing or view is None or not is_due() or not view.legal:
                continue
            if view.ply > 4 and self.rng.uniform(0, 100) < RESIGNATIONS:
                await self.resign(client)
                continue
            move = client.rng.choice(view.legal)
            if not await client.move(match, seat, view.ply, move):
                return
            self.moved_at = asyncio.get_running_loop().time()

    async def resign(self, client):
        sitting = self.trial.sittings[self.match]
        sitting.may_end_by.add("resignation")
        answer = await client.ask({"type": "resign", "match": self.match})
        # The second answer is to what was asked again.
        if answer["type"] != "ok" and answer["code"] != "match_ended":
            self.trial.violation(sitting, "refused", f"{client.name}: resign: {answer}")
        await client.until(lambda: self.trial.is_closing or is_over(client, self.match))

    async def keep_on(self, sit):
        while not self.trial.is_closing:
            await sit()
            self.trial.counts["matches"] += not self.trial.is_closing


def is_over(client, match):
    view = client.views.get(match)
    return view is not None and view.status == "ended"


class People(Table):
    """Person against person, on different nodes."""

    def __init__(self, trial, number, think):
        super().__init__(trial, f"people{number}", think)
        self.players = [self.client("a", number), self.client("b", number + 1 + number // 3 % 2)]

    async def run(self):
        await self.keep_on(self.sit)

    async def sit(self):
        host, guest = self.players
        seat = self.rng.randrange(2)
        seats = ["me", "open"] if seat == 0 else ["open", "me"]
        self.match = await host.follow(self.terms(seats))
        if self.match and await guest.follow({"type": "join", "match": self.match}):
            await asyncio.gather(self.play(host, seat), self.play(guest, 1 - seat))
        if self.match and not self.trial.is_closing:
            await asyncio.gather(host.leave(self.match), guest.leave(self.match))


class AgainstBot(Table):
    """Person against bot."""

    def __init__(self, trial, number, think):
        super().__init__(trial, f"person{number}", think)
        self.player = self.client("", number)

    async def run(self):
        await self.keep_on(self.sit)

    async def sit(self):
        seat = self.rng.randrange(2)
        seats = [{"bot": "beginner"}, {"bot": "beginner"}]
        seats[seat] = "me"
        self.match = await self.player.follow(self.terms(seats))
        if self.match:
            await self.play(self.player, seat)
            if not self.trial.is_closing:
                await self.player.leave(self.match)


class Exhibition(Table):
    """Bot against bot, which one client follows."""

    def __init__(self, trial, number, think):
        super().__init__(trial, f"exhibition{number}", think)
        self.host = self.client("", number)

    async def run(self):
        await self.keep_on(self.sit)

    async def sit(self):
        self.match = await self.host.follow(self.terms([{"bot": "beginner"}, {"bot": "beginner"}]))
        if self.match:
            await self.host.until(lambda: self.trial.is_closing or is_over(self.host, self.match))
            if not self.trial.is_closing:
                await self.host.leave(self.match)


class Spectator:
    """Watches what is played at a few tables, one match after the other."""

    def __init__(self, trial, number, tables):
        self.trial, self.tables = trial, tables
        self.client = Client(trial, f"spectator{number}", None)

    async def run(self):
        client = self.client
        while not self.trial.is_closing:
            match = client.rng.choice(self.tables).match
            if match is None or self.trial.sittings[match].has_ended:
                await asyncio.sleep(0.5)
                continue
            if await client.follow({"type": "watch", "match": match}):
                await client.until(lambda: self.trial.is_closing or is_over(client, match))
                if not self.trial.is_closing:
                    await client.leave(match)
