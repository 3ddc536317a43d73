import { isDigit, numberEnd, stringEnd } from './scan-text.js';

/** The places of an object's members, or of an array's items, in the text of a JSON value. */
export interface Outline {
  /** Names in the order of the text; null for an array. */
  readonly names: string[] | null;
  readonly starts: number[];
  /** One past the last character of each. */
  readonly ends: number[];
  /** Outlines of those that are objects or arrays. */
  readonly inner: (Outline | null)[];
}

/** Returns the outline of the object or array that is the text. The text was parsed before: it is valid JSON. */
export function outlineOf(text: string): Outline {
  return new Outliner(text).container();
}

class Outliner {
  private at = 0;

  constructor(private readonly text: string) {}

  container(): Outline {
    const isArray = this.skip() === '[';
    const names: string[] | null = isArray ? null : [];
    const outline: Outline = { names, starts: [], ends: [], inner: [] };
    this.at += 1;
    for (;;) {
      const next = this.skip();
      if (next === ',') {
        this.at += 1;
        continue;
      }
      if (next === '}' || next === ']' || next === '') break;
      if (names !== null) names.push(this.name());
      this.value(outline);
    }
    this.at += 1;
    return outline;
  }

  private value({ starts, ends, inner }: Outline): void {
    const { text } = this;
    const first = this.skip();
    starts.push(this.at);
    const isContainer = first === '{' || first === '[';
    inner.push(isContainer ? this.container() : null);
    if (first === '"') this.at = stringEnd(text, this.at);
    else if (first === '-' || isDigit(text.charCodeAt(this.at))) this.at = numberEnd(text, this.at);
    // true, false, null.
    else if (!isContainer) this.at += first === 'f' ? 5 : 4;
    ends.push(this.at);
  }

  /** The name that begins here; leaves its colon behind. */
  private name(): string {
    const start = this.at;
    const end = stringEnd(this.text, start);
    this.at = end;
    this.skip();
    this.at += 1;
    const name = this.text.slice(start + 1, end - 1);
    return name.includes('\\') ? (JSON.parse(`"${name}"`) as string) : name;
  }

  /** Passes over white space. Returns the character behind it, "" at the end. */
  private skip(): string {
    while (this.text.charCodeAt(this.at) <= 0x20) this.at += 1;
    return this.text.charAt(this.at);
  }
}
