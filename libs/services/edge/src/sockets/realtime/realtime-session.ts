import { ApiError, newAnswerId, type Clock, type Random } from '@gateway/contracts';
import {
  invalidBody,
  isObject,
  parseUpstreamObject,
  REALTIME_DIALECTS,
  withoutMoney,
  type RealtimeTranslator,
} from '@gateway/dialects';
import { BodyFault, parseBody, rememberSpelling, type ParsedBody, writeJson } from '@gateway/json-body';
import type { Deadline, Deadlines, Drain, Pressure } from '@gateway/platform';
import { scrubProviderText } from '@gateway/redaction';
import type { PlannedRoute } from '@gateway/routing';
import type { WebSocket } from 'ws';
import { HeldLength } from '../held-length.js';
import { callersFault, closeCodeOf, errorEvent, inSession } from './close-codes.js';
import { Heartbeat } from './heartbeat.js';
import type { RealtimeAdmission } from './realtime-admission.js';
import { withoutInput } from './realtime-endpoint.js';
import type { RealtimePlanner } from './realtime-planner.js';
import { eventIdOf, refusePrompt, respliced, SessionInput } from './session-input.js';
import type { SessionOptions } from './session-options.js';
import { SerialMessages } from './serial-messages.js';
import { SessionUnits } from './session-units.js';

const NORMAL = 1_000;
/** Bytes that one side may leave unread before the other one waits. */
const UNREAD_BYTES_MAX = 1_048_576;
const FAREWELL_MS = 1_000;
const DRAIN_NOTICE_MS = 30_000;

/** One session: its caller and its provider, and the events between them. */
export class RealtimeSession {
  private readonly ws: WebSocket;
  private readonly upstream: WebSocket;
  private readonly plannedRoute: PlannedRoute;
  private readonly input = new SessionInput();
  private readonly units: SessionUnits;
  /** Translator for a provider whose events differ from the caller's. */
  private readonly translator: RealtimeTranslator | null;
  private readonly held: HeldLength;
  private readonly timers: Deadline[] = [];
  private readonly unwatchKey: () => void;
  private lastActiveMs: number;
  private isOver = false;

