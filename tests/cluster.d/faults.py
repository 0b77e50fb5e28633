"""The faults, and when they come."""

import asyncio
import signal

from servers import Failed

# The least and the most that passes between the end of a fault and the next.
PAUSE = (0.5, 3.0)

# How long a fault lasts that lasts.
FROZEN = (1.0, 8.0)
CUT = (1.0, 8.0)
DOWN = (0.0, 2.0)

# A cut so long that a lease runs out: a match is taken over, and what its owner has written comes later.
LONG_CUT = (6.5, 8.5)

# How long a node may take to end after SIGTERM.
END_MAX = 15.0


class Faults:
    def __init__(self, trial, only=None, cut=CUT):
        self.trial, self.servers = trial, trial.servers
        self.rng = trial.rng_of("faults")
        self.kinds = {
            "node killed": self.node_killed,
            "node frozen": self.node_frozen,
            "node terminated": self.node_terminated,
            "database killed": lambda: self.engine_killed(self.servers.postgres, self.servers.postgres_ready),
            "NATS killed": lambda: self.engine_killed(self.servers.nats, self.servers.nats_ready),
        }
        for side, name in (("database", "database"), ("nats", "NATS")):
            for fault in ("cut", "drop", "hole"):
                self.kinds[f"{name} {fault}"] = lambda side=side, fault=fault: self.link(side, fault)
        self.order = list(self.kinds) if only is None else only
        if unknown := set(self.order) - set(self.kinds):
            raise Failed(f"no such fault: {', '.join(unknown)}; there are {', '.join(self.kinds)}")
        self.counts = dict.fromkeys(self.order, 0)
        self.cut = cut
        self.is_last = False

    async def keep_on(self):
        """One after the other, each kind once before any comes again."""
        while True:
            for kind in self.rng.sample(self.order, len(self.order)):
                await asyncio.sleep(self.rng.uniform(*PAUSE))
                if self.is_last:
                    return
                self.counts[kind] += 1
                await self.kinds[kind]()
                self.trial.note("over")

    async def end(self, faulting):
        """After the one that is on there is no other."""
        self.is_last = True
        await asyncio.wait({faulting})

    def node(self, what):
        node = self.rng.choice(self.servers.nodes)
        self.trial.note(f"{node.name} {what}")
        return node

    async def node_killed(self):
        node = self.node("killed")
        node.is_expected = False
        await node.end(signal.SIGKILL)
        await asyncio.sleep(self.rng.uniform(*DOWN))
        await self.begin(node)

    async def node_frozen(self):
        node = self.node("frozen")
        node.signal(signal.SIGSTOP)
        await asyncio.sleep(self.rng.uniform(*FROZEN))
        node.signal(signal.SIGCONT)

    async def node_terminated(self):
        node = self.node("terminated")
        await self.terminate(node)
        await asyncio.sleep(self.rng.uniform(*DOWN))
        await self.begin(node)

    async def terminate(self, node):
        node.is_expected = False
        try:
            await asyncio.wait_for(node.end(signal.SIGTERM), END_MAX)
        except asyncio.TimeoutError:
            self.trial.violation(None, "end", f"{node.name} has not ended {END_MAX:.0f} s after SIGTERM")
            await node.end(signal.SIGKILL)

    async def begin(self, node):
        node.start()
        await self.servers.node_ready(node)
        node.is_expected = True

    async def engine_killed(self, engine, ready):
        self.trial.note(f"{engine.name} killed")
        await engine.end(signal.SIGKILL)
        await asyncio.sleep(self.rng.uniform(*DOWN))
        engine.start()
        await ready()

    async def link(self, side, fault):
        node = self.node(f"{side} {fault}")
        self.servers.suffer(node, side, fault)
        if fault == "cut":
            await asyncio.sleep(self.rng.uniform(*self.cut))
            self.servers.suffer(node, side, "heal")
