import type { JsonObject } from '../../body/json-object.js';
import type { RouteTarget } from '../../translation/translation.js';
import type { Effort, ReasoningRequest } from '../model-request.js';

/** Share of the largest budget that an effort may think. */
const SHARE: Record<Effort, number> = {
  none: 0,
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};
const LARGEST_OUTPUT = 65_536;
const LEVELS: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh'];
/** Levels that every model of the third generation takes; xhigh is sent to those alone that list it. */
const COMMON_LEVELS: readonly Effort[] = ['minimal', 'low', 'medium', 'high'];
/** Least and largest thinking budget of the models that take one. */
const PRO_BUDGET = [128, 32_768] as const;
const FLASH_LITE_BUDGET = [512, 24_576] as const;
const FLASH_BUDGET = [0, 24_576] as const;

export interface Thinking {
  thinkingConfig?: JsonObject;
  /** The route offers no way to ask for what the caller asked. */
  isIgnored: boolean;
}

/** `thinkingConfig` by the model's own style: a level or a budget, never both. */
export function encodeThinking(reasoning: ReasoningRequest | null, target: RouteTarget): Thinking {
  if (!reasoning) return { isIgnored: false };
  const { style, efforts } = target.reasoning;
  if (style === 'none') return { isIgnored: reasoning.effort !== 'none' };
  const shown = { includeThoughts: !reasoning.exclude };
  if (style === 'budget') {
    const thinkingBudget = budget(reasoning, target.upstreamModel);
    return {
      thinkingConfig: { ...shown, ...(thinkingBudget === null ? {} : { thinkingBudget }) },
      isIgnored: false,
    };
  }
  const level = levelOf(reasoning, target.maxOutputTokens ?? LARGEST_OUTPUT, efforts);
  return {
    thinkingConfig: { ...shown, ...(level === null ? {} : { thinkingLevel: level.toUpperCase() }) },
    isIgnored: false,
  };
}

function budget({ effort, maxTokens }: ReasoningRequest, model: string): number | null {
  const wanted = maxTokens ?? (effort === null ? null : Math.floor(SHARE[effort] * LARGEST_OUTPUT));
  if (wanted === null) return null;
  const [least, most] = model.includes('pro')
    ? PRO_BUDGET
    : model.includes('lite')
      ? FLASH_LITE_BUDGET
      : FLASH_BUDGET;
  if (wanted === 0) return model.includes('pro') ? least : 0;
  return Math.min(Math.max(wanted, least), most);
}

/** The model's own nearest level: the lowest where the caller wants none. */
function levelOf(
  { effort, maxTokens }: ReasoningRequest,
  maxOutput: number,
  listed: readonly string[] = COMMON_LEVELS,
): string | null {
  const reaches = (level: Effort): boolean => SHARE[level] * maxOutput >= (maxTokens ?? 0);
  const wanted = effort ?? (maxTokens === null ? null : (LEVELS.find(reaches) ?? 'max'));
  if (wanted === null) return null;
  const offered = LEVELS.filter((level) => listed.includes(level));
  const choice = offered.length > 0 ? offered : COMMON_LEVELS;
  if (wanted === 'none') return choice[0];
  const rank = LEVELS.indexOf(wanted);
  // max has no rank here: the highest.
  if (rank < 0) return choice[choice.length - 1];
  return choice.find((level) => LEVELS.indexOf(level) >= rank) ?? choice[choice.length - 1];
}
