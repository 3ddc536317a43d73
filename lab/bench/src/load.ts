import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface LoadOptions {
  url: string;
  /** One credential, or several that are used in turn. */
  keys: readonly string[];
  headers?: Readonly<Record<string, string>>;
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

const LONGEST_MS = 15_000;

/** wrk leaves more of the processor to those that are measured than a generator in Node does. */
export function hasWrk(): boolean {
  return spawnSync('wrk', ['-v']).error === undefined;
}

let isWrkThere: boolean | null = null;

/** One load of so many seconds on the chat endpoint. */
export async function load(options: LoadOptions): Promise<LoadFigures> {
  isWrkThere ??= hasWrk();
  const folder = mkdtempSync(join(tmpdir(), 'bench-load-'));
  try {
    const [command, args] = isWrkThere ? wrkCommand(folder, options) : generatorCommand(folder, options);
    const output = await outputOf(command, args, options.seconds * 1_000 + LONGEST_MS);
    const line = output.split('\n').find((candidate) => candidate.startsWith('{'));
    if (line === undefined) throw new Error(`${command} printed no figures:\n${output}`);
    const figures = JSON.parse(line) as LoadFigures;
    if (figures.requestsPerSecond === 0)
      throw new Error(`no request was answered within ${options.seconds} s`);
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function outputOf(command: string, args: string[], longestMs: number): Promise<string> {
  const program = spawn(command, args, { timeout: longestMs, killSignal: 'SIGKILL' });
  let output = '';
  const keep = (chunk: Buffer): void => {
    if (output.length < 100_000) output += chunk.toString();
  };
  program.stdout.on('data', keep);
  program.stderr.on('data', keep);
  return new Promise((resolve, reject) => {
    program.once('error', reject);
    program.once('close', () => resolve(output));
  });
}

function wrkCommand(folder: string, options: LoadOptions): [string, string[]] {
  const file = join(folder, 'load.lua');
  const keysFile = join(folder, 'keys.txt');
  writeFileSync(keysFile, options.keys.join('\n'));
  writeFileSync(file, wrkScript(options, keysFile));
  const { connections, seconds, url } = options;
  const args = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '10s', '-s', file];
  return ['wrk', [...args, `${url}/v1/chat/completions`]];
}

/** A request is one string made once; with several keys, one string for each key, made at its first use. */
function wrkScript({ body, keys, headers = {} }: LoadOptions, keysFile: string): string {
  const more = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}\n`,
  );
  const several = `local keys, made, at = {}, {}, 0
for line in io.lines(${JSON.stringify(keysFile)}) do keys[#keys + 1] = line end
request = function()
  at = at % #keys + 1
  if made[at] == nil then
    wrk.headers["authorization"] = "Bearer " .. keys[at]
    made[at] = wrk.format()
  end
  return made[at]
end`;
  return `wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["authorization"] = "Bearer ${keys[0]}"
${more.join('')}wrk.body = ${JSON.stringify(body)}
${keys.length > 1 ? several : ''}
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('{"requestsPerSecond":%f,"p50Ms":%f,"p99Ms":%f,"errors":%d}\\n',
    summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    e.connect + e.read + e.write + e.status + e.timeout))
end
`;
}

function generatorCommand(folder: string, options: LoadOptions): [string, string[]] {
  const file = join(folder, 'load.json');
  writeFileSync(file, JSON.stringify(options));
  return [process.execPath, [fileURLToPath(new URL('./generator.js', import.meta.url)), file]];
}
