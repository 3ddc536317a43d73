import { read } from './responses.fixture.js';

const SEARCH = { type: 'web_search', external_web_access: false };
const LOOK = { type: 'function', name: 'look' };
const of = (tools: object[], tool_choice?: unknown): ReturnType<typeof read> =>
  read({ model: 'acme/model', input: 'x', tools, tool_choice });

describe('an offer of a search of what OpenAI has kept', () => {
  it.each([undefined, 'auto', 'none', 'required', { type: 'function', name: 'look' }])(
    'RESP-05 is left out under the choice %j, and reported',
    (choice) => {
      const { requires, hints, tools } = of([LOOK, SEARCH], choice);
      expect(requires).toEqual([{ capability: 'tools', param: 'tools' }]);
      expect(hints).toEqual({ 'tools[1]': true });
      expect(tools.map(({ name }) => name)).toEqual(['look']);
    },
  );

  it.each([
    [[SEARCH], { type: 'web_search' }, 'tools[0].type'],
    [[SEARCH], 'required', 'tools[0].type'],
    [[{ ...SEARCH, external_web_access: true }], 'auto', 'tools[0].type'],
    [[SEARCH, { type: 'mcp', server_label: 's' }], 'auto', 'tools[1].type'],
  ])(
    'RESP-05 needs an upstream of the format where %j has to be called or is another',
    (tools, choice, param) => {
      const { requires } = of(tools, choice);
      expect(requires).toContainEqual(expect.objectContaining({ capability: 'same_dialect', param }));
    },
  );
});
