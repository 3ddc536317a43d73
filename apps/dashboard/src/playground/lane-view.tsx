import { Anchor, Box, Code, Group, Loader, Paper, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { useReadAnewAfter } from '../api/fresh-reads.js';
import { asProblem, needsProviderKey } from '../api/problem.js';
import { count, milliseconds } from '../format/time.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { ProblemCard } from '../shell/problem-card.js';
import type { Answer, Turn } from './chat.js';
import type { Lane } from './lanes.js';
import { useCost } from './playground.queries.js';

const AnswerText = lazy(() => import('./answer-text.js'));

export function LaneView({ lane }: { lane: Lane }): ReactNode {
  const { model, turns, answer, problem, isRunning } = lane;
  const { slug } = useOrg();
  return (
    <Paper withBorder p="md" component="section" aria-label={model}>
      <Group justify="space-between" mb="sm">
        <Text fw={600} size="sm">
          {model}
        </Text>
        {isRunning && <Loader size="xs" aria-label="Answering" />}
      </Group>
      <Stack gap="sm" aria-live="polite" aria-busy={isRunning}>
        {turns.length === 0 && (
          <Text size="sm" c="dimmed">
            The answer appears here.
          </Text>
        )}
        {turns.map((turn, index) => (
          <Said key={index} turn={turn} />
        ))}
        {problem !== null && <ProblemCard failure={problem} />}
        {problem !== null && needsProviderKey(asProblem(problem)) && (
          <Anchor component={Link} to={`/o/${slug}/provider-keys`} size="sm">
            Add a provider key
          </Anchor>
        )}
        {answer !== null && !isRunning && <Figures answer={answer} />}
      </Stack>
    </Paper>
  );
}

function Said({ turn }: { turn: Turn }): ReactNode {
  if (turn.role === 'user') {
    return (
      <Box
        bg="var(--mantine-color-default-hover)"
        p="sm"
        style={{ borderRadius: 'var(--mantine-radius-md)' }}
      >
        {turn.image !== undefined && (
          <img src={turn.image} alt="What you attached" style={{ maxHeight: 120, maxWidth: '100%' }} />
        )}
        <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
          {turn.text}
        </Text>
      </Box>
    );
  }
  return (
    <div>
      <Suspense fallback={<Text size="sm">{turn.text}</Text>}>
        <AnswerText text={turn.text} />
      </Suspense>
      {turn.toolCalls?.map((call, index) => (
        <Code key={index} block tabIndex={0} role="region" aria-label={`call of the tool ${call.name}`}>
          {call.name}({call.arguments})
        </Code>
      ))}
    </div>
  );
}

function Figures({ answer }: { answer: Answer }): ReactNode {
  const { slug, id } = useOrg();
  const { requestId, firstTokenMs, totalMs, promptTokens, completionTokens } = answer;
  const cost = useCost(id, requestId);
  useReadAnewAfter(cost.isSuccess);
  const seconds = totalMs === null ? null : (totalMs - (firstTokenMs ?? 0)) / 1_000;
  const speed =
    completionTokens === null || seconds === null || seconds <= 0 ? null : completionTokens / seconds;
  return (
    <Group gap="md" role="group" aria-label="About this answer">
      <Text size="xs" c="dimmed">
        first token {milliseconds(firstTokenMs)}
      </Text>
      {speed !== null && (
        <Text size="xs" c="dimmed">
          {speed.toFixed(0)} tokens/s
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {count(promptTokens)} in, {count(completionTokens)} out
      </Text>
      {requestId !== null && id !== null && (
        <>
          <Text size="xs" c="dimmed" component="div">
            {cost.isSuccess ? (
              <Money usd={cost.data} isPrice />
            ) : cost.isError ? (
              'cost is with its request'
            ) : (
              'cost follows'
            )}
          </Text>
          <Anchor component={Link} to={`/o/${slug}/requests/${requestId}`} size="xs">
            Its request
          </Anchor>
        </>
      )}
    </Group>
  );
}
