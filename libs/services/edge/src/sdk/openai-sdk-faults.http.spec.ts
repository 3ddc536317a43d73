import { eventually } from '@gateway/testing';
import OpenAI from 'openai';
import EarlierOpenAI from 'openai-6';
import { keyScope, testPrincipal } from '../edge.fixture.js';
import { errorOf, FAULTS, startEdgeForSdks, UPSTREAMS, type EdgeForSdks } from './sdk.fixture.js';

// The same program runs with both generations: types of the older one would only say the same again.
const SDKS: [string, typeof OpenAI][] = [
  ['openai 7', OpenAI],
  ['openai 6', EarlierOpenAI as unknown as typeof OpenAI],
];
const CASES = SDKS.flatMap(([sdk, Sdk]) => UPSTREAMS.map((upstream) => ({ sdk, Sdk, upstream })));

let edge: EdgeForSdks;
beforeAll(async () => {
  edge = await startEdgeForSdks(FAULTS);
});
afterAll(() => edge.close());
beforeEach(() => edge.forget());

describe.each(CASES)('$sdk over a $upstream upstream', ({ Sdk, upstream }) => {
  const client = (more: { apiKey?: string; maxRetries?: number } = {}): OpenAI =>
    new Sdk({ baseURL: `${edge.url}/openai/v1`, apiKey: edge.key, maxRetries: 0, ...more });
  const hello = { role: 'user' as const, content: 'Hello there' };
  const body = (behaviour?: string): { model: string; messages: [typeof hello] } => ({
    model: edge.model(upstream, behaviour),
    messages: [hello],
  });
  const streamed = (behaviour: string) => ({ ...body(behaviour), stream: true as const });
  /** A key whose requests are tried once upstream. */
  const once = (): string => edge.addKey(testPrincipal('key_once', { routingPolicy: { max_retries: 0 } }));

  it('CHAT-14 ERR-44 ERR-36 ERR-30 ERR-35 types rejections, their request ids readable', async () => {
    const readOnly = edge.addKey(testPrincipal('key_reads', { permissions: ['usage:read'] }));
    const refusals = [
      [Sdk.AuthenticationError, 401, 'unauthorized', client({ apiKey: 'rsk_wrong' }), body()],
      [Sdk.PermissionDeniedError, 403, 'forbidden', client({ apiKey: readOnly }), body()],
      [Sdk.NotFoundError, 404, 'model_not_found', client(), { ...body(), model: 'acme/none' }],
      [Sdk.UnprocessableEntityError, 422, 'validation_error', client(), { ...body(), temperature: 5 }],
      [Sdk.BadRequestError, 400, 'context_window_exceeded', client(), body('context')],
      [Sdk.InternalServerError, 502, 'upstream_error', client({ apiKey: once() }), body('broken')],
    ] as const;
    for (const [type, status, code, from, asked] of refusals) {
      for (const stream of [false, true]) {
        const error = await errorOf(from.chat.completions.create({ ...asked, stream }));
        expect(error).toBeInstanceOf(type);
        expect(error).toMatchObject({
          status,
          code,
          requestID: expect.stringMatching(/^req_/) as string,
          message: expect.stringMatching(new RegExp(`^${status} .{10}`)) as string,
        });
      }
    }
    expect(await errorOf(client().chat.completions.create({ ...body(), temperature: 5 }))).toMatchObject({
      param: 'temperature',
      type: 'invalid_request_error',
    });
  });

  it('CHAT-14 ERR-43 types a limit of our own', async () => {
    const limited = testPrincipal(`key_rpm_${edge.newName()}`);
    const apiKey = edge.addKey({ ...limited, limits: [keyScope(limited.keyId, { rpm: 1 })] });
    await client({ apiKey }).chat.completions.create(body());
    const error = await errorOf(client({ apiKey }).chat.completions.create(body()));
    expect(error).toBeInstanceOf(Sdk.RateLimitError);
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  });

  it('CHAT-14 ERR-16 ERR-51 is not asked again after a spent cap or a failure of the service', async () => {
    const capped = testPrincipal(`key_cap_${edge.newName()}`);
    const apiKey = edge.addKey({
      ...capped,
      limits: [keyScope(capped.keyId, { spendCapUsd: '0' })],
    });
    const spent = await errorOf(client({ apiKey, maxRetries: 2 }).chat.completions.create(body()));
    expect(spent).toBeInstanceOf(Sdk.APIError);
    expect(spent).toMatchObject({ status: 402, code: 'spend_limit_exceeded' });
    expect(edge.requests()).toBe(1);
    edge.forget();
    edge.failAuthentication(1, new TypeError('a fault of ours'));
    const failed = await errorOf(client({ maxRetries: 2 }).chat.completions.create(body()));
    expect(failed).toBeInstanceOf(Sdk.InternalServerError);
    expect(failed).toMatchObject({ status: 500, code: 'internal_error' });
    expect((failed as Error).message).not.toContain('a fault of ours');
    expect(edge.requests()).toBe(1);
  });

  it('CHAT-14 ERR-13 ERR-63 is asked again after Retry-After, and then served', async () => {
    const { choices } = await client({ apiKey: once(), maxRetries: 2 }).chat.completions.create(
      body('overloaded-once'),
    );
    expect(choices[0].finish_reason).toBe('stop');
    expect(edge.requests()).toBe(2);
    const [first, second] = edge.upstream();
    expect(second.receivedAt - first.receivedAt).toBeGreaterThanOrEqual(900);
  });

  it('CHAT-14 closes the upstream when the caller aborts before the first token', async () => {
    const { chat } = client();
    for (const stream of [false, true]) {
      edge.forget();
      const controller = new AbortController();
      const failure = errorOf(
        chat.completions.create({ ...body('silent'), stream }, { signal: controller.signal }),
      );
      await eventually(() => edge.upstream().length === 1);
      controller.abort();
      expect(await failure).toBeInstanceOf(Sdk.APIUserAbortError);
      await eventually(() => edge.upstream()[0].aborted);
    }
  });

  it('CHAT-14 closes the upstream when the caller leaves in mid-stream', async () => {
    const left = await client().chat.completions.create(streamed('endless'));
    let seen = 0;
    for await (const chunk of left) {
      seen += chunk.choices.length;
      if (seen === 5) break;
    }
    await edge.untilLeft();
    edge.forget();
    const helped = client().chat.completions.stream(body('endless'));
    helped.once('content', () => helped.abort());
    expect(await errorOf(helped.finalChatCompletion())).toBeInstanceOf(Sdk.APIUserAbortError);
    await edge.untilLeft();
  });

  it.each(['cut', 'reset', 'inband'])(
    'CHAT-14 never ends a stream silently that broke off: %s',
    async (behaviour) => {
      let content = '';
      const read = async (): Promise<void> => {
        const stream = await client().chat.completions.create(streamed(behaviour));
        for await (const chunk of stream) {
          content += chunk.choices[0]?.delta.content ?? '';
          expect(chunk.choices[0]?.finish_reason ?? null).toBeNull();
        }
      };
      const error = await errorOf(read());
      expect(error).toBeInstanceOf(Sdk.APIError);
      expect(error).toMatchObject({
        code: 'upstream_error',
        requestID: expect.stringMatching(/^req_/) as string,
      });
      expect(content).toContain('Hello');
      const helped = client().chat.completions.stream(body(behaviour));
      expect(await errorOf(helped.finalChatCompletion())).toBeInstanceOf(Sdk.APIError);
    },
  );

  it('CHAT-14 answers an HTTP error where a stream fails at once', async () => {
    const error = await errorOf(client({ apiKey: once() }).chat.completions.create(streamed('inband-first')));
    expect(error).toBeInstanceOf(Sdk.InternalServerError);
    expect(error).toMatchObject({ code: 'upstream_error' });
  });
});
