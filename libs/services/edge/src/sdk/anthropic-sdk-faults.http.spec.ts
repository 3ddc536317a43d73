import Anthropic from '@anthropic-ai/sdk';
import EarlierAnthropic from '@anthropic-ai/sdk-0';
import { eventually } from '@gateway/testing';
import { keyScope, testPrincipal } from '../edge.fixture.js';
import { errorOf, FAULTS, startEdgeForSdks, UPSTREAMS, type EdgeForSdks } from './sdk.fixture.js';

// The same program runs with both generations: types of the older one would only say the same again.
const SDKS: [string, typeof Anthropic][] = [
  ['@anthropic-ai/sdk 1', Anthropic],
  ['@anthropic-ai/sdk 0', EarlierAnthropic as unknown as typeof Anthropic],
];
const CASES = SDKS.flatMap(([sdk, Sdk]) => UPSTREAMS.map((upstream) => ({ sdk, Sdk, upstream })));

let edge: EdgeForSdks;
beforeAll(async () => {
  edge = await startEdgeForSdks(FAULTS);
});
afterAll(() => edge.close());
beforeEach(() => edge.forget());

describe.each(CASES)('$sdk over a $upstream upstream', ({ Sdk, upstream }) => {
  const client = (more: { apiKey?: string; maxRetries?: number } = {}): Anthropic =>
    new Sdk({ baseURL: edge.url, apiKey: edge.key, maxRetries: 0, ...more });
  const hello = { role: 'user' as const, content: 'Hello there' };
  const body = (behaviour?: string): { model: string; max_tokens: number; messages: [typeof hello] } => ({
    model: edge.model(upstream, behaviour),
    max_tokens: 500,
    messages: [hello],
  });
  const streamed = (behaviour: string) => ({ ...body(behaviour), stream: true as const });
  /** A key whose requests are tried once upstream. */
  const once = (): string => edge.addKey(testPrincipal('key_once', { routingPolicy: { max_retries: 0 } }));

  it('MSG-05 MSG-03 ERR-29 ERR-44 ERR-36 ERR-30 types rejections, their request ids readable', async () => {
    const readOnly = edge.addKey(testPrincipal('key_reads', { permissions: ['usage:read'] }));
    const refusals = [
      [Sdk.AuthenticationError, 401, 'authentication_error', client({ apiKey: 'rsk_wrong' }), body()],
      [Sdk.PermissionDeniedError, 403, 'permission_error', client({ apiKey: readOnly }), body()],
      [Sdk.NotFoundError, 404, 'not_found_error', client(), { ...body(), model: 'acme/none' }],
      [Sdk.BadRequestError, 400, 'invalid_request_error', client(), { ...body(), max_tokens: -1 }],
      [Sdk.BadRequestError, 400, 'invalid_request_error', client(), body('context')],
      [Sdk.InternalServerError, 502, 'api_error', client({ apiKey: once() }), body('broken')],
    ] as const;
    for (const [type, status, name, from, asked] of refusals) {
      for (const stream of [false, true]) {
        const error = await errorOf(from.messages.create({ ...asked, stream }));
        expect(error).toBeInstanceOf(type);
        expect(error).toMatchObject({
          status,
          type: name,
          requestID: expect.stringMatching(/^req_/) as string,
          error: { type: 'error', error: { type: name, message: expect.stringMatching(/.{10}/) as string } },
        });
      }
    }
  });

  it('MSG-05 ERR-43 types a limit of our own', async () => {
    const limited = testPrincipal(`key_rpm_${edge.newName()}`);
    const apiKey = edge.addKey({ ...limited, limits: [keyScope(limited.keyId, { rpm: 1 })] });
    await client({ apiKey }).messages.create(body());
    const error = await errorOf(client({ apiKey }).messages.create(body()));
    expect(error).toBeInstanceOf(Sdk.RateLimitError);
    expect(error).toMatchObject({ status: 429, type: 'rate_limit_error' });
  });

  it('MSG-05 ERR-16 ERR-51 is not asked again after a spent cap or a failure of the service', async () => {
    const capped = testPrincipal(`key_cap_${edge.newName()}`);
    const apiKey = edge.addKey({ ...capped, limits: [keyScope(capped.keyId, { spendCapUsd: '0' })] });
    const spent = await errorOf(client({ apiKey, maxRetries: 2 }).messages.create(body()));
    expect(spent).toBeInstanceOf(Sdk.APIError);
    expect(spent).toMatchObject({
      status: 402,
      type: 'billing_error',
      error: { error: { code: 'spend_limit_exceeded' } },
    });
    expect(edge.requests()).toBe(1);
    edge.forget();
    edge.failAuthentication(1, new TypeError('a fault of ours'));
    const failed = await errorOf(client({ maxRetries: 2 }).messages.create(body()));
    expect(failed).toBeInstanceOf(Sdk.InternalServerError);
    expect(failed).toMatchObject({ status: 500, type: 'api_error' });
    expect((failed as Error).message).not.toContain('a fault of ours');
    expect(edge.requests()).toBe(1);
  });

  it('MSG-05 ERR-13 ERR-63 is asked again after Retry-After, and then served', async () => {
    const message = await client({ apiKey: once(), maxRetries: 2 }).messages.create(body('overloaded-once'));
    expect(message.stop_reason).toBe('end_turn');
    expect(edge.requests()).toBe(2);
    const [first, second] = edge.upstream();
    expect(second.receivedAt - first.receivedAt).toBeGreaterThanOrEqual(900);
  });

  it('MSG-05 closes the upstream when the caller aborts before the first token', async () => {
    const { messages } = client();
    for (const stream of [false, true]) {
      edge.forget();
      const controller = new AbortController();
      const failure = errorOf(messages.create({ ...body('silent'), stream }, { signal: controller.signal }));
      await eventually(() => edge.upstream().length === 1);
      controller.abort();
      expect(await failure).toBeInstanceOf(Sdk.APIUserAbortError);
      await eventually(() => edge.upstream()[0].aborted);
    }
  });

  it('MSG-05 closes the upstream when the caller leaves in mid-stream', async () => {
    const left = await client().messages.create(streamed('endless'));
    let seen = 0;
    for await (const event of left) {
      if (event.type === 'content_block_delta') seen += 1;
      if (seen === 5) break;
    }
    await edge.untilLeft();
    edge.forget();
    const helped = client().messages.stream(body('endless'));
    helped.once('text', () => helped.abort());
    expect(await errorOf(helped.finalMessage())).toBeInstanceOf(Sdk.APIUserAbortError);
    await edge.untilLeft();
  });

  it.each(['cut', 'reset', 'inband'])(
    'MSG-05 never ends a stream silently that broke off: %s',
    async (behaviour) => {
      const types: string[] = [];
      const read = async (): Promise<void> => {
        for await (const { type } of await client().messages.create(streamed(behaviour))) types.push(type);
      };
      const error = await errorOf(read());
      expect(error).toBeInstanceOf(Sdk.APIError);
      expect(error).toMatchObject({
        type: 'api_error',
        requestID: expect.stringMatching(/^req_/) as string,
        error: { error: { code: 'upstream_error' } },
      });
      expect(types).toContain('content_block_delta');
      expect(types).not.toContain('message_delta');
      expect(types).not.toContain('message_stop');
      const helped = client().messages.stream(body(behaviour));
      expect(await errorOf(helped.finalMessage())).toBeInstanceOf(Sdk.APIError);
    },
  );

  it('MSG-05 answers an HTTP error where a stream fails at once', async () => {
    const error = await errorOf(client({ apiKey: once() }).messages.create(streamed('inband-first')));
    expect(error).toBeInstanceOf(Sdk.InternalServerError);
    expect(error).toMatchObject({ type: 'api_error' });
  });
});
