import type { UnitUsage } from '@gateway/contracts';
import type { Answer, AnswerHead, Piece } from '../translation/translation.js';
import { badAnswer } from '../translation/whole-answer.js';
import type { SpeechRequest } from './speech-dialect.js';
import { typeOf } from './spoken-answer.js';

const L16 = /^audio\/l16\b/i;

/** Audio as it is: every chunk goes on. `characters` are what is billed: those that were sent, where nobody counted others. */
export function spokenBytes(head: AnswerHead, request: SpeechRequest, characters?: number): Answer {
  return new SpokenBytes(head, request.format, {
    characters: characters ?? request.characters,
    // An answer of audio alone counts no tokens.
    ...{ prompt_tokens: 0, completion_tokens: 0, audio_output_tokens: 0 },
  });
}

class SpokenBytes implements Answer {
  readonly isWhole: boolean;
  readonly headers: Readonly<Record<string, string>>;
  private hasAudio = false;

  constructor(
    { contentType }: AnswerHead,
    format: string,
    private readonly usage: UnitUsage,
  ) {
    const isAudio = /^(?:audio\/|application\/octet-stream)/.test(contentType);
    // Anything else under a status of 200 is a message, which must not be played.
    this.isWhole = !isAudio;
    // By its definition L16 has the high byte first; what is sent under its name has it last, as the caller's samples.
    const isNamed = contentType.startsWith('audio/') && !(format === 'pcm' && L16.test(contentType));
    this.headers = { 'content-type': isNamed ? contentType : typeOf(format) };
  }

  push(chunk: Uint8Array): Piece[] {
    if (this.isWhole) return [badAnswer('the answer is no audio.')];
    if (chunk.byteLength === 0) return [{ kind: 'wait', out: '' }];
    this.hasAudio = true;
    return [{ kind: 'part', out: chunk, usage: this.usage }];
  }

  end(): Piece[] {
    if (!this.hasAudio) return [badAnswer('the answer holds no audio.')];
    return [{ kind: 'end', out: '', usage: this.usage, finishSeen: true }];
  }

  fail(): null {
    return null;
  }
}
