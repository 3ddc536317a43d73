import { HEADER } from '@gateway/contracts';
import { textMessages, type ModelRequest } from '@gateway/dialects';
import { BodyFault, parseBody, spliceMembers } from '@gateway/json-body';
import type { Asked, CallerBody, Endpoint } from '../endpoint.js';
import { withFileParts } from '../stored/file-parts.js';
import { wholeBody, type StoredContentNeeded } from '../stored/stored-content-needed.js';
import { withGatewayMembers } from '../text/gateway-members.js';
import { loadText, readText } from '../text/read.js';
import { translateText } from '../text/translate.js';
import { anthropicHeaders } from './anthropic-headers.js';

const { caller } = textMessages;
/** Bound above every thinking budget, which has to be below it. */
const OUTPUT_LIMIT = 1_000_000;

/** POST /v1/messages. */
export const endpoint: Endpoint<ModelRequest> = {
  paths: ['/messages'],
  permission: 'inference:write',
  isCacheable: true,
  idPrefix: 'msg',
  requestIdHeader: HEADER.anthropicRequestId,
  docs: {
    summary: 'Anthropic messages',
    schemaName: 'MessagesRequest',
    schema: withGatewayMembers(caller.schema),
    answers: ['application/json', 'text/event-stream'],
    description: 'Events of the Anthropic stream when `stream` is true.',
  },
  events: { keepAlive: caller.keepAlive, failure: caller.errorFrame },
  load: () => loadText(caller),
  counts: {
    path: '/messages/count_tokens',
    summary: 'Input tokens of a message, estimated',
    read: (body) => read({ ...body, bytes: withLimit(body.bytes) }),
    answer: (input_tokens) => ({ input_tokens }),
  },
  read,
  withFiles: ({ request }, files, headers) =>
    wholeBody(read({ bytes: withFileParts(caller, request.body, files), headers })),
  translate: (asked, route) => translateText(caller, asked.request, route),
};

function read(body: CallerBody): Asked<ModelRequest> | StoredContentNeeded {
  return readText(caller, body, {
    serves: { flag: 'supports_completions_api', status: 501 },
    native: anthropicHeaders(body.headers),
  });
}

/** A request that is only counted has no output limit, which every other one must have. */
function withLimit(bytes: Uint8Array): Uint8Array {
  const body = parseBody(bytes);
  if (body instanceof BodyFault || body.value.max_tokens !== undefined) return bytes;
  return Buffer.concat(spliceMembers(body, { max_tokens: OUTPUT_LIMIT }).pieces);
}
