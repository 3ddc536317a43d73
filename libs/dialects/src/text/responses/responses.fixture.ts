import { BodyFault, parseBody } from '@gateway/json-body';
import type { RouteTarget } from '../../translation/translation.js';
import type { ModelEvent } from '../model-event.js';
import type { ModelRequest } from '../model-request.js';
import type { TextFacts } from '../text-dialect.js';
import { readRequest } from './read-request.js';

export const FACTS: TextFacts = {
  requestId: 'req_1',
  model: 'acme/model',
  created: 1_700_000_000,
  now: () => 1_700_000_005,
  answerId: () => 'resp_0000-1',
  tier: 'default',
  byokUsed: false,
  fallbackTriggered: false,
  believed: (reported) => reported,
  excludeReasoning: false,
  deprecatedCacheKey: false,
  includeUsage: false,
  legacyFunctions: false,
};

export const TARGET: RouteTarget = {
  dialect: 'responses',
  upstreamModel: 'native-model',
  maxOutputTokens: 1_000,
  contextLength: 10_000,
  reasoning: { style: 'effort', efforts: ['low', 'medium', 'high'] },
  fixesSampling: false,
  quirks: {},
};

export const START = {
  type: 'start',
  id: 'x',
  created: 1,
  systemFingerprint: null,
  serviceTier: null,
} satisfies ModelEvent;
export const END = { type: 'end' } satisfies ModelEvent;

export function finish(reason: string): ModelEvent {
  return { type: 'finish', choice: 0, reason, native: null, stopSequence: null };
}

/** A body of the caller, read. */
export function read(body: object): ModelRequest {
  const parsed = parseBody(Buffer.from(JSON.stringify(body)));
  if (parsed instanceof BodyFault) throw new TypeError(parsed.detail.msg);
  return readRequest(parsed);
}

export function jsonOf(pieces: readonly Uint8Array[]): Record<string, unknown> {
  return JSON.parse(Buffer.concat(pieces).toString('utf8')) as Record<string, unknown>;
}
