import { parseSpelled, writeJson } from '@gateway/json-body';
import { StreamedArguments } from './streamed-arguments.js';

function put(...pieces: object[]): StreamedArguments {
  const streamed = new StreamedArguments();
  for (const piece of pieces) streamed.add([piece]);
  return streamed;
}
const text = (jsonPath: string, stringValue: string): object => ({ jsonPath, stringValue });

describe('arguments that Vertex streams by path', () => {
  it('are put together whatever the order: texts grow, lists and objects are made', () => {
    const { value, isOutgrown } = put(
      text('$.city', 'Zü'),
      { jsonPath: '$.days[1].high', numberValue: 21.5 },
      text('$.city', 'rich'),
      { jsonPath: '$.days[0].isDry', boolValue: false },
      { jsonPath: "$['a b']['c.d']", nullValue: null },
      text('$["x"][0][1]', 'deep'),
    );
    expect(value).toEqual({
      city: 'Zürich',
      days: [{ isDry: false }, { high: 21.5 }],
      'a b': { 'c.d': null },
      x: [[undefined, 'deep']],
    });
    expect(isOutgrown).toBe(false);
  });

  it('replace a value that is no text, and keep names that every object has as their own', () => {
    const { value } = put(
      { jsonPath: '$.n', numberValue: 1 },
      { jsonPath: '$.n', numberValue: 2 },
      text('$.constructor.name', 'x'),
      text('$.__proto__.polluted', 'x'),
    );
    expect(JSON.stringify(value)).toBe('{"n":2,"constructor":{"name":"x"}}');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('keep the text of numbers and the order in which members came', () => {
    const pieces = parseSpelled(
      '[{"jsonPath":"$.id","numberValue":1234567890123456789},{"jsonPath":"$[\'10\']","stringValue":"a"},' +
        '{"jsonPath":"$[\'2\'][1]","numberValue":1.0}]',
    ) as object[];
    const { value } = put(...pieces);
    expect(writeJson(value)).toBe('{"id":1234567890123456789,"10":"a","2":[null,1.0]}');
  });

  it.each(['', 'city', '$', '$.', '$..a', '$[x]', '$.a[', '$.list[10001]'])(
    'are given up at %j, which is no path of theirs, and take nothing after it',
    (jsonPath) => {
      const streamed = put({ jsonPath, stringValue: 'x' }, text('$.city', 'Bern'));
      expect([streamed.isOutgrown, streamed.value]).toEqual([true, {}]);
    },
  );

  it('are bounded: 64 steps, place 10,000 of a list, 8 MiB of text', () => {
    const steps = (count: number): string => `$${'.a'.repeat(count)}`;
    expect(put(text(steps(64), 'x')).isOutgrown).toBe(false);
    expect(put(text(steps(65), 'x')).isOutgrown).toBe(true);
    expect(put(text('$.list[10000]', 'x')).value.list).toHaveLength(10_001);
    // Each piece counts for 16 beside its text.
    const most = 'x'.repeat(8 * 1_048_576 - 32);
    const full = put(text('$.a', most.slice(1)), text('$.a', 'y'));
    expect([full.isOutgrown, String(full.value.a).length]).toEqual([false, most.length]);
    const over = put(text('$.a', most), text('$.a', 'y'));
    expect([over.isOutgrown, over.value.a]).toEqual([true, most]);
  });
});
