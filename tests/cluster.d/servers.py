"""The programs under test, on free ports and in one directory: PostgreSQL, NATS, nodes and their proxies."""

import asyncio
import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NODES = 3

# How long a program may take until it does what it is for.
START_MAX = 30.0

# PostgreSQL does not run as root.
AS_NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]

# What the command that appends to journals compares. See `servers.start`.
COMPARE = "p.last = u.after AND p.seq = u.seq AND p.epoch = u.epoch"

# Lets an entry through whose place is taken, as the next.
RENUMBER = """
    CREATE FUNCTION renumbered() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        final journal%ROWTYPE;
    BEGIN
        SELECT * INTO final FROM journal WHERE m = NEW.m ORDER BY n DESC LIMIT 1;
        IF NEW.n <= final.last THEN
            NEW.seq := final.seq + (NEW.last - NEW.n + 1);
            NEW.last := final.last + 1 + (NEW.last - NEW.n);
            NEW.n := final.last + 1;
            NEW.epoch := final.epoch;
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER renumbered BEFORE INSERT ON journal FOR EACH ROW WHEN (NEW.body <> '[]')
        EXECUTE FUNCTION renumbered();
"""


class Failed(Exception):
    """The trial cannot go on, and that is not a violation."""


# The ports that were given out: whoever has one may not listen yet.
PORTS = set()


def free_port():
    while True:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        if port not in PORTS:
            PORTS.add(port)
            return port


def postgres_programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[-2]))
    return found[-1] if found else os.path.dirname(shutil.which("initdb") or sys.exit("no PostgreSQL"))


class Program:
    """A program that is started, killed and started again. What it says is kept in a file."""

    def __init__(self, name, directory, command):
        self.name, self.command = name, command
        self.log = os.path.join(directory, f"{name}.log")
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    @property
    def runs(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        if self.runs:
            self.process.send_signal(number)

    async def end(self, number):
        """Signals it, and waits until it has gone."""
        self.signal(number)
        await asyncio.get_running_loop().run_in_executor(None, self.process.wait)

    async def ready(self, asked):
        """Waits until what is asked says so, and starts the program again if it gave up."""
        for _ in range(int(START_MAX * 10)):
            if await asked():
                return
            if not self.runs:
                self.start()
            await asyncio.sleep(0.1)
        raise Failed(f"{self.name} is not ready after {START_MAX:.0f} s: see {self.log}")


async def can_connect(port):
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        return True
    except OSError:
        return False


async def is_ready(port):
    """Whether the node there says that it can do its work."""
    try:
        reader, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 1)
        try:
            writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = await asyncio.wait_for(reader.readline(), 1)
            return b" 200 " in answer
        finally:
            writer.close()
    except (OSError, asyncio.TimeoutError):
        return False


class Node(Program):
    """A node, and its proxies to the database and to NATS."""

    def __init__(self, number, servers, options):
        self.number = number
        self.port = free_port()
        self.proxies = {"database": free_port(), "nats": free_port()}
        self.is_up = False
        database = f"postgres://plyhouse@127.0.0.1:{self.proxies['database']}/plyhouse"
        nats = f"nats://127.0.0.1:{self.proxies['nats']}"
        command = [servers.plyhouse, "--cluster", "--database", database, "--nats", nats]
        command += ["--listen", f"127.0.0.1:{self.port}", "--search-threads", "1", *options]
        command += ["--log-format", "text"]
        super().__init__(f"node{number}", servers.directory, command)


