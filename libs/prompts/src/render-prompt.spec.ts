import { parseSpelled, writeJson } from '@gateway/json-body';
import fc from 'fast-check';
import { promptOf } from './prompt.js';
import { renderPrompt } from './render-prompt.js';

const prompt = (content: string, variables: object[] = []) =>
  promptOf({ messages: [{ role: 'user', content }], variables });

function rendered(content: string, sent: Record<string, unknown>, variables: object[] = []): unknown {
  const result = renderPrompt(prompt(content, variables), sent);
  const [first] = result;
  return 'loc' in first ? result.map((fault) => 'loc' in fault && fault.loc.join('.')) : first.content;
}

describe('renderPrompt', () => {
  it('CHAT-23 fills every {{name}} by its type, with defaults for what is not sent', () => {
    const variables = [
      { name: 'n', type: 'number' },
      { name: 'on', type: 'boolean', default: false },
      { name: 'data', type: 'json', required: false },
    ];
    expect(rendered('{{n}} {{ on }} {{data}} {{n}}', { n: 1.5, data: { a: [1] } }, variables)).toBe(
      '1.5 false {"a":[1]} 1.5',
    );
    expect(rendered('<{{data}}>', { n: 1 }, variables)).toBe('<>');
  });

  it('CHAT-23 writes numbers and JSON as they were sent', () => {
    const variables = [
      { name: 'n', type: 'number' },
      { name: 'data', type: 'json' },
    ];
    const sent = parseSpelled('{"n":1234567890123456789,"data":{"rate":1.0,"2":1,"1":1}}');
    expect(rendered('{{n}} {{data}}', sent as Record<string, unknown>, variables)).toBe(
      '1234567890123456789 {"rate":1.0,"2":1,"1":1}',
    );
  });

  it('F1 CHAT-23 writes defaults as the version has them, also after it was stored', () => {
    const body = '{"name":"n","type":"number","default":1234567890123456789}';
    const made = prompt('{{n}}', [parseSpelled(body) as object]);
    for (const kept of [made, parseSpelled(writeJson(made)) as typeof made])
      expect(renderPrompt(kept, {})).toEqual([{ role: 'user', content: '1234567890123456789' }]);
  });

  it('CHAT-23 names each variable that is missing, unknown or of another type', () => {
    expect(rendered('{{a}} {{b}}', { b: 5, c: 'x' })).toEqual(['variables.c', 'variables.a', 'variables.b']);
    expect(rendered('{{a}}', { a: null })).toEqual(['variables.a']);
    expect(rendered('{{constructor}}', {})).toEqual(['variables.constructor']);
  });

  it('puts values in literally: no recursion, no pattern of replacement, nothing else changed', () => {
    expect(rendered('{{a}} {{b}}', { a: '{{b}} $& $1', b: '{{a}}' })).toBe('{{b}} $& $1 {{a}}');
    expect(rendered('{{ }} {{1x}} {a} }}{{ {{a}}', { a: 'A' })).toBe('{{ }} {{1x}} {a} }}{{ A');
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (before, value, after) => {
        const around = [before, after].map((text) => text.replaceAll(/[{}]/g, ''));
        expect(rendered(`${around[0]}{{a}}${around[1]}`, { a: value })).toBe(
          `${around[0]}${value}${around[1]}`,
        );
      }),
    );
  });

  it('fills the texts of parts, and leaves their form alone', () => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hi {{a}}', n: 1 }] }];
    expect(renderPrompt(promptOf({ messages }), { a: 'you' })).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi you', n: 1 }] },
    ]);
  });
});
