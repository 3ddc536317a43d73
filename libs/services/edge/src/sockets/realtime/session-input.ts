import { ApiError } from '@gateway/contracts';
import { isObject } from '@gateway/dialects';
import { type ParsedBody, spliceMembers } from '@gateway/json-body';
import { objectRefused } from '@gateway/routing';
import { audioSeconds } from './realtime-usage.js';

/** The caller's input since the last response, and the session's settings: the possible cost of a turn. */
export class SessionInput {
  textBytes = 0;
  seconds = 0;
  /** Seconds since the last committed input, which an input transcription hears. */
  heardSeconds = 0;
  /** Seconds of all audio of the session, less those that transcriptions were billed for: no later one heard more. */
  untranscribedSeconds = 0;
  maxOutputTokens: number | null = null;
  /** Catalogue id of what writes the input down; null: nothing does. */
  transcriptionModel: string | null = null;
  private format: unknown = null;

  append(audio: unknown): void {
    if (typeof audio !== 'string') return;
    const seconds = audioSeconds(audio.length, this.format);
    this.seconds += seconds;
    this.heardSeconds += seconds;
    this.untranscribedSeconds += seconds;
  }

  item(item: unknown): void {
    if (!isObject(item)) return;
    for (const part of Array.isArray(item.content) ? (item.content as unknown[]) : []) {
      if (!isObject(part)) continue;
      if (typeof part.text === 'string') this.textBytes += Buffer.byteLength(part.text);
      if (typeof part.audio !== 'string') continue;
      const seconds = audioSeconds(part.audio.length, this.format);
      this.seconds += seconds;
      this.untranscribedSeconds += seconds;
    }
    if (typeof item.output === 'string') this.textBytes += Buffer.byteLength(item.output);
  }

  transcribed(seconds: number): void {
    this.untranscribedSeconds = Math.max(0, this.untranscribedSeconds - seconds);
  }

  /** The response has read all that was sent. */
  answered(): void {
    this.textBytes = 0;
    this.seconds = 0;
  }

  /**
   * The caller's session as the provider gets it: its model is the route's, and the one that writes the input down is
   * looked up by `upstreamOf`. Throws ApiError for what is another protocol, or a model that the key may not use.
   */
  update(
    body: ParsedBody,
    upstreamModel: string,
    upstreamOf: (model: string) => { id: string; upstreamModel: string },
  ): ParsedBody['value'] | null {
    const { session } = body.value;
    if (!isObject(session)) return null;
    if (session.type !== undefined && session.type !== 'realtime')
      throw new ApiError('unsupported_operation', {
        message: 'Sessions of this type are not supported.',
        param: 'session.type',
      });
    const changed: Record<string, unknown> = { ...session };
    if (session.model !== undefined) changed.model = upstreamModel;
    if (isObject(session.audio) && isObject(session.audio.input)) {
      const { input } = session.audio;
      this.format = input.format ?? this.format;
      const { transcription } = input;
      if (transcription === null) this.transcriptionModel = null;
      if (isObject(transcription) && typeof transcription.model === 'string') {
        const found = upstreamOf(transcription.model);
        this.transcriptionModel = found.id;
        const named = { ...transcription, model: found.upstreamModel };
        changed.audio = { ...session.audio, input: { ...input, transcription: named } };
      }
    }
    if (typeof session.max_output_tokens === 'number') this.maxOutputTokens = session.max_output_tokens;
    return changed;
  }
}

/** The message with other members in place of its own. */
export function respliced(body: ParsedBody, members: Record<string, unknown>): Buffer {
  return Buffer.concat(spliceMembers(body, members).pieces);
}

/** A stored prompt is an object at the provider. Throws ApiError where the member names one. */
export function refusePrompt(body: ParsedBody, name: 'session' | 'response'): void {
  const member = body.value[name];
  const prompt = isObject(member) ? member.prompt : null;
  if (isObject(prompt) && prompt.id != null && prompt.id !== '') throw objectRefused(`${name}.prompt.id`);
}

const EVENT_ID_LENGTH_MAX = 512;

/** Returns the id that the caller gave its event; null for none, and for one that is too long to repeat. */
export function eventIdOf({ value: { event_id: id } }: ParsedBody): string | null {
  return typeof id === 'string' && id !== '' && id.length <= EVENT_ID_LENGTH_MAX ? id : null;
}
