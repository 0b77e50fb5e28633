"""Writes expected.json: for each file of this folder the value that every reader has to give.

The values come from python-chess, pydraughts and sgfmill, and for the other games from the few rules below.
Nothing here uses the code of the server. With --check, nothing is written, and the script fails if
expected.json differs.

Readers:
- analyse: `plyhouse analyse` and `perft`. One value for each line of a file, or for each game of a PGN or PDN file,
  whose moves are joined into one line.
- openings: `plyhouse match --openings`, which takes the whole file.
- loadsgf: the command of GTP, which takes the whole file.
- position: `ply … --position`. One value for each line.
- page: the text field of the page's board editor. It takes the whole file where that is a record (PGN, PDN, SGF), else
  each line.
"""
import io
import json
import re
import sys
from pathlib import Path

import chess
import chess.pgn
import draughts
from sgfmill import boards, sgf

FOLDER = Path(__file__).parent

# The wire counts no further (PROTOCOL.md): a larger number is read as the largest.
CHESS_QUIET_MAX = 100
DRAUGHTS_QUIET_MAX = 80
NUMBER_MAX = 65_535

OVER = "the game is over"

LISTS = "analyse openings"
POSITIONS = "analyse openings position page"
RECORD = "analyse openings page"
# File, game, the programs whose style it has, and the readers.
FILES = [
    ("chess/cutechess-adjudicated.pgn", "cutechess", LISTS),
    ("chess/cutechess-mate.pgn", "cutechess", LISTS),
    ("chess/fastchess-book.pgn", "fastchess", RECORD),
    ("chess/fastchess-book.epd", "fastchess", POSITIONS),
    ("chess/fastchess-semicolon.epd", "fastchess", POSITIONS),
    ("chess/suite.epd", "test suites", POSITIONS),
    ("chess/uci-moves.fen", "UCI", "page"),
    ("chess/lichess-analysed.pgn", "Lichess", LISTS),
    ("chess/lichess-study.pgn", "Lichess", RECORD),
    ("chess/lichess-threefold.pgn", "Lichess", LISTS),
    ("chess/python-chess-export.pgn", "python-chess", LISTS),
    ("chess/python-chess-set-up.pgn", "python-chess", RECORD),
    ("chess/compact-zeros.pgn", "DOS programs", LISTS),
    ("chess/escapes.pgn", "PGN standard", "openings"),
    ("chess/long-algebraic.txt", "books", LISTS),
    ("chess/promotions.txt", "books", LISTS),
    ("chess/en-passant.txt", "books", LISTS),
    ("chess/figurines.txt", "web pages", LISTS),
    ("chess/uci.txt", "UCI", LISTS),
    ("chess/openings.txt", "editors", LISTS),
    ("chess/clocks.fen", "python-chess", "analyse position page"),
    ("chess/dead.epd", "test suites", "analyse openings position"),
    ("chess/two-games.pgn", "ChessBase", RECORD),
    ("draughts/checkerboard-game.pdn", "CheckerBoard", LISTS),
    ("draughts/checkerboard-comments.pdn", "CheckerBoard", LISTS),
    ("draughts/checkerboard-problem.pdn", "CheckerBoard", RECORD),
    ("draughts/kingsrow-match.pdn", "Kingsrow", LISTS),
    ("draughts/jumps-by-ends.pdn", "CheckerBoard", LISTS),
    ("draughts/colons.txt", "books", LISTS),
    ("draughts/openings.txt", "editors", LISTS),
    ("draughts/positions.fen", "CheckerBoard", POSITIONS),
    ("draughts/clocks.fen", "long games", "analyse position page"),
    ("othello/edax-transcripts.txt", "Edax", LISTS),
    ("othello/wthor-passes-left-out.txt", "WTHOR", LISTS),
    ("othello/passes-written.txt", "Edax", LISTS),
    ("othello/thor-spaced.txt", "Thor", LISTS),
    ("othello/edax.obf", "Edax", POSITIONS),
    ("othello/squares.txt", "Edax", POSITIONS),
    ("othello/set-up.sgf", "GoGui", "page"),
    ("go/gnugo-game.sgf", "GNU Go", "loadsgf"),
    ("go/sabaki-variations.sgf", "Sabaki", "loadsgf"),
    ("go/sabaki-edited.sgf", "Sabaki", "loadsgf page"),
    ("go/sabaki-second-node.sgf", "Sabaki", "loadsgf page"),
    ("go/kgs-game.sgf", "KGS", "loadsgf"),
    ("go/kgs-handicap.sgf", "KGS", "loadsgf page"),
    ("go/kgs-cut-off.sgf", "KGS", "loadsgf"),
    ("go/gnugo-variation-cut-off.sgf", "GNU Go", "loadsgf"),
    ("go/text-before.sgf", "mail", "loadsgf page"),
    ("go/long-names.sgf", "SGF 1", "loadsgf"),
    ("go/size-twice.sgf", "GNU Go", "loadsgf"),
    ("go/size-with-zero.sgf", "GNU Go", "loadsgf"),
    ("go/rectangle.sgf", "SGF 4", "loadsgf page"),
    ("go/set-up-order.sgf", "GNU Go", "loadsgf page"),
    ("go/no-size.sgf", "GNU Go", "loadsgf page"),
    ("go/size-13.sgf", "Sabaki", "loadsgf page"),
    ("go/komi-comma.sgf", "MultiGo", "loadsgf"),
    ("go/komi-word.sgf", "by hand", "loadsgf"),
    ("go/not-go.sgf", "Othello programs", "loadsgf page"),
    ("go/gtp-moves.txt", "GTP", LISTS),
    ("go/positions.txt", "own notation", "analyse position page"),
    ("gomoku/piskvork-moves.txt", "Piskvork", LISTS),
    ("gomoku/renju-set-up.sgf", "Renlib", "page"),
    ("connect-four/columns.txt", "solvers", LISTS),
    ("connect-four/boards.txt", "own notation", "analyse position page"),
    ("tic-tac-toe/moves.txt", "own notation", LISTS),
    ("tic-tac-toe/boards.txt", "own notation", "analyse position page"),
]

