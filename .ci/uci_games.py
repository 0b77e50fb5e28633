"""python-chess plays games against `plyhouse engine --game chess`: from positions that no capture and no move of a pawn
has changed for long, and from dead positions. The server ends such games, other programs go on. So the engine has to
answer with a legal move every time. Its opponent moves at random."""
import random
import sys

import chess
import chess.engine

PLYHOUSE = sys.argv[1] if len(sys.argv) > 1 else "target/debug/plyhouse"
SEED = 20_261_127
LIMIT = chess.engine.Limit(nodes=200, depth=4)
# With too few pieces to mate, a game of this script goes on for so many plies.
DEAD_PLIES = 8

# In every second game the engine has the side to move.
STARTS = [
    # High clocks. After 150 plies a game ends without a claim (FIDE laws, article 9.6.2).
    "4k3/8/8/8/8/8/3R4/4K3 w - - 100 90",
    "4k3/8/8/8/8/8/3R4/4K3 b - - 101 90",
    "8/8/4k3/8/8/4K3/4Q3/8 w - - 104 92",
    "8/1k6/8/2n5/8/4B3/1PK5/8 b - - 111 130",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 99 80",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 120 80",
    "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 130 99",
    "8/P6k/8/8/8/8/p6K/8 w - - 147 200",
    "8/5k2/8/3q4/8/2N5/1K6/8 w - - 149 170",
    "4k3/4p3/8/8/8/8/4P3/4K3 w - - 110 65535",
    "8/5k2/8/3q4/8/2N5/1K6/8 b - - 149 170",
    "4k3/4p3/8/8/8/8/4P3/4K3 b - - 110 70000",
    "1n2k3/8/8/8/8/8/8/1N2K1N1 w - - 140 250",
    "5rk1/8/8/8/8/8/8/K1R5 b - - 98 61",
    # Dead positions, the last two by their pawns.
    "8/8/4k3/8/8/3BK3/8/8 w - - 0 60",
    "8/8/4k3/8/8/3NK3/8/8 b - - 12 60",
    "8/8/4k3/8/8/4K3/8/8 w - - 100 60",
    "5b2/8/4k3/8/8/2B1K3/8/8 w - - 3 70",
    "4k3/8/1p1p1p1p/1P1P1P1P/8/8/8/4K3 w - - 149 300",
    "4k3/8/1p1p1p1p/1P1P1P1P/8/8/8/4K3 b - - 123 111",
]


def is_over(board, dead_plies):
    if board.is_insufficient_material() and any(board.legal_moves):
        return dead_plies >= DEAD_PLIES
    return board.is_game_over(claim_draw=False)


def play(engine, number, dice):
    """Plays a game, and returns the board and how many moves the engine has made."""
    board = chess.Board(STARTS[number])
    side = board.turn if number % 2 == 0 else not board.turn
    count = dead_plies = 0
    while not is_over(board, dead_plies):
        dead_plies += board.is_insufficient_material()
        if board.turn != side:
            board.push(dice.choice(list(board.legal_moves)))
            continue
        move = engine.play(board, LIMIT, game=number).move
        assert move in board.legal_moves, f"{move} in {board.fen()}"
        board.push(move)
        count += 1
    return board, count


dice = random.Random(SEED)
with chess.engine.SimpleEngine.popen_uci([PLYHOUSE, "engine", "--game", "chess", "--table", "8"]) as engine:
    for number in range(len(STARTS)):
        board, count = play(engine, number, dice)
        assert count > 0, STARTS[number]
        print(f"{STARTS[number]}: {count} moves of the engine, {board.result()}")
