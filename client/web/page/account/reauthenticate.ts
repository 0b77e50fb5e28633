// Sends requests for which the server may require the password or the recovery key. This protects
// unattended devices.

import { RequestError } from '../net/connection.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { errorText } from '../text/phrases.ts';

import type { ReplyTo, Request } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** Requests that the server may reject without a password or a recovery key. */
type ReauthType = Extract<Request, { recovery: string }>['type'];

/** A recovery key, perhaps with separators. A password of this form is sent as a recovery key. */
const RECOVERY_KEY = /^([a-z2-7][\s-]*){26}$/i;

/**
 * Sends a request. If the server requires a proof, asks the user for it and sends the request
 * again. Shows errors to the user.
 * @returns the reply; `null` after an error or if the user cancels
 */
export async function requestWithReauth<Type extends ReauthType>(
  app: App,
  request: Request & { type: Type },
): Promise<ReplyTo<Type> | null> {
  try {
    return await app.connection.request<Type>(request);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    if (error.code === 'wrong_password') return requestWithProof<Type>(app, request);
    app.toastError(error);
    return null;
  }
}

function requestWithProof<Type extends ReauthType>(
  app: App,
  request: Request & { type: Type },
): Promise<ReplyTo<Type> | null> {
  const field = h('input', {
    id: 'proof',
    type: 'password',
    autocomplete: 'current-password',
    'aria-describedby': 'proof-trouble',
  });
  const errorLine = h('p', { id: 'proof-trouble', class: 'trouble', role: 'alert' });
  const dialog = h('dialog', { 'aria-labelledby': 'proof-title' });
  return new Promise((resolve) => {
    const send = async () => {
      const proof = RECOVERY_KEY.test(field.value)
        ? { recovery: field.value }
        : { password: field.value };
      try {
        resolve(await app.connection.request<Type>({ ...request, ...proof }));
        dialog.close();
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        setText(errorLine, errorText(error));
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
            void send();
          },
        },
        h('h2', { id: 'proof-title' }, translate('proof.title')),
        h('label', { for: 'proof' }, translate('proof.field')),
        field,
        errorLine,
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
