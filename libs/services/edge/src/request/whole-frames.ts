/** Frames of an event stream that comes in pieces, cut anywhere. Each character is looked at a few times at most. */
export class WholeFrames {
  /** Parts of a frame whose end has not come: joined once it has. */
  private pieces: string[] = [];
  private last = '';
  /** Characters of the frame whose end has not come. */
  length = 0;

  /** The frames that end in it, without the empty line behind them. */
  push(text: string): string[] {
    if (text === '') return [];
    // The two line feeds of a frame's end may come apart.
    const hasEnd = text.includes('\n\n') || (this.last === '\n' && text.startsWith('\n'));
    this.pieces.push(text);
    this.length += text.length;
    this.last = text.slice(-1);
    if (!hasEnd) return [];
    const frames = this.pieces.join('').split('\n\n');
    const rest = frames.pop() ?? '';
    this.pieces = rest === '' ? [] : [rest];
    this.length = rest.length;
    this.last = rest.slice(-1);
    return frames;
  }
}
