"""The checks. Each takes a started server and returns a sentence about what it has seen."""

import collections
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request

from client import Client, Lost
from server import PATIENCE, Failed, run
from terminal import Terminal

HERE = os.path.dirname(os.path.abspath(__file__))

GAMES = ["chess", "connect-four", "draughts", "go", "gomoku", "othello", "tic-tac-toe"]
LEVELS = ["beginner", "easy", "medium", "hard", "max"]

# How `ply` and the page say that a match is over.
# The page says "A draw.", and `ply` says "Draw."
RESULTS = ("You win!", "You lose.", "A draw.", "Draw.")

# A row of a tic-tac-toe board on the screen of `ply`: its number and its three squares.
SCREEN_ROW = re.compile(r"^ *([123]) │(.{3})│(.{3})│(.{3})│", re.MULTILINE)


def expect(holds, failure):
    if not holds:
        raise Failed(failure)


def ended_record(server, code):
    """The moves and the result in the record of a match that has to be over."""
    try:
        with urllib.request.urlopen(f"{server.web}/record/{code}.txt", timeout=PATIENCE) as answer:
            moves, result = answer.read().decode().splitlines()
    except urllib.error.HTTPError as error:
        raise Failed(f"the record of match {code}: {error}") from None
    expect(result in ("1-0", "0-1", "1/2-1/2"), f"match {code} has not ended: {moves!r}, {result!r}")
    return moves.split(), result


def page(server):
    """The page shows a board, plays a match against a bot, and shows the result."""
    # Longer than the page's own waits, so that those say what was missing.
    shown = json.loads(run(["node", os.path.join(HERE, "page.mjs"), server.web], timeout=3 * PATIENCE))
    code = shown["address"].rsplit("/", 1)[1]
    moves, result = ended_record(server, code)
    seen = [move.strip().split()[-1] for move in shown["moves"]]
    expect(seen == moves, f"the page shows the moves {seen}, the record has {moves}")
    standing = " ".join(shown["standing"].split())
    expect(any(known in standing for known in RESULTS), f"the page shows no result: {standing!r}")
    return f"tic-tac-toe against a bot, {len(moves)} moves, {result}: {standing}"


def pipe(server):
    """`ply` plays a match against a bot while its input is a pipe."""
    command, environment = server.ply("play", "tic-tac-toe", "--bot", "hard")
    # Tries all squares in turn, as the example in `ply --help` does.
    squares = "".join(f"{square}\n" for square in range(1, 10)) * 9
    shown = run(command, input=squares, env=environment)
    code = re.match(r"Tic-tac-toe ([A-Z0-9]{6}),", shown)
    expect(code, f"`ply` does not name the match:\n{shown}")
    moves, result = ended_record(server, code[1])
    last = shown.strip().splitlines()[-1]
    expect(last.startswith(RESULTS), f"`ply` shows no result: {last!r}")
    return f"tic-tac-toe against the hard bot, {len(moves)} moves, {result}: {last}"


def squares_on(screen):
    """The board on the screen by squares, once all of it is drawn."""
    rows = SCREEN_ROW.findall(screen)
    board = {f"{file}{row}": cell.strip(" []*") for row, *cells in rows for file, cell in zip("abc", cells)}
    return board if len(board) == 9 else None


