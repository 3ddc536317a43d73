import type { TextDialect } from '../text-dialect.js';
import { encodeRequest, unsupported, STOP_MAX } from './encode-request.js';
import { GeminiDecoder } from './gemini-decoder.js';

/** Google's generateContent, of AI Studio and Vertex AI. */
export const dialect = {
  name: 'gemini',
  upstream: {
    unsupported,
    stopMax: () => STOP_MAX,
    encode: encodeRequest,
    decoder: (_target, toolNames) => new GeminiDecoder(toolNames),
  },
} as const satisfies TextDialect;
