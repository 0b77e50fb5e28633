"""Has bots play one match of each game that is kept in files, and reads what `plyhouse export` and the
server make of it with the field's own tools: python-chess, pydraughts and sgfmill."""
import io
import json
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


def read_pgn(text, match):
    game = chess.pgn.read_game(io.StringIO(text))
    assert not game.errors, game.errors
    moves = [move.uci() for move in game.mainline_moves()]
    assert moves == match["moves"], (moves, match["moves"])
    board = game.end().board()
    assert board.fen() == match["position"], (board.fen(), match["position"])
    result = {0: "1-0", 1: "0-1", None: "1/2-1/2"}[match["outcome"]["winner"]]
    assert game.headers["Result"] == result, game.headers
    if match["outcome"]["detail"] in ("checkmate", "stalemate"):
        assert board.result() == result


def read_pdn(text, match):
    (game,) = PDNReader(text).games
    assert game.variant == "english", game.variant
    board = draughts.Board(variant="english", fen="startpos")
    assert len(game.moves) == len(match["moves"]), (game.moves, match["moves"])
    for move in game.moves:
        board.push(draughts.Move(board, pdn_move=move))
    result = {0: "0-1", 1: "1-0", None: "1/2-1/2"}[match["outcome"]["winner"]]
    assert game.tags["Result"] == result, game.tags


def read_sgf(text, match):
    game = sgf.Sgf_game.from_string(text)
    size, side = game.get_size(), "bw"
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
    winner = {0: "b", 1: "w", None: None}[match["outcome"]["winner"]]
    assert game.get_winner() == winner, (game.get_winner(), winner)


READERS = {"pgn": read_pgn, "pdn": read_pdn, "sgf": read_sgf}


def play(socket, game):
    """The snapshot of a match between two bots that has ended."""
    bots = [{"bot": "beginner"}, {"bot": "easy"}]
    socket.send(json.dumps({"type": "create", "game": game, "seats": bots}))
    while True:
        message = json.loads(socket.recv(timeout=300))
        assert message["type"] != "error", message
        if message["type"] == "match" and message["game"] == game:
            match = message["match"]
            if message["status"] == "ended":
                return message
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
            assert len(kept) >= 5, kept
            for game in kept:
                match, form = play(socket, game["game"]), game["record"]
                url = f"http://{address}/record/{match['match']}.{form}"
                served = urllib.request.urlopen(url).read()
                export = [PLYHOUSE, "export", "--data", data, "--format", form, match["match"]]
                assert subprocess.run(export, capture_output=True, check=True).stdout == served
                READERS[form](served.decode(), match)
                print(f"{game['game']}: {len(match['moves'])} moves read back")
    finally:
        server.terminate()
        server.communicate(timeout=30)
