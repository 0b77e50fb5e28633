// Reads and writes `localStorage`. If the browser forbids it, nothing is stored and the page still
// works.

export function getStored(key: string): string | null {
  try {
    return localStorage.getItem(`plyhouse.${key}`);
  } catch {
    return null;
  }
}

/** Returns the stored object, or an empty one if the stored text is not a JSON object. */
export function getStoredObject(key: string): Record<string, any> {
  try {
    const stored = JSON.parse(getStored(key) ?? '{}');
    return typeof stored === 'object' && stored !== null && !Array.isArray(stored) ? stored : {};
  } catch {
    return {};
  }
}

export function setStored(key: string, value: string | null) {
  try {
    if (value === null) localStorage.removeItem(`plyhouse.${key}`);
    else localStorage.setItem(`plyhouse.${key}`, value);
  } catch {
    // The storage is full or forbidden.
  }
}
