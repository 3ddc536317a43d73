import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export interface LocalProcessOptions {
  command: string;
  args: string[];
  /** Output goes to this file, because a pipe would block or break the server once its reader is gone. */
  logFile: string;
  /** The server is ready when its log says so. */
  readyWhen: RegExp;
  timeoutMs: number;
}

/** Starts a server and waits for the line that says it is ready. @throws Error with the end of its log. */
export async function startLocalProcess(
  options: LocalProcessOptions,
): Promise<ChildProcess & { pid: number }> {
  const log = openSync(options.logFile, 'w');
  const server = spawn(options.command, options.args, { stdio: ['ignore', log, log] });
  closeSync(log);
  let ended: string | undefined;
  server.once('error', (error) => (ended = error.message));
  server.once('exit', (code, signal) => (ended = `it ended with ${signal ?? code}`));
  for (let waited = 0; waited < options.timeoutMs && ended === undefined; waited += 10) {
    if (hasPid(server) && options.readyWhen.test(readFileSync(options.logFile, 'utf8'))) return server;
    await pause(10);
  }
  server.kill('SIGKILL');
  const lastWords = readFileSync(options.logFile, 'utf8').slice(-2_000);
  throw new Error(
    `${options.command} did not start (${ended ?? `not ready in ${options.timeoutMs} ms`}): ${lastWords}`,
  );
}

/** kill -9 and wait for the end; also right for a process that a test stopped with SIGSTOP or killed itself. */
export async function killAndWait(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
}

function hasPid(server: ChildProcess): server is ChildProcess & { pid: number } {
  return server.pid !== undefined;
}
