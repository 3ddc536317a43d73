import { ApiError } from '@gateway/contracts';
import { textResponses, type ModelRequest } from '@gateway/dialects';
import type { Asked, Endpoint } from '../endpoint.js';
import { withFileParts } from '../stored/file-parts.js';
import { StoredContentNeeded, wholeBody } from '../stored/stored-content-needed.js';
import { withStoredContent } from '../stored/stored-content-schema.js';
import { readText } from '../text/read.js';
import { translateText } from '../text/translate.js';
import { isBackground, responsesBackground } from './background.js';
import { responsesState } from './state.js';

const { caller } = textResponses;

/** POST /v1/responses. */
export const endpoint: Endpoint<ModelRequest> = {
  paths: ['/responses'],
  permission: 'inference:write',
  idPrefix: 'resp',
  docs: {
    summary: 'OpenAI responses',
    schemaName: 'ResponsesRequest',
    schema: withStoredContent(caller.schema),
    answers: ['application/json', 'text/event-stream'],
    description: 'Numbered events of the responses stream, ended by `data: [DONE]`, when `stream` is true.',
  },
  events: { keepAlive: caller.keepAlive, failure: caller.errorFrame },
  load: caller.load,
  read: ({ bytes }) => read(bytes),
  counts: {
    path: '/responses/input_tokens',
    summary: 'Input tokens of a response, estimated',
    read: ({ bytes }) => read(bytes),
    answer: (input_tokens) => ({ object: 'response.input_tokens', input_tokens }),
  },
  background: responsesBackground(readAny),
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
