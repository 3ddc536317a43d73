import type { RouteTarget, UpstreamReply } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';
import type { VideoDialect, VideoItem, VideoRequest, VideoRole } from './video-dialect.js';

export const INLINE = 'data:image/png;base64,AAAA';
export const NAMED = 'https://a.test/b.png';

export function videoOf(given: Partial<VideoRequest> = {}): VideoRequest {
  return {
    prompt: 'a fox',
    items: [],
    duration: null,
    resolution: null,
    aspectRatio: null,
    options: {},
    task: null,
    ...given,
  };
}

export function items(...given: [role: VideoRole, url?: string][]): VideoItem[] {
  return given.map(([role, url = INLINE], position) => ({ role, url, position }));
}

interface Sent {
  method: string;
  at: string;
  json: unknown;
}

/** Returns the request that begins a video at a provider. */
export function begunBy(dialect: VideoDialect, model: string, given: Partial<VideoRequest> = {}): Sent {
  return sent(dialect.create(videoOf(given), { upstreamModel: model } as RouteTarget));
}

export function sent({ method, path, url, pieces }: UpstreamBody): Sent {
  const body = Buffer.concat(pieces).toString();
  return { method: method ?? 'POST', at: url ?? path, json: body === '' ? null : JSON.parse(body) };
}

/** Returns the answer of a provider: JSON where it is no bytes. */
export function replied(body: unknown, status = 200): UpstreamReply {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
  return { status, contentType: 'application/json', bytes };
}
