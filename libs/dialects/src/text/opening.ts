import { filled, objectOf, textOf } from '../body/json-object.js';
import type { ModelEvent } from './model-event.js';
import type { Decoded } from './text-dialect.js';

/** Blocks and items that begin empty: their words come in later frames. */
const EMPTY_AT_FIRST: ReadonlySet<string> = new Set(['text', 'thinking', 'message', 'reasoning']);

/**
 * True if a frame only opens an answer: no words, no call, no end, and nothing that the provider runs by itself. After
 * such frames another provider can still serve.
 */
export function isOpening({ events, raw }: Decoded): boolean {
  if (events.length > 0 || raw === null) return events.every(saysNothing);
  const { type } = objectOf(raw.content_block ?? raw.item);
  if (filled(type) !== null && !EMPTY_AT_FIRST.has(textOf(type))) return false;
  return !textOf(raw.type).includes('_call') && filled(raw.delta) === null;
}

function saysNothing(event: ModelEvent): boolean {
  switch (event.type) {
    case 'start':
    case 'ping':
    case 'error':
      return true;
    case 'usage':
      return event.usage.tool_calls === undefined;
    case 'text':
    case 'refusal':
    case 'reasoning':
    case 'tool_arguments':
      return event.text === '';
    default:
      return false;
  }
}
