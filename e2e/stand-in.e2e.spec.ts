import { startUpstreamSim, type RecordedRequest, type UpstreamSim } from '@gateway/simulator';
import type { Gateway } from './harness/gateway.js';
import { MODES, START_MS } from './harness/modes.js';
import { ask, type Answered, type Body } from './harness/requests.js';

const OPENAI_KEY = 'sk-stand-in-openai';
const ANTHROPIC_KEY = 'sk-stand-in-anthropic';
const OPENAI_MODEL = 'openai/gpt-4.1-mini';
const ANTHROPIC_MODEL = 'anthropic/claude-haiku-4-5';
/** The provider's own name is not the catalogue's. */
const ANTHROPIC_UPSTREAM_MODEL = 'claude-haiku-4-5-20251001';

const chat = (model: string): Body => ({
  model,
  max_tokens: 321,
  temperature: 0.5,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello there' },
  ],
});
const message = (model: string): Body => ({
  model,
  max_tokens: 321,
  temperature: 0.5,
  system: 'Be brief.',
  messages: [{ role: 'user', content: 'Hello there' }],
});

/** Text of a stream of either front, which has to end as its protocol says. */
function streamedText(front: 'chat' | 'messages', text: string): string {
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));
  if (front === 'chat') {
    expect(events.at(-1)).toBe('[DONE]');
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event) as Body);
    return chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  }
  const parsed = events.map((event) => JSON.parse(event) as Body);
  expect(parsed.at(-1)).toEqual({ type: 'message_stop' });
  return parsed.map((event) => event.delta?.text ?? '').join('');
}

describe.each(MODES)('a stand-in of the providers behind %s', (_name, start) => {
  let standIn: UpstreamSim;
  let gateway: Gateway;

  beforeAll(async () => {
    standIn = await startUpstreamSim({ record: 1_000 });
    gateway = await start({
      OPENAI_API_KEY: OPENAI_KEY,
      OPENAI_BASE_URL: `${standIn.url}/v1`,
      ANTHROPIC_API_KEY: ANTHROPIC_KEY,
      ANTHROPIC_BASE_URL: standIn.url,
    });
  }, START_MS);
  afterAll(async () => {
    await gateway?.stop();
    await standIn?.close();
  }, START_MS);
  beforeEach(() => standIn.reset());

  /** The one upstream request of one answer. */
  async function upstreamOf(path: string, body: Body): Promise<[Answered, RecordedRequest]> {
    const answer = await ask(gateway, 'POST', path, {
      body,
      headers: { 'x-request-tags': 'team=a', 'anthropic-version': '2023-06-01', te: 'trailers' },
    });
    expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
    expect(standIn.requests()).toHaveLength(1);
    return [answer, standIn.requests()[0]];
  }

  function expectOwnHeadersOnly({ headers }: RecordedRequest, native: Record<string, string>): void {
    expect(headers).toMatchObject({ ...native, 'content-type': 'application/json' });
    const foreign = native.authorization === undefined ? 'authorization' : 'x-api-key';
    const never = [foreign, 'x-request-tags', 'te', 'x-request-id', 'x-forwarded-for', 'via', 'cookie'];
    for (const name of never) expect([name, headers[name]]).toEqual([name, undefined]);
    const text = JSON.stringify(headers);
    expect(text).not.toContain(gateway.key);
    expect(text.toLowerCase()).not.toMatch(/fleet|rsk_|x-service/);
  }

  describe.each([
    ['plain', false],
    ['streamed', true],
  ])('%s', (_way, stream) => {
    it('EDGE-05 chat over an OpenAI upstream: its path, credential, model name and max-tokens parameter', async () => {
      const [answer, seen] = await upstreamOf('/v1/chat/completions', { ...chat(OPENAI_MODEL), stream });
      expect([seen.method, seen.path]).toEqual(['POST', '/v1/chat/completions']);
      expectOwnHeadersOnly(seen, { authorization: `Bearer ${OPENAI_KEY}` });
      const sent = JSON.parse(seen.body) as Body;
      const { max_tokens: most, ...rest } = chat('gpt-4.1-mini');
      expect(sent).toMatchObject({ ...rest, max_completion_tokens: most });
      expect(sent.max_tokens).toBeUndefined();
      expectAnswered('chat', answer, stream);
    });

    it('chat over an Anthropic upstream is sent as a message', async () => {
      const [answer, seen] = await upstreamOf('/v1/chat/completions', { ...chat(ANTHROPIC_MODEL), stream });
      expect([seen.method, seen.path]).toEqual(['POST', '/v1/messages']);
      expectOwnHeadersOnly(seen, { 'x-api-key': ANTHROPIC_KEY, 'anthropic-version': '2023-06-01' });
      expectMessage(JSON.parse(seen.body) as Body);
      expectAnswered('chat', answer, stream);
    });

    it('messages over an Anthropic upstream: its path, credential, version and model name', async () => {
      const [answer, seen] = await upstreamOf('/v1/messages', { ...message(ANTHROPIC_MODEL), stream });
      expect([seen.method, seen.path]).toEqual(['POST', '/v1/messages']);
      expectOwnHeadersOnly(seen, { 'x-api-key': ANTHROPIC_KEY, 'anthropic-version': '2023-06-01' });
      expectMessage(JSON.parse(seen.body) as Body);
      expectAnswered('messages', answer, stream);
    });

    it('messages over an OpenAI upstream are sent as a chat', async () => {
      const [answer, seen] = await upstreamOf('/v1/messages', { ...message(OPENAI_MODEL), stream });
      expect([seen.method, seen.path]).toEqual(['POST', '/v1/chat/completions']);
      expectOwnHeadersOnly(seen, { authorization: `Bearer ${OPENAI_KEY}` });
      const sent = JSON.parse(seen.body) as Body;
      expect(sent).toMatchObject({ model: 'gpt-4.1-mini', max_completion_tokens: 321, temperature: 0.5 });
      expect(sent.max_tokens).toBeUndefined();
      expect(sent.system).toBeUndefined();
      expect(sent.messages.map((sentMessage: Body) => sentMessage.role)).toEqual(['system', 'user']);
      expect(JSON.stringify(sent.messages)).toContain('Be brief.');
      expectAnswered('messages', answer, stream);
    });
  });

  function expectMessage(sent: Body): void {
    expect(sent).toMatchObject({ model: ANTHROPIC_UPSTREAM_MODEL, max_tokens: 321, temperature: 0.5 });
    expect(JSON.stringify(sent.system)).toContain('Be brief.');
    expect(sent.messages.map((sentMessage: Body) => sentMessage.role)).toEqual(['user']);
    expect(JSON.stringify(sent.messages)).toContain('Hello there');
    expect(sent.max_completion_tokens).toBeUndefined();
  }

  function expectAnswered(front: 'chat' | 'messages', answer: Answered, stream: boolean): void {
    const { body } = answer;
    const whole = (): string => (front === 'chat' ? body.choices[0].message.content : body.content[0].text);
    const text = stream ? streamedText(front, answer.text) : whole();
    expect(text).toContain('Hello there');
    expect(answer.text).not.toContain(OPENAI_KEY);
  }
});
