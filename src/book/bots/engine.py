"""An engine for Gomoku that knows nothing of networks: `ply bot --create --game gomoku --against beginner --
python3 engine.py` seats it. It speaks the protocol of Gomocup (Piskvork), and searches by alpha-beta."""
import sys

DEPTH, WIDTH = 2, 8  # So many plies ahead, and so many moves of each position.
WORTH = [0, 1, 8, 64, 512, 100_000]  # Of a line of five squares with so many stones of one colour alone.
LINES = []  # Every five squares in a row.
LINES_OF = {}  # Those through a square.
stones = {}  # What stands where: 1 is the engine, 2 the other.


def lay_out(size):
    squares = range(size)
    LINES.clear()
    LINES_OF.clear()
    for x in squares:
        for y in squares:
            LINES_OF[x, y] = []
    for x, y in list(LINES_OF):
        for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
            line = [(x + n * dx, y + n * dy) for n in range(5)]
            if all(square in LINES_OF for square in line):
                LINES.append(line)
                for square in line:
                    LINES_OF[square].append(line)


def value_of(line):
    """What a line is worth to whoever is alone on it, and to whom."""
    owners = {stones[square] for square in line if square in stones}
    if len(owners) != 1:
        return 0, None
    return WORTH[sum(square in stones for square in line)], owners.pop()


def judge(player):
    """What the board is worth to this player."""
    total = 0
    for line in LINES:
        worth, owner = value_of(line)
        total += worth if owner == player else -worth
    return total


def promise(square, player):
    """How much a stone here changes, whoever puts it: what is looked at first."""
    return sum(value_of(line)[0] * (2 if value_of(line)[1] == player else 1) + 1 for line in LINES_OF[square])


def makes_five(square):
    return any(value_of(line)[0] == WORTH[5] for line in LINES_OF[square])


def candidates(player):
    near = {
        (x + dx, y + dy) for x, y in stones for dx in (-1, 0, 1) for dy in (-1, 0, 1)
    }
    free = [square for square in near if square in LINES_OF and square not in stones]
    if not free:
        free = [square for square in LINES_OF if square not in stones]
    return sorted(free, key=lambda square: (-promise(square, player), square))[:WIDTH]


def search(player, depth, alpha, beta):
    """The best value for this player, between both bounds, and the move that has it."""
    if depth == 0:
        return judge(player), None
    best = None
    for square in candidates(player):
        stones[square] = player
        if makes_five(square):
            value = WORTH[5] * (depth + 1)
        else:
            value = -search(3 - player, depth - 1, -beta, -alpha)[0]
        del stones[square]
        if best is None or value > alpha:
            alpha, best = max(alpha, value), square
        if alpha >= beta:
            break
    return alpha, best


def move(size):
    middle = (size // 2, size // 2)
    square = search(1, DEPTH, -10**9, 10**9)[1] if stones else middle
    stones[square] = 1
    print("%d,%d" % square, flush=True)


def main():
    size = 15
    lines = (line.strip() for line in sys.stdin)
    for line in lines:
        command, _, rest = line.partition(" ")
        if command in ("START", "RESTART"):
            size = int(rest or size)
            stones.clear()
            lay_out(size)
            print("OK", flush=True)
        elif command == "BEGIN":
            move(size)
        elif command == "TURN":
            stones[tuple(map(int, rest.split(",")))] = 2
            move(size)
        elif command == "BOARD":
            for told in iter(lambda: next(lines), "DONE"):
                x, y, owner = map(int, told.split(","))
                stones[x, y] = owner
            move(size)
        elif command == "END":
            break


main()
