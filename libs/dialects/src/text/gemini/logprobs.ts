import { objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';

/** A `logprobsResult` as chat writes it: each token that was chosen, with those that might have been (wire-formats 5.2). */
export function logprobsOf(result: unknown): JsonObject[] {
  const { chosenCandidates, topCandidates } = objectOf(result);
  const tops = objectsOf(topCandidates);
  return objectsOf(chosenCandidates).map((chosen, at) => ({
    ...tokenOf(chosen),
    top_logprobs: objectsOf(objectOf(tops[at]).candidates).map(tokenOf),
  }));
}

/** Absent = 0, which is how this format writes a token that is certain. */
function tokenOf({ token, logProbability }: JsonObject): JsonObject {
  const text = textOf(token);
  const logprob = typeof logProbability === 'number' ? logProbability : 0;
  return { token: text, logprob, bytes: [...Buffer.from(text, 'utf8')] };
}
