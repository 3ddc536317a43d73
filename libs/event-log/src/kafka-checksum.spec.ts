import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const VECTORS = [
  { bytes: Buffer.alloc(32), sum: 0x8a9136aa },
  { bytes: Buffer.alloc(32, 0xff), sum: 0x62a8ab43 },
  { bytes: Buffer.from(Array.from({ length: 32 }, (_, at) => at)), sum: 0x46dd794e },
  { bytes: Buffer.from('1234567890'.repeat(100)), sum: 0xb0a9003b },
];

/** Returns the sums that kafkajs computes in a process of its own: Jest keeps modules where nothing can be replaced. */
function sumsByKafkajs(): unknown {
  const program = `
    import './libs/event-log/src/kafka-checksum.ts';
    import { createRequire } from 'node:module';
    const require = createRequire(process.cwd() + '/package.json');
    const sum = require('kafkajs/src/protocol/recordBatch/crc32C');
    const isNative = sum === require('@node-rs/crc32').crc32c;
    const of = (hex) => sum(Buffer.from(hex, 'hex'));
    console.log(JSON.stringify({ isNative, sums: process.argv.slice(1).map(of) }));`;
  const loader = ['--no-warnings', '--import', './tools/infra/run-ts.mjs', '--input-type=module'];
  const hex = VECTORS.map(({ bytes }) => bytes.toString('hex'));
  return JSON.parse(
    execFileSync(process.execPath, [...loader, '-e', program, ...hex], { cwd: root, encoding: 'utf8' }),
  );
}

describe('the checksum of record batches', () => {
  it('is the native CRC-32C (RFC 3720 B.4), which kafkajs takes over', () => {
    expect(sumsByKafkajs()).toEqual({ isNative: true, sums: VECTORS.map(({ sum }) => sum) });
  });
});
