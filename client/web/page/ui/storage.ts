// What this browser remembers: who we are, and what was chosen last. A browser that allows no
// storage plays all the same and forgets.

export function getStored(key: string): string | null {
  try {
    return localStorage.getItem(`plyhouse.${key}`);
  } catch {
    return null;
  }
}

/** What is remembered as an object; an empty one where anything else stands, by whomever it was written. */
export function getStoredObject(key: string): Record<string, any> {
  try {
    const known = JSON.parse(getStored(key) ?? '{}');
    return typeof known === 'object' && known !== null && !Array.isArray(known) ? known : {};
  } catch {
    return {};
  }
}

export function setStored(key: string, value: string | null) {
  try {
    if (value === null) localStorage.removeItem(`plyhouse.${key}`);
    else localStorage.setItem(`plyhouse.${key}`, value);
  } catch {
    // Full or forbidden: the choice holds until the page is left.
  }
}
