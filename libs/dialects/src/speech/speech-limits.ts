import { Unsupported } from '../translation/translation.js';
import type { SpeechRequest } from './speech-dialect.js';
import { voiceOf } from './spoken-answer.js';

/** The bounds of an upstream's speech. */
export interface SpeechLimits {
  /** The caller's formats that it makes. */
  formats: { has(format: string): boolean };
  /** Its own name of the voice; null: there is none. */
  voice: string | null;
  speeds: readonly [slowest: number, fastest: number];
  charactersMax?: number;
}

/**
 * Returns the part of a request that is beyond an upstream: another route may serve it, and the caller reads why none
 * does.
 */
export function beyond(request: SpeechRequest, limits: SpeechLimits): Unsupported | null {
  const { format, characters } = request;
  const { formats, voice, speeds, charactersMax = Infinity } = limits;
  if (!formats.has(format)) return new Unsupported('response_format', format);
  if (voice === null) return new Unsupported('voice', voiceOf(request));
  const speed = speedOf(request);
  const [slowest, fastest] = speeds;
  if (speed !== null && (speed < slowest || speed > fastest)) return new Unsupported('speed', String(speed));
  if (characters <= charactersMax) return null;
  return new Unsupported('input', undefined, `texts of more than ${charactersMax} characters`);
}

/** Returns the upstream's voice: its most similar one for a voice of OpenAI's, else the caller's word. */
export function ownVoice(request: SpeechRequest, known: ReadonlyMap<string, string>): string {
  const voice = voiceOf(request);
  return known.get(voice) ?? voice;
}

export function speedOf({ body }: SpeechRequest): number | null {
  const { speed } = body.value;
  return typeof speed === 'number' ? speed : null;
}
