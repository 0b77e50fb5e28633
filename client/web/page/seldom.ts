// What is seldom wanted, in one: all of it comes with the first part that somebody wants.

export { Leaders } from './people/leaders.ts';
export { Profile } from './people/profile.ts';
export { TalkPanel } from './people/talk-panel.ts';
export { AnalysisPanel } from './seldom/analysis-panel.ts';
export { drawExhibition } from './seldom/exhibition.ts';
export { chooseLooks } from './seldom/looks-dialog.ts';
export { toldOfHint } from './seldom/worth.ts';
export { SetUp } from './seldom/setup/setup.ts';
export { ThinkingPanel } from './seldom/thinking-panel.ts';
export { SeekersSlots } from './seldom/seekers-slots.ts';
export { showRules } from './seldom/rules-dialog.ts';
export { drawWatching } from './seldom/watching.ts';
export { Arrival } from './you/arrival.ts';
export { Games } from './you/games.ts';
export { notify } from './you/notifying.ts';
export { proven } from './you/proving.ts';
export { You } from './you/you.ts';
