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

export function Waterfall({ attempts }: { attempts: readonly Attempt[] }): ReactNode {
  if (attempts.length === 0) return <Text size="sm">No provider was called.</Text>;
  return (
    <ol className={classes.list}>
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
    </ol>
  );
}
