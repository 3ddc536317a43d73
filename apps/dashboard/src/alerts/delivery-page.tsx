import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMe } from '../session/me.queries.js';
import { isAllowed, rolesIn } from '../session/rights.js';
import { eventWords } from '../format/event-words.js';
import { CodeBlock } from '../shell/code-block.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { useDelivery, useRedeliver, type DeliveryDetail } from './alerts.queries.js';
import { DeliveryState } from './deliveries-page.js';

type Attempt = DeliveryDetail['attempt_log'][number];

export default function DeliveryPage(): ReactNode {
  const { id = '' }: { id?: string } = useParams({ strict: false });
  const delivery = useDelivery(id);
  if (delivery.isPending) return <Loading height={120} rows={3} />;
  if (delivery.isError)
    return (
      <>
        <PageHead title="Delivery" />
        <ProblemCard failure={delivery.error} retry={() => void delivery.refetch()} />
      </>
    );
  return <Detail detail={delivery.data} />;
}

function Detail({ detail }: { detail: DeliveryDetail }): ReactNode {
  const { slug } = useOrg();
  const me = useMe().data;
  const mayChange = me !== undefined && isAllowed(rolesIn(me, slug), ['owner', 'admin']);
  return (
    <>
      <PageHead title={eventWords(detail.event_type)} about={`To ${detail.destination}`}>
        {mayChange && <Redeliver id={detail.id} />}
      </PageHead>
      <Stack gap="lg">
        <Group gap="sm">
          <DeliveryState status={detail.status} />
          <Text size="sm">
            <When at={detail.created_at} />
          </Text>
          {detail.redelivery_of !== null && (
            <Anchor component={Link} to={`/o/${slug}/alerts/deliveries/${detail.redelivery_of}`} size="sm">
              Sent again from an earlier one
            </Anchor>
          )}
        </Group>
        <Panel title="Body" about="As it is sent, to the byte: the signature covers it.">
          <CodeBlock code={detail.request_body} label="body" />
        </Panel>
        {detail.attempt_log.length === 0 && <Empty>It was not sent yet.</Empty>}
        {detail.attempt_log.map((attempt) => (
          <AttemptPanel key={attempt.id} attempt={attempt} />
        ))}
      </Stack>
    </>
  );
}

function Redeliver({ id }: { id: string }): ReactNode {
  const { slug } = useOrg();
  const again = useRedeliver(id);
  return (
    <Stack gap="xs" align="flex-end">
      <Button leftSection={<IconSend size={16} />} loading={again.isPending} onClick={() => again.mutate()}>
        Redeliver
      </Button>
      {again.isSuccess && (
        <Alert color="green" role="status">
          <Anchor component={Link} to={`/o/${slug}/alerts/deliveries/${again.data.id}`} size="sm">
            It is on its way: open it
          </Anchor>
        </Alert>
      )}
      {again.error !== null && <ProblemCard failure={again.error} />}
    </Stack>
  );
}

function AttemptPanel({ attempt }: { attempt: Attempt }): ReactNode {
  const { n, status, http_status: http, error, request, response, started_at: at } = attempt;
  return (
    <Panel
      title={`Attempt ${n}: ${status}`}
      about={
        <>
          <When at={at} /> · {http === null ? (error ?? 'no answer yet') : `HTTP ${http}`}
        </>
      }
    >
      <Stack gap="sm">
        {request !== null && (
          <CodeBlock code={headerLines(request.headers)} label={`headers of attempt ${n}`} />
        )}
        {response !== null && (
          <CodeBlock
            code={`${headerLines(response.headers)}\n\n${response.body}${response.is_cut ? '…' : ''}`}
            label={`answer to attempt ${n}`}
          />
        )}
      </Stack>
    </Panel>
  );
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
