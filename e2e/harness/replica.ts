import type { Program } from '@gateway/testing';
import { endProgram, freePorts, startBuilt, untilReady } from './built-program.js';
import type { Fleet, FleetApp } from './fleet.js';

export interface Replica {
  url: string;
  pid(): number;
  output(): string;
  /** SIGTERM. @returns what it ended with. */
  end(graceMs?: number): Promise<number | string>;
  kill(): Promise<void>;
  /** Starts it at its old address and waits until it is ready. */
  start(): Promise<void>;
}

/** One more process of a service of the fleet; of an edge with a journal of its own in the fleet's folder. */
export async function startReplica(
  fleet: Pick<Fleet, 'environment'>,
  app: FleetApp,
  env: Record<string, string> = {},
): Promise<Replica> {
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  let program: Program;
  const start = async (): Promise<void> => {
    const all = { ...fleet.environment, ...env, PORT: String(port) };
    program = await startBuilt(app, { env: all, readyWhen: /"msg":"listening"/ });
    await untilReady(url);
  };
  await start();
  return {
    url,
    start,
    pid: () => program.pid,
    output: () => program.output(),
    end: (graceMs) => endProgram(program, graceMs),
    kill: () => program.kill(),
  };
}
