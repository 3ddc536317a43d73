import type { UnitUsage } from '@gateway/contracts';
import type { AnswerFailure } from '../translation/translation.js';

export interface Citation {
  url: string;
  title: string;
  /** Character offsets into the text of the choice; absent where the provider gives none. */
  start?: number;
  end?: number;
}

/**
 * One event of an answer in the middle form. Upstream decoders make them, encoders of the caller's side consume them; a plain
 * answer is the fold of the same events. `choice` is 0 but for n > 1.
 */
export type ModelEvent =
  /** First event of an answer. `id` and `created` as the provider gave them, null where it gave none. */
  | {
      type: 'start';
      id: string | null;
      created: number | null;
      systemFingerprint: string | null;
      serviceTier: string | null;
    }
  | { type: 'text'; choice: number; text: string; logprobs?: unknown }
  | { type: 'refusal'; choice: number; text: string }
  | { type: 'reasoning'; choice: number; text: string; format: string }
  /** Ends a reasoning block: `signature` must come back byte-identical. */
  | { type: 'reasoning_signature'; choice: number; signature: string; format: string }
  | { type: 'opaque_reasoning'; choice: number; data: string; format: string }
  /** `call` counts up from 0 over the whole answer of the choice. */
  | {
      type: 'tool_start';
      choice: number;
      call: number;
      id: string;
      name: string;
      custom: boolean;
      /** Members of the call that its dialect does not know: a caller of the same dialect gets them. */
      extras?: Record<string, unknown>;
    }
  | { type: 'tool_arguments'; choice: number; call: number; text: string }
  | { type: 'tool_end'; choice: number; call: number }
  | { type: 'citation'; choice: number; citation: Citation }
  | { type: 'audio'; choice: number; audio: Record<string, unknown> }
  /** `native` is the provider's value, null where it gave none; `reason` the chat value or the native one verbatim. */
  | {
      type: 'finish';
      choice: number;
      reason: string;
      native: string | null;
      stopSequence: string | null;
      details?: unknown;
    }
  /** Totals so far: a later one replaces an earlier one, never adds. `raw` is the provider's own object, costs stripped. */
  | { type: 'usage'; usage: UnitUsage; raw: Record<string, unknown> }
  /** The upstream said so in-band, or its stream broke. No event follows. */
  | { type: 'error'; failure: AnswerFailure }
  | { type: 'ping' }
  /** The answer is complete. Nothing follows. */
  | { type: 'end' };
