import { HEADER } from '@gateway/contracts';
import { textMessages, type ModelRequest } from '@gateway/dialects';
import type { Endpoint } from '../endpoint.js';
import { readText } from '../text/read.js';
import { translateText } from '../text/translate.js';
import { anthropicHeaders } from './anthropic-headers.js';

const { caller } = textMessages;

/** POST /v1/messages. */
export const endpoint: Endpoint<ModelRequest> = {
  paths: ['/messages'],
  permission: 'inference:write',
  idPrefix: 'msg',
  requestIdHeader: HEADER.anthropicRequestId,
  docs: {
    summary: 'Anthropic messages',
    schemaName: 'MessagesRequest',
    schema: caller.schema,
    answers: ['application/json', 'text/event-stream'],
    description: 'Events of the Anthropic stream when `stream` is true.',
  },
  events: { keepAlive: caller.keepAlive, failure: caller.errorFrame },
  load: caller.load,
  read: (body) =>
    readText(caller, body, {
      serves: { flag: 'supports_completions_api', status: 501 },
      headers: anthropicHeaders(body.headers),
    }),
  translate: (asked, route) => translateText(caller, asked.request, route),
};
