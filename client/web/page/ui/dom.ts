// Creates and updates DOM elements. Text is never parsed as HTML.

export type Child = Node | string | number | null | false | undefined;

/**
 * Creates an HTML element. Attributes that begin with `on` are event listeners. `true` sets an
 * empty attribute; `null`, `false` and `undefined` set none.
 */
export function h<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Record<string, unknown> = {},
  ...children: Child[]
): HTMLElementTagNameMap[T] {
  return build(document.createElement(tag), attributes, children);
}

/** Creates an SVG element; see `h`. */
export function svg<T extends keyof SVGElementTagNameMap>(
  tag: T,
  attributes: Record<string, unknown> = {},
  ...children: Child[]
): SVGElementTagNameMap[T] {
  return build(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function build<E extends Element>(
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

/** Replaces all children; `null`, `false` and `undefined` are skipped. */
export function replaceChildren(element: Element, ...children: Child[]) {
  const shown = children.filter(
    (child) => child !== null && child !== undefined && child !== false,
  );
  element.replaceChildren(...shown.map((child) => (child instanceof Node ? child : String(child))));
}

/** Sets the text if it differs, so that screen readers do not announce the same text twice. */
export function setText(element: Element, text: string) {
  if (element.textContent !== text) element.textContent = text;
}

/** Shows an error text and scrolls it into view. */
export function showError(element: Element, text: string) {
  setText(element, text);
  if (text) element.scrollIntoView({ block: 'nearest' });
}

/**
 * Moves a class from the elements `before` to the elements `these`, but skips those in both.
 * @returns the elements that now have the class
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

/**
 * Runs work that is not urgent after the next frame, so that the user first sees the effect of a
 * click.
 */
export const afterNextPaint = (callback: () => void) =>
  requestAnimationFrame(() => setTimeout(callback));

/** Returns an element of `index.html`. */
export function elementById(id: string) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no ${id}`);
  return element;
}
