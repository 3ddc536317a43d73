import type { UnitUsage } from '@gateway/contracts';
import {
  isObject,
  objectOf,
  objectsOf,
  textOf,
  countOfSome,
  wholeCount,
  type JsonObject,
} from '../body/json-object.js';
import { formBody } from '../body/multipart.js';
import { jsonOf } from '../body/upstream-json.js';
import { SseParser, type SseEvent } from '../sse/sse-parser.js';
import { withoutMoney } from '../translation/money-names.js';
import { withoutServer } from '../body/server-names.js';
import type { Answer, AnswerHead, Piece, RouteTarget } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';
import { EVENT_STREAM, EVENT_STREAM_HEADERS } from '../translation/event-stream.js';
import { badAnswer, failurePiece, inBandPiece, JSON_HEADERS } from '../translation/whole-answer.js';
import type { TranscriptionRequest } from './transcriptions-dialect.js';
import { heardSeconds, lastEndOf, lastEndOfSubtitles } from './spoken.js';
import { doneEvent, secondsText } from './write-transcript.js';

const PATHS = { transcribe: '/audio/transcriptions', translate: '/audio/translations' };
/** Answered as lines of text; text itself is read from the JSON answer, which holds the counts. */
const SUBTITLES = ['srt', 'vtt'];

/** OpenAI's form, as the caller sent it, for the model of the route. */
export function encodeForm(request: TranscriptionRequest, { upstreamModel }: RouteTarget): UpstreamBody {
  const { form, file, format, task } = request;
  const kept = form.fields.filter(([name]) => name !== 'model' && name !== 'response_format');
  // JSON is what every upstream answers without being asked.
  const asked = format === 'text' || format === 'json' ? [] : [['response_format', format] as const];
  const fields = [['model', upstreamModel] as const, ...asked, ...kept];
  const accept = request.stream ? EVENT_STREAM : '*/*';
  return formBody(PATHS[task], accept, { ...form, fields, files: [file] });
}

export function beginTranscript({ contentType }: AnswerHead, request: TranscriptionRequest): Answer {
  return request.stream && contentType.includes(EVENT_STREAM)
    ? new TranscriptEvents(request)
    : new WholeTranscript(request);
}

/** JSON, or subtitles as they are. */
class WholeTranscript implements Answer {
  readonly isWhole = true;
  readonly headers: Readonly<Record<string, string>>;

  constructor(private readonly request: TranscriptionRequest) {
    const isText = request.format === 'text' || SUBTITLES.includes(request.format);
    if (request.stream) this.headers = EVENT_STREAM_HEADERS;
    else this.headers = isText ? { 'content-type': 'text/plain; charset=utf-8' } : JSON_HEADERS;
  }

  push(bytes: Uint8Array): Piece[] {
    const { format } = this.request;
    if (SUBTITLES.includes(format)) {
      const text = Buffer.from(bytes).toString('utf8');
      // Anything else under a status of 200 is a page or an error, which is no subtitle.
      return /^(?:WEBVTT|\d+\r?\n|\s*$)/.test(text)
        ? [this.subtitles(text)]
        : [badAnswer('the answer holds no subtitles.')];
    }
    const answer = jsonOf(Buffer.from(bytes).toString('utf8'));
    if (!isObject(answer) || typeof answer.text !== 'string') return [badAnswer('the answer holds no text.')];
    const lastEnd = Math.max(lastEndOf(objectsOf(answer.segments)), lastEndOf(objectsOf(answer.words)));
    const usage = usageOf(answer, heardSeconds(this.request.seconds, lastEnd));
    const out = this.written(answer, answer.text);
    return [{ kind: 'end', out, usage, deliveredBytes: Buffer.byteLength(answer.text), finishSeen: true }];
  }

  end(): Piece[] {
    return [];
  }

  fail(): null {
    return null;
  }

  private written(answer: JsonObject, text: string): string {
    if (this.request.stream) return framesOf(answer);
    return this.request.format === 'text' ? `${text}\n` : JSON.stringify(withoutMoney(withoutServer(answer)));
  }

  private subtitles(text: string): Piece {
    const usage = usageOf({}, heardSeconds(this.request.seconds, lastEndOfSubtitles(text)));
    return { kind: 'end', out: text, usage, deliveredBytes: Buffer.byteLength(text), finishSeen: true };
  }
}

