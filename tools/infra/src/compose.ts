import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
// eslint-disable-next-line @nx/enforce-module-boundaries -- as in postgres.ts.
import { freePort } from '../../../libs/database/src/postgres/free-port.js';
import { thisMachine } from './programs.js';
import { repositoryRoot } from './repository.js';
import type { RunningService } from './service.js';

const INFO_MS = 2_000;
const UP_MS = 300_000;

/** The three servers of docker-compose.yml under a project name and ports of this run's own. */
export class ComposeProject {
  private readonly name: string;
  private available: Promise<boolean> | undefined;
  private readonly environment: Record<string, string> = {};
  private isUsed = false;

  constructor(name: string) {
    this.name = name;
  }

  /** Returns true if a Docker engine answers within 2 s and knows Compose; asked once. */
  isAvailable(): Promise<boolean> {
    this.available ??= this.ask();
    return this.available;
  }

  async start(kind: 'postgres' | 'redis' | 'kafka'): Promise<RunningService> {
    const port = await freePort();
    this.environment[`${kind.toUpperCase()}_PORT`] = String(port);
    this.isUsed = true;
    await this.compose(['up', '--detach', '--wait', '--no-deps', kind], UP_MS);
    // The containers end together in down(), which is quicker than one by one.
    return { address: addressOf(kind, port), stop: () => Promise.resolve() };
  }

  /** Fetches the images that this machine does not have yet. */
  async pull(): Promise<void> {
    await this.compose(['pull', '--quiet', '--policy', 'missing', 'postgres', 'redis', 'kafka'], UP_MS);
  }

  async down(): Promise<void> {
    if (this.isUsed) await this.compose(['down', '--volumes', '--timeout', '0'], 60_000);
  }

  private async ask(): Promise<boolean> {
    if (!thisMachine.has('docker')) return false;
    try {
      const options = { timeout: INFO_MS, killSignal: 'SIGKILL', env: process.env } as const;
      const { stdout } = await promisify(execFile)(
        'docker',
        ['info', '--format', '{{.ServerVersion}}'],
        options,
      );
      if (stdout.trim() === '') return false;
      await promisify(execFile)('docker', ['compose', 'version'], options);
      return true;
    } catch {
      return false; // No engine: local processes are the next choice.
    }
  }

  private async compose(args: string[], timeoutMs: number): Promise<void> {
    const file = join(repositoryRoot, 'docker-compose.yml');
    const command = ['compose', '--project-name', this.name, '--file', file, ...args];
    await promisify(execFile)('docker', command, {
      timeout: timeoutMs,
      env: { ...process.env, ...this.environment },
    });
  }
}

/** The password is the one of docker-compose.yml, whose ports are open on 127.0.0.1 only. */
function addressOf(kind: 'postgres' | 'redis' | 'kafka', port: number): string {
  switch (kind) {
    case 'postgres':
      return `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`;
    case 'redis':
      return `redis://127.0.0.1:${port}`;
    case 'kafka':
      return `127.0.0.1:${port}`;
  }
}
