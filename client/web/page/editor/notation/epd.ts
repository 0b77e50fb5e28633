// Splits FEN and EPD into fields. EPD has four fields, and then operations such as `hmvc 3;`.

/** The start of a position. Of several positions, one per line, only the first is read. */
const BOARD = /^\s*(?:[^\s/]+\/){7}/;
const FIELDS = /^((?:[^\s;]+\s*){0,4})(\d+(?=[\s;]|$))?\s*(\d+(?=[\s;]|$))?\s*(.*)$/s;
/** An opcode and its operands. A `;` in a quoted operand does not end it (PGN standard 16.2). */
const OPERATION = /([^\s;"]+)((?:"(?:\\.|[^"\\])*(?:"|$)|[^;"])*)/gs;
const MOVE =
  /^(\d+\.+)?([a-h][1-8]-?[a-h][1-8][qrbn]?|[KQRBNP♔-♟]?[a-h]?[1-8]?[x:-]?[a-h][1-8]([=/(]?[QRBN]\)?)?|[O0]-[O0](-[O0])?)[+#!?]*$/;

/**
 * The fields of a FEN or EPD, and the number of moves after them. The operations `hmvc` and `fmvn`
 * of EPD are the last two fields of FEN.
 */
export function splitFen(text: string): { fields: string[]; moves: number } {
  const lines = text.trim().split(/[\r\n]+/);
  const next = lines.findIndex((line, index) => index > 0 && BOARD.test(line));
  const first = lines.slice(0, next < 0 ? undefined : next).join('\n');
  const [, fourFields = '', halfmoveClock, fullmoveNumber, rest = ''] = FIELDS.exec(first) ?? [];
  const fields = [...fourFields.trim().split(/\s+/), halfmoveClock, fullmoveNumber].filter(
    (field) => field !== undefined,
  );
  if (/^[a-z;]/i.test(rest) && rest.includes(';')) {
    const counters = countersOf(rest);
    return { fields: [...fields, ...counters.slice(fields.length - 4)], moves: 0 };
  }
  const words = rest.split(/\s+/).filter(Boolean);
  if (fullmoveNumber !== undefined)
    return { fields, moves: words.filter((word) => MOVE.test(word)).length };
  return { fields: [...fields, ...words], moves: 0 };
}

/** The halfmove clock and the fullmove number. */
function countersOf(operations: string) {
  const counters = new Map<string, string>();
  for (const [, opcode = '', operands = ''] of operations.matchAll(OPERATION)) {
    const operand = operands.trim();
    if (/^\d+$/.test(operand) && !counters.has(opcode)) counters.set(opcode, operand);
  }
  return [counters.get('hmvc') ?? '0', counters.get('fmvn') ?? '1'];
}
