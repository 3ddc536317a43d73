import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { ApiError, errorEnvelope, errorHeaders, messagesErrorEnvelope } from '@gateway/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { isTooLarge, sendTooLarge } from '../boot/oversize.js';
import { toApiError } from './to-api-error.js';

/** The one place where a failure becomes an answer, of Nest's handlers and of raw Fastify routes alike. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(failure: unknown, host: ArgumentsHost): void {
    // Events are consumed by the event log, which retries and dead-letters by itself.
    if (host.getType() !== 'http') throw failure;
    const http = host.switchToHttp();
    answerFailure(this.logger, failure, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }
}

/** The error handler of a plugin scope that registers raw routes: Nest's own reaches only routes of the root. */
export function failureHandler(logger: Logger) {
  return (failure: unknown, request: FastifyRequest, reply: FastifyReply): void =>
    answerFailure(logger, failure, request, reply);
}

function answerFailure(logger: Logger, failure: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (isTooLarge(failure)) return sendTooLarge(request, reply);
  const error = toApiError(failure);
  if (error.code === 'internal_error') {
    logger.error(
      {
        request_id: request.id,
        method: request.method,
        route: request.routeOptions.url,
        err: error.cause ?? error,
      },
      'a request ended in an unexpected error',
    );
  }
  sendApiError(error, request, reply);
}

/** Body and headers of a refusal, for a handler that writes its own response. */
export function errorAnswer(
  error: ApiError,
  request: FastifyRequest,
): { status: number; headers: Record<string, string>; body: object } {
  if (!isMessagesPath(request.url)) {
    return { status: error.status, headers: errorHeaders(error), body: errorEnvelope(error, request.id) };
  }
  const shown = asMessagesError(error);
  return {
    status: shown.status,
    headers: errorHeaders(shown),
    body: messagesErrorEnvelope(shown, request.id),
  };
}

export function sendApiError(error: ApiError, request: FastifyRequest, reply: FastifyReply): void {
  // The answer has begun: all that is left is to end the connection, so that it is not taken for whole.
  if (reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  const { status, headers, body } = errorAnswer(error, request);
  void reply.code(status).headers(headers).type('application/json; charset=utf-8').send(body);
}

function isMessagesPath(url: string): boolean {
  return /^(?:\/openai)?\/v1\/messages(?:[/?]|$)/.test(url);
}

/** On /v1/messages a schema fault is 400 `invalid_request_error` instead of 422 (spec, Errors). */
function asMessagesError(error: ApiError): ApiError {
  if (error.code !== 'validation_error') return error;
  return new ApiError('invalid_request_error', {
    ...error.options,
    message: error.message,
    cause: error.options.cause,
  });
}
