import { ApiError, type Random } from '@gateway/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DashboardFile, DashboardFiles } from './dashboard-files.js';

const NONCE_BYTES = 18;
/** Cache header of files whose name holds the hash of their content. */
const IMMUTABLE = 'public, max-age=31536000, immutable';
const HASHED = 'assets/';

/** Headers of every file; a page of another origin may neither frame nor read them. */
const HEADERS = {
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'strict-transport-security': 'max-age=31536000',
} as const;

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}

/**
 * Serves the built dashboard from memory below /dashboard/, and leads there from the address itself, which a person opens
 * first. Without a build every path below is 404.
 */
export function registerDashboard(
  instance: FastifyInstance,
  dashboard: DashboardFiles | null,
  random: Random,
): void {
  const config = { access: { public: true }, isFile: true } as const;
  for (const path of ['/', '/dashboard'])
    instance.get(path, { config }, (_request, reply) => reply.redirect('/dashboard/', 302));
  instance.get<{ Params: { '*': string } }>('/dashboard/*', { config }, (request, reply) => {
    if (dashboard === null) throw new ApiError('not_found');
    const path = request.params['*'];
    const file = dashboard.files.get(path);
    if (file !== undefined) return sendFile(file, path, request, reply);
    // A file of an earlier release is gone; the page that asks for it reloads.
    if (path.startsWith(HASHED)) throw new ApiError('not_found');
    return sendIndex(dashboard, random, reply);
  });
}

/** Every other path is a page of the application, which reads its own address. */
function sendIndex({ index }: DashboardFiles, random: Random, reply: FastifyReply): FastifyReply {
  const nonce = Buffer.from(random.bytes(NONCE_BYTES)).toString('base64');
  return reply
    .headers({
      ...HEADERS,
      'content-security-policy': policy(nonce),
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
    })
    .type('text/html; charset=utf-8')
    .send(index.join(nonce));
}

function sendFile(
  file: DashboardFile,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { encoding, body } = bestOf(file, request.headers['accept-encoding'] ?? '');
  if (encoding !== null) void reply.header('content-encoding', encoding);
  return reply
    .headers({ ...HEADERS, vary: 'accept-encoding' })
    .header('cache-control', path.startsWith(HASHED) ? IMMUTABLE : 'public, max-age=3600')
    .type(file.type)
    .send(body);
}

function bestOf(
  { plain, br, gzip }: DashboardFile,
  accepted: string,
): { encoding: string | null; body: Buffer } {
  const taken = new Set(accepted.split(',').filter(isTaken).map(nameOf));
  if (br !== null && taken.has('br')) return { encoding: 'br', body: br };
  if (gzip !== null && taken.has('gzip')) return { encoding: 'gzip', body: gzip };
  return { encoding: null, body: plain };
}

function nameOf(coding: string): string {
  return coding.split(';', 1)[0].trim().toLowerCase();
}

/** `br;q=0` refuses it. */
function isTaken(coding: string): boolean {
  return !/;\s*q=0(?:\.0*)?\s*$/.test(coding);
}
