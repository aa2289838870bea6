// What is searched for in the names of functions: a part of them, a pattern with `*` and `?`, or a regular expression between slashes.

/**
 * @typedef {object} Search
 * @property {string} text as it was typed in
 * @property {boolean} isRegex
 * @property {(name: string | null | undefined) => boolean} isFound
 */

/**
 * What was typed in; null where nothing was. A regular expression that is none is an error, in a sentence.
 * @param {string | undefined} text
 * @returns {Search | null}
 */
export function searchOf(text) {
  if (!text) return null;
  const [, source] = /^\/(.+?)\/?$/.exec(text) ?? [];
  const found = source === undefined ? new RegExp(regexOf(text), "i") : regex(source);
  return { text, isRegex: source !== undefined, isFound: (name) => Boolean(name) && found.test(String(name)) };
}

/**
 * The same for the service, which knows patterns alone: a part of a name stands for all that have it.
 * @param {string | undefined} text
 */
export function patternOf(text) {
  if (!text || text.startsWith("/")) return undefined;
  return /[*?]/.test(text) ? text : `*${text}*`;
}

/** @param {string} source */
function regex(source) {
  try {
    return new RegExp(source, "i");
  } catch (error) {
    throw new Error(`/${source}/ is no regular expression: ${error instanceof Error ? error.message.replace(/^.*: /, "") : error}.`);
  }
}

/**
 * A pattern as a regular expression; what is none of those signs means itself.
 * @param {string} pattern
 */
function regexOf(pattern) {
  const inside = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
  return /[*?]/.test(pattern) ? `^${inside}$` : inside;
}
