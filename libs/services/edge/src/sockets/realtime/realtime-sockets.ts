import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { BASELINE_VERSION } from '@gateway/api-version';
import { Injectable } from '@nestjs/common';
import { ApiError } from '@gateway/contracts';
import { Drain } from '@gateway/platform';
import { WebSocketServer, type WebSocket } from 'ws';
import type { SocketKind } from '../socket-kind.js';
import { once, SocketBudget, type Place } from '../socket-budget.js';
import { RealtimeAdmission } from './realtime-admission.js';
import { RealtimeCallers } from './realtime-caller.js';
import { withoutInput } from './realtime-endpoint.js';
import { RealtimePlanner } from './realtime-planner.js';
import type { RealtimeSession } from './realtime-session.js';
import { RealtimeSessions } from './realtime-sessions.js';
import { UpstreamLinks } from './upstream-link.js';

/** OpenAI's bound of an audio event is 15 MiB. */
const EVENT_BYTES_MAX = 16 * 1_048_576;
const PROTOCOL = 'realtime';

/** A connection that asks for a session. */
interface Connection {
  ws: WebSocket;
  socket: Duplex;
  request: IncomingMessage;
}

/**
 * GET /v1/realtime as a WebSocket, in OpenAI's protocol. The handshake is always taken, because a browser cannot read why
 * one failed: what cannot be opened is one error event and a close code. The version header says nothing here.
 */
@Injectable()
export class RealtimeSockets implements SocketKind {
  readonly paths = new Set(['/v1/realtime', '/openai/v1/realtime']);
  private readonly open = new Set<RealtimeSession>();
  private readonly byKey = new Map<string, number>();
  private readonly server = new WebSocketServer({
    noServer: true,
    maxPayload: EVENT_BYTES_MAX,
    perMessageDeflate: false,
    // The key that stands beside it is never sent back.
    handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
  });

  constructor(
    private readonly budget: SocketBudget,
    private readonly callers: RealtimeCallers,
    private readonly planner: RealtimePlanner,
    private readonly admission: RealtimeAdmission,
    private readonly links: UpstreamLinks,
    private readonly sessions: RealtimeSessions,
    private readonly drain: Drain,
  ) {
    drain.begun.addEventListener('abort', () => {
      for (const session of this.open) session.leaveSoon();
    });
    drain.deadline.addEventListener('abort', () => this.leave());
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const place = this.budget.enter();
    if (place === null) socket.destroy();
    else {
      socket.once('close', place);
      this.server.handleUpgrade(request, socket, head, (ws) => void this.connected({ ws, socket, request }));
    }
    return Promise.resolve();
  }

  leave(): void {
    for (const session of this.open) session.leave();
  }

  private async connected(connection: Connection): Promise<void> {
    const { ws } = connection;
    const closed = new AbortController();
    const places: Place[] = [];
    ws.once('close', () => {
      closed.abort();
      for (const place of places) place();
    });
    ws.on('error', () => undefined);
    // Nothing is read before the session is there to hear it.
    ws.pause();
    try {
      await this.begin(connection, closed.signal, (place) => {
        if (closed.signal.aborted) place();
        else places.push(place);
      });
    } catch (error) {
      this.sessions.refuse(ws, error);
    }
  }

  /** Checks in the order of rejections: drain, key, model, places, money; then the provider. */
  private async begin(
    { ws, socket, request }: Connection,
    closed: AbortSignal,
    hold: (place: Place) => void,
  ): Promise<void> {
    const { admission, callers, drain, sessions } = this;
    if (drain.isDraining) throw new ApiError('service_draining');
    const { credential, session: given } = callers.presentedBy(request);
    const principal = await callers.of(credential, false);
    const bounds = sessions.boundsFor(principal);
    const model = given === null ? (modelOf(request) ?? principal.defaultModel) : String(given.model);
    if (model === null)
      throw new ApiError('validation_error', { message: 'model is missing.', param: 'model' });
    const work = withoutInput(model);
    const requestId = sessions.newId();
    const plan = this.planner.plan(work, principal, requestId);
    hold(this.budget.claim(principal.accountId));
    hold(this.claim(principal.keyId, bounds.maxSessions));
    const facts = {
      requestId,
      headers: request.headers,
      apiVersion: BASELINE_VERSION,
      caller: (isReload: boolean) => callers.of(credential, isReload),
    };
    await admission.check(facts, work, plan.routes[0]);
    const link = await this.links.open(plan, principal, closed);
    if (closed.aborted) return link.ws.terminate();
    const session = sessions.begin({ ws, link, facts, principal, model, given, bounds }, socket);
    this.open.add(session);
    // The drain waits for it: its notice goes out first.
    drain.entered();
    const left = (): void => {
      this.open.delete(session);
      drain.left();
    };
    if (ws.readyState === ws.CLOSED) left();
    else ws.once('close', left);
    ws.resume();
  }

  private claim(keyId: string, most: number): Place {
    const count = this.byKey.get(keyId) ?? 0;
    if (count >= most) throw new ApiError('concurrent_sessions_exceeded');
    this.byKey.set(keyId, count + 1);
    return once(() => {
      const left = (this.byKey.get(keyId) ?? 1) - 1;
      if (left === 0) this.byKey.delete(keyId);
      else this.byKey.set(keyId, left);
    });
  }
}

/** Exactly one of model, call_id and intent is given; the last two are other protocols. */
function modelOf({ url = '' }: IncomingMessage): string | null {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const other = ['call_id', 'intent'].find((name) => query.has(name));
  if (other !== undefined)
    throw new ApiError('unsupported_operation', { message: `${other} is not supported.`, param: other });
  return query.get('model') || null;
}
