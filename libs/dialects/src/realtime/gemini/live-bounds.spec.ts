import type { JsonObject } from '../../body/json-object.js';
import { grown, Held, isPossible } from './live-bounds.js';
import { LiveTranslator } from './live-translator.js';

const MIB = 1_048_576;

function session(isOpen = true): LiveTranslator {
  let count = 0;
  const live = new LiveTranslator('gemini-live', (kind) => `${kind}_${(count += 1)}`);
  if (isOpen) {
    live.sent({ type: 'input_audio_buffer.append', audio: 'AA==' });
    live.received({ setupComplete: {} });
  }
  return live;
}

const typesOf = (events: readonly JsonObject[] = []): unknown[] => events.map(({ type }) => type);
const parts = (count: number): JsonObject => ({
  serverContent: { modelTurn: { parts: Array.from({ length: count }, () => ({ text: 'a' })) } },
});
const calls = (...functionCalls: unknown[]): JsonObject => ({ toolCall: { functionCalls } });
const item = (text: string): JsonObject => ({
  type: 'conversation.item.create',
  event_id: 'e1',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});
const refused = [{ type: 'error', error: { type: 'invalid_request_error', event_id: 'e1' } }];

describe('bounds of a session of Google’s Live API', () => {
  it('takes no message that would be thousands of events, or that names a call without end', () => {
    const hostile = [
      parts(1_025),
      calls(...Array<object>(257).fill({})),
      calls({ id: 'x'.repeat(513), name: 'f' }),
      calls({ id: 'c', name: 'x'.repeat(513) }),
      calls({ id: {}, name: 'f' }),
    ];
    for (const message of hostile)
      expect([isPossible(message), session().received(message)]).toEqual([false, null]);
    const odd = [parts(1_024), calls({}), calls(1, null, []), { toolCall: 7 }, { serverContent: [] }];
    for (const message of [...odd, { serverContent: { modelTurn: { parts: 'x' } } }])
      expect([isPossible(message), session().received(message)]).toEqual([true, expect.anything()]);
  });

  it('sends a turn without an end on as it comes, and keeps a bounded part of it for its end', () => {
    const live = session();
    const text = 'x'.repeat(MIB / 4);
    const delta = { modelTurn: { parts: [{ text }] }, outputTranscription: { text } };
    for (let at = 0; at < 40; at += 1) {
      const { caller = [] } = live.received({ serverContent: delta }) ?? {};
      expect(caller.filter((event) => event.delta === text)).toHaveLength(2);
    }
    const { caller = [] } = live.received({ serverContent: { turnComplete: true } }) ?? {};
    // Each text stands in its end, in that of its part and its item, and in that of the response.
    expect(JSON.stringify(caller).length).toBeLessThan(2 * 4 * MIB + MIB);
    expect(caller.find(({ type }) => type === 'response.output_text.done')?.text).toBe('x'.repeat(MIB));
  });

  it('holds no more of what the caller is said to have spoken either', () => {
    const live = session();
    const text = 'x'.repeat(MIB / 2);
    for (let at = 0; at < 5; at += 1) live.received({ serverContent: { inputTranscription: { text } } });
    const { caller = [] } =
      live.received({ serverContent: { inputTranscription: { finished: true } } }) ?? {};
    expect(caller).toMatchObject([{ transcript: 'x'.repeat(MIB) }]);
    expect(grown('ab', 'c')).toBe('abc');
  });

  it('ends of nothing are no responses, unless the caller asked or the provider counted', () => {
    const live = session();
    const end = { serverContent: { turnComplete: true } };
    expect(live.received(end)).toEqual({ provider: [], caller: [] });
    expect(typesOf(live.received({ ...end, usageMetadata: { promptTokenCount: 1 } })?.caller)).toEqual([
      'response.created',
      'response.done',
    ]);
    live.sent({ type: 'response.create' });
    expect(typesOf(live.received(end)?.caller)).toEqual(['response.created', 'response.done']);
    expect(live.received(end)?.caller).toEqual([]);
  });

  it('refuses items once too much waits for the next response, which takes them all', () => {
    const live = session();
    const large = item('x'.repeat(5 * MIB));
    for (let at = 0; at < 3; at += 1) expect(live.sent(large).caller).toHaveLength(2);
    expect(live.sent(large)).toMatchObject({ provider: [], caller: refused });
    expect(live.sent({ type: 'response.create' }).provider).toMatchObject([
      { clientContent: { turns: [{}, {}, {}] } },
    ]);
    expect(live.sent(large).caller).toHaveLength(2);
    const many = session();
    for (let at = 0; at < 1_000; at += 1) many.sent(item('a'));
    expect(many.sent(item('a')).caller).toMatchObject(refused);
  });

  it('refuses what cannot wait for a provider that is not set up', () => {
    const live = session(false);
    const audio = { type: 'input_audio_buffer.append', event_id: 'e1', audio: 'A'.repeat(5 * MIB) };
    for (let at = 0; at < 3; at += 1) live.sent(audio);
    expect(live.sent(audio)).toMatchObject({ provider: [], caller: refused });
    expect(live.received({ setupComplete: {} })?.provider).toHaveLength(3);
    expect(live.sent(audio).provider).toHaveLength(1);
  });

  it('refuses settings that grow with every update', () => {
    const live = session(false);
    const update = (name: string): JsonObject => ({
      type: 'session.update',
      event_id: 'e1',
      session: { [name]: 'x'.repeat(MIB / 2) },
    });
    expect(typesOf(live.sent(update('a')).caller)).toEqual(['session.updated']);
    expect(live.sent(update('b'))).toMatchObject({ provider: [], caller: refused });
    expect(typesOf(live.sent(update('a')).caller)).toEqual(['session.updated']);
  });

  it('Held takes values up to its count and its length, and gives them in their order', () => {
    const held = new Held(2, 20);
    expect([{ a: 1 }, { a: 2 }, { a: 3 }].map((value) => held.add(value))).toEqual([true, true, false]);
    expect([held.take(), held.take(), held.add({ a: 'x'.repeat(20) })]).toEqual([
      [{ a: 1 }, { a: 2 }],
      [],
      false,
    ]);
  });
});
