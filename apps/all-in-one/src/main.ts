import 'reflect-metadata';
import { runMain } from '@gateway/platform';
import { readSettings } from './all-in-one.config.js';
import { startAllInOne } from './all-in-one.js';
import { greeting, jsonLine } from './greeting.js';

const build = () => {
  const settings = readSettings();
  return async () => {
    const running = await startAllInOne(settings);
    process.stdout.write(process.argv.includes('--json') ? jsonLine(running) : greeting(running));
    return running;
  };
};
await runMain('model-gateway', build, ['--json']);
