import type { UnitUsage } from '@gateway/contracts';
import type { Piece, ResultContext } from '@gateway/dialects';
import { estimateUsage, type SentInput, type UnitTraffic } from '@gateway/money';

/** What one attempt delivered and reported. Sees every piece once. */
export class Meter {
  /** The provider's last word; null while it has said nothing. */
  usage: UnitUsage | null = null;
  /** UTF-8 bytes of text, tool arguments and reasoning. */
  outputBytes = 0;
  finishSeen = false;
  hasEvents = false;
  usageAtMs: number | null = null;
  /** Of the result, where the provider reports other than was asked for. */
  context: ResultContext | null = null;

  constructor(private readonly sent: SentInput) {}

  see(piece: Piece, nowMs: number, isGone: boolean): void {
    if (piece.usage !== undefined) {
      this.usage = piece.usage;
      this.usageAtMs = nowMs;
    }
    if (piece.finishSeen) this.finishSeen = true;
    if (piece.context) this.context = piece.context;
    if (piece.kind === 'wait' || piece.kind === 'failure') return;
    // What a caller that has gone was never sent is not billed to it.
    if (isGone && piece.usage === undefined && !piece.finishSeen) return;
    this.hasEvents = true;
    if (!isGone) this.outputBytes = piece.deliveredBytes ?? this.outputBytes;
  }

  /** The usage with both sides of its tokens; null while only a part of it is known. */
  get finalUsage(): UnitUsage | null {
    return this.usage !== null && hasBothSides(this.usage) ? this.usage : null;
  }

  get traffic(): UnitTraffic {
    return { ...this.sent, outputBytes: this.outputBytes };
  }

  /** Counts as they are billed: those reported where they are whole, else completed by the estimate. */
  complete(reported: UnitUsage, deliveredBytes: number): UnitUsage {
    if (hasBothSides(reported)) return reported;
    return estimateUsage({ ...this.sent, outputBytes: deliveredBytes }, reported).usage;
  }
}

function hasBothSides({ prompt_tokens, completion_tokens }: UnitUsage): boolean {
  return prompt_tokens !== undefined && completion_tokens !== undefined;
}
