/** kbit/s by index, of MPEG 1 and of MPEG 2 and 2.5, both layer III. */
const KBPS_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const KBPS_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const RATES = [44_100, 48_000, 32_000];
/** Garbage before the first frame. */
const SEARCH_BYTES = 65_536;

interface Frame {
  at: number;
  rate: number;
  samples: number;
  bytesPerSecond: number;
  isMono: boolean;
  isMpeg1: boolean;
}

/** Seconds of an MP3: by the number of frames that its first frame names, else by its bit rate. null = no frame found. */
export function mp3Seconds(data: Buffer): number | null {
  const start = afterId3(data);
  const frame = firstFrame(data, start);
  if (frame === null) return null;
  const side = frame.isMpeg1 ? (frame.isMono ? 17 : 32) : frame.isMono ? 9 : 17;
  const tag = frame.at + 4 + side;
  const name = data.toString('latin1', tag, tag + 4);
  if ((name === 'Xing' || name === 'Info') && (data.readUInt32BE(tag + 4) & 1) === 1)
    return (data.readUInt32BE(tag + 8) * frame.samples) / frame.rate;
  return (data.length - frame.at) / frame.bytesPerSecond;
}

function afterId3(data: Buffer): number {
  if (data.toString('latin1', 0, 3) !== 'ID3' || data.length < 10) return 0;
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (data[at] & 0x7f), 0);
  return 10 + size;
}

function firstFrame(data: Buffer, start: number): Frame | null {
  const end = Math.min(data.length - 4, start + SEARCH_BYTES);
  for (let at = start; at < end; at += 1) {
    const frame = data[at] === 0xff ? frameAt(data, at) : null;
    if (frame !== null) return frame;
  }
  return null;
}

/** Layer III only: the others are no mp3. */
function frameAt(data: Buffer, at: number): Frame | null {
  const [, second, third, fourth] = data.subarray(at, at + 4);
  const version = (second >> 3) & 3;
  const isLayer3 = ((second >> 1) & 3) === 1;
  const rateIndex = (third >> 2) & 3;
  if ((second & 0xe0) !== 0xe0 || version === 1 || !isLayer3 || rateIndex === 3) return null;
  const isMpeg1 = version === 3;
  const kbps = (isMpeg1 ? KBPS_1 : KBPS_2)[third >> 4];
  if (!kbps) return null;
  const rate = RATES[rateIndex] / (isMpeg1 ? 1 : version === 2 ? 2 : 4);
  const samples = isMpeg1 ? 1_152 : 576;
  return { at, rate, samples, bytesPerSecond: kbps * 125, isMono: fourth >> 6 === 3, isMpeg1 };
}
