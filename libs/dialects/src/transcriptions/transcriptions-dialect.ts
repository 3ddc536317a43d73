import type { Form, FormFile } from '../body/multipart.js';
import type { Answer, AnswerHead, Misfit, RouteTarget } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

/** A recording to be written down. */
export interface TranscriptionRequest {
  /** `translate` writes English, whatever is spoken. */
  task: 'transcribe' | 'translate';
  /** As the caller named it: json, text, srt, vtt, verbose_json or diarized_json. */
  format: string;
  stream: boolean;
  /** Length of the recording, measured by its headers: what is billed where the provider reports none. */
  seconds: number;
  /** What the caller sent; never changed. */
  form: Form;
  file: FormFile;
}

/** What an upstream that writes recordings down speaks. */
export interface TranscriptionsDialect {
  /** As the routes of the catalogue name it. */
  readonly name: string;
  /** Null: it can serve the request. */
  misfit(request: TranscriptionRequest): Misfit | null;
  encode(request: TranscriptionRequest, target: RouteTarget): UpstreamBody;
  begin(head: AnswerHead, request: TranscriptionRequest): Answer;
}
