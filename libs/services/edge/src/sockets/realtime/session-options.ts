import type { KeyPrincipal } from '@gateway/contracts';
import type { WebSocket } from 'ws';
import type { SessionFacts } from './realtime-admission.js';
import type { UpstreamLink } from './upstream-link.js';

/** The bounds of one session's time, use and waits. */
export interface SessionBounds {
  maxMs: number;
  maxTokens: number;
  idleMs: number;
  pingMs: number;
  /** Time after which a side that reads nothing is closed. */
  stallMs: number;
}

/** The two sides of a session, and what its caller asked for. */
export interface SessionOptions {
  ws: WebSocket;
  link: UpstreamLink;
  facts: SessionFacts;
  principal: KeyPrincipal;
  /** Name as the caller wrote it. */
  model: string;
  /** Session that the client secret was made for; null without one. */
  given: Record<string, unknown> | null;
  bounds: SessionBounds;
}
