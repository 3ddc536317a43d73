import type { UnitUsage } from '@gateway/contracts';
import type { Piece, ResultContext } from '@gateway/dialects';
import {
  plausibleUsage,
  type PlausibleUsage,
  type SentInput,
  type UnitTraffic,
  type UsageBound,
} from '@gateway/money';

/** An upstream that goes on saying how it ends is not listened to for ever. */
const CHOICES_MAX = 128;

/** What one attempt delivered and reported. Sees every piece once. */
export class Meter {
  /** The provider's last word; null while it has said nothing. */
  usage: UnitUsage | null = null;
  /** UTF-8 bytes of text, tool arguments and reasoning. */
  outputBytes = 0;
  finishSeen = false;
  /** Why the choices ended, as the provider says; for traces. */
  finishReasons: readonly string[] = [];
  hasEvents = false;
  /** When the upstream's answer began, and when the first of it was delivered. */
  answeredAtMs: number | null = null;
  visibleAtMs: number | null = null;
  usageAtMs: number | null = null;
  /** Of the result, where the provider reports other than was asked for. */
  context: ResultContext | null = null;

  /** A count was more than the route can use: it is not believed, and estimated. */
  isDoubted = false;
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
    if (piece.kind === 'wait' || piece.kind === 'failure') return;
    // What a caller that has gone was never sent is not billed to it.
    if (isGone && piece.usage === undefined && !piece.finishSeen) return;
    this.hasEvents = true;
    if (isGone) return;
    this.outputBytes = piece.deliveredBytes ?? this.outputBytes;
    if (this.outputBytes > 0) this.visibleAtMs ??= nowMs;
  }

  /** The usage with both sides of its tokens; null while only a part of it is known. */
  get finalUsage(): UnitUsage | null {
    return this.usage !== null && hasBothSides(this.usage) ? this.usage : null;
  }

  /** How long the upstream worked before it said anything: reasoning that nobody saw. */
  get hiddenMs(): number {
    const { answeredAtMs, visibleAtMs } = this;
    return answeredAtMs === null || visibleAtMs === null ? 0 : Math.max(0, visibleAtMs - answeredAtMs);
  }

  get traffic(): UnitTraffic {
    return { ...this.sent, outputBytes: this.outputBytes };
  }

  /** Of the reported counts those that can be, as the caller is shown them. Zeros, which some providers end with, replace nothing. */
  believed(reported: UnitUsage): UnitUsage {
    const { usage } = this.judged(reported);
    return this.usage !== null && hasTokens(this.usage) && !hasTokens(usage) ? this.usage : usage;
  }

  /** What the caller is shown and what is recorded come as one object: it is judged once. */
  private judged(reported: UnitUsage): PlausibleUsage {
    if (this.last?.reported !== reported)
      this.last = { reported, found: plausibleUsage(reported, this.bound) };
    return this.last.found;
  }
}

function hasTokens({ prompt_tokens: prompt = 0, completion_tokens: completion = 0 }: UnitUsage): boolean {
  return prompt > 0 || completion > 0;
}

function hasBothSides({ prompt_tokens, completion_tokens }: UnitUsage): boolean {
  return prompt_tokens !== undefined && completion_tokens !== undefined;
}
