// The parts of the page that come after the first: the place where one plays, right behind it.

/** @typedef {typeof import('./room.js')} RoomPart */

/** @type {RoomPart | null} */
let room = null;

/** Loads the place where one plays. @returns {Promise<RoomPart>} */
export async function loadRoom() {
  room ??= await import('./room.js');
  return room;
}

/** The place where one plays, if it has come. */
export const roomIfThere = () => room;
