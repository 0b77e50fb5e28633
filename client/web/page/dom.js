// Elements without markup: whatever is text stays text, a player's name above all.

/** @typedef {Node | string | number | null | false | undefined} Child */

/**
 * An element of HTML. What begins with `on` is a listener, `true` an empty attribute; what is
 * `null`, `false` or `undefined` is left out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

/**
 * An element of SVG.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function s(tag, attributes = {}, ...children) {
  return dress(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Record<string, unknown>} attributes
 * @param {Child[]} children
 * @returns {E}
 */
function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (value === true) {
      element.setAttribute(name, '');
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, String(value));
    }
  }
  fill(element, ...children);
  return element;
}

/**
 * Puts these children in place of those that are there.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  const kept = children.filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(...kept.map((child) => (child instanceof Node ? child : String(child))));
}

/**
 * Sets a text, if it is another than the one that stands there: a screen reader then hears it once.
 * @param {Element} element
 * @param {string} text
 */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Says what is wrong, where it is seen: below a field at the foot of the screen it would not be.
 * @param {Element} element
 * @param {string} text
 */
export function complain(element, text) {
  write(element, text);
  if (text) element.scrollIntoView({ block: 'nearest' });
}

/**
 * Gives a class to these and to no others. Of hundreds of squares it is a few that change.
 * @param {string} name
 * @param {Iterable<Element | undefined>} before those that have it
 * @param {Iterable<Element | undefined>} these
 * @returns {Set<Element | undefined>} those that have it now
 */
export function mark(name, before, these) {
  const now = new Set(these);
  for (const element of before) if (!now.has(element)) element?.classList.remove(name);
  for (const element of now) element?.classList.add(name);
  return now;
}

/** Does what can wait once what is drawn by now is on the screen: whoever has clicked sees that first. @param {() => void} does */
export const afterPicture = (does) => requestAnimationFrame(() => setTimeout(does));

/** What the page has had from the start. @param {string} id */
export function one(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no ${id}`);
  return element;
}
