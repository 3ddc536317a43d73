import { Anchor, Box, Code, Group, Loader, Paper, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { useReadAnewAfter } from '../api/fresh-reads.js';
import { asProblem, needsProviderKey } from '../api/problem.js';
import { count, milliseconds } from '../format/time.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { ProblemCard } from '../shell/problem-card.js';
import { speedOf, type Answer, type Turn } from './chat.js';
import type { Lane } from './lanes.js';
import { priceOf } from './model-price.js';
import { useCost, useModelOf } from './playground.queries.js';
import { ToolResults } from './tool-results.js';

const AnswerText = lazy(() => import('./answer-text.js'));

interface LaneViewProps {
  lane: Lane;
  /** Called with the results of the tools that the model has called. */
  onResults: (results: readonly string[]) => void;
}

/** Conversation with one model, and the figures of its last answer. */
export function LaneView({ lane, onResults }: LaneViewProps): ReactNode {
  const { model, turns, answer, problem, isRunning } = lane;
  const { slug } = useOrg();
  const known = useModelOf(model).data;
  const calls = turns.at(-1)?.toolCalls ?? [];
  return (
    <Paper withBorder p="md" component="section" aria-label={model}>
      <Group justify="space-between" mb="sm">
        <div>
          <Text fw={600} size="sm">
            {model}
          </Text>
          <Text size="xs" c="dimmed">
            {known?.is_available === false ? 'needs a provider key' : priceOf(known)}
          </Text>
        </div>
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
        {calls.length > 0 && !isRunning && (
          <ToolResults key={turns.length} calls={calls} onSend={onResults} />
        )}
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
  if (turn.role !== 'assistant') {
    return (
      <Box
        bg="var(--mantine-color-default-hover)"
        p="sm"
        style={{ borderRadius: 'var(--mantine-radius-md)' }}
      >
        {turn.role === 'tool' && (
          <Text size="xs" c="dimmed">
            Result of a tool
          </Text>
        )}
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
  const { requestId, firstTokenMs, promptTokens, completionTokens } = answer;
  const cost = useCost(id, requestId);
  useReadAnewAfter(cost.isSuccess);
  const speed = speedOf(answer);
  return (
    <Group gap="md" role="group" aria-label="About this answer">
      <Text size="xs" c="dimmed">
        first token {milliseconds(firstTokenMs)}
      </Text>
      {speed !== null && (
        <Text size="xs" c="dimmed">
          {count(speed)} tokens/s
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
