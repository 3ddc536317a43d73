import { Code, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
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

/** Course of a request: admission, each try of a provider, the end. */
export function Waterfall({ request }: { request: Lookup }): ReactNode {
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
              {attempt.n}. {attempt.served ? 'served' : attempt.status}{' '}
              {attempt.error_code !== null && <Code>{attempt.error_code}</Code>}
            </Text>
            <Text size="sm" className={classes.figure}>
              {attempt.ttft_ms !== null && `first token ${milliseconds(attempt.ttft_ms)} · `}
              {milliseconds(attempt.latency_ms)}
            </Text>
          </Group>
          <div className={classes.track} aria-hidden>
            <div className={classes.wait} style={{ marginLeft: `${left}%`, width: `${wait}%` }} />
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
    </ol>
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
