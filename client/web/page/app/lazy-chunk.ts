// What is seldom wanted, in one: all of it comes with the first part that somebody wants.

export { Leaders } from '../people/leaderboard.ts';
export { Profile } from '../people/profile.ts';
export { TalkPanel } from '../social/chat-panel.ts';
export { AnalysisPanel } from '../analysis/panel.ts';
export { drawExhibition } from '../dialogs/bot-vs-bot.ts';
export { chooseLooks } from '../dialogs/appearance.ts';
export { toldOfHint } from '../analysis/eval-text.ts';
export { SetUp } from '../editor/editor.ts';
export { ThinkingPanel } from '../analysis/engine-panel.ts';
export { SeekersSlots } from '../dialogs/seek-slots.ts';
export { showRules } from '../dialogs/rules.ts';
export { drawWatching } from '../dialogs/spectator-options.ts';
export { Arrival } from '../account/sign-in.ts';
export { Games } from '../account/game-history.ts';
export { notify } from '../account/notification-settings.ts';
export { proven } from '../account/reauthenticate.ts';
export { You } from '../account/account-page.ts';
