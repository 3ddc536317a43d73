import 'reflect-metadata';
import { runMain } from '@gateway/platform';
import { readSettings } from './all-in-one.config.js';
import { startAllInOne } from './all-in-one.js';
import { greeting, jsonLine } from './greeting.js';

await runMain('model-gateway', () => {
  const settings = readSettings();
  return async () => {
    const running = await startAllInOne(settings);
    process.stdout.write(process.argv.includes('--json') ? jsonLine(running) : greeting(running));
    return running;
  };
});
