import type { ParsedBody } from '@gateway/json-body';
import type { Answer, AnswerHead, Unsupported, RouteTarget } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

/** A text to be spoken. */
export interface SpeechRequest {
  /** Characters of the text, which some providers bill. */
  characters: number;
  /** Format that the caller named: mp3, opus, aac, flac, wav or pcm. */
  format: string;
  /** Body of the caller; never changed. */
  body: ParsedBody;
}

/** The format of an upstream that speaks texts. */
export interface SpeechDialect {
  /** Name that the catalogue's routes use for it. */
  readonly name: string;
  /** Members of `speed` and `instructions` that it has a word for; others are reported as ignored. Absent: both. */
  readonly takes?: readonly string[];
  /** Absent: it speaks every request. */
  unsupported?(request: SpeechRequest, target: RouteTarget): Unsupported | null;
  encode(request: SpeechRequest, target: RouteTarget): UpstreamBody;
  /** An answer of audio bytes, passed on as they come, or of what holds them. */
  begin(head: AnswerHead, request: SpeechRequest): Answer;
}
