import type sharp from 'sharp';
import { AccountTurns, type Asking } from './account-turns.js';

export type Sharp = typeof sharp;

/** Pixels of an image that is decoded here: 100 MB as RGBA. */
export const IMAGING_PIXELS_MAX = 25_000_000;
/** Images at work at once; what waits holds its bytes only. */
const AT_ONCE = 2;
/** Lightest grey that is not white; this value and above are white. */
const WHITE = 128;

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** The way in which a mask marks what is repainted, by its reader. */
export type MaskForm = 'white' | 'black' | 'transparent';

/**
 * Work on pixels that is done here rather than by a provider: masks between conventions, the box that a mask keeps, and
 * an answer laid over the original. All of it runs in threads of the library. Rejects with the library's error where an
 * image cannot be decoded.
 */
export class Imaging {
  /** `asking`: for whom this one works; `for` makes one for each request, and all share their turns. */
  constructor(
    private readonly sharp: Sharp,
    private readonly turns = new AccountTurns(AT_ONCE),
    private readonly asking: Asking = { accountId: '', signal: new AbortController().signal },
  ) {}

  /** The same library for one account. Waiting work rejects with the signal's reason once that is aborted. */
  for(asking: Asking): Imaging {
    return new Imaging(this.sharp, this.turns, asking);
  }

  /** True where the account has so much work waiting that it should begin nothing new. */
  get isFull(): boolean {
    return this.turns.isFull(this.asking.accountId);
  }

  /**
   * A mask of two values in which white is repainted, made of one that a caller sent. `isHole`: where it has transparent
   * pixels, they are what is repainted, as OpenAI's clients write masks; otherwise what is transparent counts as black.
   */
  mask(mask: Uint8Array, isHole: boolean): Promise<Buffer> {
    return this.turn(async () => {
      const source = this.open(mask);
      const { hasAlpha } = await source.metadata();
      const isHoled = isHole && hasAlpha && !(await source.clone().stats()).isOpaque;
      const grey = isHoled
        ? source.extractChannel('alpha').negate()
        : source.flatten({ background: '#000' }).toColourspace('b-w').extractChannel(0);
      return grey.threshold(WHITE).toColourspace('b-w').png().toBuffer();
    });
  }

  /** True where a white mask has a white pixel: something is repainted. */
  hasWhite(white: Uint8Array): Promise<boolean> {
    return this.turn(async () => {
      const { channels } = await this.open(white).extractChannel(0).stats();
      return channels[0].max >= WHITE;
    });
  }

  /** A white mask in the convention of who reads it. */
  maskAs(white: Uint8Array, form: MaskForm): Promise<Buffer> {
    return this.turn(async () => {
      const mask = this.open(white).extractChannel(0);
      if (form === 'white') return mask.png().toBuffer();
      if (form === 'black') return mask.negate().png().toBuffer();
      const { data, info } = await mask.negate().raw().toBuffer({ resolveWithObject: true });
      const { width, height } = info;
      return this.sharp({ create: { width, height, channels: 3, background: '#000' } })
        .joinChannel(data, { raw: { width, height, channels: 1 } })
        .png()
        .toBuffer();
    });
  }

  /** The smallest box around what a white mask keeps; null where it keeps nothing. */
  keptBox(white: Uint8Array): Promise<Box | null> {
    return this.turn(async () => {
      const { data, info } = await this.open(white)
        .extractChannel(0)
        .raw()
        .toBuffer({ resolveWithObject: true });
      return boxOfBlack(data, info.width, info.height);
    });
  }

  /** Rejects where it cannot be decoded to its last pixel. */
  async check(image: Uint8Array): Promise<void> {
    await this.turn(() => this.open(image).stats());
  }

  crop(image: Uint8Array, box: Box): Promise<Buffer> {
    return this.turn(() => this.open(image).extract(box).png().toBuffer());
  }

  resize(image: Uint8Array, width: number, height: number): Promise<Buffer> {
    return this.turn(() => this.open(image).resize(width, height, { fit: 'fill' }).png().toBuffer());
  }

  /**
   * The answer where the mask is white, the original everywhere else, as PNG of the original's size. `feather` is over
   * how many pixels beyond the mask's edge one fades into the other; at 0 no pixel outside the mask changes.
   */
  layOver(original: Uint8Array, answer: Uint8Array, white: Uint8Array, feather: number): Promise<Buffer> {
    return this.turn(async () => {
      const base = this.open(original).toColourspace('srgb').ensureAlpha();
      const { width, height } = await base.metadata();
      const painted = await this.open(answer)
        .resize(width, height, { fit: 'fill' })
        .toColourspace('srgb')
        .removeAlpha()
        .raw()
        .toBuffer();
      const weights = await this.weights(white, feather);
      const layer = await this.sharp(painted, { raw: { width, height, channels: 3 } })
        .joinChannel(weights, { raw: { width, height, channels: 1 } })
        .png({ compressionLevel: 1 })
        .toBuffer();
      return base
        .composite([{ input: layer }])
        .png()
        .toBuffer();
    });
  }

  /** 255 inside the mask, falling to 0 at `feather` pixels beyond its edge. */
  private async weights(white: Uint8Array, feather: number): Promise<Buffer> {
    const mask = this.open(white).extractChannel(0);
    if (feather === 0) return mask.raw().toBuffer();
    // Three sigmas of the blur are the feather. It is half at the edge: doubled, it begins there at full.
    const soft = await mask
      .clone()
      .blur(Math.max(0.3, feather / 3))
      .linear(2, 0)
      .toColourspace('b-w')
      .png({ compressionLevel: 1 })
      .toBuffer();
    // The mask itself is kept whole, its corners too.
    return mask.boolean(soft, 'or').extractChannel(0).raw().toBuffer();
  }

  private open(bytes: Uint8Array): ReturnType<Sharp> {
    return this.sharp(bytes, { limitInputPixels: IMAGING_PIXELS_MAX, failOn: 'error', pages: 1 });
  }

  private turn<T>(work: () => Promise<T>): Promise<T> {
    return this.turns.take(this.asking, work);
  }
}

function boxOfBlack(grey: Buffer, width: number, height: number): Box | null {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0; y < height; y += 1) {
    const row = grey.subarray(y * width, (y + 1) * width);
    const first = row.indexOf(0);
    if (first < 0) continue;
    left = Math.min(left, first);
    right = Math.max(right, row.lastIndexOf(0));
    top = Math.min(top, y);
    bottom = y;
  }
  return right < 0 ? null : { left, top, width: right - left + 1, height: bottom - top + 1 };
}
