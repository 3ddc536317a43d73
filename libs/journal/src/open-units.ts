import { encodeFrame } from './frame.js';
import { type Intent, intentJson, joined } from './records.js';

interface OpenUnit {
  /** Null once it is closed. */
  intent: Intent | null;
  facts: string;
}

/** Units admitted and not finished, with their facts as text: the outcome begins with the same. */
export class OpenUnits {
  private readonly units = new Map<string, OpenUnit>();

  get size(): number {
    return this.units.size;
  }

  /** Answers the frame of the INTENT. Throws RangeError where it is too large, and then the unit is not open. */
  open(intent: Intent): Buffer {
    const facts = JSON.stringify(intent.facts);
    const frame = encodeFrame(intentJson(intent, facts));
    this.units.set(intent.unit, { intent, facts });
    return frame;
  }

  /** The JSON of a value that begins with what the INTENT of the unit says. Throws where the unit is not open. */
  valueOf(unit: string, rest: object): string {
    const open = this.units.get(unit);
    if (open === undefined) throw new Error(`Unit ${unit} is not open.`);
    return joined(open.facts, JSON.stringify(rest));
  }

  close(unit: string): void {
    const open = this.units.get(unit);
    if (open === undefined) return;
    // Tables of a Map that are old and dead would keep what it holds: see TurnoverMap of the contracts.
    open.intent = null;
    open.facts = '';
    this.units.delete(unit);
  }

  *intents(): IterableIterator<Intent> {
    for (const { intent } of this.units.values()) if (intent !== null) yield intent;
  }

  /** Frames for the begin of a new segment. */
  frames(): Buffer[] {
    return [...this.units.values()].flatMap(({ intent, facts }) =>
      intent === null ? [] : [encodeFrame(intentJson(intent, facts))],
    );
  }
}
