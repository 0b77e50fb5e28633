// What the server's games, levels and sides are called here. What this page does not know keeps the server's
// own name.

import { capitalize, tryTranslate, translate } from './language.ts';

import type { Game, Level, Welcome } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export const translateWelcome = (welcome: Welcome): Welcome => ({
  ...welcome,
  games: welcome.games.map((game) => ({
    ...game,
    title: tryTranslate(`game.${game.game}`) ?? game.title,
  })),
  levels: welcome.levels.map((level) => ({ ...level, title: capitalize(levelWord(level)) })),
});

/** A game by its name: without the server one is told of few. */
export const gameTitle = (games: Game[], name: string) =>
  games.find(({ game }) => game === name)?.title ?? tryTranslate(`game.${name}`) ?? name;

/** A level within a sentence. */
const levelWord = ({ level, title }: Pick<Level, 'level' | 'title'>) =>
  tryTranslate(`level.${level}`) ?? title.toLowerCase();

/**
 * A bot within a sentence.
 * @param name of its level
 */
export function botName(name: string, levels: Level[]) {
  const level = levels.find(({ level }) => level === name) ?? { level: name, title: name };
  return translate('bot.name', { level: levelWord(level) });
}

/** A side by its name, as one begins with it. */
export const sideName = (side: string) => capitalize(tryTranslate(`side.${side}`) ?? side);

/** Whether anything counts here: without the server, and where nobody signs up, there are no ratings. */
export const hasRatings = ({ connection }: App) =>
  !connection.isOffline && connection.welcome?.accounts !== undefined;

/** Whether a match counts, in a word; nothing where none does. */
export const ratedLabel = (app: App, rated: boolean | undefined) =>
  rated ? translate('rated.short') : hasRatings(app) ? translate('rated.not') : '';
