import type { Quirks, RouteTarget } from '../../translation/translation.js';
import { within } from '../bounds.js';
import type { ModelRequest } from '../model-request.js';
import type { JsonObject } from '../../body/json-object.js';

/** A value that asks for what happens anyway: it can be left out without a report. */
const NO_OP: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['n', 1],
  ['logprobs', false],
  ['store', false],
  ['stream', false],
  ['parallel_tool_calls', true],
]);

/** Parameters that a model with fixed sampling refuses. */
const SAMPLING = ['temperature', 'top_p', 'top_k', 'frequency_penalty', 'presence_penalty'];

/** Name of the output limit on this route. */
export function maxTokensParam({ maxTokensParam: name }: Quirks): string {
  return name ?? 'max_completion_tokens';
}

/** Top-level members that this route takes out of a request; those the caller should know of go to `ignored`. */
export function refusedMembers(
  members: JsonObject,
  target: RouteTarget,
): { refused: string[]; ignored: string[] } {
  const { refuses = [] } = target.quirks;
  const refused = [...new Set([...refuses, ...(target.fixesSampling ? SAMPLING : [])])].filter((name) =>
    Object.hasOwn(members, name),
  );
  const ignored = refused.filter((name) => {
    const value = members[name];
    const isNoOp = NO_OP.has(name) && NO_OP.get(name) === value;
    return value !== undefined && value !== null && !isNoOp && name !== 'stream_options';
  });
  return { refused, ignored };
}

/** Mistral's word for `required`. */
export function requiredWord({ requiredToolChoice }: Quirks): string {
  return requiredToolChoice ?? 'required';
}

/** OpenAI's bound of a stop list. */
const STOP_MAX = 4;

/** True for more stop sequences than the provider takes: OpenAI's bound, where it names no other. */
export function hasTooManyStops({ stop }: ModelRequest, { stopMax = STOP_MAX }: Quirks): boolean {
  return stop.length > stopMax;
}

/** The temperature on the provider's own scale, which ends earlier than OpenAI's. */
export function takenTemperature(temperature: number | null, { temperatures }: Quirks): number | null {
  return temperatures === undefined ? temperature : within(temperature, ...temperatures);
}

/** stream_options of a stream, undefined for none: usage is always asked for where the provider knows how. */
export function streamOptions(callers: JsonObject, quirks: Quirks): JsonObject | undefined {
  if (quirks.includeUsageOption === false || quirks.refuses?.includes('stream_options')) return undefined;
  return { ...callers, include_usage: true };
}

/** The end user's id under a name that the provider takes, the caller's own name first. */
export function endUserParam(
  preferred: 'safety_identifier' | 'user',
  { refuses = [] }: Quirks,
): string | null {
  return [preferred, 'safety_identifier', 'user'].find((name) => !refuses.includes(name)) ?? null;
}
