import { ApiError } from '@gateway/contracts';

/** OpenAI's bounds, which keep a read of many small. */
const MOST = { entries: 16, name: 64, value: 512 };

type Metadata = Record<string, unknown>;

/**
 * The same metadata. Throws ApiError `validation_error` where it is more than OpenAI keeps, or holds another value
 * than a text.
 */
export function checkedMetadata(metadata: Metadata): Metadata {
  const entries = Object.entries(metadata);
  const isGood = ([name, value]: [string, unknown]): boolean =>
    name.length <= MOST.name && typeof value === 'string' && value.length <= MOST.value;
  if (entries.length <= MOST.entries && entries.every(isGood)) return metadata;
  const msg = `metadata has at most ${MOST.entries} texts of ${MOST.value} characters.`;
  const details = [{ type: 'metadata_invalid' as const, loc: ['metadata'], msg }];
  throw new ApiError('validation_error', { message: msg, details, param: 'metadata' });
}
