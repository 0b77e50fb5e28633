// Translates the names of games, levels and sides. An unknown name stays as the server sends it.

import { capitalize, tryTranslate, translate } from './language.ts';

import type { Game, Level, Welcome } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export const translateWelcome = (welcome: Welcome): Welcome => ({
  ...welcome,
  games: welcome.games.map((game) => ({
    ...game,
    title: tryTranslate(`game.${game.game}`) ?? game.title,
  })),
  levels: welcome.levels.map((level) => ({ ...level, title: capitalize(levelName(level)) })),
});

/** Title of a game. The local server lists only the games that are available offline. */
export const gameTitle = (games: Game[], name: string) =>
  games.find(({ game }) => game === name)?.title ?? tryTranslate(`game.${name}`) ?? name;

/** Name of a level within a sentence. */
const levelName = ({ level, title }: Pick<Level, 'level' | 'title'>) =>
  tryTranslate(`level.${level}`) ?? title.toLowerCase();

/** Name of a bot within a sentence. */
export function botName(id: string, levels: Level[]) {
  const level = levels.find(({ level }) => level === id) ?? { level: id, title: id };
  return translate('bot.name', { level: levelName(level) });
}

/** Capitalized name of a side. */
export const sideName = (side: string) => capitalize(tryTranslate(`side.${side}`) ?? side);

/** Whether there are ratings. A server without accounts and the local server have none. */
export const hasRatings = ({ connection }: App) =>
  !connection.isOffline && connection.welcome?.accounts !== undefined;

/** Whether a match is rated, in a word; empty without ratings. */
export const ratedLabel = (app: App, rated: boolean | undefined) =>
  rated ? translate('rated.short') : hasRatings(app) ? translate('rated.not') : '';
