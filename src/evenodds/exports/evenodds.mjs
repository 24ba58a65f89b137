// Odds, draws and decisions of an evenodds policy, bit for bit as evenodds computes them.
//
// A policy is what JSON.parse makes of policy.json (version 4). Plain ECMAScript without dependencies, for browsers and
// Node 19 or newer: `import { odds, decide } from "./evenodds.mjs"`. docs/policy-format.md defines all of it.

const CERTAIN = 1e-12; // odds of a review that are smaller are none
const HALF_A_CHARACTER = /\p{Surrogate}/u;
const SPACE_AT_AN_END = /^[\p{White_Space}\x1c-\x1f]|[\p{White_Space}\x1c-\x1f]$/u;

/** The key of a group of several columns, such as groupKey("Caucasian", "Male"). */
export const groupKey = (...values) => values.join(", ");

/** The odds of a yes; null for a score that is no finite number, and for a group that the policy does not know. */
export function odds(policy, score, group) {
  return curveAt(policy, policy.curves, score, group);
}

/** The odds of a review, 0 where the policy has none; null as for odds. */
export function reviewOdds(policy, score, group) {
  const yes = odds(policy, score, group);
  if (yes === null || !policy.review_curves) return yes === null ? null : 0;
  const between = curveAt(policy, policy.review_curves, score, group) - yes;
  return between > CERTAIN ? between : 0;
}

/** What a draw decides: 1 or 0, with reviews "yes", "review" or "no"; null where there are no odds, or no draw. */
export function outcome(policy, score, group, u) {
  const yes = odds(policy, score, group);
  if (yes === null || typeof u !== "number" || Number.isNaN(u)) return null;
  if (!policy.review_curves) return u < yes ? 1 : 0;
  if (u < yes) return "yes";
  return u < yes + reviewOdds(policy, score, group) ? "review" : "no";
}

/** The draw of an id, a string or a whole number, from 0 to below 1. */
export async function draw(key, id, round = "") {
  if (typeof key !== "string" || !/^[0-9a-f]{64}$/.test(key)) throw new RangeError("The key must be 64 lower-case hexadecimal digits.");
  if (typeof round !== "string" || /[|\0]/.test(round) || HALF_A_CHARACTER.test(round)) {
    throw new RangeError("The round must be a string without |, U+0000 and lone surrogates.");
  }
  const bytes = (text) => new TextEncoder().encode(text);
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const secret = await crypto.subtle.importKey("raw", bytes(key), hmac, false, ["sign"]);
  const code = await crypto.subtle.sign("HMAC", secret, bytes(`evenodds/draw/v1|${round}|${idText(id)}`));
  const view = new DataView(code);
  const n = view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11); // the first 53 bits
  return n / 2 ** 53;
}

/** The odds, the draw and the decision of one person. */
export async function decide(policy, { score, group, id, key, round = "" }) {
  const u = await draw(key, id, round);
  return { odds: odds(policy, score, group), draw: u, decision: outcome(policy, score, group, u) };
}

/** The SHA-256 of the policy's canonical form; a policy that was not changed has it as its own "fingerprint". */
export async function fingerprint(policy) {
  const { fingerprint: _, ...rest } = policy;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical(rest)));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Plain data as RFC 8785 writes it: keys in order, no spaces. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${entries.join(",")}}`;
}

function curveAt(policy, curves, score, group) {
  const curve = curves.find((one) => one.group === group);
  if (!curve || !Number.isFinite(score)) return null;
  const { breaks, origin, rate, coefficients } = curve.pieces;
  const isPast = policy.orientation === "positive" ? (at) => at <= score : (at) => at < score;
  let [piece, end] = [0, breaks.length];
  while (piece < end) {
    const middle = (piece + end) >> 1;
    if (isPast(breaks[middle])) piece = middle + 1;
    else end = middle;
  }
  const u = (score - origin[piece]) * rate[piece];
  return coefficients[piece].reduceRight((value, c) => value * u + c); // Horner's rule, the last coefficient first
}

function idText(id) {
  if (typeof id === "bigint" || Number.isSafeInteger(id)) return String(id);
  if (typeof id !== "string") throw new RangeError("An id must be a string or a whole number.");
  if (id === "" || id.includes("\0") || HALF_A_CHARACTER.test(id)) {
    throw new RangeError("An id must not be empty, nor hold U+0000 or halves of characters.");
  }
  if (id !== id.normalize("NFC") || SPACE_AT_AN_END.test(id)) {
    throw new RangeError("An id must be NFC-normalised, without spaces at its ends.");
  }
  return id;
}
