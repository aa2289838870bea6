// Requests to the service: what is asked, with the token that it may want.

/** That the service answers only who shows a token. */
export class WantsToken extends Error {
  constructor() {
    super("This service wants a token.");
  }
}

/**
 * What went wrong, in words.
 * @param {unknown} error
 */
export const wordsOf = (error) => (error instanceof Error ? error.message : String(error));

/**
 * The service's answer; an error has the service's own sentence.
 * @param {string} path @param {RequestInit} request
 */
export async function ask(path, request = {}) {
  const token = sessionStorage.getItem("token");
  const headers = { ...request.headers, ...(token ? { authorization: `Bearer ${token}` } : {}) };
  const answer = await fetch(path, { ...request, headers }).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new Error("The service does not answer: does it still run, and is it reached from here?");
  });
  // No: a token that nobody knows, or one that may only write.
  if (answer.status === 401 || (answer.status === 403 && token)) throw new WantsToken();
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error || `status ${answer.status}`);
  return answer;
}

/**
 * A view's document.
 * @template {keyof import("./types.d.ts").Documents} V
 * @param {V} name
 * @param {import("./types.d.ts").Parameters} parameters
 * @returns {Promise<import("./types.d.ts").Documents[V]>}
 */
export async function view(name, parameters = {}) {
  return (await ask(path(`/v1/${name}`, parameters))).json();
}

/** @param {string} route @param {import("./types.d.ts").Parameters} parameters */
export function path(route, parameters) {
  const words = query(parameters);
  return words ? `${route}?${words}` : route;
}

/**
 * Parameters as an address has them: those that have a value; a list is the same one several times.
 * @param {import("./types.d.ts").Parameters} parameters
 */
export function query(parameters) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) for (const one of [value].flat()) if (one) words.append(name, one);
  return words.toString();
}

/**
 * Keeps the token that somebody has entered, for this tab.
 * @param {string} token
 */
export function useToken(token) {
  sessionStorage.setItem("token", token);
}

export const hasToken = () => Boolean(sessionStorage.getItem("token"));
