import { Anchor, Box, SimpleGrid, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Fragment, lazy, Suspense, useState, type ReactNode } from 'react';
import { count } from '../format/time.js';
import { useIsBilled, useZone } from '../session/me.queries.js';
import { AsOf } from '../shell/as-of.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { sinceOf } from '../shell/range.js';
import { useScopes } from '../shell/scope.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { OwnBalance } from './balance-card.js';
import { Checklist } from './checklist.js';
import { SpendByModel } from './spend-by-model.js';
import { HomeCards } from './home-cards.js';
import { IllProviders } from './ill-providers.js';
import { useMonth } from './month.queries.js';
import { Movers } from './movers-panel.js';
import { NearCaps } from './near-caps.js';
import { RetiringModels } from './retiring-models.js';
import { rejectionsOf } from '../shell/rejections-of.js';
import { useActiveKeys, useNewestRejections, useWeek } from './home.queries.js';

const CreateOrg = lazy(() => import('../shell/create-org.js'));
const WEEK = { hours: 168 };
/** Reasons of rejections that are shown. */
const REASONS = 5;
const KEY_GRID = {
  display: 'grid',
  gridTemplateColumns: 'minmax(0, 1fr) auto auto',
  gap: '10px 16px',
} as const;
const NO_WRAP = { whiteSpace: 'nowrap' } as const;

export default function HomePage(): ReactNode {
  const { id } = useOrg();
  return id === null ? <OwnHome /> : <OrgHome org={id} />;
}

/** Usage is read of an organization: an account of one's own has its keys and its money. */
function OwnHome(): ReactNode {
  const [isCreating, setCreating] = useState(false);
  const isBilled = useIsBilled();
  return (
    <>
      <PageHead title="Home" about="Your own account" />
      <Stack gap="lg">
        <SimpleGrid cols={{ base: 1, sm: 2 }} style={{ alignItems: 'start' }}>
          <OwnBalance />
          <BusyKeys org={null} />
        </SimpleGrid>
        <Empty action={{ label: 'Create an organization', run: () => setCreating(true) }}>
          Usage, requests, members and limits belong to organizations. Keys of your own account work all the
          same{isBilled && '; what they spend is in the ledger'}.
        </Empty>
      </Stack>
      <Suspense>{isCreating && <CreateOrg onClose={() => setCreating(false)} />}</Suspense>
    </>
  );
}

function OrgHome({ org }: { org: string }): ReactNode {
  const [openedAt] = useState(() => Date.now());
  const since = sinceOf(WEEK, openedAt);
  const week = useWeek(org, since, useZone());
  return (
    <>
      <PageHead title="Home" about="This month, and the last 7 days">
        {week.isSuccess && <AsOf at={week.data.as_of} isReading={week.isFetching} />}
      </PageHead>
      <Stack gap="lg">
        <Week org={org} since={since} week={week} />
      </Stack>
    </>
  );
}

interface WeekProps {
  org: string;
  since: string;
  week: ReturnType<typeof useWeek>;
}

function Week({ org, since, week }: WeekProps): ReactNode {
  const keys = useActiveKeys(org);
  const month = useMonth(org);
  return (
    <>
      <IllProviders />
      <RetiringModels org={org} />
      {week.isSuccess && keys.isSuccess && (
        <Checklist org={org} keys={keys.data.data} hasRequests={week.data.total.requests > 0} />
      )}
      <HomeCards org={org} since={since} week={week} month={month} />
      {week.isError && <ProblemCard failure={week.error} retry={() => void week.refetch()} />}
      <SpendByModel org={org} since={since} />
      <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
        <BusyKeys org={org} />
        <Rejections org={org} since={since} />
        <NearCaps org={org} />
        <Movers month={month} />
      </SimpleGrid>
    </>
  );
}

function BusyKeys({ org }: { org: string | null }): ReactNode {
  const { slug } = useOrg();
  const keys = useActiveKeys(org);
  return (
    <Panel title="Keys used last" scope={useScopes().usage}>
      {keys.isPending && <Loading height={120} />}
      {keys.isError && <ProblemCard failure={keys.error} retry={() => void keys.refetch()} />}
      {keys.data?.data.length === 0 && (
        <Anchor component={Link} to={org === null ? `/o/${slug}/keys` : `/o/${slug}/start`} size="sm">
          Create the first key
        </Anchor>
      )}
      <Box style={KEY_GRID}>
        {keys.data?.data.map((key) => (
          <Fragment key={key.id}>
            <Anchor component={Link} to={`/o/${slug}/keys/${key.id}`} size="sm" truncate>
              {key.label ?? key.masked_key}
            </Anchor>
            <Text size="sm" c="dimmed" style={NO_WRAP}>
              <When at={key.last_used_at} />
            </Text>
            <Text size="sm" ta="right" component="div" style={NO_WRAP}>
              <Money usd={key.spent_usd} none="unknown" />
              {key.spend_cap_usd !== null && (
                <>
                  {' '}
                  of <Money usd={key.spend_cap_usd} />
                </>
              )}
            </Text>
          </Fragment>
        ))}
      </Box>
    </Panel>
  );
}

function Rejections({ org, since }: { org: string; since: string }): ReactNode {
  const { slug } = useOrg();
  const rejections = useNewestRejections(org, since);
  return (
    <Panel title="Newest refusals" scope={useScopes().usage}>
      {rejections.isPending && <Loading height={120} />}
      {rejections.isError && (
        <ProblemCard failure={rejections.error} retry={() => void rejections.refetch()} />
      )}
      {rejections.data?.rejections.length === 0 && (
        <Text size="sm" c="dimmed">
          None in the last 7 days.
        </Text>
      )}
      <Stack gap="xs">
        {rejectionsOf(rejections.data?.rejections ?? [])
          .slice(0, REASONS)
          .map(({ newest, times }) => (
            <Text size="sm" key={`${newest.request_id} ${newest.created_at}`} component="div">
              {times > 1 && <b>{count(times)} times: </b>}
              <Anchor component={Link} to={`/o/${slug}/requests/${newest.request_id}`} inherit>
                {newest.message}
              </Anchor>{' '}
              <Text span size="sm" c="dimmed">
                <When at={newest.created_at} />
              </Text>
            </Text>
          ))}
      </Stack>
    </Panel>
  );
}
