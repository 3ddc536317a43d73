import { ActionIcon, Button, Group, Text } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { count, usedOf } from '../format/time.js';
import { Money } from '../shell/money.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import type { Branch, Rates } from './limits.queries.js';
import { shareOf, Used } from './used.js';
import classes from './limit-node.module.css';

/** Limits set on a scope; null = none. */
export interface Limits {
  rpm_limit: number | null;
  rpd_limit: number | null;
  tpm_limit: number | null;
  spend_cap_usd: string | null;
}

/** Use of the limits; absent where it was not read. */
interface Usage {
  rates?: Rates['scopes']['org'];
  spentUsd?: string | null;
}

const RATES = [
  { metric: 'rpm', field: 'rpm_limit', name: 'Requests this minute' },
  { metric: 'rpd', field: 'rpd_limit', name: 'Requests today' },
  { metric: 'tpm', field: 'tpm_limit', name: 'Tokens this minute' },
] as const;

export function NodeHead(): ReactNode {
  return (
    <div className={classes.head} aria-hidden>
      <span>Scope</span>
      {RATES.map(({ name }) => (
        <span key={name}>{name}</span>
      ))}
      <span>Spend</span>
    </div>
  );
}

interface NodeProps {
  name: string;
  /** Its name, as a link where it has a page. */
  shown: ReactNode;
  about: string;
  limits: Limits;
  usage: Usage;
  /** Text for a limit that is not set. */
  unset: string;
  /** True for a scope above keys, whose spend is that of 30 days. */
  isAboveKeys: boolean;
  /** Opens and closes what is below it; absent where nothing is. */
  fold?: { isOpen: boolean; toggle: () => void };
  children?: ReactNode;
}

/** One scope with its limits and what is used of them, and below it what counts against it. */
export function LimitNode(props: NodeProps): ReactNode {
  const { name, shown, about, limits, usage, unset, isAboveKeys, fold, children } = props;
  const { spend_cap_usd: cap } = limits;
  const { spentUsd: spent } = usage;
  return (
    <li>
      <div className={classes.row}>
        <Group gap={6} wrap="nowrap" style={{ minWidth: 0 }}>
          {fold !== undefined && (
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              aria-expanded={fold.isOpen}
              aria-label={`${fold.isOpen ? 'Close' : 'Open'} ${name}`}
              onClick={fold.toggle}
            >
              {fold.isOpen ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
            </ActionIcon>
          )}
          <div style={{ minWidth: 0 }}>
            <Text size="sm" fw={500} truncate component="div">
              {shown}
            </Text>
            <Text size="xs" c="dimmed" truncate>
              {about}
            </Text>
          </div>
        </Group>
        {RATES.map(({ metric, field, name: label }) => {
          const counted = usage.rates?.[metric];
          const limit = counted === undefined ? limits[field] : counted.limit;
          const most = limit === null ? unset : count(limit);
          return (
            <Cell key={metric} label={label}>
              <Used
                label={`${label}, ${name}`}
                pct={counted === undefined || limit === null ? null : counted.pct}
              >
                {counted === undefined ? most : usedOf(counted.current, limit)}
              </Used>
            </Cell>
          );
        })}
        <Cell label="Spend">
          <Used label={`Spend, ${name}`} pct={cap === null || spent == null ? null : shareOf(spent, cap)}>
            {spent !== undefined && (
              <>
                <Money usd={spent} none="unknown" />
                {cap === null ? ', ' : ' of '}
              </>
            )}
            <Money usd={cap} none="no cap" />
            {isAboveKeys && (spent !== undefined || cap !== null) && (
              <Text size="xs" c="dimmed">
                in 30 days
              </Text>
            )}
          </Used>
        </Cell>
      </div>
      {fold?.isOpen && children}
    </li>
  );
}

function Cell({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <div className={classes.cell}>
      <span className={classes.label}>{label}</span>
      <div>{children}</div>
    </div>
  );
}

interface RowsProps<Row> {
  branch: Branch<Row>;
  /** Text for an empty list. */
  none: string;
  row: (row: Row) => ReactNode;
}

/** Rows below a scope, a page at a time. */
export function BranchRows<Row>({ branch, none, row }: RowsProps<Row>): ReactNode {
  if (branch.isPending) return <Loading height={40} rows={2} />;
  if (branch.isError) return <ProblemCard failure={branch.error} retry={() => void branch.refetch()} />;
  const rows = branch.data.pages.flatMap(({ data }) => data);
  const { total } = branch.data.pages[0];
  if (rows.length === 0)
    return (
      <Text size="sm" c="dimmed" py="xs" pl={36}>
        {none}
      </Text>
    );
  return (
    <>
      <ul className={classes.list}>{rows.map(row)}</ul>
      {branch.hasNextPage && (
        <Group gap="sm" py="xs" pl={36}>
          <Text size="sm" c="dimmed">
            {count(rows.length)} of {count(total)}
          </Text>
          <Button
            size="compact-sm"
            variant="default"
            loading={branch.isFetchingNextPage}
            onClick={() => void branch.fetchNextPage()}
          >
            Show more
          </Button>
        </Group>
      )}
    </>
  );
}
