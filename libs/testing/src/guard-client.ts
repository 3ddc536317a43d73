import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { SLOWNESS } from './slowness.js';

const CONNECT_MS = 15_000 * SLOWNESS;
const RETRY_MS = 20;

/** Asks the process that owns the servers of this Jest run (tools/infra). @throws Error with its own sentence. */
export async function askGuard(
  path: string,
  body: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const socketPath = process.env['GATEWAY_INFRA_SOCKET'];
  if (!socketPath) throw new Error('No guard runs: start the tests through the root jest.config.js.');
  // It is started without waiting for it, so the first test file may be faster than its socket.
  for (let waited = 0; ; waited += RETRY_MS) {
    try {
      return await post(socketPath, path, JSON.stringify(body));
    } catch (error) {
      if (!isStarting(error) || waited > CONNECT_MS) throw error;
      await pause(RETRY_MS);
    }
  }
}

/**
 * True if the guard is still starting, so that the same question may be sent again. Looks at the error's shape: an error
 * of the runtime's own comes from another realm than Jest's.
 */
function isStarting(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  return /^(?:ENOENT|ECONNREFUSED|ECONNRESET|EPIPE)$/.test(String(error.code));
}

/** One string member of an answer. */
export function textOf(answer: Record<string, unknown>, name: string): string {
  const value = answer[name];
  if (typeof value !== 'string') throw new Error(`The guard answered without ${name}.`);
  return value;
}

function post(socketPath: string, path: string, body: string): Promise<Record<string, unknown>> {
  return new Promise((done, fail) => {
    // No time-out of ours: a fresh machine installs and downloads first, and Jest bounds the test.
    const call = request({ socketPath, path, method: 'POST' }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('error', fail);
      response.on('end', () => {
        const answer: unknown = JSON.parse(text);
        const members = Object.fromEntries(
          Object.entries(typeof answer === 'object' && answer ? answer : {}),
        );
        if (response.statusCode === 200) done(members);
        else fail(new Error(String(members['error'])));
      });
    });
    call.on('error', fail);
    call.end(body);
  });
}
