import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Clock } from '@gateway/contracts';
import type { Mutant } from './mutants-of.js';

/** The result of a mutant. `by`: the test that failed, or why it was none. */
export interface Outcome {
  isKilled: boolean;
  by: string;
}

interface Options {
  root: string;
  specs: readonly string[];
  /** Time of one mutant; an endless loop counts as noticed. */
  limitMs: number;
  clock: Clock;
}

/** Jest does not give back the memory of its modules. */
const MUTANTS_A_WORKER = 15;

/** Runs mutants in a warm Jest, which is another process, so that one that never ends can be ended. */
export class MutantRunner {
  private worker: ChildProcess | null = null;
  private ran = 0;

  constructor(private readonly options: Options) {}

  /** @param mutant null: every spec, on the code as it is. */
  async run(mutant: Mutant | null): Promise<Outcome> {
    if (this.ran % MUTANTS_A_WORKER === 0) await this.end();
    this.worker ??= await this.start();
    this.ran += 1;
    const { worker, ran: id } = this;
    const { clock, limitMs } = this.options;
    const outcome = await new Promise<Outcome>((resolve) => {
      const timer = clock.setTimer(mutant === null ? 20 * limitMs : limitMs, () =>
        resolve({ isKilled: true, by: 'time limit' }),
      );
      worker.once('message', ({ failed, tests }: { failed: string | null; tests: number }) => {
        timer.cancel();
        resolve({ isKilled: failed !== null, by: failed ?? `${tests} tests passed` });
      });
      worker.once('exit', () => {
        timer.cancel();
        resolve({ isKilled: true, by: 'the process ended' });
      });
      worker.send({ id, mutant, testTimeout: Math.min(limitMs, 30_000) });
    });
    worker.removeAllListeners();
    if (outcome.by === 'time limit' || worker.exitCode !== null) await this.end();
    return outcome;
  }

  async end(): Promise<void> {
    const { worker } = this;
    this.worker = null;
    if (worker === null || worker.exitCode !== null || worker.signalCode !== null) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.kill('SIGKILL');
    await ended;
  }

  private async start(): Promise<ChildProcess> {
    const { root, specs } = this.options;
    const worker = fork(join(root, 'lab/mutants/src/worker.mjs'), [], {
      cwd: root,
      execArgv: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
      env: { ...process.env, MUTANT: '', MUTANT_SPECS: JSON.stringify(specs) },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    await new Promise((resolve) => worker.once('message', resolve));
    return worker;
  }
}