class Servers:
    def __init__(self, directory, plyhouse, options=(), with_compare=True):
        self.directory, self.plyhouse, self.with_compare = directory, plyhouse, with_compare
        self.port, nats_port = free_port(), free_port()
        self.programs = postgres_programs()
        self.data = os.path.join(directory, "postgres")
        self.as_nobody = AS_NOBODY if os.getuid() == 0 else []
        command = [*self.as_nobody, f"{self.programs}/postgres", "-D", self.data, "-h", "127.0.0.1"]
        command += ["-p", str(self.port), "-k", self.data, "-c", "fsync=on", "-c", "max_connections=300"]
        self.postgres = Program("postgres", directory, command)
        nats = ["nats-server", "-a", "127.0.0.1", "-p", str(nats_port)]
        self.nats = Program("nats", directory, nats)
        self.nats_port = nats_port
        self.nodes = [Node(number, self, options) for number in range(1, NODES + 1)]
        self.proxies = None
        # How often the command that compares was replaced.
        self.replaced = 0

    @property
    def database(self):
        """The address of the database, past all proxies."""
        return f"postgres://plyhouse@127.0.0.1:{self.port}/plyhouse"

    async def start(self):
        os.chmod(self.directory, 0o755)
        os.mkdir(self.data)
        if self.as_nobody:
            shutil.chown(self.data, "nobody", "nogroup")
        init = [*self.as_nobody, f"{self.programs}/initdb", "-D", self.data, "-A", "trust", "-U", "plyhouse"]
        await self.run([*init, "--no-locale", "-E", "UTF8"], cwd=self.data)
        self.postgres.start()
        self.nats.start()
        await self.postgres_ready()
        await self.nats_ready()
        await self.sql("CREATE DATABASE plyhouse", database="postgres")
        await self.start_proxies()
        # The first alone makes the tables, the others find them.
        for node in self.nodes:
            node.start()
            await self.node_ready(node)
            if not self.with_compare and node is self.nodes[0]:
                await self.sql(RENUMBER)

    async def start_proxies(self):
        """Without the compare the database is told to compare nothing: the proxies change the command on
        its way, and a trigger finds another place for what has none. The node is what is shipped."""
        ends = {}
        for node in self.nodes:
            for side, to in (("database", self.port), ("nats", self.nats_port)):
                ends[f"{node.name}.{side}"] = {"listen": node.proxies[side], "to": to}
        if not self.with_compare:
            for node in self.nodes:
                ends[f"{node.name}.database"]["instead"] = (COMPARE, "true".ljust(len(COMPARE)))
        command = [sys.executable, os.path.join(HERE, "proxies.py"), json.dumps(ends)]
        pipe = asyncio.subprocess.PIPE
        self.proxies = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, start_new_session=True
        )
        await self.proxies.stdout.readline()
        self.reading = asyncio.ensure_future(self.read_proxies())

    async def read_proxies(self):
        while line := await self.proxies.stdout.readline():
            self.replaced += int(line.split()[1])

    def suffer(self, node, side, fault):
        self.proxies.stdin.write(f"{node.name}.{side} {fault}\n".encode())

    async def postgres_ready(self):
        command = [f"{self.programs}/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]

        async def asked():
            process = await asyncio.create_subprocess_exec(*command)
            return await process.wait() == 0

        await self.postgres.ready(asked)

    async def nats_ready(self):
        await self.nats.ready(lambda: can_connect(self.nats_port))

    async def node_ready(self, node):
        await node.ready(lambda: is_ready(node.port))
        node.is_up = True

    async def sql(self, text, database="plyhouse"):
        """The rows that a statement gives, each a list of texts."""
        command = [f"{self.programs}/psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "plyhouse", "-X"]
        command += ["-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-f", "-", database]
        told = await self.run(command, input=text.encode())
        return [line.split("\t") for line in told.decode().splitlines()]

    async def run(self, command, input=None, **how):
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe, **how)
        told, wrong = await process.communicate(input)
        if process.returncode:
            raise Failed(f"{command[0]}: {wrong.decode().strip()}")
        return told

    async def stop(self):
        for program in (*self.nodes, self.nats, self.postgres):
            program.signal(signal.SIGCONT)
            # PostgreSQL ends at once so, and writes nothing more.
            program.signal(signal.SIGQUIT if program is self.postgres else signal.SIGKILL)
        for program in (*self.nodes, self.nats, self.postgres):
            if program.process:
                program.process.wait()
        if self.proxies and self.proxies.returncode is None:
            self.proxies.kill()
            await self.proxies.wait()
