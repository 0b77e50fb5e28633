"""The trials: torture, kill and rolling."""

import asyncio
import contextlib
import os
import signal
import time

from faults import LONG_CUT, Faults
from servers import NODES, Failed, Servers
from tables import AgainstBot, Exhibition, People, Spectator
from trial import Trial

# The torture: tables of each kind, and spectators, who crowd around a few of them. People think for
# so long on average.
PEOPLE, AGAINST_BOTS, EXHIBITIONS = 50, 30, 20
SPECTATORS, WATCHED = 60, 4
THINK = 1.0

# The other two: live matches, whose people think longer, so that what is waited for is the servers.
LIVE = 200
LIVE_THINK = 2.0

# A node's death must not be noticed for longer.
AIM = 1.0

# How long a match may take to go on after a fault before it counts as stuck.
GOES_ON_WITHIN = 30.0

# What only a host on the network needs bounds for: here many clients share one address.
OPTIONS = ["--live-matches", "100", "--open-matches-per-address", "1000"]

class Run:
    """A trial with its tables, from the start of the servers to the verdict."""

    def __init__(self, directory, plyhouse, seed, with_compare=True):
        self.servers = Servers(directory, plyhouse, OPTIONS, with_compare)
        # What follows from a lost move is of no interest where moves are to be lost.
        self.trial = Trial(self.servers, seed, **({} if with_compare else {"violations_max": 1}))
        self.tables, self.players = [], []

    @contextlib.asynccontextmanager
    async def going(self, tables, spectators=()):
        """Everybody plays; the trial is settled in the end, and the servers are stopped."""
        trial = self.trial
        try:
            await self.servers.start()
            self.tables = tables
            self.players = [trial.spawn(who.run()) for who in [*tables, *spectators]]
            for node in self.servers.nodes:
                trial.spawn(trial.balance(node))
            trial.spawn(trial.audit.keep_on())
            yield trial
            await self.verify()
        finally:
            trial.is_over = True
            pending = set(trial.tasks)
            while pending:
                # Until Python 3.12 `wait_for` loses a cancellation that comes as what it waits for ends.
                for task in pending:
                    task.cancel()
                _, pending = await asyncio.wait(pending, timeout=1)
            if trial.violations:
                with contextlib.suppress(Failed):
                    await trial.report_violations()
            await self.servers.stop()

    async def verify(self):
        """The views and the journal, and then the store as its own program sees it."""
        if not self.trial.failed.is_set():
            await self.trial.settle(self.players)
        for node in self.servers.nodes:
            with open(node.log) as log:
                if "panicked" in log.read():
                    self.trial.violation(None, "panic", f"see {node.log}")
        try:
            await self.servers.run([self.servers.plyhouse, "verify", "--database", self.servers.database])
        except Failed as damage:
            self.trial.violation(None, "verify", str(damage))

    async def all_move(self):
        """Waits until there has been a move at every table."""
        began = asyncio.get_running_loop().time()
        for _ in range(int(GOES_ON_WITHIN * 20)):
            late = [table for table in self.tables if table.moved_at <= began]
            if not late:
                return
            await asyncio.sleep(0.05)
        for table in late:
            sitting = self.trial.sittings.get(table.match)
            self.trial.violation(sitting, "stuck", f"{table.name} has not gone on")

    def last_line(self, name, minutes, faults, is_in_time=True):
        """Tells how it went. Gives whether all held."""
        trial = self.trial
        report(trial)
        has_held = is_in_time and not trial.violations
        told = ", ".join(f"{kind} {count}" for kind, count in faults.items())
        print(
            f"{name}: seed {trial.seed}, {minutes:.1f} minutes, {trial.counts['moves']} moves acknowledged,"
            f" {sum(faults.values())} faults ({told}), longest wait {trial.longest_wait():.2f} s"
            f" (median {trial.median() * 1000:.1f} ms): {'held' if has_held else 'FAILED'}"
        )
        return has_held


