// What comes in while one looks: an event for each frame, kept for a minute, and one for what is told of load.

import { WantsToken, ask } from "./ask.js";

/**
 * Frames of each service in the last minute: when they began and ended, in seconds since 1970, and their calls.
 * @type {Map<string, { start: number, end: number, calls: number }[]>}
 */
const frames = new Map();

/** Longer ago than anything shows. */
const KEPT_S = 70;

/**
 * Calls in each of the last 60 seconds, and a second of late.
 * @param {string} service
 */
export function rate(service) {
  const now = Date.now() / 1000;
  const slices = new Array(60).fill(0);
  const known = frames.get(service) ?? [];
  for (const { start, end, calls } of known) {
    // A frame's calls lie evenly in its time, as far as anybody knows.
    for (let second = Math.max(Math.floor(start - now + 60), 0); second < Math.min(end - now + 60, 60); second += 1) {
      const [from, to] = [Math.max(start, now - 60 + second), Math.min(end, now - 59 + second)];
      if (to > from) slices[second] += calls * (to - from) / Math.max(end - start, 1e-9);
    }
  }
  const recent = slices.slice(-12, -1);
  return { slices, now: known.length ? recent.reduce((sum, one) => sum + one, 0) / recent.length : 0 };
}

/**
 * Listens for ever; `onFrame` is told that something has come in, `onState` whether there is a connection.
 * @param {() => void} onFrame @param {(text: string, isThere: boolean) => void} onState
 */
export async function listen(onFrame, onState) {
  for (let pause = 500; ; pause = Math.min(pause * 2, 8000)) {
    try {
      const answer = await ask("/v1/live");
      onState("live", true);
      pause = 500;
      for await (const { kind, data } of events(answer.body)) if (kind === "load" || heard(data)) onFrame();
      onState("connection lost: trying again …", false);
    } catch (error) {
      onState(error instanceof WantsToken ? "a token is needed" : "no connection: trying again …", false);
    }
    await new Promise((done) => setTimeout(done, pause));
  }
}

/**
 * Events of frames, and that something was told of load. EventSource could not send a token.
 * @param {ReadableStream<BufferSource> | null} body @returns {AsyncGenerator<{ kind: string, data: Frame }>}
 */
async function* events(body) {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const whole = (text + part.value).split("\n\n");
    text = whole.pop() ?? "";
    for (const event of whole) {
      const [kind, data] = ["event: ", "data: "].map((name) => event.split("\n").find((line) => line.startsWith(name))?.slice(name.length));
      if (data && (kind === "frame" || kind === "load")) yield { kind, data: JSON.parse(data) };
    }
  }
}

/**
 * What an event tells of a frame; `put` is "known" of one that was there.
 * @typedef {{ labels: Record<string, string>, calls: number, started_unix_ns: number, ended_unix_ns: number, put: string }} Frame
 *
 * @param {Frame} frame
 */
function heard({ labels, calls, started_unix_ns, ended_unix_ns, put }) {
  if (put === "known") return false;
  const service = labels.service || "";
  const old = Date.now() / 1000 - KEPT_S;
  const kept = (frames.get(service) ?? []).filter((frame) => frame.end > old);
  frames.set(service, [...kept, { start: started_unix_ns / 1e9, end: ended_unix_ns / 1e9, calls }]);
  return true;
}
