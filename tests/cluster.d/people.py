"""The trial `people`: what the operator orders one node does and all obey, and what a node that died has begun to
forget another one finishes."""

import asyncio
import signal

from servers import NODES, Servers
from wire import Connection

# How many accounts are ordered about.
ROUNDS = 6

# Within so long every node obeys.
OBEYS_WITHIN = 5.0

# Within so long the others go on with what a node that died has begun: its lease runs out, and what is not finished
# is seen twice.
FINISHED_WITHIN = 30.0

ANSWER_MAX = 10.0

ORDER = "running an admin command"

# Nothing is finished while this is there.
UNFINISHED = """
    CREATE FUNCTION unfinished() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'not yet';
    END $$;
    CREATE TRIGGER unfinished BEFORE UPDATE OR DELETE ON forgetting FOR EACH ROW EXECUTE FUNCTION unfinished();
"""


class Wrong(Exception):
    """A promise is not kept."""


def check(holds, what):
    if not holds:
        raise Wrong(what)


class Caller:
    """A connection that asks one thing after the other, and keeps what else it is told."""

    @classmethod
    async def hello(cls, node, **fields):
        caller = cls()
        caller.told, caller.number = asyncio.Queue(), 0
        caller.answers = {}
        caller.connection = await Connection.open(node.port, caller.hear)
        caller.welcome = await caller.ask("hello", **fields)
        return caller

    def hear(self, _, message):
        answer = self.answers.pop(message.get("re"), None)
        if answer:
            answer.set_result(message)
        else:
            self.told.put_nowait(message)

    async def ask(self, kind, **fields):
        self.number += 1
        answer = self.answers[self.number] = asyncio.get_running_loop().create_future()
        self.connection.send({"type": kind, "id": self.number, **fields})
        return await asyncio.wait_for(answer, ANSWER_MAX)

    async def hears(self, fits):
        """The next that it is told of this kind, soon enough."""

        async def heard():
            while True:
                message = await self.told.get()
                if fits(message):
                    return message

        return await asyncio.wait_for(heard(), OBEYS_WITHIN)

    async def closed(self):
        await asyncio.wait_for(asyncio.shield(self.connection.ended), OBEYS_WITHIN)
        return self.connection.ended.result()


class Trial:
    def __init__(self, directory, plyhouse):
        self.servers = Servers(directory, plyhouse)

    async def order(self, *args):
        command = [self.servers.plyhouse, "account", *args, "--database", self.servers.database]
        return (await self.servers.run(command)).decode().strip()

    def orders_taken(self):
        taken = {}
        for node in self.servers.nodes:
            with open(node.log) as log:
                taken[node.name] = log.read().count(ORDER)
        return taken

    async def is_taken_once(self, *args):
        """An order that one node takes, whichever."""
        before = sum(self.orders_taken().values())
        told = await self.order(*args)
        taken = sum(self.orders_taken().values()) - before
        check(taken == 1, f"{args[0]} was taken {taken} times")
        check(await self.servers.sql("SELECT id FROM orders") == [], f"{args[0]} is still to be done")
        return told

    async def account(self, node, name):
        caller = await Caller.hello(node)
        answer = await caller.ask("register", name=name)
        check(answer["type"] == "ok", f"{name}: {answer}")
        return caller

    async def round(self, number):
        """One account, with connections to two nodes, seen from a third."""
        nodes = self.servers.nodes
        here, there, third = (nodes[(number + step) % NODES] for step in range(3))
        name, other = f"ada{number}", f"eve{number}"
        ada = await self.account(here, name)
        code = (await ada.ask("pair"))["code"]
        phone = await Caller.hello(there, pair=code)
        check(phone.welcome.get("resumed"), f"{phone.welcome}")

        await self.is_taken_once("rename", name, other)
        for caller in (ada, phone):
            await caller.hears(lambda told: told.get("player", {}).get("name") == other)

        key = await self.is_taken_once("recover", other)
        back = await Caller.hello(third, recovery=key)
        check(back.welcome.get("player", {}).get("name") == other, f"{back.welcome}")
        again = await Caller.hello(here, recovery=key)
        check(again.welcome.get("code") == "bad_code", f"a link was good twice: {again.welcome}")

        bob = await Caller.hello(third)
        match = (await bob.ask("create", game="chess"))["match"]
        joined = await phone.ask("join", match=match)
        check(joined.get("status") == "running", f"{joined}")
        await self.is_taken_once("close", other)
        for caller in (ada, phone, back):
            ended = await caller.closed()
            check(ended == "closed with 4005", f"after `close`: {ended}")
        ended = await bob.hears(lambda told: told["type"] == "ended")
        check(ended["outcome"]["reason"] == "resignation", f"{ended}")
        for node in nodes:
            await self.is_nobodys(node, match)
        bob.connection.abort()

    async def is_nobodys(self, node, match):
        """Waits until a node tells nobody's name for a seat of a match."""
        caller = await Caller.hello(node)

        async def is_told():
            while True:
                shown = await caller.ask("watch", match=match)
                if "someone" in [seat.get("name") for seat in shown["seats"]]:
                    return
                await caller.told.get()

        await asyncio.wait_for(is_told(), OBEYS_WITHIN)
        caller.connection.abort()

    async def died_while_forgetting(self):
        """A node is killed between the write from which on a player is nobody and the end of what follows from it."""
        here, there = self.servers.nodes[:2]
        name = "Unmistakable"
        ada, bob = await self.account(here, name), await Caller.hello(there)
        match = (await ada.ask("create", game="chess"))["match"]
        await bob.ask("join", match=match)
        await ada.ask("resign", match=match)
        await bob.hears(lambda told: told["type"] == "ended")
        await self.servers.sql(UNFINISHED)
        forgotten = await ada.ask("forget_me")
        check(forgotten["type"] == "ok", f"{forgotten}")
        check(await ada.closed() == "closed with 4005", "whoever is forgotten stays connected")
        check(len(await self.named(name)) > 0, "it was finished in spite of all")
        await here.end(signal.SIGKILL)
        await self.servers.sql("DROP TRIGGER unfinished ON forgetting")
        async with asyncio.timeout(FINISHED_WITHIN):
            while await self.named(name):
                await asyncio.sleep(0.2)
            while await self.servers.sql("SELECT player FROM forgetting"):
                await asyncio.sleep(0.2)
        await self.is_nobodys(there, match)

    async def named(self, name):
        return await self.servers.sql(f"SELECT m FROM journal WHERE position('{name}' IN body) > 0")


async def people(directory, plyhouse):
    trial = Trial(directory, plyhouse)
    has_held = False
    try:
        await trial.servers.start()
        for number in range(ROUNDS):
            await trial.round(number)
        taken = trial.orders_taken()
        await trial.died_while_forgetting()
        await trial.servers.run([plyhouse, "verify", "--database", trial.servers.database])
        has_held = True
    except (Wrong, TimeoutError) as wrong:
        taken = trial.orders_taken()
        print(f"VIOLATION people: {wrong!r}")
    finally:
        await trial.servers.stop()
    shares = ", ".join(f"{name} {count}" for name, count in taken.items())
    told = "held" if has_held else "FAILED"
    print(f"people: {sum(taken.values())} orders ({shares}), one death while somebody was forgotten: {told}")
    return has_held
