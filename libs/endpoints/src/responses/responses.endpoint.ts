import { ApiError } from '@gateway/contracts';
import { queuedResponse, textResponses, type ModelRequest } from '@gateway/dialects';
import type { Asked, Endpoint, EndpointBackground } from '../endpoint.js';
import { withFileParts } from '../stored/file-parts.js';
import { StoredContentNeeded, wholeBody } from '../stored/stored-content-needed.js';
import { withGatewayMembers } from '../text/gateway-members.js';
import { loadText, readText } from '../text/read.js';
import { translateText } from '../text/translate.js';
import { responsesState } from './state.js';

const { caller } = textResponses;

const BACKGROUND = Buffer.from('"background"');

/** Requests with `background: true`. */
const background: EndpointBackground<ModelRequest> = {
  mayBe: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(BACKGROUND),
  read: ({ bytes }) => {
    const asked = readAny(bytes);
    if (asked instanceof StoredContentNeeded) return asked;
    if (!isBackground(asked)) return null;
    const flag = 'supports_background_response' as const;
    return { ...asked, requires: [...asked.requires, { flag, param: 'background' }] };
  },
  // Its stream is stored by the service that runs it.
  body: ({ request }) => {
    const { background: _later, stream_options: _shown, ...value } = request.body.value;
    return { ...value, stream: true, store: false };
  },
  begun: ({ request }, of) => queuedResponse(request, of),
};

/** POST /v1/responses. */
export const endpoint: Endpoint<ModelRequest> = {
  paths: ['/responses'],
  permission: 'inference:write',
  idPrefix: 'resp',
  docs: {
    summary: 'OpenAI responses',
    schemaName: 'ResponsesRequest',
    schema: withGatewayMembers(caller.schema),
    answers: ['application/json', 'text/event-stream'],
    description: 'Numbered events of the responses stream, ended by `data: [DONE]`, when `stream` is true.',
  },
  events: { keepAlive: caller.keepAlive, failure: caller.errorFrame },
  load: () => loadText(caller),
  read: ({ bytes }) => read(bytes),
  counts: {
    path: '/responses/input_tokens',
    summary: 'Input tokens of a response, estimated',
    read: ({ bytes }) => read(bytes),
    answer: (input_tokens) => ({ object: 'response.input_tokens', input_tokens }),
  },
  background,
  state: responsesState((bytes) => wholeBody(readAny(bytes))),
  withFiles: ({ request }, files) => wholeBody(readAny(withFileParts(caller, request.body, files))),
  translate: (asked, route) => translateText(caller, asked.request, route),
};

function readAny(bytes: Uint8Array): Asked<ModelRequest> | StoredContentNeeded {
  const serves = { flag: 'supports_responses_api', status: 501 } as const;
  return readText(caller, { bytes, headers: {} }, { serves });
}

/** Reads a request that waits for its answer. */
function read(bytes: Uint8Array): Asked<ModelRequest> | StoredContentNeeded {
  const asked = readAny(bytes);
  if (!(asked instanceof StoredContentNeeded) && isBackground(asked))
    throw new ApiError('bad_request', {
      message: 'background: true is for POST /v1/responses alone.',
      param: 'background',
    });
  return asked;
}

function isBackground({ request }: Asked<ModelRequest>): boolean {
  return request.body.value.background === true;
}
