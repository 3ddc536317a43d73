import type { TextDialect } from '../text-dialect.js';
import { CohereDecoder } from './cohere-decoder.js';
import { encodeRequest, unsupported, STOP_MAX } from './encode-request.js';

/** Cohere's own chat, version 2. */
export const dialect = {
  name: 'cohere',
  upstream: {
    unsupported,
    stopMax: () => STOP_MAX,
    encode: encodeRequest,
    decoder: (_target, toolNames) => new CohereDecoder(toolNames),
  },
} as const satisfies TextDialect;
