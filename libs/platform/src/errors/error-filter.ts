import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { ApiError, errorEnvelope, errorHeaders, messagesErrorEnvelope } from '@gateway/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isTooLarge, sendTooLarge } from '../request/oversize.js';
import type { FailureLog } from './failure-log.js';
import { toApiError } from './to-api-error.js';

/** The one place where a failure becomes an answer, of Nest's handlers and of raw Fastify routes alike. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly log: FailureLog) {}

  catch(failure: unknown, host: ArgumentsHost): void {
    // Events are consumed by the event log, which retries and dead-letters by itself.
    if (host.getType() !== 'http') throw failure;
    const http = host.switchToHttp();
    answerFailure(this.log, failure, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }
}

/** Answers a failure of raw routes, which Nest's filter does not reach. */
export function answerFailure(
  log: FailureLog,
  failure: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (isTooLarge(failure)) return sendTooLarge(request, reply);
  const error = toApiError(failure);
  log.note(error, request);
  sendApiError(error, request, reply);
}

/** Status, headers and body of a rejection on the path it came by. */
function errorAnswer(
  error: ApiError,
  request: FastifyRequest,
): { status: number; headers: Record<string, string>; body: object } {
  if (!speaksAnthropic(request)) {
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

/** True for messages, and for the list of models as Anthropic's SDKs ask for it. */
function speaksAnthropic({ url, headers }: FastifyRequest): boolean {
  if (/^(?:\/openai)?\/v1\/messages(?:[/?]|$)/.test(url)) return true;
  return headers['anthropic-version'] !== undefined && /^\/v1\/models(?:[/?]|$)/.test(url);
}

/** Returns the form for /v1/messages: a schema fault is 400 `invalid_request_error` instead of 422. */
function asMessagesError(error: ApiError): ApiError {
  if (error.code !== 'validation_error') return error;
  return new ApiError('invalid_request_error', {
    ...error.options,
    message: error.message,
    cause: error.options.cause,
  });
}