def terminal(server):
    """`ply` plays a match against a bot on the full screen of a terminal."""
    ply = Terminal(*server.ply("play", "tic-tac-toe", "--bot", "hard"))
    try:
        board = None

        def turn(screen):
            """The board, once it has changed and it is the player's turn, or the match is over."""
            now = squares_on(screen)
            is_turn = "Your turn." in screen or any(result in screen for result in RESULTS)
            return now if is_turn and now != board else None

        while True:
            board = ply.wait("the player's turn, or the end", turn)
            result = next((result for result in RESULTS if result in ply.text), None)
            if result:
                break
            ply.types(min(square for square, mark in board.items() if not mark) + "\r")
        code = re.search(r"Tic-tac-toe ([A-Z0-9]{6}),", ply.text)
        ply.types("quit\r")
        status = ply.wait_for_end()
        expect(status == 0, f"`ply` ended with {status}")
    finally:
        ply.close()
    moves, score = ended_record(server, code[1])
    drawn = {square: mark for square, mark in board.items() if mark}
    played = {square: "xo"[ply % 2] for ply, square in enumerate(moves)}
    expect(drawn == played, f"the screen shows {drawn}, the record has {played}")
    return f"tic-tac-toe against the hard bot, {len(moves)} moves, {score}: {result}"


def program(server):
    """A program of 20 lines plays every game against every level from either seat.

    It plays random moves. All matches end by the rules of their game. In Go it passes from ply 40 on, since random
    moves may go on for 1,000 plies; the bot still has to end the match by passing, too.
    """
    source = os.path.join(HERE, "player.py")
    with open(source, encoding="utf-8") as lines:
        expect(len(lines.readlines()) <= 20, "player.py has more than 20 lines")

    client = Client(server.url)
    offered = sorted(game["game"] for game in client.welcome["games"])
    client.close()
    expect(offered == GAMES, f"the server offers {offered} instead of {GAMES}")

    def play(game):
        # All matches of a game, one after the other: longer than any other single wait.
        command = [sys.executable, source, server.url, game, "1"]
        return subprocess.run(command, capture_output=True, text=True, timeout=5 * PATIENCE)

    with concurrent.futures.ThreadPoolExecutor(len(GAMES)) as pool:
        played = list(pool.map(play, GAMES))
    results = collections.Counter()
    events = 0
    for game, done in zip(GAMES, played):
        expect(done.returncode == 0, f"player.py, {game}: {done.stdout}{done.stderr}")
        matches = [line.split() for line in done.stdout.splitlines()]
        seen = [(level, seat) for _, level, seat, *_ in matches]
        wanted = [(level, seat) for level in LEVELS for seat in "01"]
        expect(seen == wanted, f"{game}: played {seen} instead of {wanted}")
        for _, level, seat, reason, winner, seq in matches:
            expect(reason == "rules", f"{game}, {level}, seat {seat}: ended by {reason}")
            results["drawn" if winner == "None" else "won" if winner == seat else "lost"] += 1
            events += int(seq)
    told = ", ".join(f"{results[result]} {result}" for result in ("won", "drawn", "lost"))
    return f"{len(GAMES)} games, {len(LEVELS)} levels, 2 seats: {told}, {events} events"


def play_out(clients, match, chance):
    """Two clients play random moves to the end. Returns the events that each has seen."""
    seen = [[], []]
    while True:
        for seat, client in enumerate(clients):
            seen[seat].append(client.next_of(("started", "moved", "ended"), match))
        news = seen[0][-1]
        if news["type"] == "ended":
            return seen
        if news["turn"] is not None:
            ply = news.get("next_ply", news["ply"])
            move = chance.choice(news["legal"])
            clients[news["turn"]].ask("move", match=match, ply=ply, move=move)


