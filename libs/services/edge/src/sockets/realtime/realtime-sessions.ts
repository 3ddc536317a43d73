import type { Duplex } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { ApiError, newAnswerId, newId, type Clock, type KeyPrincipal, type Random } from '@gateway/contracts';
import { CLOCK, Deadlines, Drain, Pressure, RANDOM } from '@gateway/platform';
import type { WebSocket } from 'ws';
import { EdgeConfig } from '../../config/edge.config.js';
import { countIntake } from '../socket-intake.js';
import { closeCodeOf, errorEvent, inSession } from './close-codes.js';
import { RealtimeAdmission } from './realtime-admission.js';
import { RealtimePlanner } from './realtime-planner.js';
import { RealtimeSession } from './realtime-session.js';
import type { SessionBounds, SessionOptions } from './session-options.js';

const FAREWELL_MS = 1_000;

/** Realtime sessions of this process: their bounds, their begin, and the error of one that cannot begin. */
@Injectable()
export class RealtimeSessions {
  constructor(
    private readonly planner: RealtimePlanner,
    private readonly admission: RealtimeAdmission,
    private readonly pressure: Pressure,
    private readonly drain: Drain,
    private readonly deadlines: Deadlines,
    private readonly config: EdgeConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  newId(): string {
    return newId('req', this.clock, this.random);
  }

  /** Returns the organization's own bounds, else the deployment's. Throws ApiError where it has no realtime. */
  boundsFor({ realtime }: KeyPrincipal): SessionBounds & { maxSessions: number } {
    const { config } = this;
    if (realtime?.enabled === false) throw new ApiError('feature_not_enabled');
    return {
      maxSessions: realtime?.maxSessions ?? config.REALTIME_MAX_SESSIONS,
      maxMs: (realtime?.maxSeconds ?? config.REALTIME_MAX_SECONDS) * 1_000,
      maxTokens: realtime?.maxTokens ?? config.REALTIME_MAX_TOKENS,
      idleMs: config.REALTIME_IDLE_SECONDS * 1_000,
      pingMs: config.REALTIME_PING_SECONDS * 1_000,
      stallMs: config.CLIENT_STALL_TIMEOUT_MS,
    };
  }

  begin(options: SessionOptions, socket: Duplex): RealtimeSession {
    const { planner, admission, pressure, drain, deadlines, clock, random } = this;
    const session = new RealtimeSession(
      options,
      planner,
      admission,
      pressure,
      drain,
      deadlines,
      clock,
      random,
    );
    const { ws, principal } = options;
    countIntake({
      ...{ ws, socket, budget: pressure.ofAccount(principal.accountId) },
      refuse: (error) => this.say(ws, error),
      after: (ms, then) => deadlines.set(ms, then),
    });
    return session;
  }

  /** Sends the error in the words of the protocol, and closes. */
  refuse(ws: WebSocket, error: unknown): void {
    const shown = inSession(error);
    ws.resume();
    this.say(ws, shown);
    ws.close(closeCodeOf(shown), shown.code);
    this.deadlines.set(FAREWELL_MS, () => ws.terminate());
  }

  private say(ws: WebSocket, error: ApiError): void {
    ws.send(errorEvent(error, newAnswerId('event', this.clock, this.random), null), () => undefined);
  }
}
