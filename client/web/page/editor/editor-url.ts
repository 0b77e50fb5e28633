// Builds and parses links to the board editor, which carry the game and the position.

export const editorUrl = (game: string, position: string) =>
  `/setup#${new URLSearchParams({ game, position }).toString()}`;

export function parseEditorHash(hash: string): { game?: string; position?: string } {
  const params = new URLSearchParams(hash.slice(1));
  const [game, position] = [params.get('game'), params.get('position')];
  return { ...(game ? { game } : {}), ...(position ? { position } : {}) };
}
