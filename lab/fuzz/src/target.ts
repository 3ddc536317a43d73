import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endProgram, startBuilt } from '@gateway/testing';

export interface Login {
  email: string;
  password: string;
}

/** The gateway under test. */
export interface Target {
  url: string;
  admin: Login;
  /** Null where it was not started by this run: its memory is then read from its metrics alone. */
  inspectorUrl: string | null;
  isAlive(): boolean;
  output(): string;
  stop(): Promise<void>;
}

/** The built all-in-one on a port and data of its own, rich enough that no request is refused for money. */
export async function startTarget(): Promise<Target> {
  const dataDir = mkdtempSync(join(tmpdir(), 'fuzz-'));
  const program = await startBuilt('all-in-one', {
    nodeArgs: ['--inspect=127.0.0.1:0', '--enable-source-maps'],
    args: ['--json'],
    env: {
      HOST: '127.0.0.1',
      PORT: '0',
      GATEWAY_DATA_DIR: dataDir,
      KEYS_OPENING_CREDIT_USD: '1000000',
    },
    readyWhen: /^(\{"base_url".*\})$/m,
  });
  let isOver = false;
  void program.ended.then(() => (isOver = true));
  const { base_url, admin } = JSON.parse(program.ready[1]) as { base_url: string; admin: Login };
  return {
    url: base_url,
    admin,
    inspectorUrl: /Debugger listening on (ws:\S+)/.exec(program.output())?.[1] ?? null,
    isAlive: () => !isOver,
    output: () => program.output(),
    stop: async () => {
      await endProgram(program, 60_000);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
