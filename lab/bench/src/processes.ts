import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../../', import.meta.url));
const START_MS = 60_000;
/**
 * The broker of tests runs with the quick compiler alone, which costs a load 20 to 30 µs a request. Java reads this
 * variable after its arguments, so the bench's broker, also that of another checkout, has both compilers.
 */
export const JAVA_OPTIONS = '-XX:TieredStopAtLevel=4 -Xmx512m';

/** A process under measurement: what it wrote when it was ready, its output, its end. */
export interface Started {
  pid: number;
  ready: RegExpExecArray;
  /** Everything it has written so far. */
  output(): string;
  stop(): Promise<void>;
}

export interface StartOptions {
  args: string[];
  env?: Record<string, string>;
  /** False for a program of others: it sees `env` and PATH alone. */
  inheritsEnvironment?: boolean;
  readyWhen: RegExp;
  /** 19 for what must not take the processor from the edge: broker and ledger, as in a real fleet. */
  nice?: number;
}

/** Starts a program of this repository on this Node and waits until it says that it is ready. */
export function start({
  args,
  env,
  inheritsEnvironment = true,
  readyWhen,
  nice = 0,
}: StartOptions): Promise<Started> {
  const inherited = inheritsEnvironment ? process.env : { PATH: process.env['PATH'] };
  const [command, all] =
    nice === 0 ? [process.execPath, args] : ['nice', ['-n', String(nice), process.execPath, ...args]];
  const child = spawn(command, all, {
    cwd: root,
    env: { ...inherited, ...env, _JAVA_OPTIONS: JAVA_OPTIONS },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      child.kill('SIGKILL');
      reject(new Error(`${args.join(' ')} ${why}:\n${output.slice(-4_000)}`));
    };
    const late = setTimeout(() => fail('was not ready in time'), START_MS);
    const onText = (chunk: Buffer): void => {
      output += chunk.toString();
      if (output.length > 1_000_000) output = output.slice(-500_000);
      const ready = readyWhen.exec(output);
      if (!ready) return;
      clearTimeout(late);
      resolve({ pid: child.pid ?? 0, ready, output: () => output, stop: () => stopChild(child) });
    };
    child.stdout?.on('data', onText);
    child.stderr?.on('data', onText);
    child.once('exit', (code) => fail(`ended with ${code}`));
    child.once('error', reject);
  });
}

function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const kill = setTimeout(() => child.kill('SIGKILL'), 20_000);
    child.once('exit', () => {
      clearTimeout(kill);
      resolve();
    });
    child.stdin?.end();
    child.kill('SIGTERM');
  });
}
