/** Detector of the end of a JSON object that comes in pieces. Each character is looked at once. */
export class ObjectEnd {
  private unseen: string[] = [];
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  private hasEnded = false;

  add(text: string): void {
    if (!this.hasEnded) this.unseen.push(text);
  }

  get isWhole(): boolean {
    for (const text of this.unseen) for (const character of text) this.see(character);
    this.unseen = [];
    return this.hasEnded;
  }

  private see(character: string): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (this.isInString) {
      if (character === '\\') this.isEscaped = true;
      else if (character === '"') this.isInString = false;
    } else if (character === '"') this.isInString = true;
    else if (character === '{') this.depth += 1;
    else if (character === '}') {
      this.depth -= 1;
      if (this.depth === 0) this.hasEnded = true;
    }
  }
}
