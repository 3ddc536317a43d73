import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** One recorded HTTP exchange with a provider. */
export interface Exchange {
  /** Path below the recordings' folder. */
  name: string;
  host: string;
  request: { method: string; path: string; json: Record<string, unknown> | null };
  response: { status: number; headers: Record<string, string>; body: Buffer };
}

interface RecordedFile {
  host: string;
  request: { method: string; path: string; json?: unknown };
  response: { status: number; headers?: Record<string, string>; text?: string; base64?: string };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function* jsonFiles(folder: string): Generator<string> {
  for (const entry of readdirSync(folder).sort()) {
    const path = join(folder, entry);
    if (statSync(path).isDirectory()) {
      if (entry !== 'golden') yield* jsonFiles(path);
    } else if (entry.endsWith('.json')) yield path;
  }
}

/** Every exchange below a folder; golden bodies are no exchanges. */
export function readExchanges(folder: string): Exchange[] {
  return [...jsonFiles(folder)].map((path) => {
    const { host, request, response } = JSON.parse(readFileSync(path, 'utf8')) as RecordedFile;
    const body =
      response.base64 === undefined
        ? Buffer.from(response.text ?? '')
        : Buffer.from(response.base64, 'base64');
    return {
      name: relative(folder, path),
      host,
      request: {
        method: request.method,
        path: request.path,
        json: isObject(request.json) ? request.json : null,
      },
      response: { status: response.status, headers: response.headers ?? {}, body },
    };
  });
}
