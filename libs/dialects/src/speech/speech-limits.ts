import { Misfit } from '../translation/translation.js';
import type { SpeechRequest } from './speech-dialect.js';
import { voiceOf } from './spoken-answer.js';

/** What an upstream can speak of what a caller may ask. */
export interface SpeechLimits {
  /** The caller's formats that it makes. */
  formats: { has(format: string): boolean };
  /** Its own name of the voice; null: there is none. */
  voice: string | null;
  speeds: readonly [slowest: number, fastest: number];
  charactersMax?: number;
}

/** What of a request is beyond an upstream: another route may serve it, and the caller reads why none does. */
export function beyond(request: SpeechRequest, limits: SpeechLimits): Misfit | null {
  const { format, characters } = request;
  const { formats, voice, speeds, charactersMax = Infinity } = limits;
  if (!formats.has(format)) return new Misfit('response_format', format);
  if (voice === null) return new Misfit('voice', voiceOf(request));
  const speed = speedOf(request);
  const [slowest, fastest] = speeds;
  if (speed !== null && (speed < slowest || speed > fastest)) return new Misfit('speed', String(speed));
  if (characters <= charactersMax) return null;
  return new Misfit('input', undefined, `texts of more than ${charactersMax} characters`);
}

/** What an upstream would call a voice: of one of OpenAI's its own that is most like it, else what the caller says. */
export function ownVoice(request: SpeechRequest, known: ReadonlyMap<string, string>): string {
  const voice = voiceOf(request);
  return known.get(voice) ?? voice;
}

export function speedOf({ body }: SpeechRequest): number | null {
  const { speed } = body.value;
  return typeof speed === 'number' ? speed : null;
}
