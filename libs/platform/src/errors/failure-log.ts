import type { ApiError, Clock } from '@gateway/contracts';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

/** Our own 503s: something that we need is away, we shed load, or we drain. */
const OURS: ReadonlySet<string> = new Set([
  'service_unavailable',
  'service_draining',
  'provider_not_available',
]);
/** An outage answers every request with a 503: more lines than these say nothing more. */
const LINES_PER_SECOND = 10;

/**
 * Writes why a request ended as it did where the answer does not say it: a bug each time, with its stack; a 503 of ours
 * with its code and cause, at most ten a second. `count` stands for those that were not written since the last line.
 */
export class FailureLog {
  private second = -1;
  private lines = 0;
  private unwritten = 0;

  constructor(
    private readonly logger: Logger,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  note(error: ApiError, request: FastifyRequest): void {
    if (error.code === 'internal_error') {
      this.logger.error(
        { ...fieldsOf(request), err: error.cause ?? error },
        'a request ended in an unexpected error',
      );
    } else if (error.status === 503 && OURS.has(error.code)) {
      this.unavailable(error, request);
    }
  }

  private unavailable(error: ApiError, request: FastifyRequest): void {
    const second = Math.floor(this.clock.monotonic() / 1_000);
    if (second !== this.second) {
      this.second = second;
      this.lines = 0;
    }
    if (this.lines >= LINES_PER_SECOND) {
      this.unwritten += 1;
      return;
    }
    this.lines += 1;
    const fields = { ...fieldsOf(request), code: error.code, count: this.unwritten };
    this.unwritten = 0;
    const err = error.cause === undefined ? {} : { err: error.cause };
    this.logger.warn({ ...fields, ...err }, 'a request was answered with 503');
  }
}

function fieldsOf(request: FastifyRequest): object {
  return { request_id: request.id, method: request.method, route: request.routeOptions.url };
}
