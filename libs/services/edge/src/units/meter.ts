import type { Clock, NotBegun, UnitUsage } from '@gateway/contracts';
import type { Piece, ResultContext } from '@gateway/dialects';
import {
  estimateTokens,
  plausibleUsage,
  type PlausibleUsage,
  type SentInput,
  type UnitTraffic,
  type UsageBound,
} from '@gateway/money';
import type { PlannedRoute } from '@gateway/routing';

/** An upstream that goes on saying how it ends is not listened to for ever. */
const CHOICES_MAX = 128;
/** Counts and text differ by this factor before it is a fault, and by at least as many tokens. */
const FAR_OFF = 10;
const FAR_OFF_MIN = 200;

/** Measure of what one attempt delivered and reported. Sees every piece once. */
export class Meter {
  /** The provider's last word; null while it has said nothing. */
  usage: UnitUsage | null = null;
  /** UTF-8 bytes of text, tool arguments and reasoning. */
  outputBytes = 0;
  finishSeen = false;
  /** Finish reasons of the choices, as the provider says; for traces. */
  finishReasons: readonly string[] = [];
  hasEvents = false;
  /** Start of the upstream's answer, and of its delivery. */
  answeredAtMs: number | null = null;
  visibleAtMs: number | null = null;
  usageAtMs: number | null = null;
  /** Context of the result, where the provider reports other than was requested. */
  context: ResultContext | null = null;

  /** A count was more than the route can use: it is not believed, and estimated. */
  isDoubted = false;
  private isText = false;
  private last: { reported: UnitUsage; found: PlausibleUsage } | null = null;

  constructor(
    private readonly sent: SentInput,
    private readonly bound: UsageBound,
  ) {}

  see(piece: Piece, nowMs: number, isGone: boolean): void {
    if (piece.usage !== undefined) {
      if (this.judged(piece.usage).isDoubted) this.isDoubted = true;
      this.usage = this.believed(piece.usage);
      this.usageAtMs = nowMs;
    }
    if (piece.finishSeen) this.finishSeen = true;
    if (piece.finishReasons && this.finishReasons.length < CHOICES_MAX)
      this.finishReasons = [...this.finishReasons, ...piece.finishReasons];
    if (piece.context) this.context = piece.context;
    if (piece.isText) this.isText = true;
    if (piece.kind === 'wait' || piece.kind === 'failure') return;
    // What a caller that has gone was never sent is not billed to it.
    if (isGone && piece.usage === undefined && !piece.finishSeen) return;
    this.hasEvents = true;
    if (isGone) return;
    this.outputBytes = piece.deliveredBytes ?? this.outputBytes;
    if (this.outputBytes > 0) this.visibleAtMs ??= nowMs;
  }

  /** The usage as it counts: a side of text that is 0 was not reported. Null while the provider has said nothing. */
  get counted(): UnitUsage | null {
    const { usage, isText, outputBytes } = this;
    return usage === null || !isText ? usage : reportedSides(usage, this.sent, outputBytes);
  }

  /** The usage with both sides of its tokens; null while only a part of it is known. */
  get finalUsage(): UnitUsage | null {
    const { counted } = this;
    if (counted?.prompt_tokens === undefined || counted.completion_tokens === undefined) return null;
    return counted;
  }

  /**
   * True if the output counts differ tenfold from the delivered text. Reasoning that nobody saw is left aside, and of a
   * model that reasons without counting it more than the text says nothing.
   */
  isFarOff(reasons: boolean): boolean {
    const { completion_tokens: told, reasoning_tokens: thought } = this.finalUsage ?? {};
    if (!this.isText || told === undefined) return false;
    const text = estimateTokens(this.outputBytes);
    if (text >= FAR_OFF_MIN && told * FAR_OFF <= text) return true;
    const visible = told - (thought ?? 0);
    return (thought !== undefined || !reasons) && visible >= FAR_OFF_MIN && text * FAR_OFF <= visible;
  }

  /** Returns how long the upstream worked before its first output: reasoning that nobody saw. */
  get hiddenMs(): number {
    const { answeredAtMs, visibleAtMs } = this;
    return answeredAtMs === null || visibleAtMs === null ? 0 : Math.max(0, visibleAtMs - answeredAtMs);
  }

  get traffic(): UnitTraffic {
    return { ...this.sent, outputBytes: this.outputBytes };
  }

  /**
   * Returns the plausible ones of the reported counts, as the caller is shown them. Zeros, which some providers end
   * with, replace nothing.
   */
  believed(reported: UnitUsage): UnitUsage {
    const { usage } = this.judged(reported);
    return this.usage !== null && hasTokens(this.usage) && !hasTokens(usage) ? this.usage : usage;
  }

  /** Judges one object once: the caller is shown, and the record holds, the same. */
  private judged(reported: UnitUsage): PlausibleUsage {
    if (this.last?.reported !== reported)
      this.last = { reported, found: plausibleUsage(reported, this.bound) };
    return this.last.found;
  }
}

/** Returns the counts without sides that are 0 although there is text on them. */
function reportedSides(usage: UnitUsage, { inputBytes }: SentInput, outputBytes: number): UnitUsage {
  if (outputBytes === 0) return usage;
  // Nearly every answer: both sides are there.
  if ((usage.prompt_tokens ?? 0) > 0 && (usage.completion_tokens ?? 0) > 0) return usage;
  const { prompt_tokens: prompt, completion_tokens: completion, ...rest } = usage;
  const hasInput = prompt !== undefined && (prompt > 0 || inputBytes === 0);
  return {
    ...rest,
    ...(hasInput ? { prompt_tokens: prompt } : {}),
    ...(completion !== undefined && completion > 0 ? { completion_tokens: completion } : {}),
  };
}

function hasTokens({ prompt_tokens: prompt = 0, completion_tokens: completion = 0 }: UnitUsage): boolean {
  return prompt > 0 || completion > 0;
}

/** One try of one route while it runs and after. */
export interface AttemptState {
  plannedRoute: PlannedRoute;
  n: number;
  startedAtMs: number;
  startedMs: number;
  firstEventMs: number | null;
  endedMs: number | null;
  /** Status of the provider's last answer, or of an error in its stream; null where none came. */
  httpStatus: number | null;
  errorCode: string | null;
  providerCode: string | null;
  errorMessage: string | null;
  /** Reason why a failure proves that its provider has begun nothing. */
  notBegun: NotBegun | null;
  /** It failed by the provider's fault, not by the request's or the caller's. */
  isFault: boolean;
  meter: Meter;
}

/** Returns the state of an attempt that begins now. */
export function begunAttempt(
  plannedRoute: PlannedRoute,
  n: number,
  meter: Meter,
  clock: Clock,
): AttemptState {
  return {
    plannedRoute,
    n,
    startedAtMs: clock.now(),
    startedMs: clock.monotonic(),
    firstEventMs: null,
    endedMs: null,
    httpStatus: null,
    errorCode: null,
    providerCode: null,
    errorMessage: null,
    notBegun: null,
    isFault: false,
    meter,
  };
}

/** The end of a unit, as the caller saw it. */
export interface UnitEnd {
  outcome: 'served' | 'failed' | 'cancelled' | 'cached';
  httpStatus: number;
  errorCode: string | null;
}
