import { readFile, stat } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { Agent, EnvHttpProxyAgent, request, type Dispatcher } from 'undici';
import { FeedRefused } from '../signed/envelope.js';

/** Document of at most this size. */
const FEED_BYTES_MAX = 32 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
const REDIRECTS_MAX = 3;

/** Failure to read the address in time; the message names no credential. */
export class FeedUnreadable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FeedUnreadable';
  }
}

interface FeedAddress {
  url: string;
  /** Text of certificates beside Node's own; null for none. */
  ca: string | null;
  /** HTTPS_PROXY with NO_PROXY; null for none. */
  proxy: { url: string; except: string } | null;
  timeoutMs?: number;
}

/** Returns the bytes at the address. Throws FeedUnreadable, or FeedRefused where there are too many. */
export async function readFeed({ url, ca, proxy, timeoutMs = TIMEOUT_MS }: FeedAddress): Promise<Buffer> {
  const signal = AbortSignal.timeout(timeoutMs);
  const address = new URL(url);
  try {
    if (address.protocol === 'file:') return await ofFile(fileURLToPath(address), signal);
    const connect = ca === null ? {} : { ca: [...rootCertificates, ca] };
    const dispatcher =
      proxy === null
        ? new Agent({ connect })
        : new EnvHttpProxyAgent({
            httpProxy: '',
            httpsProxy: proxy.url,
            noProxy: proxy.except,
            requestTls: connect,
            connect,
          });
    try {
      return await ofServer(address, { dispatcher, signal });
    } finally {
      await dispatcher.destroy();
    }
  } catch (failure) {
    if (failure instanceof FeedRefused || failure instanceof FeedUnreadable) throw failure;
    const reason = signal.aborted ? `not within ${timeoutMs / 1_000} s` : codeOf(failure);
    throw new FeedUnreadable(`The feed could not be read: ${reason}.`, { cause: failure });
  }
}

async function ofFile(path: string, signal: AbortSignal): Promise<Buffer> {
  const found = await stat(path);
  // A device or a pipe has no size, and may never end.
  if (!found.isFile()) throw new FeedUnreadable('The feed could not be read: it is not a file.');
  if (found.size > FEED_BYTES_MAX) throw tooLarge();
  const bytes = await readFile(path, { signal });
  if (bytes.length > FEED_BYTES_MAX) throw tooLarge();
  return bytes;
}

async function ofServer(
  first: URL,
  options: { dispatcher: Dispatcher; signal: AbortSignal },
): Promise<Buffer> {
  let address = first;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const { statusCode, headers, body } = await request(address, { ...options, method: 'GET' });
    const { location } = headers;
    if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
      await body.dump();
      const next = new URL(location, address);
      if (next.origin !== first.origin) throw new FeedUnreadable('The feed leads to another host.');
      address = next;
      continue;
    }
    if (statusCode !== 200) {
      await body.dump();
      throw new FeedUnreadable(`The feed could not be read: it was answered ${statusCode}.`);
    }
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > FEED_BYTES_MAX) throw tooLarge();
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
  throw new FeedUnreadable('The feed leads on and on.');
}

function tooLarge(): FeedRefused {
  return new FeedRefused('envelope', `The document is larger than ${FEED_BYTES_MAX} bytes.`);
}

function codeOf(failure: unknown): string {
  const code: unknown = typeof failure === 'object' && failure !== null ? Reflect.get(failure, 'code') : null;
  return typeof code === 'string' ? code : 'it was not reached';
}
