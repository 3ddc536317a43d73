import type { PriceLineView } from '@gateway/contracts';
import type { PriceLine } from '@gateway/money';

const UNITS: Record<string, string> = {
  request: 'request',
  image: 'image',
  input_image: 'image',
  video: 'video',
  video_second: 'second',
  input_video_second: 'second',
  audio_second: 'minute',
  character: '1M characters',
  search: '1k searches',
};
const TOKENS = '1M tokens';
const CALLS = '1k calls';
/** Number of decimals where the decimal does not end. */
const DECIMALS = 18;

/** A line of the price formula as a bill shows it. */
export function priceLineView({ class: line, quantity, rate, usd }: PriceLine): PriceLineView {
  const unit = line.startsWith('tool:') ? CALLS : (UNITS[line] ?? TOKENS);
  return { line, quantity: decimal(quantity), unit, rate_usd: decimal(rate), amount_usd: decimal(usd) };
}

/** `n/d` of decimals as one decimal, cut after 18 places. */
function decimal(text: string): string {
  const [n, d] = text.split('/');
  if (d === undefined) return text;
  const places = (value: string): number => value.split('.').at(1)?.length ?? 0;
  const shift = places(d) - places(n) + DECIMALS;
  const whole = (value: string): bigint => BigInt(value.replace('.', ''));
  const digits = ((whole(n) * 10n ** BigInt(shift)) / whole(d)).toString().padStart(DECIMALS + 1, '0');
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`.replace(/\.?0+$/, '');
}
