import { promptFaults, type PromptBody } from './prompt.js';

const ELEMENTS: readonly unknown[] = ['one', null, 4711, ['one'], { text: 'one' }];

describe('F7 an element of a list of a template', () => {
  const message = { role: 'user', content: 'x' };
  const places = (body: Partial<PromptBody>): string[] =>
    promptFaults({ messages: [message], ...body }).map(({ loc }) => loc.join('.'));

  it.each(ELEMENTS)('that is none is refused with its place: %j', (element) => {
    expect(places({ messages: [message, element] })[0]).toMatch(/^messages\.1/);
    const content = [{ type: 'text', text: 'x' }, element];
    expect(places({ messages: [{ role: 'user', content }] })).toEqual(['messages.0.content.1']);
    expect(places({ variables: [{ name: 'a' }, element] })[0]).toMatch(/^variables\.1/);
  });

  it.each(ELEMENTS.slice(0, -1))(
    'of its tools that is no object is refused with its place: %j',
    (element) => {
      expect(places({ tools: [{ type: 'function' }, element] })).toEqual(['tools.1']);
    },
  );

  it('with a member that is not known is answered with the one that is meant', () => {
    const messages = [{ ...message, message_content: 'x' }];
    const variables = [{ name: 'a', defaultValue: 'x' }];
    expect(promptFaults({ messages, variables }).map(({ msg }) => msg)).toEqual([
      'This field is not known. Did you mean content?',
      'This field is not known. Did you mean default?',
    ]);
  });
});
