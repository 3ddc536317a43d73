import { BodyFault, parseBody } from '@gateway/json-body';
import { TEXT_DIALECTS, textChat, textMessages, textResponses } from '../families.generated.js';
import type { TextCaller } from './text-dialect.js';
import { target } from './upstream-streams.fixture.js';

const member = (name: string): object => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
  additionalProperties: false,
});
/** A schema whose root is a choice: folded, its answer would be another one than was asked for. */
const schema = { anyOf: [member('content'), member('source_url')] };
const messages = [{ role: 'user', content: 'x' }];

const CALLERS: readonly [name: string, caller: TextCaller, body: object][] = [
  [
    'chat',
    textChat.caller,
    { messages, response_format: { type: 'json_schema', json_schema: { name: 'one', schema } } },
  ],
  [
    'messages',
    textMessages.caller,
    { messages, max_tokens: 9, output_config: { format: { type: 'json_schema', schema } } },
  ],
  [
    'responses',
    textResponses.caller,
    { input: 'x', text: { format: { type: 'json_schema', name: 'one', schema } } },
  ],
];
const TARGETS = ['chat', 'messages', 'responses', 'gemini', 'converse', 'cohere', 'ollama'];

describe('F3 a schema of an answer whose root is a choice', () => {
  it.each(CALLERS)('of %s reaches every upstream whole', (_name, caller, body) => {
    const parsed = parseBody(Buffer.from(JSON.stringify({ model: 'm', ...body })));
    if (parsed instanceof BodyFault) throw new Error(parsed.detail.msg);
    const request = caller.read(parsed);
    const fates = TARGETS.map((dialect) => {
      const upstream = TEXT_DIALECTS.get(dialect)?.upstream;
      const param = upstream?.unsupported(request, target({ dialect })) ?? null;
      if (param !== null) return `${dialect}: passed over for ${param}`;
      const sent = upstream?.encode(request, target({ dialect })).request;
      // Converse takes the schema as a text.
      const said = Buffer.concat(sent?.pieces ?? [])
        .toString()
        .replaceAll('\\"', '"');
      return said.includes(JSON.stringify(schema)) ? 'whole' : `${dialect}: ${said}`;
    });
    expect(fates.filter((fate) => fate !== 'whole')).toEqual([]);
  });
});
