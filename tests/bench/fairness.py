"""Measures what everybody else notices of a crowd, a flood and the like: the time from a person's
move to the opponent's screen, alone and beside each of them.

    python3 tests/bench/fairness.py
    python3 tests/bench/fairness.py --beside bots --rounds 6 OLD target/lto/plyhouse

The second line compares two builds: each is measured in each round, in turns, since a machine is not as fast
one minute as the next. Needs a build of the profile `lto` and `pip install websockets`. Server, measuring and
disturbance are processes of their own; with two cores they share them, so a disturbance that works hard
itself is noticed, too.
"""

import argparse
import asyncio
import json
import multiprocessing
import statistics
import subprocess
import tempfile
import threading
import time

import websockets

MOVES = "b2 a1 a2 c2 c1 a3 b1 b3 c3".split()
MATCHES = 40
BOT_MATCHES = 500
SPECTATORS = 5_000
HALF_OPEN = 1_000


async def connect(url):
    connection = await websockets.connect(url, compression=None, max_queue=None)
    await connection.send('{"type":"hello"}')
    await connection.recv()
    return connection


async def until(connection, wanted):
    while True:
        message = json.loads(await connection.recv())
        assert message["type"] != "error", message
        if wanted(message):
            return message


async def create(connection, **wishes):
    await connection.send(json.dumps({"type": "create", "id": 1, **wishes}))
    return (await until(connection, lambda m: m.get("re") == 1))["match"]


async def play(first, second, latencies, pause=0.0):
    """One match of tic-tac-toe; the time of each move to the opponent is added."""
    match = await create(first, game="tic-tac-toe")
    await second.send(json.dumps({"type": "join", "id": 2, "match": match}))
    await until(second, lambda m: m.get("re") == 2)
    await until(first, lambda m: m["type"] == "started" and m["match"] == match)
    for ply, move in enumerate(MOVES):
        mover, other = (first, second) if ply % 2 == 0 else (second, first)
        request = {"type": "move", "match": match, "ply": ply, "move": move}
        sent = time.perf_counter()
        await mover.send(json.dumps(request))
        is_it = lambda m: m["type"] == "moved" and m["match"] == match and m["ply"] == ply
        await until(other, is_it)
        latencies.append(time.perf_counter() - sent)
        await until(mover, is_it)
        await asyncio.sleep(pause)


async def measured(url):
    first, second = await connect(url), await connect(url)
    latencies = []
    for _ in range(MATCHES):
        await play(first, second, latencies, 0.005)
    return latencies


async def bots(url, ready):
    """Bots at full strength among themselves."""
    hosts = [await connect(url) for _ in range(10)]
    for number in range(BOT_MATCHES):
        seats = [{"bot": "max"}, {"bot": "max"}]
        await create(hosts[number % 10], game="chess", seats=seats)
    ready.set()
    await asyncio.gather(*(until(host, lambda m: False) for host in hosts))


async def crowd(url, ready):
    """A match that many watch, and that goes on; they read all they are told."""
    first, second = await connect(url), await connect(url)
    match = await create(first, game="gomoku", seats=[{"bot": "easy"}, {"bot": "easy"}], pace_ms=500)
    spectators = []
    for _ in range(SPECTATORS):
        spectator = await connect(url)
        await spectator.send(json.dumps({"type": "watch", "match": match}))
        spectators.append(asyncio.create_task(until(spectator, lambda m: False)))
    ready.set()
    await asyncio.gather(*spectators)


async def flood(url, ready):
    """Requests as fast as they go, and anew whenever that is ended."""
    while True:
        connection = await websockets.connect(url, compression=None)
        try:
            while True:
                for _ in range(100):
                    await connection.send('{"type":"list"}')
                ready.set()
        except websockets.ConnectionClosed:
            continue


async def deaf(url, ready):
    """Requests whose answers nobody reads."""
    connection = await websockets.connect(url, compression=None, max_queue=1)
    ready.set()
    while True:
        try:
            await connection.send('{"type":"list","limit":100}')
            await asyncio.sleep(0.06)
        except websockets.ConnectionClosed:
            connection = await websockets.connect(url, compression=None, max_queue=1)


async def half_open(url, ready):
    """Handshakes that are begun, and begun anew when they are given up."""
    host, port = url.removeprefix("ws://").removesuffix("/ws").split(":")

    async def one():
        while True:
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"GET /ws HTTP/1.1\r\nHost: ")
            await reader.read()
            writer.close()

    tasks = [asyncio.create_task(one()) for _ in range(HALF_OPEN)]
    await asyncio.sleep(1)
    ready.set()
    await asyncio.gather(*tasks)


def run(disturbance, url, ready):
    asyncio.run(disturbance(url, ready))


def started(program):
    data = tempfile.mkdtemp()
    options = ["--listen", "127.0.0.1:0", "--data", data, "--live-matches", "1000"]
    options += ["--requests-per-second", "1000", "--burst", "1000"]
    server = subprocess.Popen([program, *options], stderr=subprocess.PIPE, text=True)
    address = server.stderr.readline().removeprefix("listening on ").strip()
    return server, f"ws://{address}/ws"


def latencies_beside(program, disturbance):
    """The times of all moves of one measurement, beside the disturbance, in order of size."""
    server, url = started(program)
    threading.Thread(target=server.stderr.read, daemon=True).start()
    other = None
    if disturbance:
        ready = multiprocessing.Event()
        other = multiprocessing.Process(target=run, args=(disturbance, url, ready))
        other.start()
        assert ready.wait(120)
    latencies = sorted(asyncio.run(measured(url)))
    if other:
        other.kill()
    server.terminate()
    server.wait()
    return latencies


def main():
    disturbances = {d.__name__: d for d in (bots, crowd, flood, deaf, half_open)}
    parser = argparse.ArgumentParser(description="Measure the latency of moves while a crowd, a flood or another load disturbs the server")
    parser.add_argument("programs", nargs="*", default=["target/lto/plyhouse"], metavar="PROGRAM")
    parser.add_argument("--beside", action="append", choices=disturbances, help="measure only this disturbance (can be repeated)")
    parser.add_argument("--rounds", type=int, default=1, help="number of measurements of each program")
    args = parser.parse_args()

    print("| program | disturbance | median | p99 | median / undisturbed |")
    print("| --- | --- | --- | --- | --- |")
    alone = {}
    for name in ["none", *(args.beside or disturbances)]:
        medians = {program: [] for program in args.programs}
        late = {program: [] for program in args.programs}
        for turn in range(args.rounds):
            for program in args.programs[:: -1 if turn % 2 else 1]:
                latencies = latencies_beside(program, disturbances.get(name))
                medians[program].append(statistics.median(latencies) * 1000)
                late[program].append(latencies[len(latencies) * 99 // 100] * 1000)
        for program in args.programs:
            median, latest = statistics.median(medians[program]), statistics.median(late[program])
            alone.setdefault(program, median)
            ratio = median / alone[program]
            print(f"| {program} | {name} | {median:.2f} ms | {latest:.2f} ms | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
