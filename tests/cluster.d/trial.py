"""One run: servers, clients, what was counted, and what went wrong."""

import asyncio
import collections
import os
import random
import statistics
import time

from audit import Audit
from client import Client
from servers import is_ready

# How often the balancer asks each node whether it is ready, and how often in a row it must have said no.
ASK_EVERY = 0.25
MISSES_MAX = 2

# A trial with so many violations is over: what comes after is likely to follow from them.
VIOLATIONS_MAX = 10

# How long it may take after the last fault until every request is answered, and every view whole.
SETTLED_WITHIN = 30.0


# How many matches are looked at anew in the end, on each node.
VISITED = 20


class Trial:
    def __init__(self, servers, seed, violations_max=VIOLATIONS_MAX):
        self.servers, self.seed, self.violations_max = servers, seed, violations_max
        self.clients = []
        self.sittings = {}
        self.counts = collections.Counter()
        self.waits = []
        # How late this program has been itself, by which every wait may be too long.
        self.lag = 0.0
        # The longest: how long, what, who, and what was the matter when it began or ended.
        self.longest = []
        self.violations = []
        # What is being asked at the moment.
        self.asking = {}
        self.tasks = set()
        self.is_closing = self.is_over = False
        self.failed = asyncio.Event()
        self.audit = Audit(self)
        self.notes = open(os.path.join(servers.directory, "trial.log"), "w")
        for node in servers.nodes:
            node.is_expected = True

    def rng_of(self, name):
        return random.Random(f"{self.seed}/{name}")

    def note(self, what):
        now = time.time()
        stamp = time.strftime("%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03}"
        print(stamp, what, file=self.notes, flush=True)

    def spawn(self, work):
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.done)
        return task

    def done(self, task):
        self.tasks.discard(task)
        if not task.cancelled() and task.exception() and not self.is_over:
            # A fault of this program, or of what it believes to be true: either is to be seen.
            self.violation(None, "trial", repr(task.exception()))
            task.print_stack()

    def violation(self, sitting, kind, what):
        self.note(f"VIOLATION {kind}: {sitting.id if sitting else ''} {what}")
        is_new = sitting is None or all(known[:2] != (sitting, kind) for known in self.violations)
        if is_new and len(self.violations) < self.violations_max:
            self.violations.append((sitting, kind, what))
        if len(self.violations) >= self.violations_max:
            self.failed.set()

    def waited(self, client, request, wait):
        self.waits.append(wait)
        if wait > 1 and (len(self.longest) < 10 or wait > self.longest[-1][0]):
            what = f"{wait:.2f} s: {request['type']} of {client.name} {request.get('match', '')}"
            self.note(f"waited {what}")
            self.longest = sorted([*self.longest, (wait, what)], reverse=True)[:10]

    def choose(self, client):
        """A node for this client: its home if that is up, or else any that is."""
        nodes = [node for node in self.servers.nodes if node.is_up and node.is_expected]
        if client.home in nodes and client.node is not client.home:
            return client.home
        others = [node for node in nodes if node is not client.node]
        return client.rng.choice(others or nodes or self.servers.nodes)

    async def balance(self, node):
        """Looks after a node as a balancer does: clients of one that is not ready go elsewhere."""
        misses, now = 0, asyncio.get_running_loop().time
        while True:
            due_at = now() + ASK_EVERY
            await asyncio.sleep(ASK_EVERY)
            self.lag = max(self.lag, now() - due_at)
            if node.is_expected and not node.runs:
                self.violation(None, "crash", f"{node.name} has ended: see {node.log}")
                node.start()
            misses = 0 if await is_ready(node.port) else misses + 1
            node.is_up = misses < MISSES_MAX
            if not node.is_up and any(other.is_up for other in self.servers.nodes):
                for client in self.clients:
                    if client.node is node and client.is_connected:
                        client.connection.abort()

    async def settle(self, players):
        """After the last fault: every request must be answered, and every view become whole."""
        self.note("settling")
        for node in self.servers.nodes:
            await self.servers.node_ready(node)
        await self.audit.read()
        self.is_closing = True
        for sitting in self.sittings.values():
            # From now on nobody moves, not even for the first time.
            sitting.may_end_by |= {"timeout", "aborted"}
        for client in self.clients:
            client.changed.set()
        _, late = await asyncio.wait(players, timeout=SETTLED_WITHIN)
        for client, request, began in list(self.asking.values()) if late else []:
            waited = asyncio.get_running_loop().time() - began
            self.violation(None, "unanswered", f"{client.name}: {request} after {waited:.1f} s")
        looking = self.spawn(self.look_anew())
        if (await asyncio.wait({looking}, timeout=SETTLED_WITHIN))[1]:
            self.violation(None, "unanswered", "nobody can look at matches anew")
        if not await self.audit.read_anew():
            self.violation(None, "journal", "it could not be read")
        await self.views_whole()

    async def look_anew(self):
        """Somebody who comes to a node now is shown what others were told."""
        live = [sitting.id for sitting in self.sittings.values() if not sitting.has_ended]
        for node in self.servers.nodes:
            client = Client(self, f"visitor of {node.name}", node)
            for match in client.rng.sample(live, min(len(live), VISITED)):
                await client.follow({"type": "watch", "match": match})

    async def views_whole(self):
        """Every view must reach what the journal had when it was read."""
        wanted = {sitting: len(sitting.story) for sitting in self.sittings.values()}
        for _ in range(int(SETTLED_WITHIN * 10)):
            late = [
                (sitting, view, seq)
                for sitting, seq in wanted.items()
                for view in sitting.views
                if view.connection.is_open and view.seq < seq
            ]
            if not late:
                return
            await asyncio.sleep(0.1)
        for sitting, view, seq in late:
            self.violation(sitting, "not whole", f"{view} on {view.client.node.name}, the journal has {seq}")

    async def report_violations(self):
        """Writes down all that is needed to find out how they came about."""
        path = os.path.join(self.servers.directory, "violations.txt")
        with open(path, "w") as file:
            for sitting, kind, what in self.violations:
                print(f"{kind}: match {sitting.id if sitting else 'none'}: {what}", file=file)
            for sitting in {sitting for sitting, _, _ in self.violations if sitting}:
                print(f"\nmatch {sitting.id}", file=file)
                for row in await self.servers.sql(f"SELECT * FROM journal WHERE m = '{sitting.id}' ORDER BY n"):
                    print("journal ", *row[1:], file=file)
                for seq, (told, who) in sorted(sitting.told.items()):
                    print("told    ", seq, *told[0], "first to", who, file=file)
                for move in sitting.acknowledged:
                    print("acknowledged", *move, file=file)
                for view in sitting.views:
                    print("view    ", view, "on", view.client.node.name, file=file)

    def median(self):
        return statistics.median(self.waits) if self.waits else 0.0

    def longest_wait(self):
        return max(self.waits, default=0.0)