def people(server):
    """Two clients play each other. A host seats a bot in the empty seat and plays it."""
    chance = random.Random(1)
    ann, bob = Client(server.url, name="ann"), Client(server.url, name="bob")
    match = ann.ask("create", game="othello", seats=["me", "open"])
    expect(match["status"] == "open", f"the match is {match['status']} with one player")
    joined = bob.ask("join", match=match["code"])
    expect((joined["you"], joined["status"]) == (1, "running"), f"after `join`: {joined}")
    # Bob has a snapshot where Ann has the event `started`.
    bob.unread.append({**joined, "type": "started"})
    started, *seen = zip(*play_out((ann, bob), joined["match"], chance))
    expect(started[0]["position"] == started[1]["position"], f"they begin with different positions: {started}")
    expect(all(one == other for one, other in seen), f"the players have seen different events: {seen}")
    expect(seen[-1][0]["outcome"]["reason"] == "rules", f"the end: {seen[-1][0]}")

    match = ann.ask("create", game="connect-four", seats=["open", "me"])
    ann.ask("seat", match=match["match"], seat=0, occupant={"bot": "medium"})
    moves = 0
    while (news := ann.next_of(("started", "moved", "ended"), match["match"]))["type"] != "ended":
        moves += news["type"] == "moved"
        if news["turn"] == 1:
            ply = news.get("next_ply", news["ply"])
            ann.ask("move", match=match["match"], ply=ply, move=chance.choice(news["legal"]))
    outcome = news["outcome"]
    expect(outcome["reason"] == "rules", f"the end: {outcome}")
    for client in (ann, bob):
        client.close()
    return f"othello, {len(seen) - 1} moves; connect-four against a bot seated by the host, {moves} moves"


class Spectator:
    """`ply watch`: the moves of a match and its outcome, from the messages that it prints."""

    def __init__(self, server, *arguments):
        command, environment = server.ply("watch", *arguments, "--json")
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        self.code, self.moves, self.live, self.outcome = None, [], 0, None
        self.has_code = threading.Event()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for message in map(json.loads, self.process.stdout):
            if message["type"] == "match":
                self.code, self.moves = message["code"], list(message["moves"])
                self.outcome = message.get("outcome")
                self.has_code.set()
            elif message["type"] == "moved":
                self.moves[message["ply"] :] = [message["move"]]
                self.live += 1
            elif message["type"] == "ended":
                self.outcome = message["outcome"]

    def wait_for_end(self):
        try:
            status = self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failed(f"`ply watch` has not ended after {PATIENCE} s, and {len(self.moves)} moves") from None
        self.reader.join(timeout=PATIENCE)
        expect(status == 0, f"`ply watch` ended with {status}: {self.process.stderr.read()}")


def watch(server):
    """Two bots play each other, and two spectators see the same moves."""
    first = Spectator(server, "--bots", "easy,max", "connect-four", "--pace", "300")
    spectators = [first]
    try:
        expect(first.has_code.wait(PATIENCE), "`ply watch --bots` names no match")
        second = Spectator(server, first.code)
        spectators.append(second)
        for spectator in spectators:
            spectator.wait_for_end()
    finally:
        for spectator in spectators:
            if spectator.process.poll() is None:
                spectator.process.kill()
                spectator.process.wait(timeout=PATIENCE)
    expect(first.moves == second.moves, f"they see different moves: {first.moves}, {second.moves}")
    expect(second.live > 0, "the second spectator came after the last move")
    expect(first.outcome, "the first spectator sees no end")
    expect(first.outcome == second.outcome, f"they see different ends: {first.outcome}, {second.outcome}")
    moves, result = ended_record(server, first.code)
    expect(moves == first.moves, f"the record has other moves: {moves}, {first.moves}")
    return f"easy against max, {len(moves)} moves, {result}; the second spectator saw {second.live} of them live"


