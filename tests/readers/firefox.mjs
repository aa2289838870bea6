// The Firefox Profiler's importer takes the profile, and its call tree has the report's times.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { folder, functions, near, plain } from "./common.mjs";

const cli = join(folder, "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js");
const ask = (...words) => execFileSync(process.execPath, [cli, ...words], { encoding: "utf8", stdio: "pipe", maxBuffer: 1 << 28, env: { ...process.env, HOME: folder } });

/** The importer runs in a process of its own, which has half a second to start: on a busy machine that takes more tries. */
function load(tries) {
  try {
    ask("load", join(folder, "firefox.json"));
  } catch (error) {
    const late = /may still be running as pid (\d+)/.exec(error.stderr);
    if (!late || tries === 1) throw error;
    process.kill(Number(late[1]));
    load(tries - 1);
  }
}

load(20);
try {
  const said = JSON.parse(ask("thread", "functions", "--json"));
  assert.equal(said.weightType, "tracing-ms");
  // Every path is rounded to a nanosecond.
  let compared = 0;
  for (const { name, selfSamples, totalSamples } of said.functions) {
    const known = functions.get(plain(name));
    assert.ok(known, name);
    if (known.copies > 1) continue;
    near(selfSamples * 1e6, known.self, 20 + known.self / 1e4, `self time of ${name}`);
    near(totalSamples * 1e6, known.total, 20 + known.total / 1e4, `total time of ${name}`);
    compared += 1;
  }
  assert.ok(compared > 0);
  console.log(`${compared} functions as in the report`);
} finally {
  ask("stop", "--all");
}
