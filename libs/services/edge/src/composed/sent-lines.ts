/** Returns the sent lines as the state of a batch stores them: a bit for each line, as base64. */
export function sentText(numbers: readonly number[]): string {
  const last = numbers.at(-1) ?? -1;
  const bits = Buffer.alloc(Math.floor(last / 8) + 1);
  for (const number of numbers) bits[number >> 3] |= 1 << (number & 7);
  return bits.toString('base64');
}

/**
 * Lines that a provider was given and has not answered. It answers each once: a second answer, or one to a line that it never
 * had, is none.
 */
export class Unanswered {
  private readonly bits: Buffer;
  left = 0;

  constructor(sent: string) {
    this.bits = Buffer.from(sent, 'base64');
    for (const byte of this.bits) for (let rest = byte; rest > 0; rest >>= 1) this.left += rest & 1;
  }

  get isEmpty(): boolean {
    return this.left === 0;
  }

  /** Returns true if this is the line's answer. */
  take(line: number): boolean {
    const [at, bit] = [line >> 3, 1 << (line & 7)];
    if (at >= this.bits.length || (this.bits[at] & bit) === 0) return false;
    this.bits[at] &= ~bit;
    this.left -= 1;
    return true;
  }
}
