// Creates the components of a match page and connects them.

import { ActionsArea } from '../actions/actions-area.ts';
import { MatchAnalysis } from '../analysis/analysis.ts';
import { BoardView } from '../board/board.ts';
import { h } from '../ui/dom.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { boardStyleOf } from '../board/background.ts';
import { translate } from '../text/language.ts';
import { MoveList } from './move-list.ts';
import { ratedLabel } from '../text/labels.ts';
import { MoveButtons } from '../board/move-buttons.ts';
import { PlayerBars } from './player-bars.ts';
import { ResultPanel } from './result-panel.ts';
import { hasRules, rulesButton } from '../actions/rules-button.ts';
import { chatText } from '../social/chat-state.ts';
import { shareLink } from './share.ts';
import { Chat } from '../social/chat.ts';
import { BotThinkingSlot } from '../analysis/bot-thinking-slot.ts';
import { formatClock } from '../text/time.ts';

import type { Game, ChatEntry } from '../net/protocol.ts';
import type { BoardCallbacks } from '../board/board.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

export class MatchView {
  statusLine = h('p', { class: 'standing' });
  detailLine = h('p', { class: 'why' });
  spectatorCount = h('span', { class: 'watching' });
  board;
  playerBars;
  moveList;
  chat;
  actions;
  moveButtons;
  result;
  analysis;
  engineOutput;
  elements;
  #app;

  constructor(
    app: App,
    game: Game,
    match: Match,
    {
      play,
      setPremove,
      setPremoveMove,
      cancelPremove,
      goToPly,
      flip,
    }: Omit<BoardCallbacks, 'say'> & {
      goToPly: (ply: number) => void;
      flip: () => void;
      setPremoveMove: (move: string) => void;
    },
  ) {
    this.#app = app;
    this.board = new BoardView(game, {
      play,
      setPremove,
      cancelPremove,
      say: (text) => app.announce(text),
    });
    this.playerBars = new PlayerBars(app, game);
    this.chat = new Chat(app);
    // The link contains the id, because a later match can get the same code.
    const link = `${location.origin}/m/${match.match}`;
    const share = async (ply: number | null) =>
      app.toast(await shareLink(ply === null ? link : `${link}#${ply}`));
    const focusBoard = () => {
      window.scrollTo(0, 0);
      this.board.focus({ preventScroll: true });
    };
    this.analysis = new MatchAnalysis(app, {
      goToPly,
      focusBoard,
      playFromPosition: () => this.actions.playFromPosition(),
    });
    const { figurines } = conventionsOf(game.game);
    this.moveList = new MoveList({ goToPly, share }, figurines, this.chat.button);
    this.moveList.element.append(this.chat.panelContainer);
    this.engineOutput = new BotThinkingSlot(app);
    this.moveList.element.firstElementChild?.after(
      this.engineOutput.panelContainer,
      this.analysis.panelContainer,
    );
    this.moveButtons = new MoveButtons(app, {
      play,
      setPremove: setPremoveMove,
      cancelPremove,
    });
    this.actions = new ActionsArea(app, {
      goToCurrent: () => goToPly(Infinity),
      flip,
      showBestMove: (move) => this.board.showBestMove(move),
      moveButtons: this.moveButtons.element,
      analyseButton: this.analysis.button,
    });
    this.result = new ResultPanel(app, {
      playAgain: () => this.actions.playAgain(),
      goToStart: () => goToPly(0),
      analyse: () => void this.analysis.request(),
      share: () => shareLink(link),
      focusBoard,
    });
    const table = h(
      'div',
      { class: `table ${boardStyleOf(game)}` },
      this.playerBars.element,
      h('div', { class: 'stage' }, this.board.element, this.result.element),
    );
    table.style.setProperty('--files', String(game.files));
    table.style.setProperty('--ranks', String(game.ranks));
    const rated = ratedLabel(app, match.rated);
    this.elements = [
      h(
        'div',
        { class: 'heading' },
        h(
          'h1',
          {},
          game.title,
          match.clock && h('span', {}, formatClock(match.clock)),
          rated && h('span', {}, rated),
          // Nobody can join an offline match by its code.
          !app.connection.isOffline && h('span', { class: 'code' }, match.code),
          this.spectatorCount,
        ),
        hasRules(game.game) && rulesButton(app, () => game),
      ),
      table,
      h(
        'div',
        { class: 'side' },
        h(
          'div',
          { class: 'message' },
          this.statusLine,
          h('div', { class: 'lower' }, this.detailLine, this.actions.prompts),
        ),
        this.actions.element,
        this.moveList.element,
      ),
    ];
  }

  onChat(match: Match, entry: ChatEntry) {
    const text = this.chat.onChat(match, entry);
    // The player's own messages are shown, but not announced.
    const isOwn = entry.seat !== null && entry.seat === match.you;
    const shown = isOwn ? chatText(entry, this.#app.connection.welcome?.presets ?? []) : text;
    if (entry.seat !== null && shown) this.playerBars.showChatMessage(entry.seat, shown);
    if (text) this.#app.announce(translate('talk.says', { name: entry.name, text }));
  }

  unmount() {
    this.playerBars.unmount();
    this.actions.unmount();
    this.result.unmount();
  }
}
