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
import { isHeld, limitWords, mendingPlace, opensWith } from './rejection-words.js';
import { useCapNow, useRateNow, useRejection, type Lookup, type Rejection } from './requests.queries.js';
import { resetOf } from './reset-of.js';

/** A request that no model was called for: what rejected it, and what to do. `request` null has no lookup, and may not exist. */
export function Rejected({ id, request }: { id: string; request: Lookup | null }): ReactNode {
  const org = useOrg();
  const rejection = useRejection(org.id, id);
  if (rejection.isPending) return <Loading height={320} />;
  if (rejection.isError)
    return <ProblemCard failure={rejection.error} retry={() => void rejection.refetch()} />;
  if (rejection.data === null) {
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
      <Why rejection={rejection.data} />
      <What rejection={rejection.data} request={request} />
    </Stack>
  );
}

function Why({ rejection }: { rejection: Rejection }): ReactNode {
  const { slug } = useOrg();
  const action = useErrorEntry(rejection.code)?.action;
  const place = mendingPlace(rejection);
  return (
    <Panel title="Refused before any model was called" about="Nothing was charged.">
      <Text mb="sm" style={{ overflowWrap: 'anywhere' }}>
        {rejection.message}
      </Text>
      <SimpleGrid type="container" cols={{ base: 1, '520px': 2 }} spacing="xs">
        <Line name="Reason">
          {codeWords(rejection.code)} ({rejection.status})
        </Line>
        <Line name="Limit">{limitWords(rejection) ?? 'none: it was not a limit'}</Line>
        {rejection.limit_type !== null && (
          <>
            {rejection.money !== null && (
              <Line name="Then">
                <Then money={rejection.money} />
              </Line>
            )}
            <Line name="Open again">
              <Opens rejection={rejection} />
            </Line>
            <Line name="Now">
              {rejection.limit_type === 'spend_cap' ? (
                <CapNow rejection={rejection} />
              ) : (
                <RateNow rejection={rejection} />
              )}
            </Line>
          </>
        )}
        {/* The table of errors says what ends a reached limit; this one ends by itself. */}
        {action !== undefined && !isHeld(rejection) && <Line name="What to do">{action}</Line>}
      </SimpleGrid>
      <Group gap="sm" mt="md">
        {place !== null && (
          <Button component={Link} to={`/o/${slug}${place.path}`} size="xs">
            {place.label}
          </Button>
        )}
        <Button
          component={Link}
          to={`/o/${slug}/requests?show=rejected&key_id=${rejection.key_id}`}
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
function Opens({ rejection }: { rejection: Rejection }): ReactNode {
  const reset = resetOf(rejection.limit_type ?? '', rejection.created_at);
  return reset === null ? opensWith(rejection) : absoluteTime(reset, 'UTC');
}

/** Money at the moment of the rejection. */
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
function RateNow({ rejection }: { rejection: Rejection }): ReactNode {
  const rate = useRateNow(useOrg().id, rejection).data;
  if (rate === undefined || rate === null) return '–';
  return `${usedOf(rate.current, rate.limit)} ${WINDOWS[rejection.limit_type ?? ''] ?? ''}`;
}

function CapNow({ rejection }: { rejection: Rejection }): ReactNode {
  const cap = useCapNow(rejection).data;
  if (cap === undefined || cap === null) return '–';
  return (
    <>
      <Money usd={cap.spent_usd} none="unknown" /> spent of <Money usd={cap.spend_cap_usd} none="no cap" />
      {rejection.scope !== 'key' && ' in 30 days'}
    </>
  );
}

function What({ rejection, request }: { rejection: Rejection; request: Lookup | null }): ReactNode {
  const { slug } = useOrg();
  const tags = Object.entries(request?.request_tags ?? {});
  return (
    <Panel title="What was asked">
      <SimpleGrid type="container" cols={{ base: 1, '520px': 2 }} spacing="xs">
        <Line name="Endpoint">
          <Code>{rejection.endpoint}</Code>
        </Line>
        <Line name="Model">{request?.requested_model ?? rejection.model ?? '–'}</Line>
        <Line name="Key">
          <Anchor component={Link} to={`/o/${slug}/keys/${rejection.key_id}`} size="sm">
            {request?.key_label ?? rejection.key_id}
          </Anchor>
        </Line>
        <Line name="When">
          <When at={rejection.created_at} />
        </Line>
        <Line name="Tags">
          {tags.length === 0 ? 'none' : tags.map(([name, value]) => `${name}=${value}`).join(', ')}
        </Line>
        {rejection.count > 1 && (
          <Line name="Times">{count(rejection.count)} within a second, of which this is one</Line>
        )}
      </SimpleGrid>
    </Panel>
  );
}
