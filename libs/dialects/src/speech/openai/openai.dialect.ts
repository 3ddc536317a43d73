import type { UnitUsage } from '@gateway/contracts';
import { spliceMembers } from '@gateway/json-body';
import { isObject, objectOf, textOf, countOfSome } from '../../body/json-object.js';
import { jsonOf } from '../../body/upstream-json.js';
import { SseParser, type SseEvent } from '../../sse/sse-parser.js';
import { EVENT_STREAM } from '../../translation/event-stream.js';
import type { Answer, Piece } from '../../translation/translation.js';
import { JSON_TYPE } from '../../translation/upstream-body.js';
import { badAnswer, failurePiece, inBandPiece } from '../../translation/whole-answer.js';
import type { SpeechDialect, SpeechRequest } from '../speech-dialect.js';
import { typeOf } from '../spoken-answer.js';
import { spokenBytes } from '../spoken-bytes.js';
import { spokenTokens } from '../spoken-tokens.js';

/** These answer audio alone; every later model also answers events, whose last one holds the counts that are billed. */
const AUDIO_ONLY = /^tts-1/;

/** OpenAI's speech. The caller gets bytes of audio, whether the upstream answers bytes or events. */
export const dialect: SpeechDialect = {
  name: 'speech',
  encode: ({ body }, { upstreamModel }) => {
    const stream_format = AUDIO_ONLY.test(upstreamModel) ? undefined : 'sse';
    const { pieces, byteLength } = spliceMembers(body, { model: upstreamModel, stream_format });
    const accept = `audio/*, ${EVENT_STREAM}`;
    return { path: '/audio/speech', contentType: JSON_TYPE, accept, pieces, byteLength };
  },
  begin: (head, request) =>
    head.contentType.includes(EVENT_STREAM) ? new SpeechEvents(request) : spokenBytes(head, request),
};

/** Audio in events: `speech.audio.delta` holds base64, `speech.audio.done` the counts. */
class SpeechEvents implements Answer {
  readonly isWhole = false;
  readonly headers: Readonly<Record<string, string>>;
  private readonly parser = new SseParser();
  private audioBytes = 0;
  private isOver = false;

  constructor(private readonly request: SpeechRequest) {
    this.headers = { 'content-type': typeOf(request.format) };
  }

  push(chunk: Uint8Array): Piece[] {
    const pieces = this.parser.push(chunk).flatMap((event) => this.piece(event));
    if (this.parser.overflowed) pieces.push(...this.over(badAnswer('an event of the answer is too long.')));
    return pieces.length > 0 ? pieces : [{ kind: 'wait', out: '' }];
  }

  end(): Piece[] {
    const pieces = this.parser.end().flatMap((event) => this.piece(event));
    const cut = failurePiece({
      kind: this.audioBytes > 0 ? 'connection' : 'bad_response',
      body: null,
      status: null,
      message: 'the answer ended before the audio was complete.',
    });
    return [...pieces, ...this.over(cut)];
  }

  fail(): null {
    return null;
  }

  private piece({ data }: SseEvent): Piece[] {
    const text = data.trim();
    if (this.isOver || text === '' || text === '[DONE]') return [];
    const event = jsonOf(text);
    if (!isObject(event)) return this.over(badAnswer('an event of the answer is not a JSON object.'));
    if (event.error) return this.over(inBandPiece(event, textOf(objectOf(event.error).message)));
    if (event.type === 'speech.audio.done')
      return this.over(
        this.audioBytes > 0
          ? { kind: 'end', out: '', ...this.counts(event.usage), finishSeen: true }
          : badAnswer('the answer holds no audio.'),
      );
    const audio = Buffer.from(textOf(event.audio), 'base64');
    if (audio.byteLength === 0) return [];
    this.audioBytes += audio.byteLength;
    return [{ kind: 'part', out: audio, ...this.counts({}) }];
  }

  /**
   * One of events counts tokens, those of its output as audio, and does so with the last event. A side that is no count is
   * left out, and estimated: the output by what was heard of it.
   */
  private counts(reported: unknown): { usage: UnitUsage; deliveredBytes: number } {
    const { characters, format } = this.request;
    const { input_tokens, output_tokens } = objectOf(reported);
    const [read, spoken] = [countOfSome(input_tokens), countOfSome(output_tokens)];
    const { tokens, deliveredBytes } = spokenTokens(format, this.audioBytes);
    const usage = {
      characters,
      ...(read !== null && { prompt_tokens: read }),
      ...(spoken !== null && { completion_tokens: spoken }),
      audio_output_tokens: spoken ?? tokens,
    };
    return { usage, deliveredBytes };
  }

  /** The last piece, once. */
  private over(piece: Piece): Piece[] {
    if (this.isOver) return [];
    this.isOver = true;
    return [piece];
  }
}
