import type { ScriptedAnswer, SeenRequest } from '@gateway/testing';

type Json = Record<string, unknown>;

/** Amount by which a leak is found: in an answer it means that a member that names money reached the caller. */
export const PAID = 0.987654321;
/** A count of tokens: its name only sounds like money. */
export const RECHARGED = { audio_recharge_tokens: 77_123 };

const MONEY: Json = {
  cost: PAID,
  cost_details: { upstream_inference_cost: PAID, rows: [{ usd: PAID }] },
  upstream_cost: PAID,
  total_cost: [PAID],
  costInUsdTicks: PAID,
  price: { amount: PAID },
  unit_price: `${PAID}`,
  charges: [[PAID]],
  credits_used: PAID,
};
/** Members that the model or the caller wrote, which may name anything. */
const WRITTEN = new Set(['input', 'metadata', 'tools', 'text']);

/** The same with money in every object, at every depth. */
export function priced(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(priced);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]: [string, unknown]) => {
    if (WRITTEN.has(name) || member === null) return [name, member];
    if (name === 'usage') return [name, { ...(priced(member) as Json), ...RECHARGED }];
    return [name, priced(member)];
  });
  return { ...(Object.fromEntries(members) as Json), ...MONEY };
}

/** Sends a request on, and answers with money in whatever is JSON: a body, lines of it, or events. */
export async function pricedAnswer(origin: string, seen: SeenRequest): Promise<ScriptedAnswer> {
  const { host: _host, 'content-length': _length, connection: _connection, ...headers } = seen.headers;
  const answer = await fetch(`${origin}${seen.path}`, {
    method: seen.method,
    headers: headers as Record<string, string>,
    ...(seen.body.byteLength > 0 ? { body: seen.body as Uint8Array<ArrayBuffer> } : {}),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const type = answer.headers.get('content-type') ?? '';
  const isText = /json|event-stream/.test(type);
  const body = isText ? bytes.toString('utf8').split('\n').map(of(seen)).join('\n') : bytes;
  return { status: answer.status, headers: { 'content-type': type, 'x-request-cost': `${PAID}` }, body };
}

/** Prices a line of the answer to a request. */
function of({ body, headers }: SeenRequest): (line: string) => string {
  const isJson = headers['content-type']?.includes('json') === true;
  const { metadata = {}, tools = [] } = isJson ? (JSON.parse(body.toString('utf8')) as Json) : {};
  return (line) => {
    const [, prefix = '', text = ''] = /^(data: ?)?(.*)$/.exec(line) ?? [];
    if (!text.startsWith('{')) return line;
    const value = JSON.parse(text) as Json;
    // What the simulator never writes, and providers do: what the caller sent, logprobs, sound.
    const response = (value.object === 'response' ? value : value.response) as Json | undefined;
    if (response !== undefined) Object.assign(response, { metadata, tools });
    for (const choice of (value.choices ?? []) as Json[]) {
      const content = [{ token: 'a', logprob: -1, bytes: null, top_logprobs: [{ token: 'b' }] }];
      Object.assign(choice, { logprobs: { content } });
      Object.assign((choice.message ?? choice.delta) as Json, { audio: { id: 'audio_1', data: 'AAAA' } });
    }
    return `${prefix}${JSON.stringify(priced(value))}`;
  };
}
