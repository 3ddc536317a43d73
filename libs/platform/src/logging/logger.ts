import { pino, type DestinationStream, type Logger } from 'pino';
import { scrub } from '@gateway/redaction';

export const LOGGER = Symbol('Logger');

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Fields that a line may carry; any other is dropped, because a field nobody thought about is how a prompt or
 * a secret gets into a log. Add one here when it can hold neither.
 */
const ALLOWED_FIELDS: ReadonlySet<string> = new Set([
  'account_id',
  'accounts',
  'action',
  'again_usd',
  'attempt',
  'budgetBytes',
  'code',
  'consumer',
  'context',
  'cost_usd',
  'count',
  'crashed',
  'delay_ms',
  'delivery_id',
  'destinations',
  'duration_ms',
  'endpoint',
  'epoch',
  'epochs',
  'err',
  'event_id',
  'from',
  'held',
  'host',
  'ip',
  'key_id',
  'lag',
  'lostBytes',
  'mail_id',
  'method',
  'migration',
  'model',
  'offset',
  'org_id',
  'partition',
  'path',
  'payment_id',
  'pid',
  'port',
  'producer',
  'provider',
  'providers',
  'reason',
  'records',
  'request_id',
  'route',
  'schema',
  'segment',
  'service_name',
  'session_id',
  'shipped',
  'snapshot_id',
  'state',
  'status',
  'to',
  'topic',
  'unit',
  'url',
  'usedBytes',
  'user_id',
  'version',
  'watermark',
  'what',
  'work_id',
  'worker',
]);
const TEXT_MAX_LENGTH = 4_096;
const CAUSES_MAX = 4;

/** JSON lines of allowed fields, every text scrubbed of credentials. */
export function createLogger(
  options: { service: string; level: LogLevel },
  destination: DestinationStream,
): Logger {
  return pino(
    {
      level: options.level,
      base: { service: options.service },
      timestamp: pino.stdTimeFunctions.isoTime,
      // Errors are written by `allowed`; pino's own form of them shows every member.
      serializers: { err: (shownBefore: unknown) => shownBefore },
      formatters: { level: (level) => ({ level }), log: allowed },
      hooks: {
        logMethod(lines, method) {
          const safe: unknown[] = lines.map((part: unknown) =>
            typeof part === 'string' ? shown(part) : part,
          );
          method.apply(this, safe as Parameters<typeof method>);
        },
      },
    },
    destination,
  );
}

function allowed(fields: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (!ALLOWED_FIELDS.has(name)) continue;
    if (name === 'err') kept.err = shownError(value, CAUSES_MAX);
    else if (typeof value === 'string') kept[name] = shown(value);
    else if (typeof value === 'number' || typeof value === 'boolean' || value === null) kept[name] = value;
  }
  return kept;
}

function shownError(failure: unknown, causes: number): object {
  if (!(failure instanceof Error)) return { message: shown(String(failure)) };
  return {
    type: failure.name,
    message: shown(failure.message),
    ...('code' in failure && typeof failure.code === 'string' ? { code: failure.code } : {}),
    stack: shown(failure.stack ?? ''),
    ...(failure.cause === undefined || causes === 0 ? {} : { cause: shownError(failure.cause, causes - 1) }),
  };
}

function shown(text: string): string {
  return scrub(text.length > TEXT_MAX_LENGTH ? `${text.slice(0, TEXT_MAX_LENGTH)}…` : text);
}
