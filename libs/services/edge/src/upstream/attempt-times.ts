import type { Provider, SendOptions } from '@gateway/providers';
import type { EdgeConfig } from '../config/edge.config.js';

type Times = Pick<
  SendOptions,
  'connectTimeoutMs' | 'firstByteTimeoutMs' | 'idleTimeoutMs' | 'totalTimeoutMs'
>;
type Settings = Pick<
  EdgeConfig,
  | 'UPSTREAM_CONNECT_TIMEOUT_MS'
  | 'UPSTREAM_TOTAL_TIMEOUT_MS'
  | 'UPSTREAM_STREAM_FIRST_BYTE_TIMEOUT_MS'
  | 'UPSTREAM_STREAM_IDLE_TIMEOUT_MS'
  | 'UPSTREAM_STREAM_TOTAL_TIMEOUT_MS'
>;

/**
 * Returns the times of one attempt: the provider's own in place of the settings, within what is left of the request and
 * its policy. Only to connect is never given more time than the settings give it.
 */
export function attemptTimes(
  settings: Settings,
  { connectMs = Infinity, firstByteMs, idleMs, totalMs }: NonNullable<Provider['timeouts']> = {},
  { isStream, remainingMs, attemptMs }: { isStream: boolean; remainingMs: number; attemptMs: number },
): Times {
  const mostMs = Math.max(1, Math.min(remainingMs, attemptMs));
  const wholeMs = totalMs ?? settings.UPSTREAM_TOTAL_TIMEOUT_MS;
  const usual = isStream
    ? {
        firstByteMs: settings.UPSTREAM_STREAM_FIRST_BYTE_TIMEOUT_MS,
        idleMs: settings.UPSTREAM_STREAM_IDLE_TIMEOUT_MS,
      }
    : { firstByteMs: wholeMs, idleMs: wholeMs };
  return {
    connectTimeoutMs: Math.min(connectMs, settings.UPSTREAM_CONNECT_TIMEOUT_MS, mostMs),
    firstByteTimeoutMs: Math.min(firstByteMs ?? usual.firstByteMs, mostMs),
    idleTimeoutMs: idleMs ?? usual.idleMs,
    totalTimeoutMs: isStream
      ? Math.min(totalMs ?? settings.UPSTREAM_STREAM_TOTAL_TIMEOUT_MS, remainingMs)
      : Math.min(wholeMs, mostMs),
  };
}
