// Entry point of the lazily loaded bundle. The page fetches it when it first uses any part of it.

export { Leaderboard } from '../people/leaderboard.ts';
export { Profile } from '../people/profile.ts';
export { ChatPanel } from '../social/chat-panel.ts';
export { AnalysisPanel } from '../analysis/analysis-panel.ts';
export { renderBotVsBotOptions } from '../dialogs/bot-vs-bot.ts';
export { showAppearanceDialog } from '../dialogs/appearance.ts';
export { hintText } from '../analysis/eval-text.ts';
export { EditorPage } from '../editor/editor.ts';
export { BotThinkingPanel } from '../analysis/bot-thinking-panel.ts';
export { SeekSlots } from '../dialogs/seek-slots.ts';
export { showRulesDialog } from '../dialogs/rules.ts';
export { renderSpectatorOptions } from '../dialogs/spectator-options.ts';
export { SignInPage } from '../account/sign-in.ts';
export { GameHistoryPage } from '../account/game-history.ts';
export { showNotification } from '../account/browser-notifications.ts';
export { requestWithReauth } from '../account/reauthenticate.ts';
export { AccountPage } from '../account/account-page.ts';
