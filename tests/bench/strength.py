"""Plays `plyhouse engine` against the field's own programs, and counts.

    python3 tests/bench/strength.py chess --games 100 --seconds 1 --elo 2000
    python3 tests/bench/strength.py go --games 100 --seconds 0.5 --level 1

Needs the release build, Stockfish or GNU Go, and for chess `pip install chess`. One game at a time:
the engines take turns, so one core is enough.
"""

import argparse
import math
import random
import subprocess

PLYHOUSE = "target/release/plyhouse"
STOCKFISH = "/usr/games/stockfish"
GNU_GO = "/usr/games/gnugo"


class Tally:
    """What has been won, drawn and lost."""

    def __init__(self):
        self.results = []

    def add(self, result, how):
        self.results.append(result)
        won, drawn, lost = (self.results.count(r) for r in (1, 0.5, 0))
        low, high = self.interval()
        games, points = len(self.results), sum(self.results)
        share = f"{points / games:.1%} ({low:.1%} to {high:.1%})"
        print(f"{games}: {how}: +{won} ={drawn} -{lost}, {share}", flush=True)

    def interval(self):
        """The share of the points, with 95% confidence (Wilson's score interval)."""
        n, z = len(self.results), 1.96
        share = sum(self.results) / n
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return middle - half, middle + half


def play_chess(options):
    import chess
    import chess.engine

    random.seed(options.seed)
    judge = chess.engine.SimpleEngine.popen_uci(STOCKFISH)

    def opening():
        """Eight random plies after which neither side is ahead by more than 0.8 pawns."""
        while True:
            board = chess.Board()
            while board.ply() < 8 and not board.is_game_over():
                board.push(random.choice(list(board.legal_moves)))
            if board.is_game_over():
                continue
            score = judge.analyse(board, chess.engine.Limit(depth=10))["score"].white()
            if abs(score.score(mate_score=10_000)) <= 80:
                return board

    ours = chess.engine.SimpleEngine.popen_uci([PLYHOUSE, "engine", "--game", "chess"])
    theirs = chess.engine.SimpleEngine.popen_uci(STOCKFISH)
    theirs.configure({"UCI_LimitStrength": True, "UCI_Elo": options.elo})
    # Limited so, Stockfish chooses its move at a small depth, 7 for 2000, and thinks on for nothing.
    limits = {
        ours: chess.engine.Limit(time=options.seconds),
        theirs: chess.engine.Limit(time=options.seconds, depth=options.depth),
    }
    tally = Tally()
    for game in range(options.games):
        if game % 2 == 0:
            start = opening()
        board = start.copy()
        sides = [ours, theirs] if game % 2 == 0 else [theirs, ours]
        while (outcome := board.outcome(claim_draw=True)) is None:
            engine = sides[0 if board.turn == chess.WHITE else 1]
            board.push(engine.play(board, limits[engine], game=game).move)
        if outcome.winner is None:
            result = 0.5
        else:
            result = float(sides[0 if outcome.winner == chess.WHITE else 1] is ours)
        tally.add(result, outcome.termination.name.lower())
    for engine in (ours, theirs, judge):
        engine.quit()


class Gtp:
    """A program that speaks GTP."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for line in ("boardsize 9", "clear_board", "komi 7"):
            self(line)

    def __call__(self, line):
        print(line, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        assert answer.startswith("="), (line, answer)
        assert self.process.stdout.readline() == "\n"
        return answer[1:].strip()


def play_go(options):
    think = str(round(options.seconds * 1000))
    ours = Gtp(PLYHOUSE, "engine", "--game", "go", "--time", think)
    rules = ["--chinese-rules", "--capture-all-dead", "--positional-superko"]
    tally = Tally()
    for game in range(options.games):
        ours("clear_board")
        level = ["--level", str(options.level), "--seed", str(options.seed + game)]
        theirs = Gtp(GNU_GO, "--mode", "gtp", *level, *rules)
        sides = [ours, theirs] if game % 2 == 0 else [theirs, ours]
        moves = []
        while moves[-2:] != ["pass", "pass"]:
            side = len(moves) % 2
            color = "bw"[side]
            move = sides[side](f"genmove {color}").lower()
            if move == "resign":
                result, how = float(sides[side] is theirs), "resignation"
                break
            sides[1 - side](f"play {color} {move}")
            moves.append(move)
        else:
            how = ours("final_score")
            winner = {"B": sides[0], "W": sides[1]}.get(how[0])
            result = 0.5 if winner is None else float(winner is ours)
        theirs("quit")
        tally.add(result, how)
    ours("quit")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    games = parser.add_subparsers(required=True)
    chess = games.add_parser("chess")
    chess.add_argument("--elo", type=int, default=2000)
    chess.add_argument("--depth", type=int, default=8)
    chess.set_defaults(play=play_chess, seed=2026)
    go = games.add_parser("go")
    go.add_argument("--level", type=int, default=1)
    go.set_defaults(play=play_go, seed=1)
    for game in (chess, go):
        game.add_argument("--games", type=int, default=100)
        game.add_argument("--seconds", type=float, default=1)
        game.add_argument("--seed", type=int)
    options = parser.parse_args()
    options.play(options)


if __name__ == "__main__":
    main()