  constructor(
    private readonly options: SessionOptions,
    private readonly planner: RealtimePlanner,
    admission: RealtimeAdmission,
    pressure: Pressure,
    drain: Drain,
    private readonly deadlines: Deadlines,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {
    const { ws, link, facts, model, principal } = options;
    this.ws = ws;
    this.upstream = link.ws;
    this.plannedRoute = link.plannedRoute;
    this.lastActiveMs = clock.monotonic();
    this.translator = this.translatorOf(link.plannedRoute);
    this.held = new HeldLength(pressure.ofAccount(principal.accountId));
    const giveUp = (why: ApiError): void => this.end(why);
    const refused = (error: unknown): void => this.refuse(error, null);
    this.units = new SessionUnits(
      { model, facts, plannedRoute: link.plannedRoute, input: this.input, giveUp, refused },
      admission,
      clock,
    );
    new SerialMessages(ws, (bytes, isBinary) => this.guarded(() => this.fromCaller(bytes, isBinary)));
    const heard = new SerialMessages(this.upstream, (bytes) => this.guarded(() => this.fromProvider(bytes)));
    for (const data of link.early) heard.push(data, false);
    ws.on('error', () => undefined);
    ws.once('close', () => void this.close());
    this.upstream.once('close', (code, reason) => this.providerLeft(code, reason.toString()));
    this.watch();
    this.unwatchKey = admission.watchKey(facts, principal, (rejection) => this.end(inSession(rejection)));
    if (this.translator !== null) this.answered(this.translator.opened());
    if (options.given !== null) this.begin(options.given);
    if (drain.isDraining) this.leaveSoon();
    this.upstream.resume();
    if (ws.readyState !== ws.OPEN) void this.close();
  }

  /** Ends it with an error, which is sent first. */
  end(error: ApiError): void {
    if (this.isOver) return;
    this.say(error, null);
    this.ws.close(closeCodeOf(error), error.code);
    void this.close();
  }

  private translatorOf({ route }: PlannedRoute): RealtimeTranslator | null {
    const { clock, random } = this;
    const dialect = REALTIME_DIALECTS.get(route.dialect);
    return dialect?.translator?.(route.upstreamModel, (kind) => newAnswerId(kind, clock, random)) ?? null;
  }

  /** Events that a translator makes in the provider's place. */
  private answered(events: readonly Record<string, unknown>[]): void {
    for (const event of events) void this.guarded(() => this.event(event, bytesOf(event)));
  }

  /** Begins as if the caller had sent it first. */
  private begin(session: Record<string, unknown>): void {
    const update = bytesOf({ type: 'session.update', session });
    void this.guarded(() => this.fromCaller(update, false));
  }

  /** The instance drains: the caller is notified, and has some time to reconnect. */
  leaveSoon(): void {
    if (this.isOver) return;
    this.say(new ApiError('service_draining'), null);
    this.timers.push(this.deadlines.set(DRAIN_NOTICE_MS, () => this.leave()));
  }

  /** The notice was sent before. */
  leave(): void {
    if (this.isOver) return;
    const drained = new ApiError('service_draining');
    this.ws.close(closeCodeOf(drained), drained.code);
    void this.close();
  }

  /** Every way out ends here, once: what was under way is billed, and both sides are closed. */
  private async close(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    const { deadlines } = this;
    for (const timer of this.timers) timer.cancel();
    this.unwatchKey();
    this.held.now(0);
    if (this.ws.readyState === this.ws.OPEN) this.ws.close(NORMAL);
    this.upstream.close(NORMAL);
    deadlines.set(FAREWELL_MS, () => this.ws.terminate());
    deadlines.set(FAREWELL_MS, () => this.upstream.terminate());
    await this.units.cut();
  }

  private watch(): void {
    const { deadlines, clock } = this;
    const { maxMs, idleMs, pingMs } = this.options.bounds;
    const every = (ms: number, check: () => void): void => {
      const at = this.timers.length;
      const again = (): void => {
        if (this.isOver) return;
        check();
        this.timers[at] = deadlines.set(ms, again);
      };
      this.timers.push(deadlines.set(ms, again));
    };
    this.timers.push(deadlines.set(maxMs, () => this.end(new ApiError('session_duration_exceeded'))));
    every(idleMs / 4, () => {
      if (clock.monotonic() - this.lastActiveMs >= idleMs) this.end(new ApiError('idle_timeout'));
    });
    const [caller, provider] = [this.ws, this.upstream].map((ws) => new Heartbeat(ws));
    every(pingMs, () => {
      if (!caller.beat()) this.end(new ApiError('connection_timeout'));
      else if (!provider.beat()) this.providerLost('answers no heartbeat');
    });
  }

  /** Runs a handler whose failure ends the session where it says so, and is an error event elsewhere. */
  private guarded(handle: () => Promise<void> | undefined): Promise<void> | undefined {
    if (this.isOver) return undefined;
    this.lastActiveMs = this.clock.monotonic();
    try {
      return handle()?.catch((error: unknown) => this.refuse(error, null));
    } catch (error) {
      this.refuse(error, null);
      return undefined;
    }
  }

  private refuse(error: unknown, eventId: string | null): void {
    const shown = inSession(error);
    if (ENDS.has(shown.code)) this.end(shown);
    else this.say(shown, eventId);
  }

  private fromCaller(bytes: Buffer, isBinary: boolean): Promise<void> | undefined {
    const body = isBinary ? null : parseBody(bytes);
    if (body === null || body instanceof BodyFault) {
      const fault = body?.detail ?? {
        type: 'json_invalid',
        loc: [],
        msg: 'an event has to be a text message that holds one JSON object',
      };
      this.end(invalidBody(fault));
      return undefined;
    }
    const { type, audio, item } = body.value;
    switch (type) {
      case 'input_audio_buffer.append':
        this.input.append(audio);
        return this.toProvider(bytes);
      case 'conversation.item.create':
        this.input.item(item);
        return this.toProvider(bytes);
      case 'session.update':
        return this.updateSession(body, bytes);
      case 'response.create':
        return this.createResponse(body);
      default:
        return this.toProvider(bytes);
    }
  }

  private updateSession(body: ParsedBody, bytes: Buffer): Promise<void> | undefined {
    const eventId = eventIdOf(body);
    try {
      if (!this.plannedRoute.providerKey) refusePrompt(body, 'session');
      const session = this.input.update(body, nameOf(this.plannedRoute), (model) => this.transcriber(model));
      return this.toProvider(session === null ? bytes : respliced(body, { session }));
    } catch (error) {
      this.refuse(error, eventId);
      return undefined;
    }
  }

  /**
   * Returns the model that writes the input down: of the same provider, and one that the key may use. Throws ApiError
   * that names the member.
   */
  private transcriber(model: string): { id: string; upstreamModel: string } {
    const { provider } = this.plannedRoute.route;
    const principal = { ...this.options.principal, fixedProvider: provider };
    try {
      const { requestId } = this.options.facts;
      const { routes } = this.planner.plan(withoutInput(model, 'transcription'), principal, requestId);
      const [plannedRoute] = routes;
      return { id: plannedRoute.model.record.id, upstreamModel: nameOf(plannedRoute) };
    } catch (rejection) {
      if (!(rejection instanceof ApiError)) throw rejection;
      const param = 'session.audio.input.transcription.model';
      // The pin is the session's: the key may have none.
      if (rejection.code === 'model_not_available_on_pinned_provider')
        throw new ApiError('unsupported_operation', {
          message: 'The provider of this session does not transcribe speech with this model.',
          param,
        });
      throw new ApiError(rejection.code, { ...rejection.options, message: rejection.message, param });
    }
  }

  private async createResponse(body: ParsedBody): Promise<void> {
    const own = eventIdOf(body);
    const eventId = own ?? newAnswerId(OWN_EVENT, this.clock, this.random);
    try {
      if (!this.plannedRoute.providerKey) refusePrompt(body, 'response');
      await this.units.expect(eventId);
    } catch (error) {
      return this.refuse(error, own);
    }
    // Named, so that an error of the provider says which response it is of.
    await this.toProvider(respliced(body, { event_id: eventId }));
  }

  private async fromProvider(bytes: Buffer): Promise<void> {
    const event = parseUpstreamObject(bytes);
    if (this.translator === null && typeof event?.type === 'string') return this.event(event, bytes);
    if (event?.toolCall !== undefined) rememberSpelling(event, bytes.toString('utf8'));
    const translated = event === null ? null : (this.translator?.received(event) ?? null);
    if (translated === null)
      return this.end(new ApiError('provider_error', { message: 'The provider sent no event.' }));
    this.held.now(this.translator?.heldLength ?? 0);
    const { provider, caller } = translated;
    for (const message of provider) await this.pass(this.upstream, bytesOf(message));
    for (const one of caller) await this.event(one, bytesOf(one));
  }

  /** One event for the caller, in the protocol that it speaks. */
  private async event(given: Record<string, unknown>, bytes: Buffer): Promise<void> {
    const { type } = given;
    const isOurs = type === 'session.created' || type === 'session.updated';
    // Only what is written again needs to know how it was written.
    if (isOurs || withoutMoney(given, WRITTEN) !== given) rememberSpelling(given, bytes.toString('utf8'));
    const event = withoutMoney(given, WRITTEN) as Record<string, unknown>;
    if (type === 'error') return this.providerFailed(event);
    if (isOurs) return this.toCaller(this.ownSession(event));
    const verdict = await this.units.see(event);
    if (verdict === 'refused') return this.toProvider(Buffer.from('{"type":"response.cancel"}'));
    if (verdict === 'dropped') return;
    await this.toCaller(event === given ? bytes : bytesOf(event));
    if (this.units.tokens >= this.options.bounds.maxTokens)
      this.end(new ApiError('session_token_cap_exceeded'));
  }

  private ownSession(event: Record<string, unknown>): Buffer {
    const session = isObject(event.session) ? event.session : {};
    return bytesOf({ ...event, session: { ...session, model: this.plannedRoute.model.record.id } });
  }

  /** Reports the provider's failure, unless the caller caused it. */
  private async providerFailed(event: Record<string, unknown>): Promise<void> {
    const error = isObject(event.error) ? event.error : {};
    const eventId = typeof error.event_id === 'string' ? error.event_id : null;
    const isOwn = await this.units.refused(eventId);
    const message = scrubProviderText(typeof error.message === 'string' ? error.message : 'no message');
    if (error.type === 'invalid_request_error') {
      const shown = {
        ...callersFault(error, message),
        event_id: isOwn && eventId?.startsWith(OWN_EVENT) ? null : eventId,
      };
      return this.toCaller(
        Buffer.from(JSON.stringify({ type: 'error', event_id: event.event_id ?? null, error: shown })),
      );
    }
    this.say(
      new ApiError('provider_error', { message: `${this.plannedRoute.provider.name}: ${message}` }),
      eventId,
    );
  }

  private providerLeft(code: number, reason: string): void {
    if (this.isOver) return;
    if (code === NORMAL) return void this.close();
    const why = reason === '' ? '' : `: ${scrubProviderText(reason)}`;
    this.providerLost(`closed the session with ${code}${why}`);
  }

  private providerLost(how: string): void {
    const message = `${this.plannedRoute.provider.name} ${how}`;
    void this.units.failed().finally(() => this.end(new ApiError('provider_error', { message })));
  }

  private say(error: ApiError, eventId: string | null): void {
    const { clock, random } = this;
    this.ws.send(errorEvent(error, newAnswerId('event', clock, random), eventId), () => undefined);
  }

  private toProvider(bytes: Buffer): Promise<void> | undefined {
    return this.translator === null ? this.pass(this.upstream, bytes) : this.translated(bytes);
  }

  private async translated(bytes: Buffer): Promise<void> {
    const event = parseUpstreamObject(bytes);
    if (event === null || this.translator === null) return;
    rememberSpelling(event, Buffer.from(bytes).toString('utf8'));
    const { provider, caller } = this.translator.sent(event);
    const rejection = this.held.now(this.translator.heldLength);
    if (rejection !== null) return this.end(rejection);
    for (const message of provider) await this.pass(this.upstream, bytesOf(message));
    for (const one of caller) await this.event(one, bytesOf(one));
  }

  private toCaller(bytes: Buffer): Promise<void> | undefined {
    return this.pass(this.ws, bytes);
  }

  /** Passes bytes; a slow reader holds the other side back, at most for the stall timeout. */
  private pass(to: WebSocket, bytes: Buffer): Promise<void> | undefined {
    if (to.readyState !== to.OPEN) return undefined;
    if (to.bufferedAmount < UNREAD_BYTES_MAX) {
      to.send(bytes, { binary: false }, () => undefined);
      return undefined;
    }
    const stalled = this.deadlines.set(this.options.bounds.stallMs, () => to.terminate());
    return new Promise((resolve) => {
      to.send(bytes, { binary: false }, () => {
        stalled.cancel();
        resolve();
      });
    });
  }
}

/** Names of what the caller wrote as objects, where the provider repeats it: they may name money. */
const WRITTEN = new Set(['tools', 'metadata', 'prompt']);
/** Rejections of a response that no later one would escape. */
const ENDS: ReadonlySet<string> = new Set([
  'invalid_api_key',
  'insufficient_quota',
  'feature_not_enabled',
  'forbidden',
  'internal_error',
]);
function bytesOf(message: object): Buffer {
  return Buffer.from(writeJson(message));
}

/** Prefix of events that the caller did not name. */
const OWN_EVENT = 'gwevent';

/** Returns the name under which the provider is asked for the route's model. */
function nameOf({ provider, route }: PlannedRoute): string {
  return provider.quirks(route).upstreamName ?? route.upstreamModel;
}
