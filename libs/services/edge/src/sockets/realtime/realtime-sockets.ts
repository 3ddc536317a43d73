import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { BASELINE_VERSION } from '@gateway/api-version';
import { ApiError, newAnswerId, newId, type KeyPrincipal } from '@gateway/contracts';
import type { Drain } from '@gateway/platform';
import { WebSocketServer, type WebSocket } from 'ws';
import type { InferDeps } from '../../inference/infer-deps.js';
import { countIntake } from '../socket-intake.js';
import type { SocketKind } from '../socket-kind.js';
import type { Place, SocketBudget } from '../socket-room.js';
import { closeCodeOf, errorEvent, inSession } from './close-codes.js';
import { presentedBy, realtimeCaller } from './realtime-caller.js';
import { RealtimeSession, type SessionBounds } from './realtime-session.js';
import { planResponse, RealtimeUnits } from './realtime-unit.js';
import { openUpstream } from './upstream-link.js';

const PATHS = new Set(['/v1/realtime', '/openai/v1/realtime']);
/** OpenAI's bound of an audio event is 15 MiB. */
const EVENT_BYTES_MAX = 16 * 1_048_576;
const PROTOCOL = 'realtime';
const FAREWELL_MS = 1_000;

/**
 * GET /v1/realtime as a WebSocket, in OpenAI's protocol. The handshake is always taken, because a browser cannot read why
 * one failed: what cannot be opened is one error event and a close code. The version header says nothing here.
 */
export function realtimeSockets(deps: InferDeps, room: SocketBudget): SocketKind {
  const door = new RealtimeDoor(deps, deps.drain, room);
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: EVENT_BYTES_MAX,
    perMessageDeflate: false,
    // The key that stands beside it is never sent back.
    handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
  });
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const place = room.enter();
    if (place === null) socket.destroy();
    else {
      socket.once('close', place);
      server.handleUpgrade(request, socket, head, (ws) => void door.open({ ws, socket, request }));
    }
    return Promise.resolve();
  };
  return { paths: PATHS, upgrade, leave: () => door.leave() };
}

/** A connection that asks for a session. */
interface Knock {
  ws: WebSocket;
  socket: Duplex;
  request: IncomingMessage;
}

class RealtimeDoor {
  private readonly sessions = new Set<RealtimeSession>();
  private readonly byKey = new Map<string, number>();

  constructor(
    private readonly deps: InferDeps,
    private readonly drain: Drain,
    private readonly room: SocketBudget,
  ) {
    drain.begun.addEventListener('abort', () => {
      for (const session of this.sessions) session.leaveSoon();
    });
    drain.deadline.addEventListener('abort', () => this.leave());
  }

  leave(): void {
    for (const session of this.sessions) session.leave();
  }

  /** Opens the socket. */
  async open(knock: Knock): Promise<void> {
    const { ws } = knock;
    const { deadlines } = this.deps;
    const gone = new AbortController();
    const places: Place[] = [];
    ws.once('close', () => {
      gone.abort();
      for (const place of places) place();
    });
    ws.on('error', () => undefined);
    // Nothing is read before the session is there to hear it.
    ws.pause();
    try {
      await this.session(knock, gone.signal, (place) => {
        if (gone.signal.aborted) place();
        else places.push(place);
      });
    } catch (error) {
      const shown = inSession(error);
      ws.resume();
      this.say(ws, shown);
      ws.close(closeCodeOf(shown), shown.code);
      deadlines.set(FAREWELL_MS, () => ws.terminate());
    }
  }

  private say(ws: WebSocket, error: ApiError): void {
    const { clock, random } = this.deps;
    ws.send(errorEvent(error, newAnswerId('event', clock, random), null), () => undefined);
  }

  /** Checks in the order of refusals: drain, key, model, places, money; then the provider. */
  private async session(
    { ws, socket, request }: Knock,
    gone: AbortSignal,
    keep: (place: Place) => void,
  ): Promise<void> {
    const { deps, drain } = this;
    if (drain.isDraining) throw new ApiError('service_draining');
    const { credential, session: given } = presentedBy(request, deps.clientSecrets);
    const principal = await realtimeCaller(credential, deps, false);
    const bounds = boundsFor(principal, deps);
    const model = given === null ? (modelOf(request) ?? principal.defaultModel) : String(given.model);
    if (model === null)
      throw new ApiError('validation_error', { message: 'model is missing.', param: 'model' });
    const turn = { kind: 'response' as const, model, ...NOTHING };
    const plan = planResponse(turn, principal, deps);
    keep(this.room.claim(principal.accountId));
    keep(this.claim(principal.keyId, bounds.maxSessions));
    const facts = {
      requestId: newId('req', deps.clock, deps.random),
      headers: request.headers,
      apiVersion: BASELINE_VERSION,
      caller: (isReload: boolean) => realtimeCaller(credential, deps, isReload),
    };
    const units = new RealtimeUnits(facts, deps);
    await units.check(turn, plan.routes[0]);
    const link = await openUpstream(plan, principal, gone, deps);
    if (gone.aborted) return link.ws.terminate();
    const session = new RealtimeSession({ ws, link, units, principal, model, given, bounds, drain }, deps);
    this.sessions.add(session);
    countIntake({
      ...{ ws, socket, room: deps.pressure.ofAccount(principal.accountId) },
      refuse: (error) => this.say(ws, error),
      after: (ms, then) => deps.deadlines.set(ms, then),
    });
    // The drain waits for it: its notice goes out first.
    drain.entered();
    const left = (): void => {
      this.sessions.delete(session);
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
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      const left = (this.byKey.get(keyId) ?? 1) - 1;
      if (left === 0) this.byKey.delete(keyId);
      else this.byKey.set(keyId, left);
    };
  }
}

const NOTHING = { inputBytes: 0, audioSeconds: 0, connectedSeconds: 0, maxOutputTokens: null };

/** Exactly one of model, call_id and intent is given; the last two are other protocols. */
function modelOf({ url = '' }: IncomingMessage): string | null {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const other = ['call_id', 'intent'].find((name) => query.has(name));
  if (other !== undefined)
    throw new ApiError('unsupported_operation', { message: `${other} is not supported.`, param: other });
  return query.get('model') || null;
}

/** The organization's own bounds, else the deployment's. Throws ApiError where it has no realtime. */
function boundsFor(
  { realtime }: KeyPrincipal,
  { config }: InferDeps,
): SessionBounds & { maxSessions: number } {
  if (realtime?.enabled === false) throw new ApiError('feature_not_enabled');
  return {
    maxSessions: realtime?.maxSessions ?? config.REALTIME_MAX_SESSIONS,
    maxMs: (realtime?.maxSeconds ?? config.REALTIME_MAX_SECONDS) * 1_000,
    maxTokens: realtime?.maxTokens ?? config.REALTIME_MAX_TOKENS,
    idleMs: config.REALTIME_IDLE_SECONDS * 1_000,
    pingMs: config.REALTIME_PING_SECONDS * 1_000,
  };
}
