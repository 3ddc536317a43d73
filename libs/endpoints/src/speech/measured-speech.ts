import type { ApiError, PriceRecord, UnitUsage } from '@gateway/contracts';
import { spokenTokens, type Answer, type Piece } from '@gateway/dialects';
import { speechRates } from '@gateway/money';
import { PlayedSeconds } from './played-seconds.js';

/**
 * The same answer, with what its price bills and its provider does not say: the seconds of what was heard, and tokens of an
 * answer of audio alone, which are estimated.
 */
export function measuredSpeech(answer: Answer, format: string, price: PriceRecord | undefined): Answer {
  const rates = price === undefined ? null : speechRates(price);
  return rates !== null && (rates.seconds || rates.tokens)
    ? new MeasuredSpeech(answer, format, rates)
    : answer;
}

class MeasuredSpeech implements Answer {
  readonly isWhole: boolean;
  readonly headers: Answer['headers'];
  private readonly played: PlayedSeconds;
  private bytes = 0;

  constructor(
    private readonly answer: Answer,
    private readonly format: string,
    private readonly rates: ReturnType<typeof speechRates>,
  ) {
    ({ isWhole: this.isWhole, headers: this.headers } = answer);
    this.played = new PlayedSeconds(format);
  }

  push(chunk: Uint8Array): Piece[] {
    return this.answer.push(chunk).map((piece) => this.measured(piece));
  }

  end(): Piece[] {
    return this.answer.end().map((piece) => this.measured(piece));
  }

  fail(error: ApiError): string | null {
    return this.answer.fail(error);
  }

  private measured(piece: Piece): Piece {
    const { out, usage } = piece;
    if (typeof out !== 'string') {
      this.bytes += out.byteLength;
      if (this.rates.seconds) this.played.add(out);
    }
    if (usage === undefined) return piece;
    if (piece.kind === 'end') this.played.end();
    return { ...piece, ...this.counted(usage) };
  }

  private counted(usage: UnitUsage): Pick<Piece, 'usage' | 'deliveredBytes'> {
    // Milliseconds are finer than any price.
    const seconds = this.rates.seconds && { audio_seconds: String(Number(this.played.seconds.toFixed(3))) };
    const isSilent = usage.prompt_tokens === 0 && usage.completion_tokens === 0;
    if (!this.rates.tokens || !isSilent) return { usage: { ...usage, ...seconds } };
    const { prompt_tokens: _prompt, completion_tokens: _completion, ...others } = usage;
    const { tokens, deliveredBytes } = spokenTokens(this.format, this.bytes);
    return { usage: { ...others, ...seconds, audio_output_tokens: tokens }, deliveredBytes };
  }
}
