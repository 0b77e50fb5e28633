// What is seldom wanted, in one: all of it comes with the first part that somebody wants.

export { Leaders } from './people/leaders.js';
export { Profile } from './people/profile.js';
export { TalkPanel } from './people/talk-panel.js';
export { AnalysisPanel } from './seldom/analysis-panel.js';
export { drawExhibition } from './seldom/exhibition.js';
export { chooseLooks } from './seldom/looks-dialog.js';
export { toldOfHint } from './seldom/worth.js';
export { SetUp } from './seldom/setup/setup.js';
export { ThinkingPanel } from './seldom/thinking-panel.js';
export { SeekersSlots } from './seldom/seekers-slots.js';
export { showRules } from './seldom/rules-dialog.js';
export { drawWatching } from './seldom/watching.js';
export { Arrival } from './you/arrival.js';
export { Games } from './you/games.js';
export { notify } from './you/notifying.js';
export { proven } from './you/proving.js';
export { You } from './you/you.js';
