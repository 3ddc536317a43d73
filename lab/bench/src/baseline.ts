import { parseArgs } from 'node:util';
import Fastify from 'fastify';
import { Pool } from 'undici';

/**
 * The bare proxy that figures are compared with: parses the body, checks `model`, calls the upstream, parses the answer,
 * adds two keys, serialises. Streams are passed on as they come.
 */
const { values } = parseArgs({
  options: {
    upstream: { type: 'string' },
    /** Address for requests with "stream": true. */
    streams: { type: 'string' },
    port: { type: 'string', default: '0' },
  },
});
const pool = new Pool(String(values.upstream), { connections: 1_024 });
const streams = new Pool(String(values.streams ?? values.upstream), { connections: 2_048 });
const app = Fastify({ bodyLimit: 33_554_432 });

app.post('/v1/chat/completions', async (request, reply) => {
  const body = request.body as { model?: unknown; stream?: unknown };
  if (typeof body.model !== 'string') return reply.code(422).send({ error: { code: 'validation_error' } });
  const {
    statusCode,
    body: answer,
    headers,
  } = await (body.stream === true ? streams : pool).request({
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer baseline' },
    body: JSON.stringify(body),
  });
  if (body.stream === true)
    return reply.code(statusCode).header('content-type', String(headers['content-type'])).send(answer);
  const parsed = (await answer.json()) as { usage: Record<string, unknown> };
  parsed.usage.byok_used = false;
  parsed.usage.fallback_triggered = false;
  return reply.code(statusCode).send(parsed);
});

// Ends with the bench, however that ends.
process.stdin.once('end', () => process.exit()).resume();
await app.listen({ host: '127.0.0.1', port: Number(values.port) });
const address = app.server.address();
process.stdout.write(
  `${JSON.stringify({ url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}` })}\n`,
);
