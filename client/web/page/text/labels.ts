// What the server's games, levels and sides are called here. What this page does not know keeps the server's
// own name.

import { capital, known, say } from './language.ts';

import type { Game, Level, Welcome } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export const inOurWords = (welcome: Welcome): Welcome => ({
  ...welcome,
  games: welcome.games.map((game) => ({
    ...game,
    title: known(`game.${game.game}`) ?? game.title,
  })),
  levels: welcome.levels.map((level) => ({ ...level, title: capital(levelWord(level)) })),
});

/** A game by its name: without the server one is told of few. */
export const titleOfGame = (games: Game[], name: string) =>
  games.find(({ game }) => game === name)?.title ?? known(`game.${name}`) ?? name;

/** A level within a sentence. */
const levelWord = ({ level, title }: Pick<Level, 'level' | 'title'>) =>
  known(`level.${level}`) ?? title.toLowerCase();

/**
 * A bot within a sentence.
 * @param name of its level
 */
export function botWord(name: string, levels: Level[]) {
  const level = levels.find(({ level }) => level === name) ?? { level: name, title: name };
  return say('bot.name', { level: levelWord(level) });
}

/** A side by its name, as one begins with it. */
export const sideName = (side: string) => capital(known(`side.${side}`) ?? side);

/** Whether anything counts here: without the server, and where nobody signs up, there are no ratings. */
export const hasRatings = ({ connection }: App) =>
  !connection.isAlone && connection.welcome?.accounts !== undefined;

/** Whether a match counts, in a word; nothing where none does. */
export const ratedWord = (app: App, rated: boolean | undefined) =>
  rated ? say('rated.short') : hasRatings(app) ? say('rated.not') : '';
