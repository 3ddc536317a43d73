import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgram } from '@gateway/testing';

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

/** The repository, from the source as from what is built of it. */
export const root = ((): string => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'nx.json'))) folder = dirname(folder);
  return folder;
})();

const START_MS = 120_000;

/** The built all-in-one on a port and data of its own, rich enough that no request is refused for money. */
export async function startTarget(): Promise<Target> {
  const main = join(root, 'dist/apps/all-in-one/src/main.js');
  if (!existsSync(main)) throw new Error(`${main} is missing: run "npm run build" first.`);
  const dataDir = mkdtempSync(join(tmpdir(), 'fuzz-'));
  const program = await startProgram({
    command: process.execPath,
    args: ['--inspect=127.0.0.1:0', '--enable-source-maps', main, '--json'],
    env: {
      HOST: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: '',
      NODE_OPTIONS: '',
      GATEWAY_DATA_DIR: dataDir,
      KEYS_OPENING_CREDIT_USD: '1000000',
    },
    cwd: root,
    readyWhen: /^(\{"base_url".*\})$/m,
    timeoutMs: START_MS,
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
      const late = setTimeout(() => void program.kill(), 60_000);
      program.signal('SIGTERM');
      await program.ended;
      clearTimeout(late);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
