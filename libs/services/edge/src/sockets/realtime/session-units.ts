import { ApiError, type Clock, type UnitUsage } from '@gateway/contracts';
import { isObject } from '@gateway/dialects';
import { plausibleUsage, usageBound } from '@gateway/money';
import type { PlannedRoute } from '@gateway/routing';
import { secondsText, transcriptionUsage, usageOf } from './realtime-usage.js';
import type { SessionInput } from './session-input.js';
import type { RealtimeAdmission, SessionFacts } from './realtime-admission.js';
import type { RealtimeAsked } from './realtime-endpoint.js';
import type { RealtimeUnit } from './realtime-unit.js';

const TRANSCRIBED = 'conversation.item.input_audio_transcription.completed';
/** Bytes of a token: each response counts the context of a conversation again. */
const TOKEN_BYTES = 4;
/** Responses at once, out of the conversation or in it. */
const RESPONSES_MAX = 16;
/** A provider's id of a response; a longer one is none. */
const ID_LENGTH_MAX = 256;
/** A second of audio as tokens of output, in bytes of what an estimate counts: 20 tokens. */
const SPOKEN_BYTES_PER_SECOND = 80;
const PCM_BASE64_PER_SECOND = 64_000;
/** Refused responses whose events are still dropped. */
const REFUSED_MAX = 64;
/** Connected time that makes a unit of its own at the end of a session. */
const REST_SECONDS_MIN = 1;

interface SessionUnitsOptions {
  model: string;
  facts: SessionFacts;
  plannedRoute: PlannedRoute;
  input: SessionInput;
  giveUp: (why: ApiError) => void;
  /** A response that the provider began may not run. */
  refused: (error: unknown) => void;
}

/** The units of one session: a response each, and each transcription of what the caller said. */
export class SessionUnits {
  /** Admitted for the caller's own response.create, by its event's id: the provider has not begun them. */
  private readonly expected = new Map<string, RealtimeUnit>();
  private readonly running = new Map<string, RealtimeUnit>();
  /** Responses that the provider began by itself and that were refused. */
  private readonly refusedIds = new Set<string>();
  private contextTokens = 0;
  /** Tokens of all ended responses. */
  private counted = 0;
  /** Units that were asked for: the number of the next one. */
  private units = 0;
  private isFirst = true;
  private isOver = false;
  private lastUnitMs: number;

  constructor(
    private readonly options: SessionUnitsOptions,
    private readonly admission: RealtimeAdmission,
    private readonly clock: Clock,
  ) {
    this.lastUnitMs = clock.monotonic();
  }

  /**
   * Returns the tokens of all ended responses; running ones count where they alone have more, by what was delivered of
   * them.
   */
  get tokens(): number {
    let bytes = 0;
    for (const unit of this.running.values()) bytes += unit.deliveredBytes;
    return Math.max(this.counted, Math.floor(bytes / TOKEN_BYTES));
  }

  /** Admits the response that the caller asks for. Throws ApiError. */
  async expect(eventId: string): Promise<void> {
    if (this.expected.size + this.running.size >= RESPONSES_MAX || this.expected.has(eventId))
      throw tooMany();
    const unit = await this.open();
    this.expected.set(eventId, unit);
  }

  /** `refused`: the provider began a response that may not run. `dropped`: the caller is not sent the event. */
  async see(event: Record<string, unknown>): Promise<'passed' | 'refused' | 'dropped'> {
    const { type } = event;
    const response = isObject(event.response) ? event.response : null;
    const named = event.response_id ?? response?.id;
    const id = typeof named === 'string' && named.length <= ID_LENGTH_MAX ? named : '';
    if (type === 'response.created') return this.begun(id);
    if (this.refusedIds.has(id)) {
      if (type === 'response.done') this.refusedIds.delete(id);
      return 'dropped';
    }
    if (type === 'response.done') await this.done(id, response ?? {});
    else if (type === TRANSCRIBED) await this.transcribed(event);
    else this.running.get(id)?.delivered(deliveredBytes(event));
    return 'passed';
  }

  /** The provider refused an event; true where it asked for a response. */
  async refused(eventId: string | null): Promise<boolean> {
    const only = this.expected.size === 1 ? this.expected.keys().next().value : undefined;
    const found = eventId ?? only ?? null;
    const unit = found === null ? undefined : this.expected.get(found);
    if (found === null || unit === undefined) return false;
    this.expected.delete(found);
    await unit.failed('provider_error');
    return true;
  }

  /** The caller has left: what was said is billed, what was not begun is dropped. */
  async cut(): Promise<void> {
    this.isOver = true;
    await this.endAll((unit) => unit.cut());
    await this.rest();
  }

  /** The time since the last unit, of a model that is billed by it. */
  private async rest(): Promise<void> {
    const { price } = this.options.plannedRoute.route;
    const isTimed = price.audio_usd_per_minute != null || price.pricing_unit === 'per_minute';
    if (!isTimed || this.connectedSeconds() < REST_SECONDS_MIN) return;
    try {
      const unit = await this.openUnit(this.asked(), () => undefined);
      await unit.done({ prompt_tokens: 0, completion_tokens: 0 }, this.unitsOf());
    } catch (error) {
      // A rejection was recorded, and nobody is left to be sent it.
      if (!(error instanceof ApiError)) throw error;
    }
  }

