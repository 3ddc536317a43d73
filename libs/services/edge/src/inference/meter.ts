import type { UnitUsage } from '@gateway/contracts';
import type { ModelEvent } from '@gateway/dialects';

/** What one attempt delivered and reported. Sees every event once. */
export class Meter {
  /** The provider's last word; null while it has said nothing. */
  usage: UnitUsage | null = null;
  /** UTF-8 bytes of text, tool arguments and reasoning. */
  outputBytes = 0;
  finishSeen = false;
  hasEvents = false;
  usageAtMs: number | null = null;

  see(event: ModelEvent, nowMs: number): void {
    this.hasEvents = true;
    switch (event.type) {
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
  }
}
