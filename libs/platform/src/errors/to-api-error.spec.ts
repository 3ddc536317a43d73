import { HttpException, NotFoundException } from '@nestjs/common';
import { ApiError } from '@gateway/contracts';
import { toApiError } from './to-api-error.js';

function withCode(code: string, cause?: unknown): Error {
  return Object.assign(new Error('it failed', { cause }), { code });
}

describe('a failure as one of the table', () => {
  it.each([
    ['PostgreSQL refuses the connection', withCode('ECONNREFUSED')],
    ['PostgreSQL shuts down', withCode('57P01')],
    ['PostgreSQL has no connection left', withCode('53300')],
    ['Prisma cannot reach it', withCode('P1001')],
    ['the pool gives up waiting', new Error('timeout exceeded when trying to connect')],
    ['the socket ends under a query', new Error('Connection terminated unexpectedly')],
    ['PostgreSQL hangs under a query', new Error('Query read timeout')],
    ['PostgreSQL hangs under a query of Prisma', withCode('P2010', new Error('Query read timeout'))],
    ['PostgreSQL hangs while it is connected to', new Error('timeout expired')],
    ['the client was closed', new Error('Client was closed and is not queryable')],
    [
      'a proxy ends the connection before TLS',
      new Error('There was an error establishing an SSL connection'),
    ],
    ['names cannot be looked up for now', withCode('EAI_AGAIN')],
    ['its machine is gone', withCode('EHOSTUNREACH')],
    ['the network is gone', withCode('ENETUNREACH')],
    ['this machine has no port left', withCode('EADDRNOTAVAIL')],
    ['PostgreSQL has become a standby', withCode('P2010', withCode('25006'))],
    ['a transaction waited too long', withCode('25P03')],
    ['its disk fails', withCode('58030')],
    ['Prisma finds no connection for a transaction', withCode('P2028')],
    ['Prisma meets a write conflict', withCode('P2034')],
    ['a deadlock was ended', withCode('40P01')],
    ['transactions could not be put in a row', withCode('40001')],
    ['a lock is not free in time', withCode('P2010', withCode('55P03'))],
    ['a driver wraps it', withCode('P2010', withCode('57P03'))],
    ['PostgreSQL has no room on its disk', withCode('53100')],
    ['this machine has no room on its disk', withCode('ENOSPC')],
    ['this machine has no file descriptor left', withCode('EMFILE')],
  ])('503 service_unavailable where a database is away, or room: %s', (_name, failure) => {
    const error = toApiError(failure);
    expect(error).toMatchObject({ code: 'service_unavailable', status: 503 });
    expect(error.options).toMatchObject({ shouldRetry: true, retryAfterSeconds: 2 });
  });

  it.each([
    ['a unique violation that nobody expected', withCode('23505')],
    ['a bug', new TypeError('undefined is not a function')],
    ['a thrown string', 'oops'],
    ['a cause that is its own cause', Object.assign(new Error('loop'), { cause: undefined })],
  ])('ERR-51 500 internal_error for %s', (_name, failure) => {
    expect(toApiError(failure)).toMatchObject({ code: 'internal_error', status: 500 });
  });

  it('EDGE-02 415 says what is wrong with a Content-Type that Fastify cannot read', () => {
    const refused = Object.assign(withCode('FST_ERR_CTP_INVALID_MEDIA_TYPE'), { statusCode: 415 });
    const error = toApiError(refused);
    expect(error).toMatchObject({ code: 'invalid_input', status: 415 });
    expect([error.message, error.options.param]).toEqual([
      'The Content-Type of the body cannot be read.',
      'header.content-type',
    ]);
  });

  it('ERR-31 404 says of a path that no endpoint has where they are listed, and repeats nothing of the path', () => {
    const error = toApiError(new NotFoundException('Cannot POST /chat/completions?key=rsk_secret'));
    expect(error).toMatchObject({ code: 'not_found', status: 404 });
    expect(error.message).toBe('No endpoint has this method and path: see /docs.');
  });

  it('keeps what is ours and maps what the framework refuses', () => {
    const ours = new ApiError('conflict');
    expect(toApiError(ours)).toBe(ours);
    expect(toApiError(new HttpException('x', 404)).code).toBe('not_found');
    expect(toApiError(new HttpException('x', 400)).code).toBe('bad_request');
  });
});
