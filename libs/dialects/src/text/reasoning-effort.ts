import type { RouteTarget } from '../translation/translation.js';
import type { Effort, ReasoningRequest } from './model-request.js';
import type { JsonObject } from '../body/json-object.js';

/** Share of the output limit that an effort may think, least first. */
const SHARES: readonly (readonly [Effort, number])[] = [
  ['minimal', 0.1],
  ['low', 0.2],
  ['medium', 0.5],
  ['high', 0.8],
  ['xhigh', 0.95],
  ['max', 0.95],
];
const ORDER: readonly string[] = ['none', ...SHARES.map(([effort]) => effort)];
/** Output limit to measure a budget against where neither the caller nor the catalogue names one. */
const USUAL_OUTPUT_TOKENS = 32_768;

export interface ReasoningMembers {
  members: JsonObject;
  /** The route offers no way to ask for what the caller asked. */
  isIgnored: boolean;
}

/** Members that ask the upstream to reason as the caller wants; `maxOutput` is the caller's output limit. */
export function reasoningMembers(
  reasoning: ReasoningRequest | null,
  maxOutput: number | null,
  target: RouteTarget,
): ReasoningMembers {
  const nothing = { members: {}, isIgnored: false };
  if (!reasoning) return nothing;
  const { effort, maxTokens, exclude } = reasoning;
  const param = target.quirks.reasoningParam ?? 'reasoning_effort';
  if (param === 'reasoning') {
    const asked = {
      ...(effort === null ? {} : { effort: clamped(effort, target.reasoning.efforts) }),
      ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
      ...(exclude ? { exclude } : {}),
    };
    return Object.keys(asked).length === 0 ? nothing : { members: { reasoning: asked }, isIgnored: false };
  }
  const wanted = effortOf(reasoning, maxOutput, target);
  if (wanted === null) return nothing;
  if (param === 'none' || target.reasoning.style === 'none')
    return { members: {}, isIgnored: wanted !== 'none' };
  return { members: { reasoning_effort: wanted }, isIgnored: false };
}

/** The effort that the model is asked for, as it names it; null leaves it to the model. */
export function effortOf(
  { effort, maxTokens }: ReasoningRequest,
  maxOutput: number | null,
  target: RouteTarget,
): string | null {
  const wanted = effort ?? (maxTokens === null ? null : effortFor(maxTokens, maxOutput, target));
  return wanted === null ? null : clamped(wanted, target.reasoning.efforts);
}

/** The least effort whose share of the output limit holds the budget. */
function effortFor(budget: number, maxOutput: number | null, target: RouteTarget): Effort {
  const limit = maxOutput ?? target.maxOutputTokens ?? USUAL_OUTPUT_TOKENS;
  const enough = SHARES.find(([, share]) => share * limit >= budget);
  return enough ? enough[0] : 'xhigh';
}

/** The model's own nearest effort: never less than asked, unless the model has no more. */
function clamped(effort: Effort, listed: string[] | undefined): string {
  if (!listed || listed.length === 0 || listed.includes(effort)) return effort;
  const inOrder = ORDER.filter((name) => listed.includes(name));
  const wanted = ORDER.indexOf(effort);
  const levels = effort === 'none' ? inOrder : inOrder.filter((name) => name !== 'none');
  return levels.find((name) => ORDER.indexOf(name) >= wanted) ?? levels.at(-1) ?? effort;
}
