import { ApiError } from '@gateway/contracts';
import { BodyFault, parseBody } from '@gateway/json-body';
import { TEXT_DIALECTS, textChat, textMessages, textResponses } from '../families.generated.js';
import type { TextCaller } from './text-dialect.js';
import type { Json } from './upstream-requests.fixture.js';
import { target } from './upstream-streams.fixture.js';

type Path = (string | number)[];

const TARGETS = ['chat', 'messages', 'responses', 'gemini', 'converse', 'cohere', 'ollama'];
/** A word that is found again wherever it was understood. */
const MARK = 'marked-4711';
const ELEMENTS: Readonly<Record<string, unknown>> = {
  'a string': MARK,
  null: null,
  'a number': 4711,
  'a list': [MARK],
  'an object without a type': { text: MARK },
  'an object of an unknown type': { type: 'telegram', text: MARK },
};

const text = (type: string): Json => ({ type, text: 'x' });
const schema = { type: 'object', properties: { a: { type: 'string' } } };
const named = { name: 'look', parameters: schema };

/** Bodies in which every list of a format stands at least once, with something in it. */
const BODIES: Readonly<Record<string, { caller: TextCaller; body: Json }>> = {
  chat: {
    caller: textChat.caller,
    body: {
      messages: [
        { role: 'system', content: [text('text')] },
        { role: 'user', content: [text('text')] },
        {
          role: 'assistant',
          content: [text('text')],
          reasoning_details: [{ type: 'reasoning.text', text: 'x', format: 'unknown' }],
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: [text('text')] },
      ],
      tools: [{ type: 'function', function: named }],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'look' } }] },
      },
      stop: ['END'],
      modalities: ['text'],
    },
  },
  'chat with functions': {
    caller: textChat.caller,
    body: {
      messages: [
        { role: 'user', content: [text('text')] },
        { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
        { role: 'function', name: 'look', content: [text('text')] },
      ],
      functions: [named],
    },
  },
  messages: {
    caller: textMessages.caller,
    body: {
      max_tokens: 9,
      system: [text('text')],
      messages: [
        {
          role: 'user',
          content: [text('text'), { type: 'document', source: { type: 'content', content: [text('text')] } }],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [text('text')] }],
        },
      ],
      tools: [{ name: 'look', input_schema: schema }],
      mcp_servers: [],
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
    },
  },
  'messages with a stop': {
    caller: textMessages.caller,
    body: { max_tokens: 9, messages: [{ role: 'user', content: 'x' }], stop_sequences: ['END'] },
  },
  responses: {
    caller: textResponses.caller,
    body: {
      input: [
        { type: 'message', role: 'user', content: [text('input_text')] },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [text('summary_text')],
          content: [text('reasoning_text')],
        },
        { type: 'message', role: 'assistant', content: [text('output_text')] },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: [text('input_text')] },
      ],
      tools: [
        { type: 'function', ...named },
        { type: 'namespace', name: 'crm', tools: [{ type: 'function', ...named }] },
      ],
      include: ['reasoning.encrypted_content'],
      context_management: [],
    },
  },
  'responses with a choice': {
    caller: textResponses.caller,
    body: {
      input: 'x',
      tools: [
        { type: 'function', name: 'ping' },
        { type: 'function', ...named },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'look' }] },
    },
  },
  'responses with a custom call': {
    caller: textResponses.caller,
    body: {
      input: [
        { type: 'custom_tool_call', call_id: 'call_2', name: 'free', input: 'x' },
        { type: 'custom_tool_call_output', call_id: 'call_2', output: [text('input_text')] },
      ],
    },
  },
};

/** Every list of the body, but those of schemas, by its path. */
function* listsOf(value: unknown, path: Path = []): Generator<Path> {
  if (value === null || typeof value !== 'object' || path.at(-1) === 'parameters') return;
  if (Array.isArray(value)) yield path;
  for (const [name, member] of Object.entries(value))
    yield* listsOf(member, [...path, Array.isArray(value) ? Number(name) : name]);
}

/** The body with the element at the end of the list, or in the place of its first. */
function withElement(body: Json, path: Path, element: unknown, isAlone: boolean): Json {
  const copy = structuredClone(body);
  let list: unknown = copy;
  for (const step of path) list = (list as Record<string | number, unknown>)[step];
  if (isAlone) (list as unknown[]).splice(0, 1, element);
  else (list as unknown[]).push(element);
  return copy;
}

function dotted(path: Path): string {
  return path.join('.');
}

/** Returns what becomes of the request, null where the element is lost silently. */
function fate(caller: TextCaller, body: Json, dialect: string, path: Path): string | null {
  const parsed = parseBody(Buffer.from(JSON.stringify({ model: 'm', ...body })));
  if (parsed instanceof BodyFault) throw new Error(parsed.detail.msg);
  const plain = (said: string): string => said.replace(/\[(\d+)\]/g, '.$1');
  const names = (said: string): boolean => plain(said).startsWith(dotted(path));
  try {
    const request = caller.read(parsed);
    const upstream = TEXT_DIALECTS.get(dialect)?.upstream;
    if (!upstream) throw new Error(dialect);
    const route = target({ dialect });
    const own = request.requires.find(({ capability }) => capability === 'same_dialect');
    const unsupported =
      dialect === request.dialect ? null : (own?.param ?? upstream.unsupported(request, route));
    // Nothing is sent, so nothing is lost.
    if (unsupported !== null) return names(unsupported) ? 'passed over' : 'passed over for something else';
    const { request: sent, ignored } = upstream.encode(request, route);
    // A name in the header has no positions.
    const bare = dotted(path).replace(/\.\d+/g, '');
    if (ignored.some((name) => bare.startsWith(name))) return 'named';
    return Buffer.concat(sent.pieces).includes(MARK) || dialect === request.dialect ? 'sent' : null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const loc = error.options.details?.[0]?.loc ?? [];
    return names(dotted(loc)) ? 'refused' : `refused elsewhere: ${dotted(loc)}`;
  }
}

const CASES = Object.entries(BODIES).flatMap(([name, { caller, body }]) =>
  [...listsOf(body)].map((path) => ({ name, caller, body, path, at: dotted(path) })),
);

describe('an element of a list that is none of the format', () => {
  it.each(CASES)(
    'of $name, in $at, is understood, refused with its place or named',
    ({ caller, body, path }) => {
      const lost: string[] = [];
      for (const [title, element] of Object.entries(ELEMENTS))
        for (const isAlone of [true, false])
          for (const dialect of TARGETS) {
            const found = fate(caller, withElement(body, path, element, isAlone), dialect, path);
            if (found === null || found.startsWith('refused elsewhere'))
              lost.push(`${title}${isAlone ? ', alone,' : ''} to ${dialect}: ${found ?? 'lost'}`);
          }
      expect(lost).toEqual([]);
    },
  );
});
