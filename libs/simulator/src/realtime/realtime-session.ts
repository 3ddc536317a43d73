import type { RawData, WebSocket } from 'ws';
import type { WireRequest } from '../http-parse.js';
import { isObject, objectOf, objectsOf, parseJson, textOf, type Json, type JsonObject } from '../json.js';

/** PCM of 16 bit at 24 kHz. */
const BYTES_PER_SECOND = 48_000;
const TOKENS_PER_SECOND = 10;
const TOKEN_BYTES = 4;
const EVENTS_KEPT_MAX = 10_000;
/** One second of silence is what it says. */
const SPOKEN = Buffer.alloc(BYTES_PER_SECOND).toString('base64');

/**
 * One session. What is said decides what becomes of it: a text that holds `!close 1011` closes it so, `!error` is a
 * server's error, `!hang` is an answer that never ends. With turn detection on, a second of audio is a turn.
 */
export class RealtimeSession {
  /** Messages as they came, the audio shortened to its length. */
  readonly received: JsonObject[] = [];
  closedWith: number | null = null;
  private session: JsonObject;
  private audioBytes = 0;
  private heardBytes = 0;
  private textBytes = 0;
  private said = '';
  private count = 0;

  constructor(
    private readonly ws: WebSocket,
    readonly model: string,
    readonly request: WireRequest,
  ) {
    this.session = {
      type: 'realtime',
      object: 'realtime.session',
      id: 'sess_sim',
      model,
      output_modalities: ['audio'],
    };
    ws.on('message', (data) => this.message(data));
    ws.on('close', (code) => (this.closedWith = code));
    ws.on('error', () => undefined);
    this.send({ type: 'session.created', session: this.session });
  }

  private message(data: RawData): void {
    const event = parseJson((data as Buffer).toString('utf8'));
    if (!isObject(event)) return this.fail('invalid_request_error', 'The event is no JSON object.', null);
    if (this.received.length < EVENTS_KEPT_MAX)
      this.received.push('audio' in event ? { ...event, audio: textOf(event.audio).length } : event);
    switch (event.type) {
      case 'session.update':
        this.session = { ...this.session, ...objectOf(event.session) };
        return this.send({ type: 'session.updated', session: this.session });
      case 'input_audio_buffer.append':
        return this.append(Buffer.from(textOf(event.audio), 'base64').byteLength);
      case 'input_audio_buffer.commit':
        return this.commit();
      case 'conversation.item.create':
        return this.item(objectOf(event.item));
      case 'response.create':
        return this.respond(event);
      case 'response.cancel':
        return;
      default:
        return this.fail('invalid_request_error', `Unknown event ${textOf(event.type)}.`, event);
    }
  }

  private append(bytes: number): void {
    this.audioBytes += bytes;
    const input = objectOf(objectOf(this.session.audio).input);
    if (!isObject(input.turn_detection) || this.audioBytes < BYTES_PER_SECOND) return;
    this.send({ type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: this.id('item') });
    this.send({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: 1_000, item_id: this.id('item') });
    this.commit();
    this.respond({});
  }

  private commit(): void {
    const seconds = this.audioBytes / BYTES_PER_SECOND;
    this.heardBytes += this.audioBytes;
    this.audioBytes = 0;
    const item_id = this.id('item');
    this.send({ type: 'input_audio_buffer.committed', item_id, previous_item_id: null });
    const input = objectOf(objectOf(this.session.audio).input);
    if (!isObject(input.transcription)) return;
    const transcript = `A recording of ${seconds.toFixed(1)} seconds.`;
    const usage: Json = textOf(input.transcription.model).includes('tokens')
      ? {
          type: 'tokens',
          total_tokens: 12,
          input_tokens: 10,
          input_token_details: { audio_tokens: 10, text_tokens: 0 },
          output_tokens: 2,
        }
      : { type: 'duration', seconds };
    const type = 'conversation.item.input_audio_transcription';
    this.send({ type: `${type}.delta`, item_id, content_index: 0, delta: transcript });
    this.send({ type: `${type}.completed`, item_id, content_index: 0, transcript, usage });
  }

  private item(item: JsonObject): void {
    const text = objectsOf(item.content)
      .map((part) => textOf(part.text))
      .join(' ');
    this.textBytes += Buffer.byteLength(text);
    this.said = text;
    const shown = { id: this.id('item'), status: 'completed', ...item };
    this.send({ type: 'conversation.item.added', previous_item_id: null, item: shown });
    this.send({ type: 'conversation.item.done', previous_item_id: null, item: shown });
  }

  private respond(event: JsonObject): void {
    const code = /!close (\d{4})/.exec(this.said)?.[1];
    if (code !== undefined) return this.ws.close(Number(code), 'as asked for');
    if (this.said.includes('!error'))
      return this.fail('server_error', 'The server had an error of its own.', event);
    if (this.said.includes('!refuse'))
      return this.fail('invalid_request_error', 'The response cannot be made.', event);
    const response_id = this.id('resp');
    const item_id = this.id('item');
    const own = objectOf(event.response).output_modalities ?? this.session.output_modalities;
    const isAudio = Array.isArray(own) && own.includes('audio');
    const transcript = `Hello from the simulated provider! You said: "${this.said}".`;
    const base = { response_id, item_id, output_index: 0, content_index: 0 };
    this.send({
      type: 'response.created',
      response: { object: 'realtime.response', id: response_id, status: 'in_progress', output: [] },
    });
    const name = isAudio ? 'output_audio_transcript' : 'output_text';
    this.send({ type: `response.${name}.delta`, ...base, delta: transcript });
    if (this.said.includes('!hang')) return;
    if (isAudio) {
      this.send({ type: 'response.output_audio.delta', ...base, delta: SPOKEN });
      this.send({ type: 'response.output_audio.done', ...base });
    }
    const ending = isAudio ? { transcript } : { text: transcript };
    this.send({ type: `response.${name}.done`, ...base, ...ending });
    const content = [
      isAudio ? { type: 'output_audio', transcript } : { type: 'output_text', text: transcript },
    ];
    const item = { id: item_id, type: 'message', role: 'assistant', status: 'completed', content };
    this.send({ type: 'response.output_item.done', response_id, output_index: 0, item });
    const usage = this.usage(transcript, isAudio);
    const response = {
      object: 'realtime.response',
      id: response_id,
      status: 'completed',
      output: [item],
      usage,
    };
    this.send({ type: 'response.done', response });
  }

  private usage(transcript: string, isAudio: boolean): JsonObject {
    const audio = Math.ceil((this.heardBytes / BYTES_PER_SECOND) * TOKENS_PER_SECOND);
    const text = Math.ceil(this.textBytes / TOKEN_BYTES);
    const spoken = isAudio ? 2 * TOKENS_PER_SECOND : 0;
    const written = Math.ceil(Buffer.byteLength(transcript) / TOKEN_BYTES);
    return {
      total_tokens: audio + text + spoken + written,
      input_tokens: audio + text,
      output_tokens: spoken + written,
      input_token_details: { cached_tokens: 0, text_tokens: text, audio_tokens: audio, image_tokens: 0 },
      output_token_details: { text_tokens: written, audio_tokens: spoken },
    };
  }

  private fail(type: string, message: string, event: JsonObject | null): void {
    const event_id = event?.event_id ?? null;
    this.send({ type: 'error', error: { type, code: null, message, param: null, event_id } });
  }

  private send(event: JsonObject): void {
    this.ws.send(JSON.stringify({ event_id: this.id('event'), ...event }));
  }

  private id(kind: string): string {
    this.count += 1;
    return `${kind}_sim${this.count}`;
  }
}
