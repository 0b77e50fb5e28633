// How one comes to be on another device, too: a link with a code, to be scanned, opened or typed there.

import { replaceChildren, h, svg, setText } from '../ui/dom.ts';
import { translateParts, translate } from '../text/language.ts';
import { copyButton } from '../match/share.ts';
import { formatTimeLeft } from '../text/time.ts';
import { encode } from 'uqr';
import { groupCharacters } from './sign-in-codes.ts';

import type { PairingCode } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

const SECOND_MS = 1000;
/** What a scanner needs to be free around a code, in its squares. */
const BORDER = 4;
/** Where only this machine finds us. */
const THIS_MACHINE = /^(localhost|127\.[\d.]+|\[::1\])$/;

export class DevicePairingCard {
  #app;
  #body = h('div', { class: 'pairing' });
  #ticking: ReturnType<typeof setInterval> | undefined;
  element;

  constructor(app: App) {
    this.#app = app;
    this.element = h(
      'section',
      { class: 'card', 'aria-labelledby': 'pair-title' },
      h('h2', { id: 'pair-title' }, translate('pair.title')),
      h('p', { class: 'note' }, translate('pair.about')),
      this.#body,
    );
    this.#offer('');
  }

  /** The code is used up by a device of this label. */
  onCodeUsed(label: string) {
    if (this.#ticking !== undefined) this.#offer(translate('pair.used', { label }));
  }

  stop() {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  /** @param told what has become of the last code */
  #offer(told: string) {
    this.stop();
    const hadFocus = this.#body.contains(document.activeElement);
    const show = h(
      'button',
      { type: 'button', class: 'primary', onclick: () => void this.#ask() },
      translate('pair.show'),
    );
    replaceChildren(this.#body, h('p', { class: 'told', role: 'status' }, told), show);
    if (hadFocus) show.focus();
  }

  async #ask() {
    const paired = await this.#app.request({ type: 'pair' });
    if (paired && this.element.isConnected) this.#show(paired);
  }

  #show({ code, expires_ms }: PairingCode) {
    const link = `${location.origin}/pair#${code}`;
    const field = h('input', { id: 'pair-link', readonly: true, value: link });
    field.addEventListener('focus', () => field.select());
    const left = h('p', { class: 'note' });
    const here = h('strong', { class: 'code' }, groupCharacters(code, 4));
    const copy = copyButton(field, translate('share.copy'));
    replaceChildren(
      this.#body,
      h(
        'div',
        { class: 'paired' },
        picture(link),
        h(
          'div',
          { class: 'ways-in' },
          h('p', {}, translate('pair.how')),
          h('label', { for: 'pair-link', class: 'unseen' }, translate('pair.link')),
          h('div', { class: 'row' }, field, copy),
          h(
            'p',
            {},
            ...translateParts('pair.code', { code: here, address: `${location.host}/pair` }),
          ),
          left,
          h('p', { class: 'note' }, translate('pair.secret')),
          THIS_MACHINE.test(location.hostname) && h('p', { class: 'note' }, translate('pair.here')),
        ),
      ),
    );
    copy.focus();
    this.#countDown(performance.now() + expires_ms, left);
  }

  #countDown(end: number, place: HTMLElement) {
    this.stop();
    const tick = () => {
      const left = end - performance.now();
      if (left <= 0) this.#offer(translate('pair.over'));
      else
        setText(place, translate('pair.good', { time: formatTimeLeft(Math.max(left, SECOND_MS)) }));
    };
    this.#ticking = setInterval(tick, SECOND_MS);
    tick();
  }
}

/** The link as a picture that cameras read, dark on light in every theme. */
function picture(link: string) {
  const { data, size } = encode(link, { border: BORDER, ecc: 'M' });
  const squares = data.flatMap((row: boolean[], y: number) =>
    row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')),
  );
  return svg(
    'svg',
    {
      class: 'qr',
      viewBox: `0 0 ${size} ${size}`,
      role: 'img',
      'aria-label': translate('pair.qr'),
    },
    svg('path', { d: squares.join('') }),
  );
}
