import { count, flag, kind, list, number, object, open, orNull, seconds, text } from './answer-parts.js';
import type { Schema } from './class-schemas.js';
import { ref, type PathItem } from './operation.js';
import { TEXT_ANSWERS } from './text-answers.js';

function page(item: string): Schema {
  const ids = { first_id: orNull(text), last_id: orNull(text), has_more: flag };
  return object({ object: kind('list'), data: list(ref(item)), ...ids });
}

/**
 * Answers of the inference endpoints, in the formats that clients of OpenAI and Anthropic read. Providers may add
 * members, so none of these is closed.
 */
const SCHEMAS: Record<string, Schema> = {
  ...TEXT_ANSWERS,
  ClientSecret: object({
    value: { ...text, description: 'What a browser sends as its credential, `ek_…`.' },
    expires_at: seconds,
    session: object({ object: kind('realtime.session'), id: text, type: kind('realtime'), model: text }),
  }),
  Embeddings: object({
    object: kind('list'),
    model: text,
    data: list(
      object({
        object: kind('embedding'),
        index: count,
        embedding: {
          description: 'Numbers, or one text with `encoding_format: base64`.',
          anyOf: [list(number), text],
        },
      }),
    ),
    usage: object({ prompt_tokens: count, total_tokens: count }),
  }),
  Moderation: object({
    id: text,
    model: text,
    results: list(object({ flagged: flag, categories: open, category_scores: open })),
  }),
  Images: object({
    created: seconds,
    data: list(object({ 'url?': text, 'b64_json?': text, 'revised_prompt?': text })),
    'usage?': open,
  }),
  Transcription: object(
    {
      text,
      'language?': text,
      'duration?': number,
      'segments?': list(object({ id: count, start: number, end: number, text })),
      'words?': list(object({ word: text, start: number, end: number })),
      'usage?': open,
    },
    'Subtitles and plain text where `response_format` asks for them.',
  ),
  Rerank: object({
    id: text,
    object: kind('rerank'),
    model: text,
    results: list(object({ index: count, relevance_score: number, 'document?': object({ text }) })),
    usage: object({ prompt_tokens: count, total_tokens: count, 'search_units?': count }),
  }),
  WebSearch: object({
    id: text,
    object: kind('web.search'),
    created: seconds,
    query: { description: 'As it was asked: a text, or a list of them.', anyOf: [text, list(text)] },
    results: list(
      object({
        title: text,
        url: text,
        snippet: text,
        'content?': text,
        'published_at?': text,
        'score?': number,
      }),
    ),
    usage: object({ searches: count, results: count }),
  }),
  Evaluation: object({
    id: text,
    object: kind('evaluation'),
    created: seconds,
    model: text,
    'usage?': ref('ChatUsage'),
    'metadata?': open,
  }),
  RouterSelection: object({
    object: kind('router.selection'),
    model: text,
    candidates: list(object({ model: text, score: number, reasons: list(text) })),
    created: seconds,
  }),
  VideoTask: object({
    id: text,
    'request_id?': { ...text, description: 'From version 2026-09 on.' },
    object: kind('video.generation'),
    model: text,
    status: text,
    progress: { ...orNull(count), description: 'null until 100.' },
    created_at: seconds,
    updated_at: seconds,
    completed_at: orNull(seconds),
    expires_at: seconds,
    video: orNull(object({ url: text, duration: orNull(number) })),
    error: orNull(object({ code: text, message: text, 'provider_code?': text })),
    usage: object({ 'seconds?': number, byok_used: flag, fallback_triggered: flag }),
    metadata: orNull(open),
  }),
  VideoTasks: page('VideoTask'),
  Comparison: object({
    id: text,
    object: kind('chat.compare'),
    created: seconds,
    usage: object({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
    results: list(
      object({
        index: count,
        model: text,
        status: { type: 'string', enum: ['success', 'error'] },
        completion: {
          ...orNull(open),
          description: 'As POST /v1/chat/completions answers; null after an error.',
        },
        error: orNull(open),
        latency_ms: number,
        ttft_ms: orNull(number),
      }),
    ),
  }),
  File: object({
    id: text,
    object: kind('file'),
    bytes: count,
    created_at: seconds,
    'expires_at?': seconds,
    filename: text,
    purpose: text,
    status: text,
  }),
  FileDeleted: object({ id: text, object: kind('file'), deleted: flag }),
  Files: page('File'),
  Batch: object({
    id: text,
    object: kind('batch'),
    endpoint: text,
    status: text,
    input_file_id: text,
    output_file_id: orNull(text),
    error_file_id: orNull(text),
    completion_window: text,
    created_at: seconds,
    completed_at: orNull(seconds),
    request_counts: object({ total: count, completed: count, failed: count }),
    errors: orNull(open),
    metadata: orNull(open),
  }),
  Batches: page('Batch'),
};

/** Answers by method and path below `/v1`. */
const ANSWERS: Readonly<Record<string, string>> = {
  'post /chat/completions': 'ChatCompletion',
  'post /chat/compare': 'Comparison',
  'post /messages': 'MessagesAnswer',
  'post /messages/count_tokens': 'MessagesCount',
  'post /responses': 'Response',
  'post /responses/input_tokens': 'ResponsesCount',
  'get /responses/{id}': 'Response',
  'post /responses/{id}/cancel': 'Response',
  'post /responses/compact': 'CompactedResponse',
  'post /realtime/client_secrets': 'ClientSecret',
  'get /conversations/{id}/items/{item}': 'ResponseItem',
  'post /embeddings': 'Embeddings',
  'post /moderations': 'Moderation',
  'post /images/generations': 'Images',
  'post /images/edits': 'Images',
  'post /audio/transcriptions': 'Transcription',
  'post /audio/transcriptions/translate': 'Transcription',
  'post /audio/translations': 'Transcription',
  'post /rerank': 'Rerank',
  'post /web/search': 'WebSearch',
  'post /evaluate': 'Evaluation',
  'post /router/select': 'RouterSelection',
  'post /video/generations': 'VideoTask',
  'get /video/generations': 'VideoTasks',
  'get /video/generations/{id}': 'VideoTask',
  'get /files': 'Files',
  'get /files/{id}': 'File',
  'delete /files/{id}': 'FileDeleted',
  'post /batches': 'Batch',
  'get /batches': 'Batches',
  'get /batches/{id}': 'Batch',
  'post /batches/{id}/cancel': 'Batch',
};

export function answerSchemas(): Record<string, Schema> {
  return SCHEMAS;
}

/** The operation with what it answers with, where that is an object of which the handlers' types say no more. */
export function withAnswer(item: PathItem): PathItem {
  const name = ANSWERS[`${item.method} ${item.path.replace(/^(\/openai)?\/v1/, '')}`];
  if (name === undefined) return item;
  const responses = Object.fromEntries(
    Object.entries(item.operation.responses).map(([status, response]) => {
      const content = response.content?.['application/json'];
      const schema = content?.schema as Schema | undefined;
      if (!status.startsWith('2') || schema?.type !== 'object') return [status, response];
      const json = { ...content, schema: ref(name) };
      return [status, { ...response, content: { ...response.content, 'application/json': json } }];
    }),
  );
  return { ...item, operation: { ...item.operation, responses } };
}
