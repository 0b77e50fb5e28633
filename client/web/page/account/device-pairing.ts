// Card that shows a pairing code, as text, link and QR code, to sign in on another device.

import { replaceChildren, h, svg, setText } from '../ui/dom.ts';
import { translateParts, translate } from '../text/language.ts';
import { copyButton } from '../match/share.ts';
import { formatTimeLeft } from '../text/time.ts';
import { encode } from 'uqr';
import { groupCharacters } from './parse-sign-in-code.ts';

import type { PairingCode } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

const SECOND_MS = 1000;
/** Width of the quiet zone around a QR code, in modules. */
const QUIET_ZONE = 4;
/** Host names that other devices cannot reach. */
const LOOPBACK_HOST = /^(localhost|127\.[\d.]+|\[::1\])$/;

export class DevicePairingCard {
  #app;
  #body = h('div', { class: 'pairing' });
  #timer: ReturnType<typeof setInterval> | undefined;
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
    this.#showButton('');
  }

  onCodeUsed(label: string) {
    if (this.#timer !== undefined) this.#showButton(translate('pair.used', { label }));
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** @param status what happened to the last code */
  #showButton(status: string) {
    this.stop();
    const hadFocus = this.#body.contains(document.activeElement);
    const show = h(
      'button',
      { type: 'button', class: 'primary', onclick: () => void this.#requestCode() },
      translate('pair.show'),
    );
    replaceChildren(this.#body, h('p', { class: 'told', role: 'status' }, status), show);
    if (hadFocus) show.focus();
  }

  async #requestCode() {
    const pairingCode = await this.#app.request({ type: 'pair' });
    if (pairingCode && this.element.isConnected) this.#showCode(pairingCode);
  }

  #showCode({ code, expires_ms }: PairingCode) {
    const link = `${location.origin}/pair#${code}`;
    const field = h('input', { id: 'pair-link', readonly: true, value: link });
    field.addEventListener('focus', () => field.select());
    const timeLeft = h('p', { class: 'note' });
    const codeText = h('strong', { class: 'code' }, groupCharacters(code, 4));
    const copy = copyButton(field, translate('share.copy'));
    replaceChildren(
      this.#body,
      h(
        'div',
        { class: 'paired' },
        qrCode(link),
        h(
          'div',
          { class: 'ways-in' },
          h('p', {}, translate('pair.how')),
          h('label', { for: 'pair-link', class: 'unseen' }, translate('pair.link')),
          h('div', { class: 'row' }, field, copy),
          h(
            'p',
            {},
            ...translateParts('pair.code', { code: codeText, address: `${location.host}/pair` }),
          ),
          timeLeft,
          h('p', { class: 'note' }, translate('pair.secret')),
          LOOPBACK_HOST.test(location.hostname) &&
            h('p', { class: 'note' }, translate('pair.here')),
        ),
      ),
    );
    copy.focus();
    this.#countDown(performance.now() + expires_ms, timeLeft);
  }

  #countDown(end: number, element: HTMLElement) {
    this.stop();
    const tick = () => {
      const left = end - performance.now();
      if (left <= 0) this.#showButton(translate('pair.over'));
      else
        setText(
          element,
          translate('pair.good', { time: formatTimeLeft(Math.max(left, SECOND_MS)) }),
        );
    };
    this.#timer = setInterval(tick, SECOND_MS);
    tick();
  }
}

function qrCode(link: string) {
  const { data, size } = encode(link, { border: QUIET_ZONE, ecc: 'M' });
  const modules = data.flatMap((row: boolean[], y: number) =>
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
    svg('path', { d: modules.join('') }),
  );
}
