import { filled, textOf, type JsonObject } from '../../body/json-object.js';
import { seal, unseal } from './sealed-reasoning.js';

const FORMAT = 'gateway-compaction';
const INTRODUCTION = 'Summary of the conversation so far:\n\n';

/** The item that stands for a conversation that the gateway itself has summed up. */
export function compactionItem(id: string, summary: string): JsonObject {
  return { id, type: 'compaction', encrypted_content: seal({ format: FORMAT, text: summary }) };
}

/**
 * Returns the content of a compaction item of the gateway; null for one of a provider, which only that provider reads.
 */
export function readCompaction(item: JsonObject): string | null {
  const sealed = unseal(textOf(item.encrypted_content));
  const text = sealed?.format === FORMAT ? filled(sealed.text) : null;
  return text === null ? null : INTRODUCTION + text;
}
