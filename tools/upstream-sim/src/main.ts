import { parseArgs } from 'node:util';
import { startUpstreamSim } from '@gateway/simulator';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4010' },
    host: { type: 'string', default: '127.0.0.1' },
    record: { type: 'string', default: '1000' },
    fast: { type: 'boolean', default: false },
  },
});

const sim = await startUpstreamSim({
  port: Number(values.port),
  host: values.host,
  record: values.fast ? 0 : Number(values.record),
  scanLargeBodies: values.fast,
  now: () => Date.now(),
});
process.stdout.write(`${sim.url}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sim.close());
