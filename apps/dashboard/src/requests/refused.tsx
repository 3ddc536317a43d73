import { Anchor, Button, Code, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { codeWords } from '../format/code-words.js';
import { absoluteTime, count, usedOf } from '../format/time.js';
import { useErrorEntry } from '../shell/error-actions.queries.js';
import { Line } from '../shell/line.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { isHeld, limitWords, mendingPlace, opensWith } from './refusal-words.js';
import { useCapNow, useRateNow, useRefusal, type Lookup, type Rejection } from './requests.queries.js';
import { resetOf } from './reset-of.js';

/** A request that no model was called for: what refused it, and what to do. `request` null has no lookup, and may not exist. */
export function Refused({ id, request }: { id: string; request: Lookup | null }): ReactNode {
  const org = useOrg();
  const refusal = useRefusal(org.id, id);
  if (refusal.isPending) return <Loading height={320} />;
  if (refusal.isError) return <ProblemCard failure={refusal.error} retry={() => void refusal.refetch()} />;
  if (refusal.data === null) {
    return (
      <Empty>
        No request has this id. Requests are kept for 90 days, appear a few seconds after they end, and only
        in the organization that paid for them. Of more than ten refusals of a key in a second one id stands
        for the rest.
      </Empty>
    );
  }
  return (
    <Stack gap="lg">
      <Why refusal={refusal.data} />
      <What refusal={refusal.data} request={request} />
    </Stack>
  );
}

function Why({ refusal }: { refusal: Rejection }): ReactNode {
  const { slug } = useOrg();
  const action = useErrorEntry(refusal.code)?.action;
  const place = mendingPlace(refusal);
  return (
    <Panel title="Refused before any model was called" about="Nothing was charged.">
      <Text mb="sm" style={{ overflowWrap: 'anywhere' }}>
        {refusal.message}
      </Text>
      <SimpleGrid type="container" cols={{ base: 1, '520px': 2 }} spacing="xs">
        <Line name="Reason">
          {codeWords(refusal.code)} ({refusal.status})
        </Line>
        <Line name="Limit">{limitWords(refusal) ?? 'none: it was not a limit'}</Line>
        {refusal.limit_type !== null && (
          <>
            {refusal.money !== null && (
              <Line name="Then">
                <Then money={refusal.money} />
              </Line>
            )}
            <Line name="Open again">
              <Opens refusal={refusal} />
            </Line>
            <Line name="Now">
              {refusal.limit_type === 'spend_cap' ? (
                <CapNow refusal={refusal} />
              ) : (
                <RateNow refusal={refusal} />
              )}
            </Line>
          </>
        )}
        {/* The table of errors says what ends a reached limit; this one ends by itself. */}
        {action !== undefined && !isHeld(refusal) && <Line name="What to do">{action}</Line>}
      </SimpleGrid>
      <Group gap="sm" mt="md">
        {place !== null && (
          <Button component={Link} to={`/o/${slug}${place.path}`} size="xs">
            {place.label}
          </Button>
        )}
        <Button
          component={Link}
          to={`/o/${slug}/requests?show=rejected&key_id=${refusal.key_id}`}
          size="xs"
          variant="default"
        >
          All refusals of the key
        </Button>
      </Group>
    </Panel>
  );
}

/** Rates are counted by minutes and by days of UTC, caps above the key over 30 days. */
function Opens({ refusal }: { refusal: Rejection }): ReactNode {
  const reset = resetOf(refusal.limit_type ?? '', refusal.created_at);
  return reset === null ? opensWith(refusal) : absoluteTime(reset, 'UTC');
}

/** Money at the moment of the refusal. */
function Then({ money }: { money: NonNullable<Rejection['money']> }): ReactNode {
  const { limit_usd: limit, spent_usd: spent, available_usd: available, held_usd: held } = money;
  return (
    <>
      {limit === null || spent === null ? (
        <>
          <Money usd={available} /> available
        </>
      ) : (
        <>
          <Money usd={spent} /> spent of <Money usd={limit} />
        </>
      )}
      , up to <Money usd={held} /> held by what was running
    </>
  );
}

const WINDOWS: Readonly<Record<string, string>> = {
  rpm: 'requests this minute',
  rpd: 'requests today, UTC',
  tpm: 'tokens this minute',
};

/** Current use of the limit; hidden from people who may not see it. */
function RateNow({ refusal }: { refusal: Rejection }): ReactNode {
  const rate = useRateNow(useOrg().id, refusal).data;
  if (rate === undefined || rate === null) return '–';
  return `${usedOf(rate.current, rate.limit)} ${WINDOWS[refusal.limit_type ?? ''] ?? ''}`;
}

function CapNow({ refusal }: { refusal: Rejection }): ReactNode {
  const cap = useCapNow(refusal).data;
  if (cap === undefined || cap === null) return '–';
  return (
    <>
      <Money usd={cap.spent_usd} none="unknown" /> spent of <Money usd={cap.spend_cap_usd} none="no cap" />
      {refusal.scope !== 'key' && ' in 30 days'}
    </>
  );
}

function What({ refusal, request }: { refusal: Rejection; request: Lookup | null }): ReactNode {
  const { slug } = useOrg();
  const tags = Object.entries(request?.request_tags ?? {});
  return (
    <Panel title="What was asked">
      <SimpleGrid type="container" cols={{ base: 1, '520px': 2 }} spacing="xs">
        <Line name="Endpoint">
          <Code>{refusal.endpoint}</Code>
        </Line>
        <Line name="Model">{request?.requested_model ?? refusal.model ?? '–'}</Line>
        <Line name="Key">
          <Anchor component={Link} to={`/o/${slug}/keys/${refusal.key_id}`} size="sm">
            {request?.key_label ?? refusal.key_id}
          </Anchor>
        </Line>
        <Line name="When">
          <When at={refusal.created_at} />
        </Line>
        <Line name="Tags">
          {tags.length === 0 ? 'none' : tags.map(([name, value]) => `${name}=${value}`).join(', ')}
        </Line>
        {refusal.count > 1 && (
          <Line name="Times">{count(refusal.count)} within a second, of which this is one</Line>
        )}
      </SimpleGrid>
    </Panel>
  );
}
