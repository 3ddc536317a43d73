// `npm run prices [-- --days 60] [--json]`: prices of the seed whose source was read longer ago. Exit code 1 where there
// are some: what a schedule turns into a reminder.
import 'reflect-metadata';
import { readFlags } from '@gateway/platform/flags';
import { SystemClock } from '@gateway/platform/time';
import { oldPrices, report } from './old-prices.js';

const USAGE = `usage: npm run prices -- [--days 60] [--json]`;

const { values } = readFlags(USAGE, {
  days: { type: 'string', default: '60' },
  json: { type: 'boolean', default: false },
});
const days = Number(values.days);
if (!Number.isInteger(days) || days < 0) {
  process.stderr.write('prices: --days takes a whole number\n');
  process.exitCode = 2;
} else {
  // After the flags: what it loads takes most of a second.
  const { readSeed } = await import('@gateway/catalogue');
  const seed = readSeed({ simulated: false });
  const found = oldPrices(seed, new SystemClock().now(), days);
  const prices = seed.models.reduce((sum, { routes }) => sum + routes.length, 0);
  process.stdout.write(values.json ? `${JSON.stringify(found)}\n` : report(found, { prices, days }));
  process.exitCode = found.length === 0 ? 0 : 1;
}
