// Hold evenodds.mjs against vectors: `node check.mjs EVALUATOR VECTORS` prints what was checked and what failed, as JSON.
import { readFileSync } from "node:fs";
import { webcrypto } from "node:crypto";
import { pathToFileURL } from "node:url";

globalThis.crypto ??= webcrypto; // Node 18 has it, but not there
const [evaluator, vectors] = process.argv.slice(2);
const { canonical, decide, draw, fingerprint, groupKey, odds, outcome, reviewOdds } = await import(pathToFileURL(evaluator));
const given = JSON.parse(readFileSync(vectors, "utf-8"));
const failed = [];
let checked = 0;

function check(one, got, right) {
  checked += 1;
  if (got !== right) failed.push({ one, got: String(got) });
}

async function refuses(one, attempt) {
  checked += 1;
  try {
    await attempt();
    failed.push({ one, got: "not refused" });
  } catch (error) {
    if (!(error instanceof RangeError)) failed.push({ one, got: String(error) });
  }
}

const number = (value) => ({ nan: NaN, inf: Infinity, "-inf": -Infinity })[value] ?? value;
for (const one of given.odds) {
  const policy = given.policies[one.policy];
  check(one, odds(policy, number(one.score), one.group), one.odds);
  if (one.odds === null || "review" in one) {
    check(one, reviewOdds(policy, number(one.score), one.group), one.review ?? null);
  }
}
for (const one of given.draws) check(one, await draw(one.key, one.id, one.round), one.draw);
for (const one of given.decisions) {
  check(one, outcome(given.policies[one.policy], one.score, one.group, one.u), one.decision);
}
for (const u of given.decisions.length ? [null, undefined, NaN, "", []] : []) {
  const { policy, score, group } = given.decisions[0];
  check({ u: String(u) }, outcome(given.policies[policy], score, group, u), null); // without a draw no decision
}
for (const id of given.refused?.ids ?? []) await refuses({ id }, () => draw("00".repeat(32), id));
for (const key of given.refused?.keys ?? []) await refuses({ key }, () => draw(key, "a"));
for (const round of given.refused?.rounds ?? []) await refuses({ round }, () => draw("00".repeat(32), "a", round));
for (const [name, policy] of Object.entries(given.policies)) {
  check({ name }, await fingerprint(policy), policy.fingerprint);
}
for (const { value, text } of given.canonical ?? []) check({ text }, canonical(value), text);
for (const one of given.people ?? []) {
  const got = await decide(given.policies[one.policy], { ...one, group: groupKey(...one.values) });
  for (const name of ["odds", "draw", "decision"]) check(one, got[name], one[name]);
}
process.stdout.write(JSON.stringify({ checked, failed: failed.slice(0, 10), failures: failed.length }));
