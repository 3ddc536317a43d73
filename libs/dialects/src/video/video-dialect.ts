import type { JsonObject } from '../body/json-object.js';
import type { Unsupported, RouteTarget, UpstreamReply } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

export type VideoRole =
  'first_frame' | 'last_frame' | 'reference_image' | 'reference_video' | 'reference_audio' | 'source_video';

export interface VideoItem {
  readonly role: VideoRole;
  /** data: or https:, for the provider alone: the gateway never fetches it. */
  readonly url: string;
  /** Its place in `content`. */
  readonly position: number;
}

/** A request for a video, checked. */
export interface VideoRequest {
  readonly prompt: string;
  readonly items: readonly VideoItem[];
  /** Seconds. */
  readonly duration: number | null;
  readonly resolution: string | null;
  readonly aspectRatio: string | null;
  /** Every other member of the caller's request: seed, fps, generate_audio and so on. */
  readonly options: JsonObject;
  /** The provider's id of a task that is there already; null begins one. */
  readonly task: string | null;
}

export type VideoState =
  | { readonly status: 'running' }
  | { readonly status: 'failed'; readonly isRefused: boolean; readonly message: string }
  | VideoDone;

export interface VideoDone {
  readonly status: 'done';
  /** Seconds, where the provider reports them. */
  readonly seconds: number | null;
  /** Seconds of the videos that it was shown, where it bills those. */
  readonly inputSeconds?: number;
  readonly result: VideoResult;
}

/** The video itself, or where it is: a call with the credential, what such a call names, or an address that the answer named. */
type VideoResult =
  | { readonly bytes: Uint8Array }
  | { readonly call: UpstreamBody; readonly urlIn?: (reply: UpstreamReply) => string }
  | { readonly url: string };

/** The format of an upstream that makes videos: a task that is begun, polled and fetched. */
export interface VideoDialect {
  /** Name that the catalogue's routes use for it. */
  readonly name: string;
  readonly roles: readonly VideoRole[];
  /** Members of `options` that it has a word for; others are reported as ignored. */
  readonly takes: readonly string[];
  /** Time before the first poll; later ones come slower. */
  readonly pollMs: number;
  /** Absent: every request whose roles it knows. */
  unsupported?(request: VideoRequest): Unsupported | null;
  create(request: VideoRequest, target: RouteTarget): UpstreamBody;
  /** The task's id. Throws ExchangeFailure. */
  begun(reply: UpstreamReply, request: VideoRequest): string;
  poll(task: string): UpstreamBody;
  /** Throws ExchangeFailure for an answer that is none. */
  read(reply: UpstreamReply, task: string): VideoState;
}
