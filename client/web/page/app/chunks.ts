// The parts of the page that come after the first: the lobby and the place where one plays. Whichever an address
// opens comes with the first part, and the other right behind what is seen.

export type LobbyPart = typeof import('../lobby/lobby.ts');
export type RoomPart = typeof import('../match/match-page.ts');

let lobby: LobbyPart | null = null;
let room: RoomPart | null = null;

/** Loads the place where one plays. */
export async function loadRoom(): Promise<RoomPart> {
  room ??= await import('../match/match-page.ts');
  return room;
}

/** The place where one plays, if it has come. */
export const roomIfThere = () => room;

/** Loads the lobby. */
export async function loadLobby(): Promise<LobbyPart> {
  lobby ??= await import('../lobby/lobby.ts');
  return lobby;
}

/** The lobby, if it has come. */
export const lobbyIfThere = () => lobby;
