import { setTimeout as pause } from 'node:timers/promises';
import type { Program } from '../child-program.js';
import { endProgram, startBuilt, untilReady } from './built-program.js';
import type { FleetApp } from './fleet-environment.js';
import type { Reaper } from './reaper.js';
import { SLOWNESS } from '../slowness.js';

const START_MS = 60_000 * SLOWNESS;
const AGAIN_MS = 500;
const END_MS = 30_000 * SLOWNESS;
const FORMER_CHARS = 1_000_000;

/** Something of a fleet that is broken and comes back: a process of a service, a server. */
export interface Breakable {
  kill(): Promise<void> | void;
  freeze(): void;
  /** Continues after `freeze`. */
  thaw(): void;
  /** Kills it where it still runs and starts it again; resolves when it is ready. */
  restart(): Promise<void>;
}

export interface ServiceProcessOptions {
  name: string;
  app: FleetApp;
  url: string;
  env: Record<string, string>;
  nodeArgs?: string[];
  /** Checkout whose build it runs; default: this repository. */
  folder?: string;
  through?: readonly string[];
  reaper: Reaper;
  /**
   * Reports the end of a process, which is started again, as by a supervisor of a cluster. One that ends before it was
   * ready is started again without a report.
   */
  onFinding?: (finding: string) => void;
}

/** One process of a service at one address, over as many starts as a test wants. */
export class ServiceProcess implements Breakable {
  readonly name: string;
  readonly app: FleetApp;
  readonly url: string;
  private program: Program | null = null;
  private former = '';
  private lastEnd: number | string = 0;
  /** Each start, kill and end begins a turn: what started in an earlier one is not wanted any more. */
  private turn = 0;

  constructor(private readonly options: ServiceProcessOptions) {
    this.name = options.name;
    this.app = options.app;
    this.url = options.url;
  }

  /** Null while it does not run. */
  get pid(): number | null {
    return this.program?.pid ?? null;
  }

  /** Returns the output of all its processes; the oldest part is dropped. */
  output(): string {
    return this.former + (this.program?.output() ?? '');
  }

  /** Variables of its later starts, over those that it had; an empty one takes one away. */
  change(env: Readonly<Record<string, string>>): void {
    Object.assign(this.options.env, env);
  }

  /** Runs the build of another checkout from its next start on. */
  moveTo(folder: string): void {
    this.options.folder = folder;
  }

  /** Starts it, also after its end; resolves when it listens. */
  async start(): Promise<void> {
    const turn = (this.turn += 1);
    for (const endMs = performance.now() + START_MS; ;) {
      try {
        await this.launch(turn);
        return;
      } catch (failure) {
        const isSupervised = this.options.onFinding !== undefined;
        if (!isSupervised || turn !== this.turn || performance.now() > endMs) throw failure;
        await pause(AGAIN_MS);
      }
    }
  }

  untilReady(): Promise<void> {
    return untilReady(this.url);
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
    await this.untilReady();
  }

  async kill(): Promise<void> {
    this.turn += 1;
    await this.program?.kill();
  }

  freeze(): void {
    this.program?.signal('SIGSTOP');
  }

  thaw(): void {
    this.program?.signal('SIGCONT');
  }

  /** Leaves its log without a reader from now on. */
  closeOutput(): void {
    this.program?.closeOutput();
  }

  /** SIGTERM; kills it when the time is over. @returns what it ended with, now or before. */
  async end(graceMs = END_MS): Promise<number | string> {
    this.turn += 1;
    const { program } = this;
    if (program === null) return this.lastEnd;
    this.thaw(); // A stopped one would not hear of its end.
    const ended = await endProgram(program, graceMs);
    if (ended === 'SIGKILL')
      this.options.onFinding?.(`${this.name} did not end within ${graceMs / 1_000} s of SIGTERM`);
    return ended;
  }

  private async launch(turn: number): Promise<void> {
    const { name, app, url, env, nodeArgs, folder, through, reaper, onFinding } = this.options;
    const { port } = new URL(url);
    const all = { ...env, PORT: port, METRICS_PORT: port };
    const readyWhen = /"msg":"listening"/;
    const program = await startBuilt(app, { env: all, nodeArgs, folder, through, readyWhen });
    reaper.watch(program.pid);
    void program.ended.then(() => reaper.forget(program.pid));
    if (turn !== this.turn) {
      await program.kill();
      throw new Error(`${name} was ended while it started.`);
    }
    this.program = program;
    void program.ended.then((how) => {
      this.former = this.output().slice(-FORMER_CHARS);
      this.program = null;
      this.lastEnd = how;
      if (onFinding === undefined || turn !== this.turn) return;
      onFinding(`${name} ended by itself with ${how}: ${program.output().slice(-2_000)}`);
      void this.start().catch(() => undefined);
    });
  }
}