NUMBER = re.compile(r"\d+\.+")
END = re.compile(r"1-0|0-1|1/2-1/2|2-0|0-2|1-1|\*")


def lines_of(text):
    """The lines that are neither empty nor comments."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith(("#", "%"))]


def words_of(text):
    """The moves of a text without comments, numbers and the result."""
    text = re.sub(r"\{[^}]*\}", " ", text)
    return [word for word in NUMBER.sub(" ", text).replace(",", " ").split() if not END.fullmatch(word)]


# Chess

FIGURINES = str.maketrans("♔♕♖♗♘♚♛♜♝♞", "KQRBNKQRBN", "♙♟")


def chess_value(board, moves=0):
    # Draws by dead positions and after fifty moves need no claim on the server.
    is_over = (
        board.is_checkmate()
        or board.is_stalemate()
        or board.is_insufficient_material()
        or board.halfmove_clock >= CHESS_QUIET_MAX
    )
    legal = None if is_over else board.legal_moves.count()
    board = board.copy()
    board.halfmove_clock = min(board.halfmove_clock, CHESS_QUIET_MAX)
    board.fullmove_number = min(board.fullmove_number, NUMBER_MAX)
    # As the standard has it, the square is there after every double step of a pawn.
    return {"position": board.fen(en_passant="fen"), "moves": moves, "legal": legal}


def chess_pgn(text):
    games = []
    stream = io.StringIO(text)
    while game := chess.pgn.read_game(stream):
        assert not game.errors, game.errors
        value = chess_value(game.end().board(), len(list(game.mainline_moves())))
        if "FEN" in game.headers:
            value["start"] = chess_value(game.board())["position"]
        games.append(value)
    return games


def chess_position(line):
    board = chess.Board()
    fields = line.replace(";", " ").split()
    if len(fields) >= 6 and fields[4].isdigit() and fields[5].isdigit():
        board.set_fen(" ".join(fields[:6]))
    else:
        operations = board.set_epd(line)
        board.halfmove_clock = operations.get("hmvc", 0)
        board.fullmove_number = operations.get("fmvn", 1)
    return chess_value(board)


def chess_moves(line):
    # The words for a capture en passant say nothing that the move does not say.
    line = re.sub(r"(?<=\d)\s*e\.?p\.?(?=\s|$)", "", line)
    words = []
    for word in words_of(line):
        joined = re.findall(r"[a-h][1-8][a-h][1-8][qrbn]?", word)
        words += joined if len(joined) > 1 and "".join(joined) == word else [word]
    board = chess.Board()
    for word in words:
        word = word.translate(FIGURINES).removeprefix("P").replace("/", "=")
        is_uci = re.fullmatch(r"[a-h][1-8][a-h][1-8][qrbn]?", word)
        board.push(board.parse_uci(word) if is_uci else board.parse_san(word))
    return chess_value(board, len(words))


def chess_line(line):
    if "/" in line.split()[0]:
        return chess_position(line)
    return chess_moves(line)


# Draughts


def draughts_value(board, quiet, number, moves=0):
    is_over = quiet >= DRAUGHTS_QUIET_MAX or not board.legal_moves()
    turn, *lists = board.fen.split(":")

    def ordered(pieces):
        side, rest = pieces[0], pieces[1:].split(",")
        return side + ",".join(sorted(rest, key=lambda piece: int(piece.strip("K"))))

    # White's pieces come first on the wire.
    first, second = sorted(map(ordered, lists), reverse=True)
    counts = f"H{min(quiet, DRAUGHTS_QUIET_MAX)}:F{min(number, NUMBER_MAX)}"
    legal = None if is_over else len(board.legal_moves())
    return {"position": f"{turn}:{first}:{second}:{counts}", "moves": moves, "legal": legal}


def draughts_start(text):
    text = text.replace(" ", "").upper().rstrip(".")
    pieces, _, counts = text.partition(":H")
    quiet, _, number = counts.partition(":F")
    pieces = re.sub(r"(\d+)-(\d+)", lambda m: ",".join(map(str, range(int(m[1]), int(m[2]) + 1))), pieces)
    # pydraughts wants White first, too.
    turn, *lists = pieces.split(":")
    pieces = ":".join([turn, *sorted(lists, reverse=True)])
    return draughts.Board(variant="english", fen=pieces), int(quiet or 0), int(number or 1)


def draughts_play(words, start="B:W21-32:B1-12"):
    board, quiet, number = draughts_start(start)
    for word in words:
        squares = [int(square) for square in re.split("[-x:]", word)]
        ends = [squares[0], squares[-1]]
        fits = {
            tuple(move.steps_move): move
            for move in board.legal_moves()
            if squares in (move.steps_move, ends) and [move.steps_move[0], move.steps_move[-1]] == ends
        }
        move = fits.get(tuple(squares))
        if move is None:
            assert len(fits) == 1, (word, board.fen)
            (move,) = fits.values()
        is_king = f"K{squares[0]}" in re.split("[:,WB]", board.fen)
        is_white = board.fen.startswith("W")
        board.push(move)
        quiet = quiet + 1 if is_king and not move.has_captures else 0
        number += is_white
    return draughts_value(board, quiet, number, len(words))


def draughts_pdn(text):
    games = []
    for tags, body in re.findall(r"((?:\[[^\]]*\]\s*)+)([^\[]*)", text):
        fen = re.search(r'\[FEN "([^"]*)"\]', tags)
        start = {"start": fen[1]} if fen else {}
        value = draughts_play(words_of(body), **start)
        if fen:
            value["start"] = draughts_value(*draughts_start(fen[1]))["position"]
        games.append(value)
    return games


def draughts_line(line):
    if re.match("[BW]:", line, re.IGNORECASE):
        return draughts_value(*draughts_start(line))
    return draughts_play(words_of(line))


# Othello


class Othello:
    DISCS = str.maketrans("XBWxbwo0.", "**O**OOO-")
    DIRECTIONS = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]

    def __init__(self):
        self.squares = dict.fromkeys(((x, y) for y in range(8) for x in range(8)), "-")
        self.squares.update({(3, 3): "O", (4, 4): "O", (4, 3): "*", (3, 4): "*"})
        self.turn = "*"

    @classmethod
    def read(cls, text):
        board = cls()
        letters = re.sub(r"\s", "", re.split("[;%]", text)[0]).translate(cls.DISCS)
        assert len(letters) == 65, text
        board.squares = dict(zip(board.squares, letters))
        board.turn = letters[64]
        return board

    @property
    def other(self):
        return "O" if self.turn == "*" else "*"

    def turned(self, x, y):
        """The discs that a move there turns."""
        discs = []
        for dx, dy in self.DIRECTIONS if self.squares[x, y] == "-" else []:
            line, at = [], (x + dx, y + dy)
            while self.squares.get(at) == self.other:
                line.append(at)
                at = (at[0] + dx, at[1] + dy)
            if self.squares.get(at) == self.turn:
                discs += line
        return discs

    def moves(self):
        return [square for square in self.squares if self.turned(*square)]

    def pass_on(self):
        assert not self.moves()
        self.turn = self.other

    def play(self, move):
        square = (ord(move[0]) - ord("a"), int(move[1]) - 1)
        discs = self.turned(*square)
        assert discs, (move, self.value())
        for disc in [*discs, square]:
            self.squares[disc] = self.turn
        self.turn = self.other

    def value(self, moves=0):
        legal = len(self.moves())
        if legal == 0:
            self.turn = self.other
            # A pass is a move of its own on the wire.
            legal = 1 if self.moves() else None
            self.turn = self.other
        return {"position": f"{''.join(self.squares.values())} {self.turn}", "moves": moves, "legal": legal}


def othello_line(line):
    if len(line.split()[0]) == 64 and re.fullmatch("[-.*xXoO0bBwW]+", line.split()[0]):
        return Othello.read(line).value()
    board, count = Othello(), 0
    for move in re.findall(r"pass|pa|ps|--|[a-h][1-8]", " ".join(words_of(line)).lower()):
        if move in ("pass", "pa", "ps", "--"):
            board.pass_on()
            count += 1
            continue
        if not board.moves():
            board.pass_on()
            count += 1
        board.play(move)
        count += 1
    return board.value(count)


# Go

COLUMNS = "ABCDEFGHJ"
# The values of GM and SZ in records of these games.
GAME_NUMBERS = {"go": 1, "othello": 2, "gomoku": 4}
SIZES = {"go": 9, "othello": 8, "gomoku": 15}


class Go:
    def __init__(self):
        self.board = boards.Board(9)
        self.turn, self.passes, self.plies = "b", 0, 0
        self.captured = {"b": 0, "w": 0}

    def rows(self):
        points = [[self.board.get(row, column) or "." for column in range(9)] for row in reversed(range(9))]
        return "/".join("".join(row) for row in points)

    def play(self, color, point):
        self.turn = "w" if color == "b" else "b"
        self.plies += 1
        self.passes = self.passes + 1 if point is None else 0
        if point is not None:
            count = len(self.board.list_occupied_points())
            self.board.play(*point, color)
            assert self.board.get(*point) == color, "a stone must not lose its last liberty"
            self.captured[color] += count + 1 - len(self.board.list_occupied_points())

    def score(self, komi):
        lead = self.board.area_score() - komi
        return "0" if lead == 0 else f"{'B' if lead > 0 else 'W'}+{abs(lead):g}"


def go_line(line):
    if "/" in line:
        return {"position": line, "moves": 0, "legal": None}
    game = Go()
    for word in words_of(line):
        column, row = word[0].upper(), word[1:]
        point = None if word.lower() == "pass" else (int(row) - 1, COLUMNS.index(column))
        game.play(game.turn, point)
    captured = game.captured
    fields = [game.rows(), game.turn, captured["b"], captured["w"], game.passes, game.plies]
    return {"position": " ".join(map(str, fields)), "moves": game.plies, "legal": None}


def sgf_game(data):
    """Reads a record as GNU Go does: sgfmill wants what the standard wants."""
    text = data.decode("utf-8-sig").replace("SZ[9:9]", "SZ[9]")
    text = re.sub(r"KM\[(\d+),(\d+)\]", r"KM[\1.\2]", text)
    text = text[text.index("(;") :]
    if "SiZe" not in text:
        text += ")" * (unescaped(text, "(") - unescaped(text, ")"))
    return sgf.Sgf_game.from_string(text)


def counted(rows):
    """Rows in which numbers stand for empty squares, as in FEN."""
    return re.sub(r"\.+", lambda run: str(len(run[0])), rows)


def unescaped(text, sign):
    """How many of these signs stand outside values."""
    return re.sub(r"\[(?:\\.|[^\]\\])*\]", "", text, flags=re.DOTALL).count(sign)


def loaded(data):
    game = sgf_game(data)
    root = game.get_root()
    if root.has_property("GM") and int(root.get_raw("GM")) != 1:
        return {"refused": "GM"}
    if game.get_size() != 9:
        return {"refused": str(game.get_size())}
    try:
        komi = game.get_komi()
    except ValueError:
        return {"refused": "komi"}
    go = Go()
    for node in game.get_main_sequence():
        if node.has_setup_stones():
            assert go.board.apply_setup(*node.get_setup_stones())
        color, point = node.get_move()
        if color is not None:
            go.play(color, point)
    return {"stones": go.rows(), "score": go.score(komi)}


def set_up(data, game):
    """What the board editor of the page takes from a record: the stones before the first move."""
    record = sgf_game(data)
    root = record.get_root()
    size = record.get_size()
    if root.has_property("GM") and int(root.get_raw("GM")) != GAME_NUMBERS[game]:
        return {"refused": "setup.bad.kind"}
    if size != SIZES[game]:
        return {"refused": "setup.bad.size" if root.has_property("SZ") else "setup.bad.unsized"}
    board = boards.Board(size)
    turn, count = None, 0
    for node in record.get_main_sequence():
        color, _ = node.get_move()
        count += color is not None
        turn = turn or color
        if count == 0 and node.has_setup_stones():
            assert board.apply_setup(*node.get_setup_stones())
        if count == 0 and node.has_property("PL"):
            turn = node.get("PL")
    if board.is_empty():
        return {"refused": "setup.bad.moves"}
    rows = [[board.get(row, column) or "." for column in range(size)] for row in reversed(range(size))]
    text = "/".join("".join(row) for row in rows)
    if game == "othello":
        letters = str.maketrans("bw.", "*O-", "/")
        text = f"{text.translate(letters)} {turn.translate(letters)}"
    elif game == "gomoku":
        text = counted(text)
    else:
        text = f"{text} {turn}"
    return {"position": text, "unplayed": count}


# Games whose stones stay where they are put


def gomoku_line(line):
    board = {}
    for ply, (column, row) in enumerate(re.findall(r"([a-o])(\d+)", " ".join(words_of(line)).lower())):
        square = (ord(column) - ord("a"), int(row))
        assert square not in board
        board[square] = "bw"[ply % 2]
    rows = ["".join(board.get((x, y), ".") for x in range(15)) for y in range(15, 0, -1)]
    return {"position": counted("/".join(rows)), "moves": len(board), "legal": 225 - len(board)}


def connect_four_line(line):
    if "/" in line:
        return {"position": line, "moves": 0, "legal": sum(square == "." for square in line.split("/")[0])}
    files = [[] for _ in range(7)]
    moves = re.findall("[1-7]", line)
    for ply, move in enumerate(moves):
        files[int(move) - 1].append("ry"[ply % 2])
    rows = ["".join(file[row] if row < len(file) else "." for file in files) for row in reversed(range(6))]
    legal = sum(len(file) < 6 for file in files)
    return {"position": "/".join(rows), "moves": len(moves), "legal": legal}


def tic_tac_toe_line(line):
    if "/" in line:
        return {"position": line, "moves": 0, "legal": line.count(".")}
    moves = re.findall("[abc][123]", " ".join(words_of(line)))
    board = {move: "xo"[ply % 2] for ply, move in enumerate(moves)}
    rows = ["".join(board.get(file + rank, ".") for file in "abc") for rank in "321"]
    return {"position": "/".join(rows), "moves": len(moves), "legal": 9 - len(board)}


RECORDS = {".pgn": chess_pgn, ".pdn": draughts_pdn}
LINES = {
    "chess": chess_line,
    "draughts": draughts_line,
    "othello": othello_line,
    "go": go_line,
    "gomoku": gomoku_line,
    "connect-four": connect_four_line,
    "tic-tac-toe": tic_tac_toe_line,
}


def is_over(game, value):
    # In Go only passes end a game, and no file of this folder has two at its end.
    return game != "go" and value["legal"] is None


def openings(game, values):
    """The openings of a file, or why it is refused."""
    if any(is_over(game, value) for value in values):
        return {"refused": OVER}
    return [{name: value[name] for name in ("position", "moves")} for value in values]


def analysed(values):
    return [{name: value[name] for name in ("position", "legal")} for value in values]


def positions(game, values):
    return [{"refused": OVER} if is_over(game, value) else {"position": value["position"]} for value in values]


def page(path, game, values):
    if path.suffix == ".sgf":
        return [set_up(path.read_bytes(), game)]
    if path.suffix in RECORDS:
        first = values[0]
        # Moves are not played in the editor, so that a record has to have a position.
        if "start" not in first:
            return [{"refused": "setup.bad.record"}]
        return [{"position": first["start"], "unplayed": first["moves"]}]
    return [{"position": value["position"], "unplayed": 0} for value in values]


def entry(name, style, readers):
    path = FOLDER / name
    game = path.parent.name
    text = path.read_bytes().decode("utf-8-sig")
    values = []
    if name == "chess/uci-moves.fen":
        # The board editor does not play the moves, and says how many there are.
        fen, moves = text.strip().split(" moves ")
        expected = {"page": [{"position": chess_position(fen)["position"], "unplayed": len(moves.split())}]}
        return {"file": name, "game": game, "style": style, **expected}
    if path.suffix in RECORDS:
        values = RECORDS[path.suffix](text)
    elif path.suffix != ".sgf":
        values = [LINES[game](line) for line in lines_of(text)]
    expected = {}
    for reader in readers.split():
        if reader == "analyse":
            expected[reader] = analysed(values)
        elif reader == "openings":
            expected[reader] = openings(game, values)
        elif reader == "loadsgf":
            expected[reader] = loaded(path.read_bytes())
        elif reader == "position":
            expected[reader] = positions(game, values)
        elif reader == "page":
            expected[reader] = page(path, game, values)
    return {"file": name, "game": game, "style": style, **expected}


def main():
    here = {str(path.relative_to(FOLDER)) for path in FOLDER.glob("*/*")}
    named = {name for name, *_ in FILES}
    assert here == named, here ^ named
    assert all((FOLDER / name).stat().st_size < 4096 for name in named)
    entries = [entry(*file) for file in FILES]
    text = json.dumps(entries, indent=1, ensure_ascii=False) + "\n"
    manifest = FOLDER / "expected.json"
    if "--check" in sys.argv[1:]:
        assert manifest.read_text() == text, "expected.json is not what expected.py writes"
    else:
        manifest.write_text(text)
    print(f"{len(entries)} files")


main()
