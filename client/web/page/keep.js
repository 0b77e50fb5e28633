// What this browser remembers: who we are, and what was chosen last. A browser that allows no
// storage plays all the same and forgets.

/**
 * @param {string} key
 * @returns {string | null}
 */
export function recall(key) {
  try {
    return localStorage.getItem(`plyhouse.${key}`);
  } catch {
    return null;
  }
}

/**
 * What is remembered as an object; an empty one where anything else stands, by whomever it was written.
 * @param {string} key
 * @returns {Record<string, any>}
 */
export function recallObject(key) {
  try {
    const known = JSON.parse(recall(key) ?? '{}');
    return typeof known === 'object' && known !== null && !Array.isArray(known) ? known : {};
  } catch {
    return {};
  }
}

/**
 * @param {string} key
 * @param {string | null} value
 */
export function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(`plyhouse.${key}`);
    else localStorage.setItem(`plyhouse.${key}`, value);
  } catch {
    // Full or forbidden: the choice holds until the page is left.
  }
}
