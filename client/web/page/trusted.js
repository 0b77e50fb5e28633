// Which scripts the page runs beside its modules: its own, and no others. Where the browser asks for a promise
// (Trusted Types), this is the one place that gives it.

/** @typedef {{ createScriptURL: (url: string) => string }} Policy */

/** @type {Policy | undefined} */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy('plyhouse', {
  createScriptURL: (/** @type {string} */ url) => {
    if (new URL(url).origin !== location.origin) throw new TypeError(url);
    return url;
  },
});

/** A script of this origin, as workers are made of. @param {URL} url */
export const trusted = ({ href }) => policy?.createScriptURL(href) ?? href;
