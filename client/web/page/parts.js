// The parts of the page that come after the first: the lobby and the place where one plays. Whichever an address
// opens comes with the first part, and the other right behind what is seen.

/** @typedef {typeof import('./lobby.js')} LobbyPart */
/** @typedef {typeof import('./room.js')} RoomPart */

/** @type {LobbyPart | null} */
let lobby = null;
/** @type {RoomPart | null} */
let room = null;

/** Loads the place where one plays. @returns {Promise<RoomPart>} */
export async function loadRoom() {
  room ??= await import('./room.js');
  return room;
}

/** The place where one plays, if it has come. */
export const roomIfThere = () => room;

/** Loads the lobby. @returns {Promise<LobbyPart>} */
export async function loadLobby() {
  lobby ??= await import('./lobby.js');
  return lobby;
}

/** The lobby, if it has come. */
export const lobbyIfThere = () => lobby;
