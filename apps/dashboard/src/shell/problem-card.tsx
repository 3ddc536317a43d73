import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useEffect, useState, type ReactNode } from 'react';
import { asProblem, isRetryable, needsProviderKey, type Problem } from '../api/problem.js';
import { useIsBelowBanner } from './below-banner.js';
import { CopyText } from './copy-text.js';
import { useErrorEntry } from './error-actions.queries.js';
import { Unread } from './states.js';

const TICK_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

interface ProblemCardProps {
  failure: unknown;
  retry?: () => void;
}

/** A failure where its content would stand: what it is, which request, and what to do. */
export function ProblemCard({ failure, retry }: ProblemCardProps): ReactNode {
  const problem = asProblem(failure);
  const isBelowBanner = useIsBelowBanner();
  const entry = useErrorEntry(problem.code);
  const action = needsProviderKey(problem) ? ADD_A_KEY : entry?.action;
  if (isBelowBanner && retry !== undefined && problem.code === 'unreachable') return <Unread />;
  const mayRetry = isRetryable(problem, entry?.retryable);
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} />} title={titleOf(problem)}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{problem.message}</Text>
        {action !== undefined && <Text size="sm">{action}</Text>}
        <Group gap="xs">
          <Code>{problem.code}</Code>
          {problem.requestId !== null && <CopyText text={problem.requestId} label="request id" />}
        </Group>
        {retry !== undefined && mayRetry && <RetryButton problem={problem} retry={retry} />}
      </Stack>
    </Alert>
  );
}

/** Counts down what the server asked to wait for. */
function RetryButton({ problem, retry }: { problem: Problem; retry: () => void }): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const waitMs = (problem.retryAfterSeconds ?? 0) * 1_000;
  const [leftMs, setLeftMs] = useState(waitMs);
  useEffect(() => {
    setAsked(false);
    setLeftMs(waitMs);
    // By the clock: the timers of a page that nobody looks at are late.
    const openAt = Date.now() + waitMs;
    const timer = setInterval(() => setLeftMs(Math.max(0, openAt - Date.now())), TICK_MS);
    return () => clearInterval(timer);
  }, [problem, waitMs]);
  const again = (): void => {
    setAsked(true);
    retry();
  };
  return (
    <Button size="xs" variant="default" disabled={leftMs > 0} loading={isAsked} onClick={again}>
      {leftMs > 0 ? `Retry in ${durationOf(leftMs)}` : 'Retry'}
    </Button>
  );
}

function durationOf(ms: number): string {
  if (ms <= 2 * MINUTE_MS) return `${Math.ceil(ms / 1_000)} s`;
  return ms <= 2 * HOUR_MS ? `${Math.ceil(ms / MINUTE_MS)} min` : `${Math.ceil(ms / HOUR_MS)} h`;
}

const ADD_A_KEY = 'Add a provider key, or choose a model that is ready. Waiting does not help.';

function titleOf(problem: Problem): string {
  const { status } = problem;
  if (needsProviderKey(problem)) return 'No provider key';
  if (status === 0) return 'No answer';
  if (status === 403) return 'Not allowed';
  if (status === 404) return 'Not found';
  if (status === 429) return 'Too many requests';
  return status >= 500 ? 'This part of the gateway is unavailable' : 'The request was refused';
}
