import { invalidBody } from '../../body/read-json.js';
import { errorEnvelope } from '@gateway/contracts';
import type { RouteTarget } from '../../translation/translation.js';
import type { Capability, ModelRequest, Part } from '../model-request.js';
import type { TextDialect } from '../text-dialect.js';
import { ChatDecoder } from './chat-decoder.js';
import { ChatEncoder } from './chat-encoder.js';
import { encodeRequest } from './encode-request.js';
import { NativeChatEncoder } from './native-encoder.js';
import { CHAT, readRequest } from './read-request.js';
import { CHAT_CALLER_SCHEMA, requestSchema } from './request-schema.js';
import { spliceRequest, stopMaxOf } from './splice-request.js';

/** Members that a capability stands on: a provider that refuses the member does not have it. */
const MEMBER_OF: Partial<Record<Capability, string>> = {
  tools: 'tools',
  choices: 'n',
  logprobs: 'logprobs',
  logit_bias: 'logit_bias',
  prediction: 'prediction',
  web_search: 'web_search_options',
};

/**
 * This format carries every capability of the middle form, where the provider does not refuse its member, and documents by
 * their data alone: they have no member for an address.
 */
function unsupported(request: ModelRequest, { quirks }: RouteTarget): string | null {
  const { requires, turns } = request;
  if (request.dialect !== CHAT && request.stop.length > stopMaxOf(quirks)) return request.callerNames.stop;
  const { refuses = [] } = quirks;
  const lacking = requires.find(({ capability }) => refuses.includes(MEMBER_OF[capability] ?? ''));
  if (lacking) return lacking.param;
  const document = requires.find(({ capability }) => capability === 'document_input');
  return document && turns.some(({ parts }) => parts.some(isDocumentLinked)) ? document.param : null;
}

function isDocumentLinked(part: Part): boolean {
  if (part.type === 'tool_result') return part.parts.some(isDocumentLinked);
  return part.type === 'document' && part.source.kind === 'url';
}

/** OpenAI Chat Completions, on the caller's side and on the provider's. */
export const dialect = {
  name: CHAT,
  caller: {
    schema: CHAT_CALLER_SCHEMA,
    load: () => requestSchema.load(),
    read: readRequest,
    bodyError: ({ detail }) => invalidBody(detail),
    encoder: (facts, isNative) => (isNative ? new NativeChatEncoder(facts) : new ChatEncoder(facts)),
    keepAlive: ': keep-alive\n\n',
    // The in-band failure of a stream that has begun; no [DONE] follows (S9).
    errorFrame: (error, requestId) => `data: ${JSON.stringify(errorEnvelope(error, requestId))}\n\n`,
  },
  upstream: {
    unsupported,
    stopMax: ({ quirks }) => stopMaxOf(quirks),
    encode: (request, target) =>
      request.dialect === CHAT ? spliceRequest(request, target) : encodeRequest(request, target),
    decoder: (target, toolNames) => new ChatDecoder(target, toolNames),
  },
} as const satisfies TextDialect;
