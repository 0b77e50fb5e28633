// Loads the chunks of the lobby and of the match page. The chunk of the current view is loaded
// first.

export type LobbyChunk = typeof import('../lobby/lobby.ts');
export type MatchChunk = typeof import('../match/match-page.ts');

let lobby: LobbyChunk | null = null;
let matchPage: MatchChunk | null = null;

export async function loadMatchPage(): Promise<MatchChunk> {
  matchPage ??= await import('../match/match-page.ts');
  return matchPage;
}

export const loadedMatchPage = () => matchPage;

export async function loadLobby(): Promise<LobbyChunk> {
  lobby ??= await import('../lobby/lobby.ts');
  return lobby;
}

export const loadedLobby = () => lobby;