def report(trial):
    """What else was counted, and the violations."""
    for _, what in trial.longest[:3]:
        print(f"  waited {what}")
    print(f"  this program itself was late by {trial.lag:.2f} s at most")
    print("  " + ", ".join(f"{what} {count}" for what, count in sorted(trial.counts.items()) if what != "moves"))
    for sitting, kind, what in trial.violations:
        print(f"VIOLATION {kind}: match {sitting.id if sitting else 'none'}: {what[:600]}")


async def torture(directory, plyhouse, seed, minutes, kinds, with_compare):
    run = Run(directory, plyhouse, seed, with_compare)
    trial, began = run.trial, time.monotonic()
    tables = [People(trial, number, THINK) for number in range(PEOPLE)]
    tables += [AgainstBot(trial, number, THINK) for number in range(AGAINST_BOTS)]
    tables += [Exhibition(trial, number, THINK) for number in range(EXHIBITIONS)]
    watched = trial.rng_of("crowds").sample(tables, WATCHED)
    spectators = [Spectator(trial, number, watched) for number in range(SPECTATORS)]
    # What comes late, after a match was taken over, is what the compare alone keeps out.
    faults = Faults(trial, kinds) if with_compare else Faults(trial, ["database cut"], LONG_CUT)
    async with run.going(tables, spectators):
        began = time.monotonic()
        faulting = trial.spawn(faults.keep_on())
        while not trial.failed.is_set() and (left := began + 60 * minutes - time.monotonic()) > 0:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(trial.failed.wait(), min(30, left))
            told = f"{trial.counts['moves']} moves, {sum(faults.counts.values())} faults"
            spent = time.monotonic() - began
            print(f"{spent:6.0f} s: {told}, longest wait {trial.longest_wait():.2f} s", flush=True)
        await faults.end(faulting)
        if not with_compare and run.servers.replaced == 0:
            raise Failed("the command that compares was not seen: see COMPARE in servers.py")
    return run.last_line("torture", (time.monotonic() - began) / 60, faults.counts)


async def kill(directory, plyhouse, seed, rounds):
    """A node is killed under live matches, each round another."""
    run = Run(directory, plyhouse, seed)
    trial, began = run.trial, time.monotonic()
    faults = Faults(trial, [])
    longest = []
    async with run.going([People(trial, number, LIVE_THINK) for number in range(LIVE)]):
        await run.all_move()
        for number in range(rounds):
            node = run.servers.nodes[number % len(run.servers.nodes)]
            before = len(trial.waits)
            node.is_expected = False
            trial.note(f"{node.name} killed")
            await node.end(signal.SIGKILL)
            await run.all_move()
            waits = trial.waits[before:]
            longest.append(max(waits, default=0.0))
            print(f"round {number + 1}: {node.name} killed, longest wait {longest[-1]:.3f} s", flush=True)
            await faults.begin(node)
            come_home(run.trial, node)
            await run.all_move()
    minutes = (time.monotonic() - began) / 60
    return run.last_line("kill", minutes, {"node killed": rounds}, max(longest) < AIM)


async def rolling(directory, plyhouse, seed):
    """Every node is ended and started again, one after the other."""
    run = Run(directory, plyhouse, seed)
    trial, began = run.trial, time.monotonic()
    faults = Faults(trial, [])
    async with run.going([People(trial, number, LIVE_THINK) for number in range(LIVE)]):
        await run.all_move()
        before = len(trial.waits)
        for node in run.servers.nodes:
            trial.note(f"{node.name} terminated")
            await faults.terminate(node)
            await faults.begin(node)
            print(f"{node.name} restarted, longest wait {max(trial.waits[before:], default=0):.3f} s", flush=True)
            await run.all_move()
        longest = max(trial.waits[before:])
    return run.last_line("rolling", (time.monotonic() - began) / 60, {"node terminated": NODES}, longest < AIM)


def come_home(trial, node):
    """Clients whose node is back go there again."""
    for client in trial.clients:
        if client.home is node and client.is_connected and client.node is not node:
            client.connection.abort()


def plyhouse_in(directory):
    path = os.path.join(directory, "plyhouse")
    if not os.access(path, os.X_OK):
        raise SystemExit(f"there is no {path}")
    return path