  /** The provider has failed: its responses fail, unbilled, and what it had not begun is dropped. */
  async failed(): Promise<void> {
    await this.endAll((unit) => unit.failed('provider_error'));
  }

  private async endAll(end: (unit: RealtimeUnit) => Promise<void>): Promise<void> {
    const [waiting, running] = [[...this.expected.values()], [...this.running.values()]];
    this.expected.clear();
    this.running.clear();
    await Promise.all([...waiting.map((unit) => unit.dropped()), ...running.map(end)]);
  }

  private async begun(id: string): Promise<'passed' | 'refused' | 'dropped'> {
    // Begun twice, it is one response.
    if (this.running.has(id)) return 'dropped';
    const next = this.expected.entries().next();
    if (!next.done) {
      const [eventId, unit] = next.value;
      this.expected.delete(eventId);
      this.running.set(id, unit);
      return 'passed';
    }
    try {
      if (this.running.size >= RESPONSES_MAX) throw tooMany();
      this.running.set(id, await this.open());
      return 'passed';
    } catch (error) {
      this.dropEventsOf(id);
      this.options.refused(error);
      return 'refused';
    }
  }

  /** The oldest is forgotten. */
  private dropEventsOf(id: string): void {
    const oldest = this.refusedIds.values().next();
    if (this.refusedIds.size >= REFUSED_MAX && !oldest.done) this.refusedIds.delete(oldest.value);
    this.refusedIds.add(id);
  }

  private async done(id: string, response: Record<string, unknown>): Promise<void> {
    const unit = this.running.get(id);
    if (unit === undefined) return;
    this.running.delete(id);
    const usage = usageOf(response.usage);
    if (usage !== null) {
      // What cannot be would be reserved for the next response, and refuse it.
      const { route } = this.options.plannedRoute;
      const { prompt_tokens = 0, completion_tokens = 0 } = plausibleUsage(usage, usageBound(route, 0)).usage;
      this.contextTokens = prompt_tokens + completion_tokens;
      this.counted += this.contextTokens;
    }
    this.options.input.answered();
    if (response.status === 'failed') return unit.failed('provider_error', usage);
    await unit.done(usage, this.unitsOf());
  }

  private async transcribed(event: Record<string, unknown>): Promise<void> {
    const { input, giveUp, model } = this.options;
    const heard = input.heardSeconds;
    input.heardSeconds = 0;
    // It is counted with the response.
    if (event.usage === null) return;
    const named = input.transcriptionModel;
    const sent = input.untranscribedSeconds;
    const usage = transcriptionUsage(event.usage, heard);
    // Before anything is waited for: another one may come meanwhile.
    input.transcribed(Number(usage.audio_seconds));
    const work: RealtimeAsked = {
      kind: named === null ? 'response' : 'transcription',
      model: named ?? model,
      inputBytes: 0,
      audioSeconds: heard,
      heardSecondsMax: sent,
      connectedSeconds: 0,
      maxOutputTokens: null,
    };
    const opened = await this.openUnit(work, giveUp);
    await opened.done(usage, this.first());
  }

  private async open(): Promise<RealtimeUnit> {
    const opened = await this.openUnit(this.asked(), this.options.giveUp);
    if (!this.isOver) return opened;
    // The session ended while the response was being admitted.
    await opened.dropped();
    throw new ApiError('conflict', { message: 'The session is over.' });
  }

  private openUnit(work: RealtimeAsked, abort: (why: ApiError) => void): Promise<RealtimeUnit> {
    const { facts, plannedRoute } = this.options;
    return this.admission.open(facts, this.units++, work, plannedRoute, abort);
  }

  private asked(): RealtimeAsked {
    const { model, input } = this.options;
    return {
      kind: 'response',
      model,
      inputBytes: this.contextTokens * TOKEN_BYTES + input.textBytes,
      audioSeconds: input.seconds,
      connectedSeconds: this.connectedSeconds(),
      maxOutputTokens: input.maxOutputTokens,
    };
  }

  private connectedSeconds(): number {
    return (this.clock.monotonic() - this.lastUnitMs) / 1_000;
  }

  /** Returns the counts of a model that is billed by the connected minute. */
  private unitsOf(): UnitUsage {
    const units = { ...this.first(), audio_seconds: secondsText(this.connectedSeconds()) };
    this.lastUnitMs = this.clock.monotonic();
    return units;
  }

  /** A session is one request, counted with its first unit. */
  private first(): UnitUsage {
    const requests = this.isFirst ? 1 : 0;
    this.isFirst = false;
    return { requests };
  }
}

function tooMany(): ApiError {
  return new ApiError('conflict', { message: 'Too many responses are under way in this session.' });
}

/** Returns the bytes of texts and sounds of an event, for an estimate. */
function deliveredBytes({ type, delta }: Record<string, unknown>): number {
  if (typeof delta !== 'string') return 0;
  return type === 'response.output_audio.delta'
    ? Math.ceil((delta.length / PCM_BASE64_PER_SECOND) * SPOKEN_BYTES_PER_SECOND)
    : Buffer.byteLength(delta);
}
