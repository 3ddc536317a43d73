import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { spaced } from '../format/code-words.js';
import { milliseconds } from '../format/time.js';
import type { Lookup } from './requests.queries.js';
import classes from './waterfall.module.css';

type Attempt = Lookup['attempts'][number];

/** Returns the position of each attempt in the time of all, in percent. */
export function placed(
  attempts: readonly Attempt[],
): { attempt: Attempt; left: number; wait: number; stream: number }[] {
  if (attempts.length === 0) return [];
  const starts = attempts.map(({ started_at: at }) => Date.parse(at));
  const begin = Math.min(...starts);
  const end = Math.max(...attempts.map(({ latency_ms: ms }, index) => starts[index] + ms));
  const whole = Math.max(1, end - begin);
  return attempts.map((attempt, index) => {
    const wait = Math.min(attempt.ttft_ms ?? attempt.latency_ms, attempt.latency_ms);
    const share = (ms: number): number => (ms / whole) * 100;
    return {
      attempt,
      left: share(starts[index] - begin),
      wait: share(wait),
      stream: share(attempt.latency_ms - wait),
    };
  });
}

/** Returns the time until the first provider was called; null where none was, or the clocks disagree. */
export function admittedAfter({
  created_at: came,
  attempts,
}: Pick<Lookup, 'created_at' | 'attempts'>): number | null {
  if (attempts.length === 0) return null;
  const ms = Math.min(...attempts.map(({ started_at: at }) => Date.parse(at))) - Date.parse(came);
  return ms < 0 ? null : ms;
}

interface WaterfallProps {
  request: Lookup;
  /** Providers by attempt, as far as the reader is told. */
  names: ReadonlyMap<number, string>;
}

/** Course of a request: admission, each try of a provider, the end. */
export function Waterfall({ request, names }: WaterfallProps): ReactNode {
  const { attempts, latency_ms: endMs } = request;
  if (attempts.length === 0) return <Text size="sm">No provider was called.</Text>;
  const admittedMs = admittedAfter(request);
  return (
    <ol className={classes.list}>
      {admittedMs !== null && <Moment name="Admitted" ms={admittedMs} />}
      {placed(attempts).map(({ attempt, left, wait, stream }) => (
        <li key={attempt.n}>
          <Group justify="space-between" gap="xs">
            <Text size="sm">
              {attempt.n}. {saidOf(attempt, names.get(attempt.n))}
            </Text>
            <Text size="sm" className={classes.figure}>
              {attempt.ttft_ms !== null && `first token ${milliseconds(attempt.ttft_ms)} · `}
              {milliseconds(attempt.latency_ms)}
            </Text>
          </Group>
          <div className={classes.track} aria-hidden>
            <div
              className={attempt.served ? classes.wait : classes.fault}
              style={{ marginLeft: `${left}%`, width: `${wait}%` }}
            />
            <div
              className={attempt.served ? classes.stream : classes.fault}
              style={{ width: `${stream}%` }}
            />
          </div>
          {attempt.error_message !== null && (
            <Text size="xs" c="dimmed">
              {attempt.error_message}
            </Text>
          )}
        </li>
      ))}
      {endMs !== null && <Moment name="Ended" ms={endMs} />}
      <li>
        <Group gap="md">
          <Sign className={classes.wait} name="Waiting" />
          <Sign className={classes.stream} name="Answering" />
          {attempts.some(({ served }) => !served) && <Sign className={classes.fault} name="Failing" />}
        </Group>
      </li>
    </ol>
  );
}

/** Returns the end of an attempt, with its provider where that is told. */
function saidOf({ served, status, error_code: code }: Attempt, name: string | undefined): string {
  const end = served ? 'served' : spaced(code ?? status);
  return name === undefined ? end : `${name}: ${end}`;
}

function Sign({ className, name }: { className: string; name: string }): ReactNode {
  return (
    <Group gap={6} wrap="nowrap">
      <span className={`${classes.sign} ${className}`} />
      <Text size="xs" c="dimmed">
        {name}
      </Text>
    </Group>
  );
}

function Moment({ name, ms }: { name: string; ms: number }): ReactNode {
  return (
    <li>
      <Group justify="space-between" gap="xs">
        <Text size="sm">{name}</Text>
        <Text size="sm" className={classes.figure}>
          after {milliseconds(ms)}
        </Text>
      </Group>
    </li>
  );
}
