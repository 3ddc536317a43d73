import type { TextDialect } from '../text-dialect.js';
import { encodeRequest, unsupported, STREAM_TYPE } from './encode-request.js';
import { OllamaDecoder } from './ollama-decoder.js';

/** Ollama's own chat: its OpenAI endpoint leaves indexes of tool calls out and cuts the context. */
export const dialect = {
  name: 'ollama',
  upstream: {
    streamType: STREAM_TYPE,
    unsupported,
    encode: encodeRequest,
    decoder: (_target, toolNames) => new OllamaDecoder(toolNames),
  },
} as const satisfies TextDialect;
