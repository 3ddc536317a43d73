import { connect } from 'node:net';
import { request } from 'undici';
import { listOf, objectOf, parseJson, type Json, type JsonObject } from './json.js';
import type { UpstreamSim } from './upstream-sim.js';

/** An answer as the specs of this library receive it: undici for HTTP, a bare socket for raw bytes. */
export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly bytes: Buffer;
  readonly json: JsonObject;
}

const ROUTES = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const;
export const CREDENTIALS = {
  chat: { authorization: 'Bearer sk-sim' },
  messages: { 'x-api-key': 'sk-ant-sim', 'anthropic-version': '2023-06-01' },
} as const;
export type Dialect = keyof typeof ROUTES;

const ORDINARY = { messages: [{ role: 'user', content: 'Good morning' }] };

/** A valid body of the dialect with `over` laid over it; undefined values take a key away. */
export function bodyOf(dialect: Dialect, over: object): object {
  const base = dialect === 'chat' ? { model: 'sim-chat' } : { model: 'sim-claude', max_tokens: 1_000 };
  return { ...base, ...ORDINARY, ...over };
}

export async function post(
  sim: UpstreamSim,
  dialect: Dialect,
  over: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Received> {
  const answer = await request(sim.url + ROUTES[dialect], {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...CREDENTIALS[dialect], ...headers },
    body: JSON.stringify(bodyOf(dialect, over)),
  });
  const bytes = Buffer.from(await answer.body.bytes());
  const text = bytes.toString('utf8');
  return { status: answer.statusCode, headers: answer.headers, text, bytes, json: objectOf(parseJson(text)) };
}

/** Every payload of the stream's data lines that is JSON. */
export function payloads(text: string): JsonObject[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => objectOf(parseJson(line.slice(6))));
}

export function firstChoice(body: JsonObject): JsonObject {
  return objectOf(listOf(body.choices)[0]);
}

/** The value at a path of keys and indexes. */
export function at(value: Json | undefined, ...path: (string | number)[]): Json | undefined {
  let found = value;
  for (const step of path) found = typeof step === 'number' ? listOf(found)[step] : objectOf(found)[step];
  return found;
}

/** Every byte the server sends until the connection ends, and whether it ended by a reset. */
export function rawExchange(
  sim: UpstreamSim,
  text: string | Buffer,
): Promise<{ bytes: Buffer; isReset: boolean }> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let isReset = false;
    const socket = connect(sim.port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.on('error', () => (isReset = true));
    socket.on('close', () => resolve({ bytes: Buffer.concat(parts), isReset }));
  });
}

/** A raw request of the dialect that asks the server to close afterwards. */
export function rawRequest(
  dialect: Dialect,
  over: object,
  headers: Readonly<Record<string, string>> = {},
): string {
  const body = JSON.stringify(bodyOf(dialect, over));
  const lines = Object.entries({ ...CREDENTIALS[dialect], ...headers, connection: 'close' });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `POST ${ROUTES[dialect]} HTTP/1.1\r\nhost: sim\r\n${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
