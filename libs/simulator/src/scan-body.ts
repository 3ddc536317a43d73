import type { JsonObject } from './json.js';

const MODEL = Buffer.from('"model":');
const STREAM = /"stream"\s*:\s*true/;
const EDGE_BYTES = 4_096;

/**
 * The model and the stream flag of a body too large to parse under load. They are looked for in the first and
 * last 4 KB, where every known client puts them; a body with neither there is an ordinary `sim-chat` request.
 */
export function scanBody(body: Buffer): JsonObject {
  const edges =
    body.toString('latin1', 0, EDGE_BYTES) +
    body.toString('latin1', Math.max(EDGE_BYTES, body.length - EDGE_BYTES));
  const at = edges.indexOf(MODEL.toString('latin1'));
  const model = at < 0 ? undefined : /^"model":\s*"([^"]*)"/.exec(edges.slice(at))?.[1];
  return {
    model: model ?? 'sim-chat',
    stream: STREAM.test(edges),
    max_tokens: 1_024,
    messages: [{ role: 'user', content: `a body of ${body.length} bytes` }],
  };
}
