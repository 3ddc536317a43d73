import type { UnitUsage } from '@gateway/contracts';
import type { ModelEvent } from '@gateway/dialects';
import { estimateUsage, type SentInput, type UnitTraffic } from '@gateway/money';

/** What one attempt delivered and reported. Sees every event once. */
export class Meter {
  /** The provider's last word; null while it has said nothing. */
  usage: UnitUsage | null = null;
  /** UTF-8 bytes of text, tool arguments and reasoning. */
  outputBytes = 0;
  finishSeen = false;
  hasEvents = false;
  usageAtMs: number | null = null;

  constructor(private readonly sent: SentInput) {}

  see(event: ModelEvent, nowMs: number): void {
    switch (event.type) {
      // Neither is a piece of an answer: an attempt that brought nothing else costs nobody anything.
      case 'ping':
      case 'error':
        return;
      case 'text':
      case 'refusal':
      case 'reasoning':
      case 'tool_arguments':
        this.outputBytes += Buffer.byteLength(event.text);
        break;
      case 'finish':
        this.finishSeen = true;
        break;
      case 'usage':
        this.usage = event.usage;
        this.usageAtMs = nowMs;
        break;
      default:
        break;
    }
    this.hasEvents = true;
  }

  /** The usage with its output count; null while only a part of it is known. */
  get finalUsage(): UnitUsage | null {
    return this.usage?.completion_tokens === undefined ? null : this.usage;
  }

  get traffic(): UnitTraffic {
    return { ...this.sent, outputBytes: this.outputBytes };
  }

  /** What was reported, completed by the estimate. */
  completed(): UnitUsage {
    return this.finalUsage ?? estimateUsage(this.traffic, this.usage ?? {}).usage;
  }
}
