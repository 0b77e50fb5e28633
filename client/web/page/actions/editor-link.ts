// The address of a position that is set up: which game, and the position as a match would begin with it.

export const editorUrl = (game: string, position: string) =>
  `/setup#${new URLSearchParams({ game, position }).toString()}`;

export function parseEditorHash(hash: string): { game?: string; position?: string } {
  const told = new URLSearchParams(hash.slice(1));
  const [game, position] = [told.get('game'), told.get('position')];
  return { ...(game ? { game } : {}), ...(position ? { position } : {}) };
}
