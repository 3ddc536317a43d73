import type { ParsedBody } from '@gateway/json-body';
import type { Answer, AnswerHead, Misfit, RouteTarget } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

/** A text to be spoken. */
export interface SpeechRequest {
  /** Characters of the text, which some providers bill. */
  characters: number;
  /** As the caller named it: mp3, opus, aac, flac, wav or pcm. */
  format: string;
  /** What the caller sent; never changed. */
  body: ParsedBody;
}

/** What an upstream that speaks texts speaks itself. */
export interface SpeechDialect {
  /** As the routes of the catalogue name it. */
  readonly name: string;
  /** Of `speed` and `instructions` those that it has a word for; others are reported as ignored. Absent: both. */
  readonly takes?: readonly string[];
  /** Absent: it speaks every request. */
  misfit?(request: SpeechRequest, target: RouteTarget): Misfit | null;
  encode(request: SpeechRequest, target: RouteTarget): UpstreamBody;
  /** An answer of audio bytes, passed on as they come, or of what holds them. */
  begin(head: AnswerHead, request: SpeechRequest): Answer;
}