/** `transcript.text.delta` and `.segment`, then `.done` with the whole text and the counts. */
class TranscriptEvents implements Answer {
  readonly isWhole = false;
  readonly headers = EVENT_STREAM_HEADERS;
  private readonly parser = new SseParser();
  private deliveredBytes = 0;
  /** End of the segments so far. */
  private lastEnd = 0;
  private isOver = false;

  constructor(private readonly request: TranscriptionRequest) {}

  push(chunk: Uint8Array): Piece[] {
    const pieces = this.parser.push(chunk).flatMap((event) => this.piece(event));
    if (this.parser.overflowed) pieces.push(...this.over(badAnswer('an event of the answer is too long.')));
    return pieces.length > 0 ? pieces : [{ kind: 'wait', out: '' }];
  }

  end(): Piece[] {
    const pieces = this.parser.end().flatMap((event) => this.piece(event));
    const message = 'the answer ended before the transcript was complete.';
    const kind = this.deliveredBytes > 0 ? 'connection' : 'bad_response';
    return [...pieces, ...this.over(failurePiece({ kind, body: null, status: null, message }))];
  }

  fail(error: { message: string }): string {
    return frameOf({ type: 'error', error: { message: error.message } });
  }

  private piece({ data }: SseEvent): Piece[] {
    const text = data.trim();
    if (this.isOver || text === '' || text === '[DONE]') return [];
    const event = jsonOf(text);
    if (!isObject(event)) return this.over(badAnswer('an event of the answer is not a JSON object.'));
    if (event.error) return this.over(inBandPiece(event, textOf(objectOf(event.error).message)));
    const shown = withoutMoney(withoutServer(event)) as JsonObject;
    const out = frameOf(shown.type === 'transcript.text.done' ? doneEvent(shown) : shown);
    this.lastEnd = Math.max(this.lastEnd, lastEndOf([event]));
    const seconds = heardSeconds(this.request.seconds, this.lastEnd);
    if (event.type === 'transcript.text.done') {
      const delivered = Math.max(this.deliveredBytes, Buffer.byteLength(textOf(event.text)));
      const usage = usageOf(event, seconds);
      return this.over({ kind: 'end', out, usage, deliveredBytes: delivered, finishSeen: true });
    }
    this.deliveredBytes += Buffer.byteLength(textOf(event.delta));
    const usage = { audio_seconds: secondsText(seconds) };
    return [{ kind: 'part', out, usage, deliveredBytes: this.deliveredBytes }];
  }

  /** The last piece, once. */
  private over(piece: Piece): Piece[] {
    if (this.isOver) return [];
    this.isOver = true;
    return [piece];
  }
}

/** A transcript of an upstream that does not stream, for a caller who reads events. */
function framesOf(answer: JsonObject): string {
  const { text, usage } = withoutMoney(answer) as JsonObject;
  const events = [
    ...(text === '' ? [] : [{ type: 'transcript.text.delta', delta: text }]),
    doneEvent({ text, usage }),
  ];
  return events.map(frameOf).join('');
}

function frameOf(event: JsonObject): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

/**
 * Seconds by the provider's count, else those that were heard. Where it counts seconds alone, tokens are 0; otherwise a side that
 * is absent or no count is left out: it is estimated, and not free.
 */
function usageOf(answer: JsonObject, heard: number): UnitUsage {
  const usage = objectOf(answer.usage);
  const details = objectOf(usage.input_token_details);
  const reported = [usage.seconds, usage.prompt_audio_seconds, answer.duration].find(isSeconds);
  const [input, output] = [
    usage.input_tokens ?? usage.prompt_tokens,
    usage.output_tokens ?? usage.completion_tokens,
  ];
  const isBySeconds = reported !== undefined && isNone(input) && isNone(output);
  const [prompt, completion] = isBySeconds ? [0, 0] : [countOfSome(input), countOfSome(output)];
  return {
    ...(prompt !== null && {
      prompt_tokens: prompt,
      audio_input_tokens: wholeCount(details.audio_tokens) ?? 0,
    }),
    ...(completion !== null && { completion_tokens: completion }),
    audio_seconds: secondsText(reported ?? heard),
  };
}

function isNone(count: unknown): boolean {
  return count === undefined || count === 0;
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value < SECONDS_MAX;
}

/** Longer than any file within the size limit. */
const SECONDS_MAX = 1_000_000;