class Players:
    """Two players in several matches of Othello. Both play random moves as fast as the server takes them."""

    MATCHES = 8

    def __init__(self, server):
        self.server = server
        self.chance = random.Random(1)
        self.changed = threading.Condition()
        # The moves and the outcome of each match, as far as at least one of the two has received them.
        self.told, self.outcomes = {}, {}
        # The number of these moves.
        self.confirmed = 0
        # The first exception in either thread.
        self.failure = None

    def create(self):
        ann, bob = Client(self.server.url, name="ann"), Client(self.server.url, name="bob")
        self.tokens = [client.welcome["token"] for client in (ann, bob)]
        for number in range(self.MATCHES):
            if number % 2:
                match = ann.ask("create", game="othello", seats=["me", {"bot": "easy"}])
            else:
                match = ann.ask("create", game="othello", seats=["me", "open"])
                bob.ask("join", match=match["match"])
            self.told[match["match"]] = []
        # The server sends each running match again to the next connections of the two.
        for client in (ann, bob):
            client.close()

    def play(self):
        """Connects both with their tokens, and plays until the server is gone or all matches have ended."""
        threads = [threading.Thread(target=self._seat, args=(token,), daemon=True) for token in self.tokens]
        for thread in threads:
            thread.start()
        return threads

    def _seat(self, token):
        try:
            client = Client(self.server.url, token=token)
            expect(client.welcome["resumed"], "the token is not known any more")
            seats = {}
            while self.is_playing():
                self._handle(client, seats, client.next())
            client.close()
        except Lost:
            pass
        except Exception as failure:
            with self.changed:
                self.failure = self.failure or failure
                self.changed.notify_all()

    def is_playing(self):
        with self.changed:
            return len(self.outcomes) < self.MATCHES and not self.failure

    def _handle(self, client, seats, news):
        """Notes what a message tells, and answers with a move if it is this client's turn."""
        expect(news["type"] != "error", f"the server sends an error: {news}")
        match = news.get("match")
        with self.changed:
            if news["type"] == "match":
                self._compare(match, news["moves"])
            elif news["type"] == "moved":
                self._compare(match, [*self.told[match][: news["ply"]], news["move"]])
            if news.get("outcome"):
                self.outcomes[match] = news["outcome"]
            self.changed.notify_all()
        if news["type"] == "match":
            seats[match] = news["you"]
        if news.get("legal") and news["turn"] == seats[match]:
            ply = news.get("next_ply", news["ply"])
            client.send("move", match=match, ply=ply, move=self.chance.choice(news["legal"]))

    def _compare(self, match, moves):
        """What is told now has to agree with what was told before."""
        told = self.told[match]
        common = min(len(told), len(moves))
        expect(told[:common] == moves[:common], f"match {match} has other moves: {moves}, after {told}")
        self.confirmed += max(0, len(moves) - len(told))
        self.told[match] = max(told, moves, key=len)

    def wait_for(self, holds, what):
        with self.changed:
            in_time = self.changed.wait_for(lambda: holds() or self.failure, timeout=2 * PATIENCE)
            if self.failure:
                raise self.failure
            expect(in_time, f"{what}: not after {2 * PATIENCE} s and {self.confirmed} moves")


def compare_with_told(server, players):
    """Compares what the server holds after a restart with what it told before it was killed."""
    ann = Client(server.url, token=players.tokens[0])
    expect(ann.welcome["resumed"], "after the restart the token is not known any more")
    for match, told in players.told.items():
        moves = ann.ask("watch", match=match)["moves"]
        expect(moves[: len(told)] == told, f"moves are lost: {told} was told, {moves} is kept")
    ann.close()


def kill(server):
    """Kills the server three times with SIGKILL in the middle of matches, which then go on without a loss."""
    players = Players(server)
    players.create()
    at_kill = []
    # The matches have about 480 moves together.
    for moves in (100, 200, 300):
        threads = players.play()
        players.wait_for(lambda: players.confirmed >= moves, f"{moves} moves before a kill")
        server.kill()
        for thread in threads:
            thread.join(timeout=PATIENCE)
        running = players.MATCHES - len(players.outcomes)
        expect(running > 0, "all matches had ended before the kill")
        at_kill.append(f"{running} matches after {players.confirmed} moves")
        server.start()
        compare_with_told(server, players)
    players.play()
    players.wait_for(lambda: not players.is_playing(), "the end of all matches")
    reasons = collections.Counter(outcome["reason"] for outcome in players.outcomes.values())
    expect(reasons == {"rules": players.MATCHES}, f"they ended by {dict(reasons)}")
    return f"killed in {', '.join(at_kill)}; {players.confirmed} moves in the end, none lost"
