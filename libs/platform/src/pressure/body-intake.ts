import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable, Transform } from 'node:stream';
import type { Random } from '@gateway/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { noEndpoint } from '../errors/to-api-error.js';
import { unavailable } from '../errors/unavailable.js';
import { dropBody, tooLarge } from '../request/oversize.js';
import '../request/gateway-request.js';
import type { Pressure } from './pressure.js';

/** Smaller bodies are neither counted nor asked about before they are read: they are in memory with their headers. */
export const SMALL_BYTES = 16_384;
/** Time without progress for a body whose sender has shown no valid credential. */
const UNAUTHENTICATED_STALL_MS = 10_000;

export interface BodyIntakeDeps {
  /** Throws where the caller may not call the handler of Nest at the path. */
  authenticate: (request: FastifyRequest) => Promise<unknown>;
  /** Callers of the route: null = there is no such route. */
  callersOf: (request: FastifyRequest) => 'everybody' | 'some' | null;
  pressure: () => Pressure;
  random: Random;
}

/**
 * Decides whose body is read into memory. Of a handler of Nest, whose guard runs after the body, a large body is read for
 * a caller that its rule lets in; routes without Nest are guarded before their body (raw-routes.ts). What strangers send
 * to public paths has a small budget together.
 */
export function registerBodyIntake(instance: FastifyInstance, deps: BodyIntakeDeps): void {
  instance.addHook('preParsing', async (request, reply) => {
    if (request.rejection !== null) return refuseUnread(request, request.rejection);
    // It is guarded by itself, or passed on as a stream.
    if (request.routeOptions.config.access !== undefined || !isLarge(request)) return;
    const callers = deps.callersOf(request);
    if (callers === null) return refuseUnread(request, noEndpoint());
    if (callers === 'everybody') return readUnauthenticated(request, deps);
    try {
      await deps.authenticate(request);
    } catch (failure) {
      return refuseUnread(request, failure);
    }
    return countBody(request, reply.raw, deps.pressure());
  });
}

/**
 * Throws the rejection before the body was read. Of a chunked body the size is known only at its end, and its rejection comes
 * first: it is read and dropped.
 */
export async function refuseUnread(request: FastifyRequest, rejection: unknown): Promise<never> {
  if (request.headers['transfer-encoding'] !== undefined) {
    limitStall(request);
    if (await dropBody(request)) throw tooLarge();
  }
  throw rejection;
}

/**
 * Counts the bytes of the body as they arrive; they are given back when the response is closed. Where several bodies that
 * arrive at once pass the limit, the one that passes it is dropped and refused: none had arrived when they were let in.
 */
export function countBody(request: FastifyRequest, answer: ServerResponse, pressure: Pressure): Readable {
  const { raw } = request;
  let receivedEncodedLength = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, passOn) {
      receivedEncodedLength += chunk.length;
      request.bufferedBytes += chunk.length;
      const rejection = pressure.arrived(chunk.length, request.bufferedBytes);
      if (rejection === null) return passOn(null, chunk);
      pressure.dropped(request.bufferedBytes);
      request.bufferedBytes = 0;
      raw.unpipe(counted);
      void dropBody(request, receivedEncodedLength).then((wasTooLarge) =>
        passOn(wasTooLarge ? tooLarge() : rejection),
      );
      raw.resume();
    },
  });
  raw.once('error', (failure) => counted.destroy(failure)).pipe(counted);
  // Node drops what is left of a body that nobody has touched alone; the connection would read no further request.
  answer.once('finish', () => raw.unpipe(counted).resume());
  // Whoever reads it later finds the failure in `errored`.
  counted.on('error', () => undefined);
  return Object.defineProperty(counted, 'receivedEncodedLength', { get: () => receivedEncodedLength });
}

/** A sender without a valid credential has to make progress. */
function limitStall({ raw: { socket } }: FastifyRequest): void {
  if (socket instanceof Socket) socket.setTimeout(UNAUTHENTICATED_STALL_MS);
}

export function isLarge({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > SMALL_BYTES;
}

/** A body on a public path, read within the budget of strangers. Throws `service_unavailable` past it. */
async function readUnauthenticated(
  request: FastifyRequest,
  { pressure, random }: BodyIntakeDeps,
): Promise<Readable> {
  const { raw } = request;
  const budget = pressure();
  limitStall(request);
  const chunks: Buffer[] = [];
  let bufferedBytes = 0;
  const giveBack = (): void => {
    budget.bufferedUnauthenticated(-bufferedBytes);
    bufferedBytes = 0;
  };
  raw.once('close', giveBack);
  const isWhole = await new Promise<boolean>((resolve) => {
    const settle = (whole: boolean): void => {
      raw.removeListener('data', take).removeListener('end', end).removeListener('close', end);
      resolve(whole);
    };
    const end = (): void => settle(true);
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      bufferedBytes += chunk.length;
      budget.bufferedUnauthenticated(chunk.length);
      if (budget.refusesUnauthenticated) settle(false);
    };
    raw.once('end', end).once('close', end).on('data', take);
  });
  const readBytes = bufferedBytes;
  if (isWhole)
    return Object.assign(Readable.from(chunks, { objectMode: false }), { receivedEncodedLength: readBytes });
  chunks.length = 0;
  giveBack();
  if (await dropBody(request, readBytes)) throw tooLarge();
  throw unavailable(random, new Error('what strangers send is past its budget'));
}
