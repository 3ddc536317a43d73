import Anthropic from '@anthropic-ai/sdk';
import EarlierAnthropic from '@anthropic-ai/sdk-0';
import { ApiError, messagesErrorEnvelope } from '@gateway/contracts';
import { dialect } from './messages.dialect.js';
import {
  block,
  decoded,
  encodedStream,
  FACTS,
  foldOf,
  framesOf,
  sse,
  start,
  stop,
  text,
  tool,
} from './messages.fixture.js';

const request = {
  model: 'acme/claude',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'hi' }],
};

const wire = sse([
  start({ input_tokens: 5, output_tokens: 1 }),
  ...block(
    0,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking: 'hm' },
    { type: 'signature_delta', signature: 's' },
  ),
  ...text(1, 'Hel', 'lo'),
  ...tool(2, 'toolu_1', '{"a"', ':1}'),
  ...stop('tool_use'),
]);

/** Stands for the gateway: answers every call of the SDK with one body. */
function answering(body: string, status = 200): { fetch: typeof fetch; apiKey: string; maxRetries: number } {
  const type = body.startsWith('{') ? 'application/json' : 'text/event-stream';
  return {
    apiKey: 'rsk_test',
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(body, { status, headers: { 'content-type': type } })),
  };
}

/** The part that both generations of the SDK offer; their own types are too far apart for one call. */
interface Client {
  messages: {
    create(body: typeof request): Promise<unknown>;
    stream(body: typeof request): { finalMessage(): Promise<unknown> };
  };
}

const SDKS: [string, (body: string, status?: number) => Client][] = [
  ['1.x', (body, status) => new Anthropic(answering(body, status))],
  ['0.x', (body, status) => new EarlierAnthropic(answering(body, status))],
];

describe.each(SDKS)('the Anthropic SDK %s', (_version, client) => {
  const expected = foldOf(decoded(wire));

  it('MSG-05 builds the plain answer of a translated stream', async () => {
    const translated = encodedStream(decoded(wire));
    const message = await client(translated).messages.stream(request).finalMessage();
    expect(message).toMatchObject(expected);
  });

  it('MSG-05 builds the plain answer of a native stream', async () => {
    const encoder = dialect.caller.encoder(FACTS, true);
    const native = framesOf(wire)
      .map((frame) => encoder.write(frame))
      .join('');
    const message = await client(native).messages.stream(request).finalMessage();
    const { container: _container, stop_details: _details, ...same } = expected;
    expect(message).toMatchObject(same);
  });

  it('MSG-05 reads a plain answer unchanged', async () => {
    expect(await client(JSON.stringify(expected)).messages.create(request)).toMatchObject(expected);
  });

  it('MSG-03 throws what the gateway refuses, and what fails in mid-stream', async () => {
    const refusal = new ApiError('invalid_request_error', { message: 'max_tokens: Field required' });
    const body = JSON.stringify(messagesErrorEnvelope(refusal, 'req_1'));
    await expect(client(body, 400).messages.create(request)).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
    });
    const cut = encodedStream(decoded(wire).slice(0, 4));
    const failed = cut + dialect.caller.errorFrame(new ApiError('upstream_error', { status: 502 }), 'req_1');
    await expect(client(failed).messages.stream(request).finalMessage()).rejects.toMatchObject({
      type: 'api_error',
    });
  });
});
