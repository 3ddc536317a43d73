import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface LoadOptions {
  url: string;
  key: string;
  body: string;
  connections: number;
  seconds: number;
}

export interface LoadFigures {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers that were not 2xx, and socket errors: a figure with any is worth nothing. */
  errors: number;
}

export function hasWrk(): boolean {
  return spawnSync('wrk', ['-v']).error === undefined;
}

function script({ key, body }: LoadOptions): string {
  return `wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["authorization"] = "Bearer ${key}"
wrk.body = ${JSON.stringify(body)}
done = function(summary, latency, requests)
  local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
  io.write(string.format('{"requestsPerSecond":%f,"p50Ms":%f,"p99Ms":%f,"errors":%d}\\n',
    summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1000, latency:percentile(99) / 1000, errors))
end
`;
}

/** One load of so many seconds by wrk. */
export async function load(options: LoadOptions): Promise<LoadFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-wrk-'));
  const file = join(folder, 'load.lua');
  writeFileSync(file, script(options));
  const { url, connections, seconds } = options;
  const wrk = spawn('wrk', [
    '-t',
    '1',
    '-c',
    String(connections),
    '-d',
    `${seconds}s`,
    '-s',
    file,
    `${url}/v1/chat/completions`,
  ]);
  let output = '';
  wrk.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await new Promise<void>((resolve, reject) => {
    wrk.once('error', reject);
    wrk.once('close', () => resolve());
  });
  rmSync(folder, { recursive: true, force: true });
  const line = output.split('\n').find((candidate) => candidate.startsWith('{'));
  if (line === undefined) throw new Error(`wrk printed no figures:\n${output}`);
  return JSON.parse(line) as LoadFigures;
}
