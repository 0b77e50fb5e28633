"""Has bots play one match of each game that is kept in files, each by some clock, and reads what
`plyhouse export` and the server make of it with the field's own tools, where there are any: python-chess,
pydraughts and sgfmill. What the clocks showed is compared with what was told of each move."""
import io
import json
import re
import subprocess
import sys
import tempfile
import urllib.request

import chess.pgn
import draughts
from draughts.PDN import PDNReader
from sgfmill import sgf
from websockets.sync.client import connect

PLYHOUSE = sys.argv[1] if len(sys.argv) > 1 else "target/debug/plyhouse"

CLOCKS = {
    "chess": {"kind": "fischer", "main_ms": 300_000, "increment_ms": 3000},
    "connect-four": {"kind": "fischer", "main_ms": 300_000, "increment_ms": 0},
    "draughts": {"kind": "delay", "main_ms": 60_000, "delay_ms": 500},
    "go": {"kind": "byo-yomi", "main_ms": 0, "period_ms": 10_000, "periods": 3},
    "gomoku": {"kind": "move", "move_ms": 30_000},
    "othello": {"kind": "byo-yomi", "main_ms": 300_000, "period_ms": 10_000, "periods": 3},
    "tic-tac-toe": {"kind": "fischer", "main_ms": 60_000, "increment_ms": 0},
}
# Positions from which matches are played, too; in each the second seat is to move.
STARTS = {
    "chess": "4k3/4p3/8/8/8/8/4P3/4K2R b K - 3 20",
    "connect-four": "......./......./......./......./...y.../..rry.r",
    "draughts": "W:W18,K31:B5,K9:H3:F20",
    "go": "/".join([*["." * 9] * 2, "..b...b..", "." * 9, "....w....", *["." * 9] * 4]) + " w 0 0 0 3",
    "gomoku": "15/15/15/15/15/15/15/6wbb6/15/15/15/15/15/15/15",
    "othello": "-" * 19 + "*-------**------*O" + "-" * 27 + " O",
    "tic-tac-toe": "x.o/.../..x",
}
TIME_CONTROLS = {"chess": "300+3", "draughts": "60d0.5"}
OVERTIMES = {"go": (0, "3x10 byo-yomi"), "gomoku": (0, "1/30 simple"), "othello": (300, "3x10 byo-yomi")}


def read_pgn(text, match):
    game = chess.pgn.read_game(io.StringIO(text))
    assert not game.errors, game.errors
    assert game.headers["TimeControl"] == TIME_CONTROLS[match["game"]], game.headers
    clocks = [round(node.clock() * 1000) for node in game.mainline()]
    assert clocks == [left for left, _ in match["left"]], (clocks, match["left"])
    moves = [move.uci() for move in game.mainline_moves()]
    assert moves == match["moves"], (moves, match["moves"])
    assert game.headers.get("FEN") == match.get("start"), game.headers
    board = game.end().board()
    assert board.fen() == match["position"], (board.fen(), match["position"])
    result = {0: "1-0", 1: "0-1", None: "1/2-1/2"}[match["outcome"]["winner"]]
    assert game.headers["Result"] == result, game.headers
    if match["outcome"]["detail"] in ("checkmate", "stalemate"):
        assert board.result() == result


def read_pdn(text, match):
    # The reader mistakes "1..." for a part of "11.", and knows no game that the second side begins: it gets
    # the moves alone, in pairs.
    head, body = text.split("\n\n")
    *words, result = re.sub(r"\{[^}]*\}|\d+\.+\s", "", body).split()
    pairs = [" ".join(words[ply : ply + 2]) for ply in range(0, len(words), 2)]
    numbered = " ".join(f"{number}. {pair}" for number, pair in enumerate(pairs, 1))
    (game,) = PDNReader(f"{head}\n\n{numbered} {result}\n").games
    first = re.match(r"(\d+\.+) ", body)[1]
    assert first == ("20..." if "start" in match else "1."), first
    assert game.variant == "english", game.variant
    assert game.tags.get("FEN") == match.get("start"), game.tags
    # It reads no more than where the pieces stand, and whose turn it is.
    start = match.get("start", "startpos").partition(":H")[0]
    board = draughts.Board(variant="english", fen=start)
    assert len(game.moves) == len(match["moves"]), (game.moves, match["moves"])
    for move in game.moves:
        board.push(draughts.Move(board, pdn_move=move))
    assert game.tags["TimeControl"] == TIME_CONTROLS[match["game"]], game.tags
    clocks = re.findall(r"\[%clk (\d+):(\d+):([\d.]+)\]", text)
    clocks = [round((int(h) * 3600 + int(m) * 60 + float(s)) * 1000) for h, m, s in clocks]
    assert clocks == [left for left, _ in match["left"]], (clocks, match["left"])
    # In PDN 2.0 "1-0" is a win of Black, who has the first seat.
    expected = {0: "1-0", 1: "0-1", None: "1/2-1/2"}[match["outcome"]["winner"]]
    assert game.tags["Result"] == result == expected, (game.tags, result)


