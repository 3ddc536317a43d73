import type { JsonObject } from '../../body/json-object.js';
import type { ModelEvent } from '../model-event.js';
import { dialect } from './messages.dialect.js';
import {
  block,
  decoded,
  FACTS,
  frames,
  framesOf,
  sse,
  start,
  stop,
  text,
  tool,
  ZEROS,
} from './messages.fixture.js';

describe('a native answer on the messages front', () => {
  const native = {
    input_tokens: 3,
    cache_read_input_tokens: 2,
    output_tokens: 8,
    output_tokens_details: { thinking_tokens: 5 },
    service_tier: 'standard',
    cost_usd: 0.1,
    extra: { price: 1, kept: 2 },
  };
  const REWRITTEN = {
    ...ZEROS,
    input_tokens: 3,
    cache_read_input_tokens: 2,
    output_tokens: 8,
    service_tier: 'standard',
    extra: { kept: 2 },
  };

  function edited(wire: string): { list: JsonObject[]; events: ModelEvent[] } {
    const found = framesOf(wire);
    const encoder = dialect.caller.encoder(FACTS, true);
    return {
      list: frames(found.map((frame) => encoder.write(frame)).join('')),
      events: found.flatMap(({ events }) => events),
    };
  }

  it('MSG-05 USG-36 USG-38 edits model and usage of a plain answer and keeps what it does not know', () => {
    const answer = {
      id: 'msg_1',
      model: 'claude-x',
      content: [{ type: 'future_block', a: 1 }],
      container: { id: 'c' },
      usage: native,
    };
    const whole = dialect.upstream.decoder().whole(answer);
    expect(dialect.caller.encoder(FACTS, true).whole(whole)).toEqual({
      id: 'msg_1',
      model: 'acme/claude',
      content: [{ type: 'future_block', a: 1 }],
      container: { id: 'c' },
      usage: REWRITTEN,
    });
  });

  it('MSG-01 MSG-02 moves the counts of a stream to message_delta and passes the rest on', () => {
    const future = { type: 'future_event', a: [1] };
    const rest = [...block(0, { type: 'future_block' }), future, ...text(1, 'Hi')];
    const wire = sse([start(native), ...rest, ...stop('end_turn', { output_tokens: 8 })]);
    const { list, events } = edited(wire);
    expect(events).toEqual(decoded(wire));
    expect(list[0].message).toMatchObject({ id: 'msg_up', model: 'acme/claude' });
    expect((list[0].message as JsonObject).usage).toEqual(ZEROS);
    expect(list.slice(1, -2)).toEqual(rest);
    expect(list.at(-2)?.usage).toEqual(REWRITTEN);
    expect(list.at(-1)).toEqual({ type: 'message_stop' });
  });

  it('adds the event line that a provider forgot', () => {
    const wire = sse([start(), ...tool(0, 'toolu_1', '{}'), ...stop('tool_use')]);
    expect(edited(wire.replaceAll(/^event: .*\n/gm, '')).list).toEqual(edited(wire).list);
  });

  it('bug 34: drops a repeated message_start; a spliced one ends the stream for the caller', () => {
    const after = [...text(0, 'Hi'), ...stop('end_turn')];
    expect(edited(sse([start(), start(), ...after])).list).toEqual(edited(sse([start(), ...after])).list);
    const spliced = edited(sse([start(), start({}, 'msg_two'), ...after]));
    expect(spliced.list.map(({ type }) => type)).toEqual(['message_start']);
    expect(spliced.events.at(-1)).toMatchObject({ type: 'error', failure: { kind: 'bad_response' } });
  });

  it('holds back an error of the provider, which the caller gets in the gateway’s words', () => {
    const error = { type: 'error', error: { type: 'api_error', message: 'account 42 failed' } };
    const { list, events } = edited(sse([start(), error]));
    expect(list.map(({ type }) => type)).toEqual(['message_start']);
    expect(events.at(-1)?.type).toBe('error');
  });

  it('says that a stream was cut', () => {
    expect(edited(sse([start(), ...text(0, 'Hi')])).events.at(-1)).toMatchObject({
      failure: { kind: 'connection' },
    });
  });

  it('USG-18 of a long text that speaks of costs is written as it came, without looking for a name everywhere', async () => {
    const said = 'cost '.repeat(80_000);
    const wire = sse([start(native), ...text(0, said), ...stop('end_turn', { output_tokens: 8 })]);
    const { list } = edited(wire);
    // A search that takes longer than a test may is noticed here.
    await new Promise(setImmediate);
    expect(list).toContainEqual(expect.objectContaining({ delta: { type: 'text_delta', text: said } }));
  });
});
