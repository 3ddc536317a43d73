import type {
  AnswerFacts,
  EditedFrame,
  FrameEditor,
  Front,
  ModelEvent,
  StreamDecoder,
  StreamEncoder,
} from '@gateway/dialects';

type See = (event: ModelEvent) => void;

/** Upstream bytes of another dialect than the caller's: decoded and encoded event by event. */
class Translator implements FrameEditor {
  constructor(
    private readonly decoder: StreamDecoder,
    private readonly encoder: StreamEncoder,
    private readonly see: See,
  ) {}

  push(bytes: Uint8Array): EditedFrame[] {
    return this.encoded(this.decoder.push(bytes));
  }

  end(): EditedFrame[] {
    return this.encoded(this.decoder.end());
  }

  private encoded(events: ModelEvent[]): EditedFrame[] {
    return events.map((event) => {
      this.see(event);
      return { frame: event.type === 'error' ? '' : this.encoder.write(event), events: [event] };
    });
  }
}

/**
 * Frames for the caller from bytes of the upstream: edited in the same dialect, translated between two. Every event is
 * seen before its frame is made, so that an estimated usage in the answer counts what the unit is billed for.
 */
export function frameSource(
  front: Front,
  decoder: StreamDecoder,
  facts: AnswerFacts,
  isSameDialect: boolean,
  see: See,
): FrameEditor {
  if (isSameDialect) return front.frameEditor(decoder, facts, see);
  return new Translator(decoder, front.streamEncoder(facts), see);
}
