import { filled, isObject, textOf } from '../../body/json-object.js';
import { parseUpstreamJson } from '../../body/upstream-json.js';

/** Format of reasoning that an upstream of this dialect encrypted: it goes back to it alone. */
export const OWN_FORMAT = 'openai-responses-v1';
/** Begins the encrypted content and the item ids that the gateway made for reasoning of another family. */
const SEAL = 'gw1.';
export const ITEM_MARK = 'gw';

/** Reasoning of another family, as the caller keeps it between turns. */
export interface SealedReasoning {
  format: string;
  signature?: string;
  data?: string;
  text?: string;
}

/** Seals what must come back byte-identical into `encrypted_content`, which clients send back unchanged. */
export function seal(reasoning: SealedReasoning): string {
  return SEAL + Buffer.from(JSON.stringify(reasoning)).toString('base64url');
}

/** Null where the content was not sealed here, or is damaged. */
export function unseal(content: string): SealedReasoning | null {
  if (!content.startsWith(SEAL)) return null;
  let value: unknown;
  try {
    value = parseUpstreamJson(Buffer.from(content.slice(SEAL.length), 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  const format = isObject(value) ? filled(value.format) : null;
  if (!isObject(value) || format === null) return null;
  const signature = filled(value.signature);
  const data = filled(value.data);
  const text = filled(value.text);
  return {
    format,
    ...(signature === null ? {} : { signature }),
    ...(data === null ? {} : { data }),
    ...(text === null ? {} : { text }),
  };
}

/** Reasoning that no upstream of this dialect has minted: it would be refused there. */
export function isForeignReasoning(item: Record<string, unknown>): boolean {
  if (item.type !== 'reasoning') return false;
  return textOf(item.encrypted_content).startsWith(SEAL) || textOf(item.id).startsWith(`rs_${ITEM_MARK}`);
}
