// What a device that somebody has left lying about shall not do: whoever has a password is asked for it, or for
// the recovery key.

import { RequestError } from '../net/connection.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { errorText } from '../text/phrases.ts';

import type { ReplyTo, Request } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** Types of requests that the server may refuse without a password or a recovery key. */
type ProvenType = Extract<Request, { recovery: string }>['type'];

/** A recovery key, as it is written down. A password of this form would be read as one. */
const KEY = /^([a-z2-7][\s-]*){26}$/i;

/**
 * Asks, with a proof if the server wants one, and tells the person when it is refused.
 * @returns the answer; `null` if it was refused
 */
export async function requestWithReauth<Type extends ProvenType>(
  app: App,
  request: Request & { type: Type },
): Promise<ReplyTo<Type> | null> {
  try {
    return await app.connection.request<Type>(request);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    if (error.code === 'wrong_password') return askWithProof<Type>(app, request);
    app.toastError(error);
    return null;
  }
}

function askWithProof<Type extends ProvenType>(
  app: App,
  request: Request & { type: Type },
): Promise<ReplyTo<Type> | null> {
  const field = h('input', {
    id: 'proof',
    type: 'password',
    autocomplete: 'current-password',
    'aria-describedby': 'proof-trouble',
  });
  const trouble = h('p', { id: 'proof-trouble', class: 'trouble', role: 'alert' });
  const dialog = h('dialog', { 'aria-labelledby': 'proof-title' });
  return new Promise((resolve) => {
    const ask = async () => {
      const proof = KEY.test(field.value) ? { recovery: field.value } : { password: field.value };
      try {
        resolve(await app.connection.request<Type>({ ...request, ...proof }));
        dialog.close();
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        setText(trouble, errorText(error));
        field.select();
      }
    };
    replaceChildren(
      dialog,
      h(
        'form',
        {
          method: 'dialog',
          onsubmit: (event: Event) => {
            event.preventDefault();
            void ask();
          },
        },
        h('h2', { id: 'proof-title' }, translate('proof.title')),
        h('label', { for: 'proof' }, translate('proof.field')),
        field,
        trouble,
        h(
          'div',
          { class: 'row end' },
          h(
            'button',
            { type: 'button', class: 'quiet', onclick: () => dialog.close() },
            translate('dialog.cancel'),
          ),
          h('button', { class: 'primary' }, translate('proof.go')),
        ),
      ),
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
