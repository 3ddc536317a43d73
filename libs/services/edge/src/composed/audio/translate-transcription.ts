import { Injectable } from '@nestjs/common';
import { ApiError, type CatalogueModel } from '@gateway/contracts';
import {
  filled,
  formBody,
  invalidBody,
  isObject,
  LazySchema,
  readForm,
  schemaFault,
  TRANSCRIPTIONS_DIALECTS,
  type Form,
  type TranscriptionRequest,
} from '@gateway/dialects';
import { BodyFault } from '@gateway/json-body';
import { wholeBody } from '@gateway/endpoints';
import { visibleTo, type CatalogueIndex } from '@gateway/routing';
import type { ComposedEndpoint, ComposedHandler } from '../../inference/composed-endpoint.js';
import type { InferenceRequest } from '../../request/inference-request.js';
import type { Client } from '../../request/client.js';
import { endpointAt } from '../../request/endpoint-at.js';
import { RoutePlanner } from '../../routes/route-planner.js';
import { Rejections } from '../../units/rejections.js';
import { contentOf, subRequest } from '../compare.js';
import { SubAnswers } from '../../inference/sub-answer.js';
import {
  partsOf,
  SEGMENTS_PER_REQUEST,
  segmentsOf,
  segmentsRequest,
  subtitles,
  textRequest,
  translatedTexts,
  type Segment,
} from './translated-segments.js';

const ASKS = endpointAt('/audio/transcriptions');

/** Members for the gateway, and for the kind of times: those of segments are translated. */
const OWN_FIELDS = [
  'target_language',
  'translation_model',
  'response_format',
  'stream',
  'timestamp_granularities[]',
];
const FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'];
const SCHEMA = {
  type: 'object',
  properties: {
    target_language: { type: 'string', pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,3}$' },
    translation_model: { type: 'string', minLength: 1, maxLength: 200 },
    response_format: { enum: FORMATS },
    stream: { enum: ['false'] },
  },
};
const schema = new LazySchema(SCHEMA, { strict: false });

@Injectable()
class TranslateTranscriptionHandler implements ComposedHandler {
  constructor(
    private readonly answers: SubAnswers,
    private readonly routes: RoutePlanner,
    private readonly rejections: Rejections,
  ) {}

  async run(request: InferenceRequest, client: Client): Promise<void> {
    const asked = this.rejections.whileReading(request, () => read(request, this.routes.index()));
    await new TranslatedTranscription(asked, request, client, this.answers, this.routes).run();
  }
}

/** POST /v1/audio/transcriptions/translate: a transcription, then a chat request that translates what was said. */
export const translateTranscription: ComposedEndpoint = {
  paths: ['/audio/transcriptions/translate'],
  permission: ASKS.permission,
  asks: ASKS,
  admits: true,
  docs: {
    summary: 'Transcription and its translation',
    schemaName: 'TranslatedTranscriptionRequest',
    schema: {
      ...ASKS.docs.schema,
      properties: { ...(ASKS.docs.schema.properties as object), ...SCHEMA.properties },
    },
    body: 'multipart/form-data',
    answers: ['application/json', 'text/plain'],
    description:
      'Writes a recording down and translates the text into `target_language` (BCP 47, `en` if absent) by ' +
      '`translation_model`, else the key’s default model, else `auto`. Both are billed, each as a unit of the request. ' +
      'srt, vtt and verbose_json need a model that knows the times of its segments.',
  },
  load: () => schema.load(),
  handler: TranslateTranscriptionHandler,
};

interface Asked {
  form: Form;
  format: string;
  /** The language to translate into. */
  language: string;
  /** The language that is spoken, as the caller names it; null where nobody does. */
  spoken: string | null;
  /** The model that translates. */
  model: string;
  /** The model that transcribes, as the caller names it or the key has it; null for none. */
  hears: string | null;
}

/** Throws ApiError; what the transcription itself refuses is refused by it. */
function read(request: InferenceRequest, index: CatalogueIndex): Asked {
  const form = readForm(request.bytes, request.headers['content-type'] ?? '');
  if (form instanceof BodyFault) throw invalidBody(form.detail);
  const fields = Object.fromEntries(form.fields);
  const { validate } = schema;
  if (!validate(fields)) throw invalidBody(schemaFault(validate.errors?.[0]));
  const named = fields.translation_model || request.principal.defaultModel || 'auto';
  // Before the transcription is paid for.
  if (named !== 'auto' && index.alias(named, request.principal.orgId) === null)
    index.model(named, visibleTo(request.principal, request.receivedAtMs));
  return {
    form,
    format: fields.response_format || 'json',
    language: fields.target_language || 'en',
    spoken: fields.language || null,
    model: named,
    hears: fields.model || request.principal.defaultModel || null,
  };
}

