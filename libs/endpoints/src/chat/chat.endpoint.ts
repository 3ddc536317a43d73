import { textChat, type ModelRequest } from '@gateway/dialects';
import type { Asked, CallerBody, Endpoint } from '../endpoint.js';
import { withFileParts } from '../stored/file-parts.js';
import { wholeBody, type StoredContentNeeded } from '../stored/stored-content-needed.js';
import { withGatewayMembers } from '../text/gateway-members.js';
import { loadText, readText } from '../text/read.js';
import { translateText } from '../text/translate.js';

const { caller } = textChat;

/** POST /v1/chat/completions. */
export const endpoint: Endpoint<ModelRequest> = {
  paths: ['/chat/completions'],
  permission: 'inference:write',
  isCacheable: true,
  idPrefix: 'chatcmpl',
  docs: {
    summary: 'OpenAI chat completions',
    schemaName: 'ChatRequest',
    schema: withGatewayMembers(caller.schema),
    answers: ['application/json', 'text/event-stream'],
    description: 'Lines `data: <chunk>`, ended by `data: [DONE]`, when `stream` is true.',
  },
  events: { keepAlive: caller.keepAlive, failure: caller.errorFrame },
  load: () => loadText(caller),
  read,
  withFiles: ({ request }, files, headers) =>
    wholeBody(read({ bytes: withFileParts(caller, request.body, files), headers })),
  translate: (asked, route) => translateText(caller, asked.request, route),
};

function read(body: CallerBody): Asked<ModelRequest> | StoredContentNeeded {
  return readText(caller, body, { serves: { flag: 'supports_completions_api', status: 400 } });
}