def read_sgf(text, match):
    game = sgf.Sgf_game.from_string(text)
    size, side = game.get_size(), "wb" if "start" in match else "bw"
    root = game.get_root()
    assert root.has_setup_stones() == ("start" in match)
    if "start" in match:
        black, white, _ = root.get_setup_stones()
        letters = {"othello": "*O"}.get(match["game"], "bw")
        stones = [match["start"].count(letter) for letter in letters]
        # One of the letters also tells whose turn it is.
        stones[1] -= match["start"].endswith(" O") or match["game"] == "go"
        assert [len(black), len(white)] == stones, (black, white, match["start"])
        assert root.get("PL") == "w", root.get("PL")
    times = (root.get("TM"), root.get("OT"))
    assert times == OVERTIMES[match["game"]], times
    nodes = game.get_main_sequence()[1:]
    assert len(nodes) == len(match["moves"])
    for ply, (node, move) in enumerate(zip(nodes, match["moves"])):
        color, point = node.get_move()
        assert color == side[ply % 2], (ply, color)
        if match["game"] == "go":
            columns = "ABCDEFGHJKLMNOPQRST"
        else:
            columns = "abcdefghijklmno"
        if point is None:
            written = "pass"
        else:
            row, column = point
            # SGF counts from the top, where boards of Othello have their first rank.
            rank = size - row if match["game"] == "othello" else row + 1
            written = f"{columns[column]}{rank}"
        assert written == move, (written, move)
        left, periods = match["left"][ply]
        shown = node.get("BL" if color == "b" else "WL")
        if periods is not None and left == 0:
            assert shown == 10, shown
            assert node.get("OB" if color == "b" else "OW") == periods, periods
        else:
            assert round(shown * 1000) == left, (shown, left)
    winner = {0: "b", 1: "w", None: None}[match["outcome"]["winner"]]
    assert game.get_winner() == winner, (game.get_winner(), winner)


def read_txt(text, match):
    *start, moves, result = text.splitlines()
    assert start == [match[name] for name in ["start"] if name in match], start
    assert moves.split(" ") == match["moves"], (moves, match["moves"])
    assert result == {0: "1-0", 1: "0-1", None: "1/2-1/2"}[match["outcome"]["winner"]], result


READERS = {"pgn": read_pgn, "pdn": read_pdn, "sgf": read_sgf, "txt": read_txt}


def play(socket, game, start):
    """The snapshot of a match between two bots that has ended, with what the mover of each ply had
    left: milliseconds, and periods in byo-yomi."""
    bots = [{"bot": "beginner"}, {"bot": "easy"}]
    create = {"type": "create", "game": game, "seats": bots, "clock": CLOCKS[game]}
    # Slowly enough that this sees all of it: what it is too late for comes with the snapshot alone.
    socket.send(json.dumps(create | {"pace_ms": 1, "position": start}))
    left = {}
    while True:
        message = json.loads(socket.recv(timeout=300))
        assert message["type"] != "error", message
        if message["type"] == "match" and message["game"] == game:
            match = message["match"]
            if message["status"] == "ended":
                message["left"] = [left[ply] for ply in range(len(message["moves"]))]
                return message
        if message["type"] == "moved" and message["match"] == match:
            seat = message["seat"]
            periods = message.get("periods")
            left[message["ply"]] = (message["left_ms"][seat], periods and periods[seat])
        if message["type"] == "ended" and message["match"] == match:
            socket.send(json.dumps({"type": "watch", "match": match}))


with tempfile.TemporaryDirectory() as data:
    server = subprocess.Popen(
        [PLYHOUSE, "--listen", "127.0.0.1:0", "--data", data],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = server.stderr.readline().split()[-1]
        with connect(f"ws://{address}/ws", subprotocols=["plyhouse.v1"]) as socket:
            socket.send(json.dumps({"type": "hello"}))
            games = json.loads(socket.recv())["games"]
            kept = [game for game in games if "record" in game]
            assert len(kept) == 7, kept
            for game, start in [(game, start) for game in kept for start in [None, STARTS[game["game"]]]]:
                match, form = play(socket, game["game"], start), game["record"]
                url = f"http://{address}/record/{match['match']}.{form}"
                served = urllib.request.urlopen(url).read()
                export = [PLYHOUSE, "export", "--data", data, "--format", form, match["match"]]
                assert subprocess.run(export, capture_output=True, check=True).stdout == served
                READERS[form](served.decode(), match)
                print(f"{game['game']}: {len(match['moves'])} moves read back")
    finally:
        server.terminate()
        server.communicate(timeout=30)
