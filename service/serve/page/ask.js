// Requests to the service: what is asked, with the token that it may want.

/** The service's answer; an error has the service's own sentence. */
export async function ask(path) {
  const token = sessionStorage.getItem("token");
  const answer = await fetch(path, token ? { headers: { authorization: `Bearer ${token}` } } : {});
  if (answer.status === 401) throw Object.assign(new Error("This service wants a token."), { wantsToken: true });
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error || `status ${answer.status}`);
  return answer;
}

/** A view's document. */
export async function view(name, parameters = {}) {
  return (await ask(path(`/v1/${name}`, parameters))).json();
}

export function path(route, parameters) {
  const words = query(parameters);
  return words ? `${route}?${words}` : route;
}

/** Parameters as an address has them: those that have a value. */
export function query(parameters) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value) words.set(name, value);
  return words.toString();
}

/** Keeps the token that somebody has entered, for this tab. */
export function useToken(token) {
  sessionStorage.setItem("token", token);
}

export const hasToken = () => Boolean(sessionStorage.getItem("token"));
