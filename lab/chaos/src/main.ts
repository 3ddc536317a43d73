import 'reflect-metadata';
import { readOptions } from './options.js';

const options = readOptions();
// After the flags: what it loads takes most of a second.
const { chaos } = await import('./chaos.js');
process.exit(
  await chaos(options).catch((failure: unknown) => {
    process.stderr.write(
      `${failure instanceof Error ? (failure.stack ?? failure.message) : String(failure)}\n`,
    );
    return 2;
  }),
);
