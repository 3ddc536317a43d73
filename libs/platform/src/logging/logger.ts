import { pino, type DestinationStream, type Logger } from 'pino';

export const LOGGER = Symbol('Logger');

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent';

/** JSON lines on standard output. */
export function createLogger(
  options: { service: string; level: LogLevel },
  destination: DestinationStream = pino.destination({ fd: 1, sync: false }),
): Logger {
  return pino({ level: options.level, base: { service: options.service } }, destination);
}
