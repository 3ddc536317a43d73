import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { hello, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './callers.fixture.js';

const edge = tenantOf(started, 'both_ways');

/** Sends one request; returns status, headers as they came, and body, without what no two answers share. */
async function answered(target: string, body: string, more: Record<string, string>): Promise<string> {
  const headers = { authorization: `Bearer ${edge.key}`, 'content-type': 'application/json', ...more };
  const sent = request(`${edge.url}${target}`, {
    ...{ agent: false, method: 'POST' },
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const shown = `${response.rawHeaders.join('\n')}\n\n${await textOf(response)}`
    .replace(/^date\n.*$/im, 'date')
    .replace(/\b(?:req|chatcmpl|msg|resp|gen|rs)_?-?[\w-]{8,}/g, 'id')
    .replace(/\d+/g, 'n');
  return `${response.statusCode}\n${shown}`;
}

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const greeting = hello('simulator/chat');
const CASES: [
  name: string,
  status: number,
  target: string,
  body: string | Json,
  more: Record<string, string>,
][] = [
  ['a plain chat', 200, CHAT, greeting, {}],
  ['the other base', 200, '/openai/v1/chat/completions', greeting, {}],
  ['a stream', 200, CHAT, { ...greeting, stream: true }, {}],
  ['a message', 200, MESSAGES, hello('simulator/claude'), {}],
  ['a version that is named', 200, CHAT, greeting, { 'x-service-version': '2026-08' }],
  ['an unknown model', 404, CHAT, hello('simulator/none'), {}],
  ['an unknown model of messages', 404, MESSAGES, hello('simulator/none'), {}],
  ['a body that is no JSON', 422, CHAT, '{', {}],
  ['a body that is no JSON of messages', 400, MESSAGES, '{', {}],
  ['a field of another kind', 422, CHAT, { ...greeting, temperature: 'hot' }, {}],
  ['tags of another form', 422, CHAT, greeting, { 'x-request-tags': 'none' }],
  ['a count of the input', 200, '/v1/messages/count_tokens', hello('simulator/claude'), {}],
];

describe('an answer past Fastify', () => {
  it.each(CASES)('is the same as through it: %s (%d)', async (_, status, target, body, more) => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    const past = await answered(target, sent, more);
    expect(past.split('\n', 1)).toEqual([String(status)]);
    // A query is Fastify's, and inference reads none.
    expect(past).toBe(await answered(`${target}?beta=true`, sent, more));
  });
});
