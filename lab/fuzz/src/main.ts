import 'reflect-metadata';
import { readFlags } from '@gateway/platform/flags';

const USAGE = `usage: npm run fuzz -- --requests N [--seed S] [--from N] [--only N] [--connections C]
                       [--url U]   a running gateway; FUZZ_EMAIL and FUZZ_PASSWORD log in
`;

const { values } = readFlags(USAGE, {
  requests: { type: 'string', default: '5000' },
  seed: { type: 'string' },
  from: { type: 'string', default: '0' },
  only: { type: 'string' },
  connections: { type: 'string', default: '24' },
  url: { type: 'string' },
});
// After the flags: what it loads takes most of a second.
const { fuzz } = await import('./fuzz.js');
process.exitCode = await fuzz(values);
