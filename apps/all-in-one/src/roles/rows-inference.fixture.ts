import { rsk } from './expected.fixture.js';
import type { Row, Rows } from './row.fixture.js';

const messages = [{ role: 'user', content: 'Hello' }];
const CHAT = { model: 'simulator/chat', max_tokens: 5, messages };
const RESPONSES = { model: 'simulator/chat', input: 'Hello' };
const MESSAGES = { model: 'simulator/claude', max_tokens: 5, messages };

function form(fields: Readonly<Record<string, string>>): () => FormData {
  return () => {
    const made = new FormData();
    for (const [name, value] of Object.entries(fields)) made.set(name, value);
    return made;
  };
}

/** One row of each path, for both bases. */
const INFERENCE: Rows = {
  'POST /chat/completions': { who: rsk('inference:write'), body: CHAT },
  'POST /chat/compare': {
    who: rsk('inference:write'),
    body: { models: ['simulator/chat', 'simulator/claude'], messages },
  },
  'POST /messages': { who: rsk('inference:write'), body: MESSAGES },
  'POST /messages/count_tokens': { who: rsk('inference:write'), body: MESSAGES },
  'POST /responses': { who: rsk('inference:write'), body: RESPONSES },
  'POST /responses/compact': { who: rsk('inference:write'), body: RESPONSES },
  'POST /responses/input_tokens': { who: rsk('inference:write'), body: RESPONSES },
  'POST /embeddings': {
    who: rsk('inference:write'),
    body: { model: 'simulator/embedding', input: 'Hello' },
  },
  'POST /moderations': {
    who: rsk('inference:write'),
    body: { model: 'simulator/moderation', input: 'Hello' },
  },
  'POST /rerank': {
    who: rsk('inference:write'),
    body: { model: 'simulator/rerank', query: 'a', documents: ['a'] },
  },
  'POST /router/select': {
    who: rsk('inference:write'),
    body: { models: ['simulator/chat', 'simulator/claude'], messages },
  },
  'POST /web/search': { who: rsk('search:write'), body: { model: 'simulator/search', query: 'a' } },
  'POST /evaluate': { who: rsk('evaluate:write'), status: 422, body: {} },
  'POST /images/generations': {
    who: rsk('inference:write'),
    body: { model: 'simulator/image', prompt: 'a', size: '1024x1024' },
  },
  'POST /images/edits': { who: rsk('inference:write'), status: 422, body: { model: 'simulator/image' } },
  'POST /audio/speech': {
    who: rsk('inference:write'),
    body: { model: 'simulator/speech', input: 'a', voice: 'alloy' },
  },
  'POST /audio/transcriptions': {
    who: rsk('inference:write'),
    status: 422,
    body: form({ model: 'simulator/whisper' }),
  },
  'POST /audio/translations': {
    who: rsk('inference:write'),
    status: 422,
    body: form({ model: 'simulator/whisper' }),
  },
  'POST /audio/transcriptions/translate': {
    who: rsk('inference:write'),
    status: 422,
    body: form({ model: 'simulator/whisper' }),
  },
  'POST /files': { who: rsk('files:write'), status: 422, body: form({ purpose: 'batch' }) },
  'POST /realtime/client_secrets': {
    who: rsk('realtime:connect'),
    body: { session: { type: 'realtime', model: 'simulator/realtime' } },
  },
};

export const INFERENCE_ROWS: Rows = Object.fromEntries<Row>(
  Object.entries(INFERENCE).flatMap(([route, row]) =>
    ['/v1', '/openai/v1'].map((base) => [route.replace(' ', ` ${base}`), row]),
  ),
);