/** True where every route of the model answers in the format that names the language which it heard. */
function namesLanguage(model: CatalogueModel | null, request: TranscriptionRequest): boolean {
  const asked = { ...request, format: 'verbose_json' };
  return (
    model !== null &&
    model.routes.every(({ dialect }) => TRANSCRIPTIONS_DIALECTS.get(dialect)?.unsupported(asked) === null)
  );
}

class TranslatedTranscription {
  private units = 0;

  constructor(
    private readonly asked: Asked,
    private readonly request: InferenceRequest,
    private readonly client: Client,
    private readonly answers: SubAnswers,
    private readonly routes: RoutePlanner,
  ) {}

  async run(): Promise<void> {
    const { format, language, spoken } = this.asked;
    const isTimed = !['json', 'text'].includes(format);
    const heard = await this.ask(this.transcription(isTimed ? 'verbose_json' : this.plainFormat()));
    if (heard === null) return;
    const source = typeof heard.text === 'string' ? heard.text : '';
    const segments = isTimed ? segmentsOf(heard.segments) : [];
    if (segments === null) throw notInForm();
    const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    const texts = isTimed ? await this.segments(segments, usage) : await this.text(source, usage);
    if (texts === null) return;
    const timed = segments.map((segment, at) => ({ ...segment, text: texts[at], source_text: segment.text }));
    if (format === 'srt' || format === 'vtt') return this.answer(subtitles(format, timed));
    const text = texts.join(' ');
    if (format === 'text') return this.answer(`${text}\n`);
    const body = {
      text,
      source_text: source,
      source_language: filled(heard.language) ?? spoken,
      target_language: language,
      ...(isTimed ? { segments: timed } : {}),
      usage: { transcription: heard.usage ?? null, translation: usage },
    };
    this.answer(JSON.stringify(body), 'application/json');
  }

  /** JSON alone names no language: the verbose form is asked for where it is shown, and all routes have it. */
  private plainFormat(): string {
    const { format, hears } = this.asked;
    if (format !== 'json' || hears === null) return 'json';
    const { headers, bytes } = this.transcription('json');
    const { request } = wholeBody(ASKS.read({ headers, bytes })) as { request: TranscriptionRequest };
    return namesLanguage(this.routes.index().find(hears), request) ? 'verbose_json' : 'json';
  }

  private async text(source: string, usage: Record<string, number>): Promise<string[] | null> {
    const { model, language } = this.asked;
    const texts: string[] = [];
    for (const part of partsOf(source)) {
      const answer = await this.ask(this.chat(textRequest(model, language, part)));
      if (answer === null) return null;
      add(usage, answer.usage);
      texts.push(contentOf(answer).trim());
    }
    return texts;
  }

  private async segments(
    segments: readonly Segment[],
    usage: Record<string, number>,
  ): Promise<string[] | null> {
    const { model, language } = this.asked;
    const texts: string[] = [];
    for (let at = 0; at < segments.length; at += SEGMENTS_PER_REQUEST) {
      const part = segments.slice(at, at + SEGMENTS_PER_REQUEST);
      const answer = await this.ask(this.chat(segmentsRequest(model, language, part)));
      if (answer === null) return null;
      add(usage, answer.usage);
      const found = translatedTexts(contentOf(answer), part.length);
      if (found === null) throw notInForm();
      texts.push(...found);
    }
    return texts;
  }

  /** The recording as it came, in the format that can be translated. */
  private transcription(format: string): InferenceRequest {
    const { form } = this.asked;
    const fields = form.fields.filter(([name]) => !OWN_FIELDS.includes(name));
    const { contentType, pieces } = formBody('', '', {
      ...form,
      fields: [...fields, ['response_format', format]],
    });
    return {
      ...this.request,
      unitIndex: this.units,
      headers: { ...this.request.headers, 'content-type': contentType },
      bytes: Buffer.concat(pieces),
    };
  }

  private chat(body: object): InferenceRequest {
    return subRequest(this.request, body, this.units);
  }

  /** The answer of one unit; null where the caller has gone. */
  private async ask(request: InferenceRequest): Promise<Record<string, unknown> | null> {
    this.units += 1;
    let text = '';
    const sub = await this.answers.ask(request, this.client, (part) => void (text += part));
    if (this.client.isGone) return null;
    this.client.rateHeaders = sub.rateHeaders;
    if (sub.error !== null) throw sub.error;
    return JSON.parse(text) as Record<string, unknown>;
  }

  private answer(out: string, type = 'text/plain'): void {
    this.client.answer(out, { 'content-type': `${type}; charset=utf-8` });
  }
}

function add(total: Record<string, number>, usage: unknown): void {
  if (!isObject(usage)) return;
  for (const name of Object.keys(total)) total[name] += Number(usage[name] ?? 0);
}

function notInForm(): ApiError {
  return new ApiError('upstream_error', {
    providerCode: 'bad_response',
    message: 'The model did not answer in the form that it was asked for.',
  });
}
