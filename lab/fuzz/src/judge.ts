import { ERRORS, errorEntry, type ErrorCode } from '@gateway/contracts';
import { isInference, type FuzzRequest } from './fuzz-request.js';
import { isServedBy, type Operation } from './operations.js';
import type { Answer } from './send.js';

const CODES: ReadonlySet<string> = new Set(Object.keys(ERRORS));

/** Returns the fault of an answer; null where the contract allows it. */
export function faultOf(
  request: FuzzRequest,
  answer: Answer | string,
  operations: readonly Operation[],
): string | null {
  if (typeof answer === 'string') return answer;
  const { status } = answer;
  if (isShed(request, answer)) return null;
  // 501 says that the model lacks what was asked: its envelope is judged below.
  if (status >= 500 && status !== 501 && !lacksProvider(request, answer)) return `a ${status} of ours`;
  if (status === 413)
    return /text\/html/.test(header(answer, 'content-type')) ? null : 'a 413 without the page';
  if (header(answer, 'x-request-id') === '' && status !== 431) return 'no X-Request-Id';
  if (header(answer, 'x-service-version') === '' && status !== 431) return 'no X-Service-Version';
  if (status >= 400) return request.method === 'HEAD' ? null : envelopeFault(answer);
  return successFault(request, answer, operations);
}

/**
 * Returns true for endpoints that choose a model of their own, where no provider of it has a credential beside the
 * simulator.
 */
function lacksProvider({ target }: FuzzRequest, { status, text }: Answer): boolean {
  const [path] = target.split('?', 1);
  return (
    status === 503 &&
    /\/(web\/search|moderations)$/.test(path) &&
    text.includes('"code":"provider_not_available"')
  );
}

/** An overloaded gateway says so and when to come back: no fault of a request, but counted by status. */
function isShed({ method }: FuzzRequest, answer: Answer): boolean {
  if (answer.status !== 503 || header(answer, 'retry-after') === '') return false;
  return method === 'HEAD' || answer.text.includes('"code":"service_unavailable"');
}

function envelopeFault(answer: Answer): string | null {
  const body = parsed(answer.text);
  if (body === null) return `a ${answer.status} whose body is no object`;
  const error = body.error as { code?: unknown; message?: unknown } | undefined;
  if (typeof error !== 'object' || error === null) return `a ${answer.status} without the error envelope`;
  if (typeof error.code !== 'string' || !CODES.has(error.code))
    return `a code that is not in the table: ${String(error.code)}`;
  const { status, statuses } = errorEntry(error.code as ErrorCode);
  if (answer.status !== status && !statuses?.includes(answer.status))
    return `${error.code} with status ${answer.status}`;
  if (typeof error.message !== 'string' || error.message === '') return `${error.code} without a message`;
  if (body.request_id !== answer.headers['x-request-id']) return 'a request_id that is not X-Request-Id';
  return null;
}

/** Pages for people who follow a link of a mail. */
const PAGES: ReadonlySet<string> = new Set(['/alerts/confirm']);

function successFault(request: FuzzRequest, answer: Answer, operations: readonly Operation[]): string | null {
  const { status } = answer;
  const { method, target } = request;
  if (method === 'OPTIONS') return null;
  const asked = method === 'HEAD' ? 'GET' : method;
  const [pathname] = target.split('?', 1);
  // The address alone leads people to the dashboard, and is no part of the API.
  if (pathname === '/' && status === 302)
    return header(answer, 'location') === '/dashboard/' ? null : 'a redirect';
  const served = operations.filter((one) => one.method === asked && isServedBy(one, pathname));
  if (served.length === 0) return `a ${status} of a path that is not documented`;
  if (!served.some(({ statuses }) => statuses.includes(status))) return `an undocumented ${status}`;
  if (method === 'HEAD' || status === 204 || status === 304)
    return answer.text === '' ? null : 'a body where none may be';
  const type = header(answer, 'content-type');
  if (type.startsWith('text/event-stream')) return streamFault(pathname, answer.text);
  if (type.startsWith('text/html') && PAGES.has(pathname)) return null;
  if (!type.startsWith('application/json')) return `a content type of ${type}`;
  return isJson(answer.text) ? null : 'a success whose body is not JSON';
}

function streamFault(pathname: string, text: string): string | null {
  if (!isInference(pathname)) return 'a stream where none is';
  if (/^event: error$/m.test(text) || /^data: \{"error"/m.test(text)) return 'an error inside a stream';
  const ends = pathname.endsWith('/messages') ? /"type":"message_stop"\}\s*$/ : /data: \[DONE\]\s*$/;
  return ends.test(text) ? null : 'a stream without its end';
}

function header({ headers }: Answer, name: string): string {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : (value ?? '');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function parsed(text: string): Record<string, unknown> | null {
  if (!isJson(text)) return null;
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}
