import { goldenLines } from '@gateway/testing/plain';
import { TEXT_DIALECTS } from '../../families.generated.js';
import { facts } from '../chat/chat-samples.fixture.js';
import type { ModelEvent } from '../model-event.js';
import type { Decoded, TextFacts, TextUpstream } from '../text-dialect.js';
import type { Json } from '../upstream-requests.fixture.js';
import { target } from '../upstream-streams.fixture.js';
import type { GoldenAnswer, GoldenDialect } from './answers.fixture.js';
import { BEDROCK_ANSWERS } from './bedrock-answers.fixture.js';
import { bodyOf, CALLER_NAMES, CALLERS, GOLDEN_FOLDER, type CallerName } from './bodies.fixture.js';
import { CHAT_ANSWERS, XAI_ANSWERS } from './chat-answers.fixture.js';
import { GEMINI_ANSWERS } from './gemini-answers.fixture.js';
import { MESSAGES_ANSWERS } from './messages-answers.fixture.js';
import { RESPONSES_ANSWERS } from './responses-answers.fixture.js';
import { COHERE_ANSWERS, OLLAMA_ANSWERS } from './small-answers.fixture.js';

const UPSTREAMS: Readonly<Record<string, GoldenDialect & { dialect: string }>> = {
  chat: { dialect: 'chat', ...CHAT_ANSWERS },
  'chat-xai': { dialect: 'chat', ...XAI_ANSWERS },
  messages: { dialect: 'messages', ...MESSAGES_ANSWERS },
  responses: { dialect: 'responses', ...RESPONSES_ANSWERS },
  gemini: { dialect: 'gemini', ...GEMINI_ANSWERS },
  converse: { dialect: 'converse', ...BEDROCK_ANSWERS },
  cohere: { dialect: 'cohere', ...COHERE_ANSWERS },
  ollama: { dialect: 'ollama', ...OLLAMA_ANSWERS },
};

function upstreamOf(dialect: string): TextUpstream {
  const upstream = TEXT_DIALECTS.get(dialect)?.upstream;
  if (!upstream) throw new Error(`no dialect ${dialect}`);
  return upstream;
}

/** Returns the facts read of an answer, piece by piece. */
function read(
  { dialect, quirks = {}, toolNames }: GoldenDialect & { dialect: string },
  answer: GoldenAnswer,
): Decoded[] {
  const decoder = upstreamOf(dialect).decoder(target({ dialect, quirks }), toolNames);
  return 'plain' in answer
    ? [decoder.whole(answer.plain)]
    : [...decoder.push(answer.stream), ...decoder.end()];
}

/** The event without what stands in it for nothing. */
function lineOf(event: ModelEvent): Json {
  const isNothing = (name: string, value: unknown): boolean =>
    value === null || (name === 'choice' && value === 0);
  return Object.fromEntries(Object.entries(event).filter(([name, value]) => !isNothing(name, value)));
}

const FACTS = facts({ answerId: () => 'answer_1', byokUsed: true });

interface Translated {
  of: string;
  title: string;
  facts?: Partial<TextFacts>;
  /** Differences in these. */
  as?: string;
}

const everything = [
  ...['chat', 'messages', 'responses', 'gemini'].map((of) => ({ of, title: 'everything' })),
  ...['chat', 'messages', 'responses', 'gemini', 'converse', 'cohere', 'ollama'].map((of) => ({
    of,
    title: 'a stream of everything',
  })),
];
const others: readonly [string, string][] = [
  ['chat', 'two choices'],
  ['chat', 'reasoning in parts'],
  ['chat', 'the call of a legacy server'],
  ['chat', 'calls without numbers'],
  ['chat', 'an error in a choice'],
  ['chat', 'no reason behind a call'],
  ['chat', 'ends with pause_turn'],
  ['messages', 'a refusal with its reasons'],
  ['messages', 'a stop sequence'],
  ['messages', 'ends with pause_turn'],
  ['messages', 'an error in the middle'],
  ['messages', 'ends with max_tokens'],
  ['responses', 'ends with content_filter'],
  ['responses', 'ends incomplete'],
  ['responses', 'an answer at its end alone'],
  ['gemini', 'sources of a text'],
  ['gemini', 'ends with SAFETY'],
  ['ollama', 'a call, cut'],
];
const TRANSLATED: readonly Translated[] = [
  ...everything,
  ...others.map(([of, title]) => ({ of, title })),
  ...['everything', 'a stream of everything'].flatMap((title) => [
    { of: 'chat', title, as: ', reasoning left out', facts: { excludeReasoning: true } },
    { of: 'gemini', title, as: ', for functions', facts: { legacyFunctions: true } },
    { of: 'chat', title, as: ', for functions', facts: { legacyFunctions: true, includeUsage: true } },
    {
      of: 'converse',
      title,
      as: ', with the usage and the old key',
      facts: {
        includeUsage: true,
        deprecatedCacheKey: true,
        byokUsed: false,
        fallbackTriggered: true,
        tier: 'flex' as const,
      },
    },
  ]),
];

/** Frames with `=` for one that stands in the first stream at the same place, and `…` for how the one before it begins. */
function shortened(frames: readonly string[], first: readonly string[]): string[] {
  return frames.map((frame, at) => {
    if (frames !== first && frame === first[at]) return '=';
    const before = frames[at - 1] ?? '';
    let same = 0;
    while (same < frame.length && frame[same] === before[same]) same += 1;
    return same < 24 ? frame : `…${frame.slice(same)}`;
  });
}

/** Returns what the caller is sent for the answer of an upstream. */
function answered(name: CallerName, { of, title, facts }: Translated): { body?: Json; frames?: string[] } {
  const { caller } = CALLERS[name];
  const upstream = UPSTREAMS[of];
  const answer = upstream.answers[title];
  const request = caller.read(bodyOf(name, {}));
  const encoder = caller.encoder({ ...FACTS, ...facts }, upstream.dialect === name, request);
  const pieces = read(upstream, answer);
  if ('plain' in answer) return { body: encoder.whole(pieces[0]) };
  return { frames: pieces.map((piece) => encoder.write(piece)).filter((frame) => frame !== '') };
}

describe('golden answers', () => {
  it.each(Object.entries(UPSTREAMS))('of %s are read as the file says', (name, upstream) => {
    const cases = Object.entries(upstream.answers).map(([title, answer]) => {
      const events = read(upstream, answer).flatMap((piece) => piece.events);
      // Of many events the last say what became of the answer.
      return { case: title, events: (events.length > 100 ? events.slice(-2) : events).map(lineOf) };
    });
    const { made, kept } = goldenLines(`${GOLDEN_FOLDER}/answers/${name}`, cases);
    expect(made).toEqual(kept);
  });

  it.each(CALLER_NAMES)('go to callers of %s as the file says', (name) => {
    let first: string[] = [];
    // Variants of chat's own facts say nothing new to the others.
    const cases = TRANSLATED.filter((one) => name === 'chat' || one.as === undefined).map((one) => {
      const { body, frames } = answered(name, one);
      if (frames && first.length === 0) first = frames;
      const shown = frames ? { frames: shortened(frames, first) } : { body };
      return { case: `${one.of}: ${one.title}${one.as ?? ''}`, ...shown };
    });
    const { made, kept } = goldenLines(`${GOLDEN_FOLDER}/answered/${name}`, cases);
    expect(made).toEqual(kept);
  });
});
