// Elements without markup: whatever is text stays text, a player's name above all.

export type Child = Node | string | number | null | false | undefined;

/**
 * An element of HTML. What begins with `on` is a listener, `true` an empty attribute; what is
 * `null`, `false` or `undefined` is left out.
 */
export function h<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Record<string, unknown> = {},
  ...children: Child[]
): HTMLElementTagNameMap[T] {
  return dress(document.createElement(tag), attributes, children);
}

/** An element of SVG. */
export function svg<T extends keyof SVGElementTagNameMap>(
  tag: T,
  attributes: Record<string, unknown> = {},
  ...children: Child[]
): SVGElementTagNameMap[T] {
  return dress(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function dress<E extends Element>(
  element: E,
  attributes: Record<string, unknown>,
  children: Child[],
): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value as EventListener);
    } else if (value === true) {
      element.setAttribute(name, '');
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, String(value));
    }
  }
  replaceChildren(element, ...children);
  return element;
}

/** Puts these children in place of those that are there. */
export function replaceChildren(element: Element, ...children: Child[]) {
  const kept = children.filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(...kept.map((child) => (child instanceof Node ? child : String(child))));
}

/** Sets a text, if it is another than the one that stands there: a screen reader then hears it once. */
export function setText(element: Element, text: string) {
  if (element.textContent !== text) element.textContent = text;
}

/** Says what is wrong, where it is seen: below a field at the foot of the screen it would not be. */
export function showError(element: Element, text: string) {
  setText(element, text);
  if (text) element.scrollIntoView({ block: 'nearest' });
}

/**
 * Gives a class to these and to no others. Of hundreds of squares it is a few that change.
 * @param before those that have it
 * @returns those that have it now
 */
export function updateClass(
  name: string,
  before: Iterable<Element | undefined>,
  these: Iterable<Element | undefined>,
): Set<Element | undefined> {
  const now = new Set(these);
  for (const element of before) if (!now.has(element)) element?.classList.remove(name);
  for (const element of now) element?.classList.add(name);
  return now;
}

/** Does what can wait once what is drawn by now is on the screen: whoever has clicked sees that first. */
export const afterNextPaint = (does: () => void) => requestAnimationFrame(() => setTimeout(does));

/** What the page has had from the start. */
export function elementById(id: string) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no ${id}`);
  return element;
}
