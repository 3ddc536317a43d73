import { setTimeout as pause } from 'node:timers/promises';
import { startProgram, type Program } from '@gateway/testing';
import type { Reaper } from './reaper.js';
import { root } from './root.js';

const START_MS = 150_000;
const AGAIN_MS = 500;
const END_MS = 30_000;
const FORMER_CHARS = 1_000_000;

/** Something of the fleet that is broken and comes back. */
export interface Breakable {
  kill(): Promise<void>;
  stop(): void;
  /** After `stop`. */
  goOn(): void;
  /** After `kill`: resolves when it is ready again. */
  startAgain(): Promise<void>;
}

/**
 * One service process under a supervisor as a cluster has one: what ends before it was ready is started again. What was
 * ready and ends without having been killed is a finding.
 */
export class ProcessPart implements Breakable {
  private program: Program | null = null;
  private isWanted = false;
  private isOver = false;
  private former = '';

  constructor(
    private readonly at: { name: string; app: string; url: string; env: Record<string, string> },
    private readonly onFinding: (finding: string) => void,
    private readonly reaper: Reaper,
  ) {}

  get pid(): number | null {
    return this.program?.pid ?? null;
  }

  /** Of all its processes. */
  output(): string {
    return this.former + (this.program?.output() ?? '');
  }

  async startAgain(): Promise<void> {
    this.isWanted = true;
    for (const endMs = performance.now() + START_MS; ;) {
      try {
        await this.launch();
        return;
      } catch (failure) {
        if (performance.now() > endMs || !this.isWanted || this.isOver) throw failure;
        await pause(AGAIN_MS);
      }
    }
  }

  async kill(): Promise<void> {
    this.isWanted = false;
    await this.program?.kill();
  }

  stop(): void {
    this.program?.signal('SIGSTOP');
  }

  goOn(): void {
    this.program?.signal('SIGCONT');
  }

  /** SIGTERM at the end of the run. A process that has to be killed then is a finding. */
  async end(): Promise<void> {
    this.isWanted = false;
    this.isOver = true;
    const { program } = this;
    if (program === null) return;
    // A stopped one would not hear of its end.
    program.signal('SIGCONT');
    program.signal('SIGTERM');
    const late = new AbortController();
    const overdue = pause(END_MS, 'overdue', { signal: late.signal }).catch(() => 'ended');
    const ended = await Promise.race([program.ended, overdue]).finally(() => late.abort());
    if (ended !== 'overdue') return;
    this.onFinding(`${this.at.name} did not end within ${END_MS / 1_000} s of SIGTERM`);
    await program.kill();
  }

  private async launch(): Promise<void> {
    if (this.isOver) throw new Error('The run is over.');
    const { name, app, url, env } = this.at;
    const program = await startProgram({
      command: process.execPath,
      args: ['--enable-source-maps', `${root}dist/apps/${app}/src/main.js`],
      env: { ...env, PORT: new URL(url).port },
      cwd: root,
      readyWhen: /"msg":"listening"/,
      timeoutMs: START_MS,
    });
    this.reaper.watch(program.pid);
    void program.ended.then(() => this.reaper.forget(program.pid));
    // Nobody would end one that came up after the end of the run.
    if (this.isOver) return program.kill();
    this.former = this.output().slice(-FORMER_CHARS);
    this.program = program;
    void program.ended.then((how) => {
      if (this.program !== program || !this.isWanted) return;
      this.onFinding(`${name} ended by itself with ${how}: ${program.output().slice(-2_000)}`);
      void this.startAgain().catch(() => undefined);
    });
  }
}
