// What the server's games, levels and sides are called here. What this page does not know keeps the server's
// own name.

import { capital, known, say } from './language.js';

/** @import { Game, Level, Welcome } from '../protocol.js' */
/** @import { App } from './main.js' */

/** @param {Welcome} welcome @returns {Welcome} */
export const inOurWords = (welcome) => ({
  ...welcome,
  games: welcome.games.map((game) => ({
    ...game,
    title: known(`game.${game.game}`) ?? game.title,
  })),
  levels: welcome.levels.map((level) => ({ ...level, title: capital(levelWord(level)) })),
});

/** A game by its name: without the server one is told of few. @param {Game[]} games @param {string} name */
export const titleOfGame = (games, name) =>
  games.find(({ game }) => game === name)?.title ?? known(`game.${name}`) ?? name;

/** A level within a sentence. @param {Level} level */
const levelWord = ({ level, title }) => known(`level.${level}`) ?? title.toLowerCase();

/** A bot within a sentence. @param {string} name of its level @param {Level[]} levels */
export function botWord(name, levels) {
  const level = levels.find(({ level }) => level === name) ?? { level: name, title: name };
  return say('bot.name', { level: levelWord(level) });
}

/** A side by its name, as one begins with it. @param {string} side */
export const sideName = (side) => capital(known(`side.${side}`) ?? side);

/** Whether anything counts here: without the server, and where nobody signs up, there are no ratings. @param {App} app */
export const hasRatings = ({ connection }) =>
  !connection.isAlone && connection.welcome?.accounts !== undefined;

/** Whether a match counts, in a word; nothing where none does. @param {App} app @param {boolean | undefined} rated */
export const ratedWord = (app, rated) =>
  rated ? say('rated.short') : hasRatings(app) ? say('rated.not') : '';
