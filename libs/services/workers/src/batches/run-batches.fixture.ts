// Run from the build by batches-killed.drill.spec.ts, which kills it: runs batches, and prints each line that it asks for.
import 'reflect-metadata';
import { InferenceDouble, served } from '@gateway/testing';
import { startWorkersApp } from '../workers.fixture.js';

const [url, folder, key] = process.argv.slice(2);
const inference = new InferenceDouble();
inference.answer = async (call) => {
  process.stdout.write(`unit ${call.request_id} ${call.unit}\n`);
  return served(call);
};
const config = { WORKERS_LEASE_MS: 300, WORKERS_BATCH_LINES: 2 };
const app = await startWorkersApp(url, { inference, folder, config });
// The key is not printed: what a process prints is looked through for secrets.
app.keyOf('key_killed', key);
process.stdout.write(`ready ${app.url}\n`);
