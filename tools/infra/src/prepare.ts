// Installs and downloads, once per machine, Chromium and what local servers need, before Jest's own time-outs run.
// A failure ends nothing here: the first test that needs the program fails with the same sentence.
import { ComposeProject } from './compose.js';
import { prepareKafka } from './kafka.js';
import { ensureProgram } from './programs.js';

const environment = process.env;
const needsRedis = !environment['REDIS_URL'];
const needsKafka = !environment['KAFKA_BROKERS'];

if (!environment['CHROMIUM_PATH']) await report(ensureProgram('chromium'));

const compose = new ComposeProject('gw-prepare');
if (await compose.isAvailable()) await report(compose.pull());
else {
  if (needsRedis) await report(ensureProgram('redis-server'));
  if (needsKafka) await report(prepareKafka());
}

async function report(step: Promise<void>): Promise<void> {
  try {
    await step;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
  }
}
