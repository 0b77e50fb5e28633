// Plays Connect Four and looks one move ahead: node ahead.js URL [LEVEL]. It needs nothing but Node.js 22, or
// Node.js 20 with --experimental-websocket; in a browser it is the same.

const [url = 'ws://127.0.0.1:7878/ws', level = 'beginner'] = process.argv.slice(2);
const [WIDTH, HEIGHT, MIDDLE] = [7, 6, 4];

/** The board after these moves, column by column from the bottom: 0 or 1, whoever has a disc there. */
function boardAfter(moves) {
    const columns = Array.from({ length: WIDTH }, () => []);
    moves.forEach((move, ply) => columns[move - 1].push(ply % 2));
    return columns;
}

/** Whether the disc on top of this column makes four in a row. */
function winsBy(columns, x) {
    const y = columns[x].length - 1;
    const own = columns[x][y];
    const run = (dx, dy) => {
        let n = 1;
        while (columns[x + n * dx]?.[y + n * dy] === own) n += 1;
        return n - 1;
    };
    const lines = [[1, 0], [0, 1], [1, 1], [1, -1]];
    return lines.some(([dx, dy]) => run(dx, dy) + run(-dx, -dy) >= 3);
}

/** Whether somebody who has a disc dropped here now wins. */
function isWin(moves, move, seat) {
    const columns = boardAfter(moves);
    if (columns[move - 1].length === HEIGHT) return false;
    columns[move - 1].push(seat);
    return winsBy(columns, move - 1);
}

/** A win; else what stops the other one's; else what gives away no win, nearest the middle. */
function choose(moves, legal, you) {
    const other = 1 - you;
    const gives = (move) =>
        legal.some((answer) => isWin([...moves, move], answer, other));
    const byMiddle = [...legal].sort((a, b) => Math.abs(a - MIDDLE) - Math.abs(b - MIDDLE));
    return (
        legal.find((move) => isWin(moves, move, you)) ??
        legal.find((move) => isWin(moves, move, other)) ??
        byMiddle.find((move) => !gives(move)) ??
        byMiddle[0]
    );
}

const socket = new WebSocket(url, ['plyhouse.v1']);
const send = (message) => socket.send(JSON.stringify(message));
const match = { id: '', you: 0, moves: [] };

socket.addEventListener('open', () => {
    send({ type: 'hello', name: 'ahead' });
    send({ type: 'create', game: 'connect-four', seats: ['me', { bot: level }] });
});

socket.addEventListener('message', ({ data }) => {
    const news = JSON.parse(data);
    if (news.type === 'error') throw new Error(news.message);
    if (news.type === 'match') Object.assign(match, { id: news.match, you: news.you, moves: news.moves });
    if (news.type === 'moved') match.moves[news.ply] = news.move;
    if (news.outcome) {
        const { winner } = news.outcome;
        console.log(winner === null ? 'drawn' : winner === match.you ? 'won' : 'lost');
        socket.close();
    } else if (news.legal && news.turn === match.you) {
        const ply = news.next_ply ?? news.ply;
        send({ type: 'move', match: match.id, ply, move: choose(match.moves, news.legal, match.you) });
    }
});

socket.addEventListener('close', ({ code }) => {
    if (code !== 1000 && code !== 1005) process.exitCode = 1;
});
