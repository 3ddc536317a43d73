import type { JsonObject } from '../../body/json-object.js';
import { ApiError } from '@gateway/contracts';
import type { RouteTarget } from '../../translation/translation.js';
import type { Effort, ModelRequest, ReasoningRequest, Turn } from '../model-request.js';
import { isOwnFormat } from './answer-writer.js';
import { unsupported } from './encode-content.js';

/** Share of max_tokens that an effort may think. */
const RATIO: Record<Effort, number> = {
  none: 0,
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};
const LEAST_BUDGET = 1024;
const MOST_BUDGET = 128_000;
const LEVELS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

export interface Thinking {
  thinking?: JsonObject;
  effort?: string;
  /** True where the caller's wish could not be met without harm to the rest of the request. */
  isDropped?: boolean;
}

/** The smallest effort whose share covers the budget asked for. */
function effortFor(budget: number, maxTokens: number): Effort {
  return (
    (['low', 'medium', 'high', 'xhigh'] as const).find((level) => RATIO[level] * maxTokens >= budget) ?? 'max'
  );
}

function adaptiveEffort(effort: Effort, supported: readonly string[] | undefined): string {
  const wanted = effort === 'minimal' ? 'low' : effort;
  if (!supported || supported.includes(wanted)) return wanted;
  if (wanted === 'xhigh' && supported.includes('max')) return 'max';
  const rank = LEVELS.findIndex((level) => level === wanted);
  const lower = LEVELS.slice(0, rank).findLast((level) => supported.includes(level));
  return lower ?? LEVELS.find((level) => supported.includes(level)) ?? wanted;
}

function adaptive(reasoning: ReasoningRequest, target: RouteTarget, maxTokens: number): Thinking {
  // Newer models think unless the request disables it; a high effort beside that would be a 400.
  if (reasoning.effort === 'none') return { thinking: { type: 'disabled' } };
  const effort = reasoning.maxTokens === null ? reasoning.effort : effortFor(reasoning.maxTokens, maxTokens);
  return {
    thinking: { type: 'adaptive', display: reasoning.exclude ? 'omitted' : 'summarized' },
    ...(effort === null ? {} : { effort: adaptiveEffort(effort, target.reasoning.efforts) }),
  };
}

function budget(
  reasoning: ReasoningRequest,
  maxTokens: number,
  turns: readonly Turn[],
  isOwn: OwnFormat,
): Thinking {
  const { effort, maxTokens: asked } = reasoning;
  if (effort === 'none' || (effort === null && asked === null)) return {};
  if (asked !== null && (asked < LEAST_BUDGET || asked >= maxTokens)) {
    const msg = `must be at least ${LEAST_BUDGET} and less than the output limit of ${maxTokens}`;
    const loc = ['reasoning', 'max_tokens'];
    throw new ApiError('validation_error', { status: 422, details: [{ type: 'out_of_range', loc, msg }] });
  }
  const share = Math.floor(maxTokens * RATIO[effort ?? 'medium']);
  const tokens = asked ?? Math.max(Math.min(share, MOST_BUDGET), LEAST_BUDGET);
  // The limit includes the thinking: without room for the least budget the answer would be all thought.
  if (tokens >= maxTokens || isLoopWithoutThinking(turns, isOwn)) return { isDropped: true };
  return { thinking: { type: 'enabled', budget_tokens: tokens } };
}

/** A tool loop must begin with the thinking that led to it; a caller who lost it goes on without thinking. */
export function isLoopWithoutThinking(turns: readonly Turn[], isOwn: OwnFormat): boolean {
  const lastUser = turns.findLastIndex(({ role }) => role === 'user');
  const loop = turns.slice(lastUser + 1).filter(({ role }) => role === 'assistant');
  return loop.some(
    ({ parts }) =>
      parts.some(({ type }) => type === 'tool_call') &&
      !parts.some(
        (part) =>
          (part.type === 'reasoning' && isOwn(part.format) && part.signature !== undefined) ||
          (part.type === 'opaque_reasoning' && isOwn(part.format)),
      ),
  );
}

/** True for reasoning of earlier turns that the upstream takes back. */
type OwnFormat = (format: string | undefined) => boolean;

/** Reasoning by the model's own style. Throws where a forced tool choice and manual thinking exclude each other. */
export function encodeThinking(
  request: ModelRequest,
  target: RouteTarget,
  maxTokens: number,
  isOwn: OwnFormat = isOwnFormat,
): Thinking {
  const { reasoning, toolChoice, turns } = request;
  if (!reasoning) return {};
  const { style } = target.reasoning;
  if (style === 'none') return reasoning.effort === 'none' ? {} : { isDropped: true };
  if (style !== 'budget') return adaptive(reasoning, target, maxTokens);
  const thinking = budget(reasoning, maxTokens, turns, isOwn);
  const isForced =
    toolChoice?.mode === 'required' ||
    toolChoice?.mode === 'named' ||
    (toolChoice?.mode === 'allowed' && toolChoice.required);
  if (thinking.thinking && isForced)
    throw unsupported('tool_choice', 'this model cannot reason when tool_choice forces a tool');
  return thinking;
}
