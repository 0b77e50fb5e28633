"""TCP proxies whose connections can be made to fail, as a process of their own.

It is told what to do by lines on its standard input, each `NAME FAULT`, and ends with it:

    cut    bytes stop, both ways, and sockets stay; so it is with new ones
    heal   bytes go again, those that waited first
    drop   sockets are closed
    hole   the sockets that there are now are deaf for ever; new ones work

Its arguments are one JSON object: for each name `listen` and `to`, two ports of this machine, and
perhaps `instead`: a text and what is passed on instead of it. How often that was done is told by a line
on its standard output.
"""

import asyncio
import json
import sys

# How long the far end of a connection in a hole is kept open: a server that nobody has told of the end
# of its client goes on holding what that client had locked.
HOLE_KEPT = 30.0

READ_MAX = 65536


class Proxy:
    def __init__(self, listen, to, instead=None):
        self.listen, self.to = listen, to
        self.instead = tuple(text.encode() for text in instead) if instead else None
        self.flows = asyncio.Event()
        self.flows.set()
        self.pairs = set()

    async def start(self):
        await asyncio.start_server(self.accept, "127.0.0.1", self.listen)

    def suffer(self, fault):
        if fault == "cut":
            self.flows.clear()
        elif fault == "heal":
            self.flows.set()
        elif fault == "drop":
            for pair in list(self.pairs):
                pair.close()
        elif fault == "hole":
            for pair in self.pairs:
                pair.is_deaf = True

    async def accept(self, reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.to)
        except OSError:
            return writer.close()
        pair = Pair(self, writer, far_writer)
        self.pairs.add(pair)
        ways = pair.carry(reader, far_writer), pair.carry(far_reader, writer)
        ways = [asyncio.ensure_future(way) for way in ways]
        await asyncio.wait(ways, return_when="FIRST_COMPLETED")
        if pair.is_deaf:
            writer.close()
            await asyncio.sleep(HOLE_KEPT)
        pair.close()
        self.pairs.discard(pair)
        await asyncio.wait(ways)


class Pair:
    """The two sockets of one connection."""

    def __init__(self, proxy, near, far):
        self.proxy, self.near, self.far = proxy, near, far
        self.is_deaf = False

    def close(self):
        for writer in (self.near, self.far):
            writer.transport.abort()

    async def carry(self, reader, writer):
        try:
            while part := await reader.read(READ_MAX):
                await self.proxy.flows.wait()
                if self.is_deaf:
                    continue
                writer.write(self.changed(part))
                await writer.drain()
            # Where no bytes go, the news that a socket was closed does not, either.
            await self.proxy.flows.wait()
        except OSError:
            pass

    def changed(self, part):
        if not self.proxy.instead:
            return part
        before, after = self.proxy.instead
        if times := part.count(before):
            print(f"replaced {times}", flush=True)
        return part.replace(before, after)


async def main():
    proxies = {name: Proxy(**ends) for name, ends in json.loads(sys.argv[1]).items()}
    for proxy in proxies.values():
        await proxy.start()
    print("listening", flush=True)
    orders = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    while line := await orders.readline():
        name, fault = line.decode().split()
        proxies[name].suffer(fault)


if __name__ == "__main__":
    asyncio.run(main())
