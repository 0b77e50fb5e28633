// What stands in a room while the match goes on.

import { MatchActions } from '../actions/match-actions.ts';
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
import { EngineOutput } from '../analysis/engine-output.ts';
import { formatClock } from '../text/time.ts';

import type { Game, ChatEntry } from '../net/protocol.ts';
import type { BoardCallbacks } from '../board/board.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** The parts of a room that stay while the match goes on. */
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
      setPremove: queue,
      setPremoveMove: queueMove,
      cancelPremove: unqueue,
      goToPly: look,
      flip: turn,
    }: Omit<BoardCallbacks, 'say'> & {
      goToPly: (ply: number) => void;
      flip: () => void;
      setPremoveMove: (move: string) => void;
    },
  ) {
    this.#app = app;
    const announce = (text: string) => app.announce(text);
    this.board = new BoardView(game, {
      play,
      setPremove: queue,
      cancelPremove: unqueue,
      say: announce,
    });
    this.playerBars = new PlayerBars(app, game);
    this.chat = new Chat(app);
    // By its id: whatever its code comes to mean.
    const link = `${location.origin}/m/${match.match}`;
    const share = async (ply: number | null) =>
      app.toast(await shareLink(ply === null ? link : `${link}#${ply}`));
    const toBoard = () => {
      window.scrollTo(0, 0);
      this.board.focus({ preventScroll: true });
    };
    this.analysis = new MatchAnalysis(app, {
      goToPly: look,
      focusBoard: toBoard,
      playFromPosition: () => this.actions.playFromPosition(),
    });
    const { figurines } = conventionsOf(game.game);
    this.moveList = new MoveList({ goToPly: look, share }, figurines, this.chat.button);
    this.moveList.element.append(this.chat.panelContainer);
    this.engineOutput = new EngineOutput(app);
    this.moveList.element.firstElementChild?.after(
      this.engineOutput.panelContainer,
      this.analysis.panelContainer,
    );
    this.moveButtons = new MoveButtons(app, {
      play,
      setPremove: queueMove,
      cancelPremove: unqueue,
    });
    const others = this.moveButtons.element;
    const advise = (move: string) => this.board.showBestMove(move);
    const { button: analyse } = this.analysis;
    const backToNow = () => look(Infinity);
    this.actions = new MatchActions(app, {
      goToCurrent: backToNow,
      flip: turn,
      showBestMove: advise,
      moveButtons: others,
      analyseButton: analyse,
    });
    this.result = new ResultPanel(app, {
      playAgain: () => this.actions.playAgain(),
      goToStart: () => look(0),
      analyse: () => void this.analysis.request(),
      share: () => shareLink(link),
      focusBoard: toBoard,
    });
    const table = h(
      'div',
      { class: `table ${boardStyleOf(game)}` },
      this.playerBars.element,
      h('div', { class: 'stage' }, this.board.element, this.result.element),
    );
    table.style.setProperty('--files', String(game.files));
    table.style.setProperty('--ranks', String(game.ranks));
    const counts = ratedLabel(app, match.rated);
    this.elements = [
      h(
        'div',
        { class: 'heading' },
        h(
          'h1',
          {},
          game.title,
          match.clock && h('span', {}, formatClock(match.clock)),
          counts && h('span', {}, counts),
          // Without the server nobody comes by it.
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

  /** Somebody has said something. */
  onChat(match: Match, line: ChatEntry) {
    const text = this.chat.onChat(match, line);
    // One's own is seen, too, and need not be read out.
    const isOwn = line.seat !== null && line.seat === match.you;
    const shown = isOwn ? chatText(line, this.#app.connection.welcome?.presets ?? []) : text;
    if (line.seat !== null && shown) this.playerBars.showChatMessage(line.seat, shown);
    if (text) this.#app.announce(translate('talk.says', { name: line.name, text }));
  }

  /** What counts, counts no more. */
  unmount() {
    this.playerBars.unmount();
    this.actions.unmount();
    this.result.unmount();
  }
}
