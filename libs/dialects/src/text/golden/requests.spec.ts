import { ApiError, errorEnvelope } from '@gateway/contracts';
import { goldenLines } from '@gateway/testing/plain';
import { BodyFault, parseBody, type ParsedBody } from '../../body/parsed-body.js';
import { TEXT_DIALECTS, textChat, textMessages, textResponses } from '../../families.generated.js';
import type { RouteTarget } from '../../translation/translation.js';
import type { ModelRequest } from '../model-request.js';
import type { Json } from '../upstream-requests.fixture.js';
import { CHAT_REQUESTS } from './chat-requests.fixture.js';
import { MESSAGES_REQUESTS } from './messages-requests.fixture.js';
import { RESPONSES_REQUESTS } from './responses-requests.fixture.js';
import { GOLDEN_TARGETS } from './targets.fixture.js';

const FOLDER = 'libs/dialects/src/text/golden';
const CALLERS = {
  chat: [textChat.caller, CHAT_REQUESTS],
  messages: [textMessages.caller, MESSAGES_REQUESTS],
  responses: [textResponses.caller, RESPONSES_REQUESTS],
} as const;
const GREETING: Readonly<Record<keyof typeof CALLERS, Json>> = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  messages: { model: 'm', max_tokens: 9_000, messages: [{ role: 'user', content: 'Hi' }] },
  responses: { model: 'm', input: 'Hi' },
};
const NAMES = Object.keys(CALLERS) as (keyof typeof CALLERS)[];

interface Case {
  title: string;
  read(): ModelRequest;
}

/** What a caller says, the greeting first: the other lines of a file say what is otherwise than there. */
function casesOf(name: keyof typeof CALLERS): Case[] {
  const [caller, bodies] = CALLERS[name];
  return Object.entries(bodies).map(([title, body]) => ({
    title: `${name}: ${title}`,
    read: () => caller.read(parsed({ ...GREETING[name], ...body })),
  }));
}

function parsed(body: Json): ParsedBody {
  const read = parseBody(Buffer.from(JSON.stringify(body)));
  if (read instanceof BodyFault) throw new Error(read.detail.msg);
  return read;
}

/** What the upstream is sent, or why nothing is. */
function sent(request: ModelRequest, target: RouteTarget): Json {
  const upstream = TEXT_DIALECTS.get(target.dialect)?.upstream;
  if (!upstream) throw new Error(`no dialect ${target.dialect}`);
  // As the endpoint does, for what only the caller's own dialect can carry.
  const own =
    request.dialect === target.dialect
      ? undefined
      : request.requires.find(({ capability }) => capability === 'same_dialect');
  const misfit = own?.param ?? upstream.misfit(request, target);
  if (misfit !== null) return { misfit };
  try {
    const { request: made, ignored, toolNames } = upstream.encode(request, target);
    const bytes = Buffer.concat(made.pieces);
    expect(bytes.byteLength).toBe(made.byteLength);
    const { path, accept, headers } = made;
    const body = JSON.parse(bytes.toString('utf8')) as Json;
    return {
      path,
      accept,
      headers,
      ...body,
      ...(ignored.length > 0 && { IGNORED: ignored }),
      NAMES: toolNames,
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status } = error;
    return { refused: { status, ...errorEnvelope(error, 'r').error } };
  }
}

/** The middle form without what stands in it for nothing. */
function told({ body: _body, sampling, ...rest }: ModelRequest): Json {
  const isNothing = (value: unknown): boolean =>
    value === null || ['[]', '{}'].includes(JSON.stringify(value));
  const all = Object.entries({ ...rest, ...sampling });
  return Object.fromEntries(all.filter(([, value]) => !isNothing(value)));
}

/** One line a case: the first of a caller in full, the others where they differ from it. */
function lines(cases: readonly Case[], of: (request: ModelRequest) => Json): Json[] {
  const firsts = new Map<string, Json>();
  return cases.map(({ title, read }) => {
    const value = of(read());
    const [caller] = title.split(':');
    const first = firsts.get(caller);
    if (first === undefined) firsts.set(caller, value);
    return { case: title, ...(first === undefined ? value : beyond(value, first)) };
  });
}

function beyond(value: Json, first: Json): Json {
  if ('misfit' in value || 'refused' in value) return value;
  const isSame = (name: string): boolean => JSON.stringify(value[name]) === JSON.stringify(first[name]);
  const names = [...Object.keys(value), ...Object.keys(first).filter((name) => !(name in value))];
  return Object.fromEntries(
    names.filter((name) => !isSame(name)).map((name) => [name, name in value ? value[name] : '(absent)']),
  );
}

describe('golden requests', () => {
  it.each(NAMES)('of %s are read as the file says', (name) => {
    const { made, kept } = goldenLines(`${FOLDER}/reads/${name}`, lines(casesOf(name), told));
    expect(made).toEqual(kept);
  });

  it.each(Object.entries(GOLDEN_TARGETS))('go to %s as the file says', (name, { target, only }) => {
    const cases = NAMES.flatMap((caller) =>
      casesOf(caller).filter(
        // The bytes of files stand in the body by the time it is sent.
        ({ title }) =>
          title.endsWith(': plain') || ((only?.test(title) ?? true) && !title.endsWith(' by its id')),
      ),
    );
    const { made, kept } = goldenLines(
      `${FOLDER}/requests/${name}`,
      lines(cases, (request) => sent(request, target)),
    );
    expect(made).toEqual(kept);
  });
});
