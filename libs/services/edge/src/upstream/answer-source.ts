import type {
  AnswerFacts,
  EditedFrame,
  FrameEditor,
  Front,
  ModelEvent,
  StreamDecoder,
  StreamEncoder,
} from '@gateway/dialects';
import { estimateUsage, type SentInput } from '@gateway/money';
import { Meter } from '../inference/meter.js';

/** Adds the estimate where an answer ends without a usage, so that a caller never reads 0 for what is billed. */
export function withEstimatedUsage(events: ModelEvent[], seen: Meter, sent: SentInput): ModelEvent[] {
  if (seen.usage !== null || events.at(-1)?.type !== 'end') return events;
  if (events.some((event) => event.type === 'usage')) return events;
  const { usage } = estimateUsage({ ...sent, outputBytes: seen.outputBytes + outputBytes(events) });
  return [...events.slice(0, -1), { type: 'usage', usage, raw: {} }, { type: 'end' }];
}

function outputBytes(events: ModelEvent[]): number {
  const meter = new Meter();
  for (const event of events) meter.see(event, 0);
  return meter.outputBytes;
}

/** A decoder whose answers always carry a usage, the provider's or the estimate. */
class EstimatingDecoder implements StreamDecoder {
  private readonly meter = new Meter();

  constructor(
    private readonly decoder: StreamDecoder,
    private readonly sent: SentInput,
  ) {}

  push(bytes: Uint8Array): ModelEvent[] {
    return this.completed(this.decoder.push(bytes));
  }

  end(): ModelEvent[] {
    return this.completed(this.decoder.end());
  }

  private completed(events: ModelEvent[]): ModelEvent[] {
    const whole = withEstimatedUsage(events, this.meter, this.sent);
    for (const event of events) this.meter.see(event, 0);
    return whole;
  }
}

/** Upstream bytes of another dialect than the caller's: decoded and encoded event by event. */
class Translator implements FrameEditor {
  constructor(
    private readonly decoder: StreamDecoder,
    private readonly encoder: StreamEncoder,
  ) {}

  push(bytes: Uint8Array): EditedFrame[] {
    return this.encoded(this.decoder.push(bytes));
  }

  end(): EditedFrame[] {
    return this.encoded(this.decoder.end());
  }

  private encoded(events: ModelEvent[]): EditedFrame[] {
    return events.map((event) => ({
      frame: event.type === 'error' ? '' : this.encoder.write(event),
      events: [event],
    }));
  }
}

/** Frames for the caller from bytes of the upstream: edited in the same dialect, translated between two. */
export function frameSource(
  front: Front,
  decoder: StreamDecoder,
  facts: AnswerFacts,
  isSameDialect: boolean,
  sent: SentInput,
): FrameEditor {
  if (isSameDialect) return front.frameEditor(decoder, facts);
  return new Translator(new EstimatingDecoder(decoder, sent), front.streamEncoder(facts));
}
