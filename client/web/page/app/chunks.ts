// The parts of the page that come after the first: the lobby and the place where one plays. Whichever an address
// opens comes with the first part, and the other right behind what is seen.

export type LobbyChunk = typeof import('../lobby/lobby.ts');
export type MatchChunk = typeof import('../match/match-page.ts');

let lobby: LobbyChunk | null = null;
let room: MatchChunk | null = null;

/** Loads the place where one plays. */
export async function loadMatchPage(): Promise<MatchChunk> {
  room ??= await import('../match/match-page.ts');
  return room;
}

/** The place where one plays, if it has come. */
export const loadedMatchPage = () => room;

/** Loads the lobby. */
export async function loadLobby(): Promise<LobbyChunk> {
  lobby ??= await import('../lobby/lobby.ts');
  return lobby;
}

/** The lobby, if it has come. */
export const loadedLobby = () => lobby;
