import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useEffect, useState, type ReactNode } from 'react';
import { asProblem, isRetryable, type Problem } from '../api/problem.js';
import { CopyText } from './copy-text.js';
import { useErrorAction } from './error-actions.queries.js';

interface ProblemCardProps {
  failure: unknown;
  retry?: () => void;
}

/** A failure where its content would stand: what it is, which request, and what to do. */
export function ProblemCard({ failure, retry }: ProblemCardProps): ReactNode {
  const problem = asProblem(failure);
  const action = useErrorAction(problem.code);
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} />} title={titleOf(problem.status)}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{problem.message}</Text>
        {action !== null && <Text size="sm">{action}</Text>}
        <Group gap="xs">
          <Code>{problem.code}</Code>
          {problem.requestId !== null && <CopyText text={problem.requestId} label="request id" />}
        </Group>
        {retry !== undefined && isRetryable(problem) && <RetryButton problem={problem} retry={retry} />}
      </Stack>
    </Alert>
  );
}

/** Counts down what the server asked to wait for. */
function RetryButton({ problem, retry }: { problem: Problem; retry: () => void }): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const [left, setLeft] = useState(0);
  useEffect(() => {
    setAsked(false);
    setLeft(Math.min(problem.retryAfterSeconds ?? 0, 3_600));
  }, [problem]);
  useEffect(() => {
    if (left <= 0) return undefined;
    const timer = setTimeout(() => setLeft(left - 1), 1_000);
    return () => clearTimeout(timer);
  }, [left]);
  const again = (): void => {
    setAsked(true);
    retry();
  };
  return (
    <Button size="xs" variant="default" disabled={left > 0} loading={isAsked} onClick={again}>
      {left > 0 ? `Retry in ${left} s` : 'Retry'}
    </Button>
  );
}

function titleOf(status: number): string {
  if (status === 0) return 'No answer';
  if (status === 403) return 'Not allowed';
  if (status === 404) return 'Not found';
  if (status === 429) return 'Too many requests';
  return status >= 500 ? 'This part of the gateway is away' : 'The request was refused';
}
