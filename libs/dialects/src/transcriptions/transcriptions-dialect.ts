import type { UnitUsage } from '@gateway/contracts';
import type { Form, FormFile } from '../body/multipart.js';
import type {
  Answer,
  AnswerHead,
  Unsupported,
  RouteTarget,
  UpstreamCalls,
} from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

/** A recording to be written down. */
export interface TranscriptionRequest {
  /** `translate` writes English, whatever is spoken. */
  task: 'transcribe' | 'translate';
  /** Format that the caller named: json, text, srt, vtt, verbose_json or diarized_json. */
  format: string;
  stream: boolean;
  /** Length of the recording, measured by its headers and bytes: what is billed where the provider reports none. */
  seconds: number;
  /** Form of the caller; never changed. */
  form: Form;
  file: FormFile;
}

/** The format of an upstream that writes recordings down. */
export type TranscriptionsDialect = FormTranscriptions | OwnTranscriptions;

interface NamedTranscriptions {
  /** Name that the catalogue's routes use for it. */
  readonly name: string;
  /** Null: it can serve the request. */
  unsupported(request: TranscriptionRequest): Unsupported | null;
}

/** OpenAI's form, and its answers as they are. */
export interface FormTranscriptions extends NamedTranscriptions {
  encode(request: TranscriptionRequest, target: RouteTarget): UpstreamBody;
  begin(head: AnswerHead, request: TranscriptionRequest): Answer;
}

/** A format of its own: what it hears is written in the caller's format by the gateway. */
export interface OwnTranscriptions extends NamedTranscriptions {
  /** Caller's fields that it has a word for; others are reported as ignored. */
  readonly takes: readonly string[];
  /** Throws ExchangeFailure for an answer that is none. */
  run(request: TranscriptionRequest, target: RouteTarget, calls: UpstreamCalls): Promise<Transcript>;
}

/** A recording written down, in no provider's words. */
export interface Transcript {
  readonly text: string;
  /** Language as the provider names it. */
  readonly language: string | null;
  /** Length of the recording, where the provider reports it. */
  readonly seconds: number | null;
  readonly words: readonly Spoken[];
  /** Sentences or turns of a speaker. */
  readonly segments: readonly Spoken[];
  /** Usage of a provider that bills tokens. */
  readonly usage?: UnitUsage;
}

/** A part of a recording. Times are seconds from its beginning. */
export interface Spoken {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly speaker: string | null;
}
