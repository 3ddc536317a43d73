/**
 * Lines of a file that arrives in pieces; empty ones are passed over. One of more than `bytesMax` is a RangeError, or is
 * passed over as well; no more than that is held of it.
 */
export async function* textLines(
  content: AsyncIterable<Uint8Array>,
  bytesMax: number,
  whereLonger: 'throws' | 'passed over' = 'throws',
): AsyncGenerator<string> {
  let held: Buffer[] = [];
  let size = 0;
  const take = (piece: Buffer): void => {
    size += piece.length;
    if (size <= bytesMax) held.push(piece);
    else if (whereLonger === 'throws') throw new RangeError(`A line is longer than ${bytesMax} bytes.`);
    else held = [];
  };
  const line = (): string => {
    const text = size > bytesMax ? '' : Buffer.concat(held).toString('utf8').trim();
    [held, size] = [[], 0];
    return text;
  };
  for await (const bytes of content) {
    let rest = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      take(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      const text = line();
      if (text !== '') yield text;
    }
    // A copy: the piece may be a part of a larger buffer, which would stay.
    if (rest.length > 0) take(Buffer.from(rest));
  }
  const last = line();
  if (last !== '') yield last;
}
