import { AnswerCallIds, distinctCalls } from './call-ids.js';
import type { Part, Turn } from './model-request.js';

const call = (id: string, name = 'look'): Part => ({ type: 'tool_call', id, name, arguments: '{}' });
const result = (toolCallId: string, text = 'x'): Part => ({
  type: 'tool_result',
  toolCallId,
  parts: [{ type: 'text', text }],
  isError: false,
});
const asked = (...parts: Part[]): Turn => ({ role: 'assistant', parts });
const answered = (...parts: Part[]): Turn => ({ role: 'tool', parts });
const idsOf = (turns: readonly Turn[]): string[] =>
  turns.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === 'tool_call' ? [part.id] : part.type === 'tool_result' ? [`>${part.toolCallId}`] : [],
    ),
  );

describe('ids of the calls of an answer', () => {
  it('differ where the provider repeats them or gives none, and from those of earlier turns', () => {
    const ids = new AnswerCallIds({ turns: [asked(call('call_1'), call('call_1_2'))] });
    const shown = ['call_1', 'call_1', 'call_7', '', '', 'call_7__sig_abc'].map((id) => ids.distinct(id, 0));
    expect(shown.slice(0, 3)).toEqual(['call_1_3', 'call_1_4', 'call_7']);
    expect(shown[5]).toBe('call_7_2__sig_abc');
    expect(new Set(shown).size).toBe(6);
    expect(shown).not.toContain('');
    expect(ids.distinct('call_7', 1)).toBe('call_7');
  });

  it('are the same each time, and no longer than formats take', () => {
    const long = 'x'.repeat(64);
    const twice = [0, 1].map(() => {
      const ids = new AnswerCallIds({ turns: [] });
      return [long, long, ''].map((id) => ids.distinct(id, 0));
    });
    expect(twice[0]).toEqual(twice[1]);
    expect(twice[0].every((id) => id.length <= 64)).toBe(true);
  });

  it('are found in time that does not grow with their number', () => {
    const ids = new AnswerCallIds({ turns: [asked(...Array.from({ length: 20_000 }, () => call('a')))] });
    const shown = Array.from({ length: 20_000 }, () => ids.distinct('a', 0));
    expect(new Set(shown).size).toBe(20_000);
  });
});

describe('calls of a history', () => {
  it('have one id each: results answer them in their order, all or some', () => {
    const turns = [
      asked(call('call_1'), call('call_1')),
      answered(result('call_1'), result('call_1')),
      asked(call('call_1'), call('b')),
      answered(result('b'), result('call_1')),
      asked(call('b'), call('b')),
      answered(result('b')),
    ];
    expect(idsOf(distinctCalls(turns))).toEqual([
      'call_1',
      'call_1_2',
      '>call_1',
      '>call_1_2',
      'call_1_3',
      'b',
      '>b',
      '>call_1_3',
      'b_2',
      'b_3',
      '>b_2',
    ]);
  });

  it('stay as they are where no id is repeated', () => {
    const turns = [asked(call('a'), call('b')), answered(result('a'), result('b'), result('c'))];
    expect(distinctCalls(turns)).toBe(turns);
  });
});
