import { type Intent, intentJson } from './records.js';

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

  open(intent: Intent, facts: string): void {
    this.units.set(intent.unit, { intent, facts });
  }

  /** Returns the INTENT of the unit, and the JSON of its facts. Throws where the unit is not open. */
  of(unit: string): { intent: Intent; text: string } {
    const open = this.units.get(unit);
    if (open?.intent == null) throw new Error(`Unit ${unit} is not open.`);
    return { intent: open.intent, text: open.facts };
  }

  close(unit: string): void {
    const open = this.units.get(unit);
    if (open === undefined) return;
    // Tables of a Map that are old and dead would keep what it holds: see TurnoverMap of the contracts.
    open.intent = null;
    open.facts = '';
    this.units.delete(unit);
  }

  /** JSON of each INTENT, for the begin of a new segment. */
  texts(): string[] {
    return [...this.units.values()].flatMap(({ intent, facts }) =>
      intent === null ? [] : [intentJson(intent, facts).join('')],
    );
  }
}
