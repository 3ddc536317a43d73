import {
  Alert,
  Anchor,
  Button,
  Group,
  Loader,
  Select,
  Stack,
  Tabs,
  Text,
  ThemeIcon,
  Title,
} from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useReadAnewAfter } from '../api/fresh-reads.js';
import { milliseconds } from '../format/time.js';
import { CodeBlock } from '../shell/code-block.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { snippets } from './snippets.js';
import { useActiveKeys, useFirstKey, useFirstRequest, type Awaited, type Seen } from './start.queries.js';

const PLACEHOLDER = '$GATEWAY_KEY';

export default function StartPage(): ReactNode {
  const org = useOrg();
  const key = useFirstKey(org.id);
  const [awaited, setAwaited] = useState<Awaited | null>(null);
  const first = useFirstRequest(org.id, awaited);
  useReadAnewAfter(first.data?.kind === 'request');
  const make = (): void =>
    key.mutate(undefined, { onSuccess: ({ id, created_at: since }) => setAwaited({ keyId: id, since }) });
  return (
    <>
      <PageHead
        title="First request"
        about="A key, one call, and the request appears here. The built-in simulator answers it."
      />
      <Stack maw={820}>
        <Step number={1} title="A key" isDone={key.isSuccess}>
          {key.data?.key === undefined ? (
            <Group>
              <Button onClick={make} loading={key.isPending}>
                Create a key
              </Button>
              <Text size="sm" c="dimmed">
                It may spend $5 and lives 30 days. Or put one that you have in place of {PLACEHOLDER} below.
              </Text>
            </Group>
          ) : (
            <CodeBlock code={key.data.key} label="the key, shown this once" />
          )}
          {key.error !== null && <ProblemCard failure={key.error} />}
        </Step>
        <Step number={2} title="A call" isDone={first.data?.kind === 'request'}>
          <Calls secret={key.data?.key ?? PLACEHOLDER} />
          {!key.isSuccess && (
            <OwnKey onPick={(keyId) => setAwaited({ keyId, since: new Date(Date.now()).toISOString() })} />
          )}
        </Step>
        <Step number={3} title="The request" isDone={first.data?.kind === 'request'}>
          {first.isError ? (
            <ProblemCard failure={first.error} />
          ) : (
            <Outcome seen={first.data ?? null} isWaiting={awaited !== null} />
          )}
        </Step>
      </Stack>
    </>
  );
}

/** Choice of a key that exists: its next request is waited for. */
function OwnKey({ onPick }: { onPick: (keyId: string) => void }): ReactNode {
  const keys = useActiveKeys(useOrg().id).data?.data ?? [];
  if (keys.length === 0) return null;
  return (
    <Select
      mt="sm"
      maw={360}
      label="Or wait for a request of a key that you have"
      placeholder="Choose the key"
      searchable
      data={keys.map(({ id, label, masked_key: masked }) => ({
        value: id,
        label: label === null ? masked : `${label} (${masked})`,
      }))}
      onChange={(keyId) => keyId !== null && onPick(keyId)}
    />
  );
}

interface StepProps {
  number: number;
  title: string;
  isDone: boolean;
  children: ReactNode;
}

function Step({ number, title, isDone, children }: StepProps): ReactNode {
  return (
    <Panel>
      <Group gap="sm" mb="sm">
        <ThemeIcon radius="xl" size={26} color={isDone ? 'green.9' : undefined}>
          {isDone ? <IconCheck size={16} aria-label="done" /> : <Text size="sm">{number}</Text>}
        </ThemeIcon>
        <Title order={2} size="h4">
          {title}
        </Title>
      </Group>
      {children}
    </Panel>
  );
}

function Calls({ secret }: { secret: string }): ReactNode {
  const shown = snippets(location.origin, secret);
  return (
    <Tabs defaultValue="curl">
      <Tabs.List mb="sm" aria-label="Language">
        {shown.map(({ name }) => (
          <Tabs.Tab key={name} value={name}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {shown.map(({ name, code }) => (
        <Tabs.Panel key={name} value={name}>
          <CodeBlock code={code} label={`the call in ${name}`} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

function Outcome({ seen, isWaiting }: { seen: Seen | null; isWaiting: boolean }): ReactNode {
  const { slug } = useOrg();
  if (seen === null) {
    return (
      <Group gap="sm" role="status">
        {isWaiting && <Loader size="xs" aria-hidden />}
        <Text size="sm" c="dimmed">
          {isWaiting ? 'Waiting for it. This page looks by itself.' : 'Begin with a key.'}
        </Text>
      </Group>
    );
  }
  if (seen.kind === 'rejection') {
    return (
      <Alert color="red" role="status" title={`Refused: ${seen.rejection.code}`}>
        {seen.rejection.message} The page goes on looking.
      </Alert>
    );
  }
  const { event } = seen;
  return (
    <Alert color="green" role="status" title="Your request has arrived">
      <Text size="sm">
        {event.model} answered in {milliseconds(event.latency_ms)} with {event.completion_tokens} tokens for{' '}
        <Money usd={event.cost_usd} isPrice />.{' '}
        <Anchor component={Link} to={`/o/${slug}/requests/${event.request_id}`} size="sm">
          Open request
        </Anchor>
      </Text>
    </Alert>
  );
}
