import { connect as connectTcp } from 'node:net';
import OpenAI from 'openai';
import EarlierOpenAI from 'openai-6';
import { OpenAIRealtimeWS as EarlierRealtime } from 'openai-6/realtime/ws';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { startEdge, type EdgeUnderTest } from '../edge.fixture.js';
import { ownKey, REALTIME_MODELS, SECOND } from '../sockets/realtime/realtime.fixture.js';

interface RealtimeEvent {
  type: string;
  delta?: string;
  session?: { model?: string };
  response?: { status?: string; usage?: { total_tokens?: number } };
}

/** The part of the client that the test uses. */
interface Realtime {
  on(name: 'event', listener: (event: RealtimeEvent) => void): unknown;
  on(name: 'error', listener: (failure: Error) => void): unknown;
  send(event: object): void;
  close(): void;
}

describe('the realtime client of the openai SDK', () => {
  let edge: EdgeUnderTest;

  beforeAll(async () => {
    edge = await startEdge({ models: REALTIME_MODELS });
  });
  afterAll(() => edge.close());

  /** It speaks TLS only, which ends before this edge. */
  const options = {
    createConnection: (): unknown => connectTcp(Number(new URL(edge.url).port), '127.0.0.1'),
  };

  it.each([
    [
      '7',
      (key: string): unknown =>
        new OpenAIRealtimeWS(
          { model: 'acme/voice', options: options as object },
          new OpenAI({ apiKey: key, baseURL: `${edge.url}/v1` }),
        ),
    ],
    [
      '6',
      (key: string): unknown =>
        new EarlierRealtime(
          { model: 'acme/voice', options: options as object },
          new EarlierOpenAI({ apiKey: key, baseURL: `${edge.url}/v1` }),
        ),
    ],
  ])(
    'RT-01 RT-04 version %s sets a session, sends audio and text, and hears both answers',
    async (version, open) => {
      const { key, records } = ownKey(edge, `key_realtime_sdk_${version}`);
      const client = open(key) as Realtime;
      const seen: RealtimeEvent[] = [];
      const failures: Error[] = [];
      client.on('error', (failure) => failures.push(failure));
      const ended = new Promise<void>((resolve) => {
        let responses = 0;
        client.on('event', (event) => {
          seen.push(event);
          if (event.type === 'session.created') {
            client.send({ type: 'session.update', session: { type: 'realtime', instructions: 'Be brief.' } });
            client.send({ type: 'input_audio_buffer.append', audio: SECOND });
            client.send({ type: 'input_audio_buffer.commit' });
            client.send({ type: 'response.create' });
          }
          if (event.type !== 'response.done') return;
          responses += 1;
          if (responses === 2) return resolve();
          const content = [{ type: 'input_text', text: 'Hello' }];
          client.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
          client.send({ type: 'response.create', response: { output_modalities: ['text'] } });
        });
      });
      await ended;
      client.close();
      expect(failures).toEqual([]);
      const types = seen.map(({ type }) => type);
      for (const type of ['session.updated', 'input_audio_buffer.committed', 'response.output_audio.delta'])
        expect(types).toContain(type);
      expect(seen.find(({ type }) => type === 'session.created')?.session?.model).toBe('acme/voice');
      expect(types).toContain('response.output_text.delta');
      const done = seen.filter(({ type }) => type === 'response.done').map(({ response }) => response);
      for (const response of done) expect(response).toMatchObject({ status: 'completed' });
      expect(await records(2)).toMatchObject([{ outcome: 'served' }, { outcome: 'served' }]);
    },
  );
});
