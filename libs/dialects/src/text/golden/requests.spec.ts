import { ApiError, errorEnvelope } from '@gateway/contracts';
import { goldenLines } from '@gateway/testing/plain';
import { TEXT_DIALECTS } from '../../families.generated.js';
import type { RouteTarget } from '../../translation/translation.js';
import type { ModelRequest } from '../model-request.js';
import type { Json } from '../upstream-requests.fixture.js';
import { bodyOf, CALLER_NAMES, CALLERS, GOLDEN_FOLDER, type CallerName } from './bodies.fixture.js';
import { CHAT_REQUESTS } from './chat-requests.fixture.js';
import { MESSAGES_REQUESTS } from './messages-requests.fixture.js';
import { RESPONSES_REQUESTS } from './responses-requests.fixture.js';
import { GOLDEN_TARGETS } from './targets.fixture.js';

const BODIES: Readonly<Record<CallerName, Readonly<Record<string, Json>>>> = {
  chat: CHAT_REQUESTS,
  messages: MESSAGES_REQUESTS,
  responses: RESPONSES_REQUESTS,
};

interface Case {
  title: string;
  read(): ModelRequest;
}

/** Returns the requests of a caller, the greeting first: the other lines of a file say what differs from it. */
function casesOf(name: CallerName): Case[] {
  return Object.entries(BODIES[name]).map(([title, body]) => ({
    title: `${name}: ${title}`,
    read: () => CALLERS[name].caller.read(bodyOf(name, body)),
  }));
}

/** Returns the body for the upstream, or the reason why there is none. */
function sent(request: ModelRequest, target: RouteTarget): Json {
  const upstream = TEXT_DIALECTS.get(target.dialect)?.upstream;
  if (!upstream) throw new Error(`no dialect ${target.dialect}`);
  // As the endpoint does, for what only the caller's own dialect can carry.
  const own =
    request.dialect === target.dialect
      ? undefined
      : request.requires.find(({ capability }) => capability === 'same_dialect');
  const unsupported = own?.param ?? upstream.unsupported(request, target);
  if (unsupported !== null) return { misfit: unsupported };
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
function lineOf({ body: _body, sampling, ...rest }: ModelRequest): Json {
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
  it.each(CALLER_NAMES)('of %s are read as the file says', (name) => {
    const { made, kept } = goldenLines(`${GOLDEN_FOLDER}/reads/${name}`, lines(casesOf(name), lineOf));
    expect(made).toEqual(kept);
  });

  it.each(Object.entries(GOLDEN_TARGETS))('go to %s as the file says', (name, { target, only }) => {
    const cases = CALLER_NAMES.flatMap((caller) =>
      casesOf(caller).filter(
        // The bytes of files stand in the body by the time it is sent.
        ({ title }) =>
          title.endsWith(': plain') || ((only?.test(title) ?? true) && !title.endsWith(' by its id')),
      ),
    );
    const { made, kept } = goldenLines(
      `${GOLDEN_FOLDER}/requests/${name}`,
      lines(cases, (request) => sent(request, target)),
    );
    expect(made).toEqual(kept);
  });
});
