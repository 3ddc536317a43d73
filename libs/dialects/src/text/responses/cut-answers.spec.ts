import { ApiError } from '@gateway/contracts';
import type { ModelEvent } from '../model-event.js';
import { AnswerWriter } from './answer-writer.js';
import { END, FACTS, finish, read, START } from './responses.fixture.js';

type Json = Record<string, unknown>;

const text = (said: string): ModelEvent => ({ type: 'text', choice: 0, text: said });
const reasoning = (said: string): ModelEvent => ({
  type: 'reasoning',
  choice: 0,
  text: said,
  format: 'anthropic-claude-v1',
});

function writer(): AnswerWriter {
  return new AnswerWriter(FACTS, read({ model: 'acme/model', input: 'Hello' }));
}

function written(events: readonly ModelEvent[]): Json[] {
  const writes = writer();
  return events.flatMap((event) => writes.write(event));
}

describe('the events of a response that was cut', () => {
  it.each(['length', 'content_filter'])(
    'RESP-05 of items that %s has cut say that they are incomplete',
    (reason) => {
      const call = (k: number, custom = false): ModelEvent => ({
        type: 'tool_start',
        choice: 0,
        call: k,
        id: `c${k}`,
        name: 'f',
        custom,
      });
      const args = (k: number, more: string): ModelEvent => ({
        type: 'tool_arguments',
        choice: 0,
        call: k,
        text: more,
      });
      const ended = (k: number): ModelEvent => ({ type: 'tool_end', choice: 0, call: k });
      const statuses = (events: ModelEvent[], why = reason): unknown[] => {
        const all = written([START, ...events, finish(why), END]);
        const done = all.filter(({ type }) => type === 'response.output_item.done');
        const output = (all.at(-1)?.response as Json).output as Json[];
        const byPlace = done.map(({ output_index, item }) => [output_index, item]);
        expect(new Map(byPlace as [number, unknown][])).toEqual(new Map(output.entries()));
        return output.map(({ status }) => status);
      };
      expect(statuses([reasoning('r'), text('a')])).toEqual([undefined, 'incomplete']);
      expect(statuses([reasoning('r')])).toEqual(['incomplete']);
      const calls = [call(0), args(0, '{}'), ended(0), call(1), args(1, '{"a'), ended(1)];
      expect(statuses([text('a'), ...calls])).toEqual(['completed', 'completed', 'incomplete']);
      expect(statuses([call(0), args(0, '{'), call(1), args(1, '{"a')])).toEqual([
        'incomplete',
        'incomplete',
      ]);
      expect(statuses([call(0, true), args(0, 'ls'), ended(0)])).toEqual(['incomplete']);
      // Words of a model that nothing has cut are what it wanted to say.
      expect(statuses([call(0), args(0, '{"a'), ended(0), text('b')])).toEqual(['completed', 'incomplete']);
      expect(statuses([text('a'), ...calls], 'tool_calls')).toEqual(['completed', 'completed', 'completed']);
    },
  );

  it.each(['error', 'ERROR', 'TIMEOUT', 'insufficient_system_resource'])(
    'RESP-05 of an answer that its provider has given up (%s) end in failed, with what was said and counted',
    (reason) => {
      const usage: ModelEvent = { type: 'usage', usage: { prompt_tokens: 5, completion_tokens: 2 }, raw: {} };
      const last = written([START, text('a'), finish(reason), usage, END]).at(-1) as Json;
      expect(last).toMatchObject({
        type: 'response.failed',
        response: {
          status: 'failed',
          error: { code: 'server_error', message: `The provider ended the answer with ${reason}.` },
          incomplete_details: null,
          completed_at: null,
          output: [{ type: 'message', status: 'incomplete' }],
          usage: { input_tokens: 5, output_tokens: 2 },
        },
      });
    },
  );

  it('RESP-05 of a stream that broke off keep what was said until then as incomplete items', () => {
    const call: ModelEvent = { type: 'tool_start', choice: 0, call: 0, id: 'c', name: 'f', custom: false };
    const args: ModelEvent = { type: 'tool_arguments', choice: 0, call: 0, text: '{"a' };
    const failed = (events: ModelEvent[]): Json => {
      const writes = writer();
      for (const event of events) writes.write(event);
      return writes.fail(new ApiError('internal_error'), 'req_9').at(-1)?.response as Json;
    };
    expect(failed([START, text('a'), call, args]).output).toMatchObject([
      { type: 'message', status: 'completed' },
      { type: 'function_call', status: 'incomplete', arguments: '{"a' },
    ]);
    expect(failed([START, reasoning('r')]).output).toMatchObject([
      { type: 'reasoning', status: 'incomplete' },
    ]);
    expect(failed([]).output).toEqual([]);
  });
});
