import { itemsFault } from './items-fault.js';

const call = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' };
const message = (...content: unknown[]): object => ({ type: 'message', role: 'user', content });
const place = (...items: unknown[]): string | undefined => itemsFault(items, 'items')?.loc.join('.');

describe('F7 items that later requests go on from', () => {
  it.each(['one', null, 4711, ['one']])('are objects, and so are their parts: %j', (element) => {
    expect(place(message({ type: 'input_text', text: 'x' }), element)).toBe('items.1');
    expect(place(message(element))).toBe('items.0.content.0');
    expect(place({ type: 'reasoning', summary: [element] })).toBe('items.0.summary.0');
    const output = { type: 'function_call_output', call_id: 'call_1', output: [element] };
    expect(place(call, output)).toBe('items.1.output.0');
  });

  it.each([
    ['a message without a role', [{ text: 'one' }], 'items.0.role'],
    ['a message without content', [{ type: 'message', role: 'user' }], 'items.0.content'],
    ['a part without a type', [message({ text: 'one' })], 'items.0.content.0.type'],
    ['arguments that are no object', [{ ...call, arguments: 'none' }], 'items.0.arguments'],
    ['a call whose id is taken', [call, call], 'items.1.call_id'],
  ])('are refused with the place: %s', (_title, items, at) => {
    expect(place(...items)).toBe(at);
  });

  it('may be a call that is answered later, an output of an earlier call, and of a type to come', () => {
    const output = { type: 'function_call_output', call_id: 'call_9', output: 'x' };
    const later = { type: 'telegram', text: 'x' };
    expect(itemsFault([call, output, later, { type: 'item_reference', id: 'msg_1' }], 'items')).toBeNull();
  });
});
