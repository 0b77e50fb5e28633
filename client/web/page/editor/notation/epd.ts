// Splits FEN and EPD into fields. EPD has four fields, and then operations such as `hmvc 3;`.

/** Of several positions, one a line, only the first is read. */
const BOARD = /^\s*(?:[^\s/]+\/){7}/;
const FIELDS = /^((?:[^\s;]+\s*){0,4})(\d+(?=[\s;]|$))?\s*(\d+(?=[\s;]|$))?\s*(.*)$/s;
/** An operation: its opcode and its operands. A `;` in a quoted operand does not end it (PGN standard 16.2). */
const OPERATION = /([^\s;"]+)((?:"(?:\\.|[^"\\])*(?:"|$)|[^;"])*)/gs;
const MOVE =
  /^(\d+\.+)?([a-h][1-8]-?[a-h][1-8][qrbn]?|[KQRBNP♔-♟]?[a-h]?[1-8]?[x:-]?[a-h][1-8]([=/(]?[QRBN]\)?)?|[O0]-[O0](-[O0])?)[+#!?]*$/;

/**
 * The fields of a FEN or EPD, and the number of moves after them. The operations `hmvc` and `fmvn` of EPD are the
 * last two fields of FEN.
 */
export function splitFen(text: string): { fields: string[]; moves: number } {
  const lines = text.trim().split(/[\r\n]+/);
  const next = lines.findIndex((line, at) => at > 0 && BOARD.test(line));
  const one = lines.slice(0, next < 0 ? undefined : next).join('\n');
  const [, four = '', quiet, number, rest = ''] = FIELDS.exec(one) ?? [];
  const fields = [...four.trim().split(/\s+/), quiet, number].filter(
    (field) => field !== undefined,
  );
  if (/^[a-z;]/i.test(rest) && rest.includes(';')) {
    const counts = countsOf(rest);
    return { fields: [...fields, ...counts.slice(fields.length - 4)], moves: 0 };
  }
  const words = rest.split(/\s+/).filter(Boolean);
  if (number !== undefined)
    return { fields, moves: words.filter((word) => MOVE.test(word)).length };
  return { fields: [...fields, ...words], moves: 0 };
}

/** The halfmove clock and the number of the move. */
function countsOf(operations: string) {
  const counts: Map<string, string> = new Map();
  for (const [, opcode = '', operands = ''] of operations.matchAll(OPERATION)) {
    const operand = operands.trim();
    if (/^\d+$/.test(operand) && !counts.has(opcode)) counts.set(opcode, operand);
  }
  return [counts.get('hmvc') ?? '0', counts.get('fmvn') ?? '1'];
}
