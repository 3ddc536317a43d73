import { Group, SegmentedControl, Switch } from '@mantine/core';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useZone } from '../session/me.queries.js';
import { ExportButton } from '../shell/export-button.js';
import { FilterChip } from '../shell/filter-chip.js';
import { useFilterNames } from '../shell/filter-names.queries.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { RangePicker, rangeOfUrl } from '../shell/range.js';
import { SearchField } from '../shell/search-field.js';
import { useScopes } from '../shell/scope.js';
import { useParamsOfUrl, type Params } from '../shell/search-params.js';
import { filtersOf, saidOf, type UsageFilters } from '../shell/usage-filter.js';
import { Loading } from '../shell/states.js';
import { Views } from '../shell/views.js';
import { EventList } from './event-list.js';
import { bodyOfFilter, type RequestFilter } from './requests.queries.js';
import { ROW_KINDS, rowFiltersOf, rowFilterWords, type RowFilters } from './row-filters.js';

// They bring fields and tables along, and the panel comes with the first row that is opened: the list stands without them.
const FilterPicker = lazy(async () => ({
  default: (await import('../shell/filter-picker.js')).FilterPicker,
}));
const RejectionList = lazy(async () => ({ default: (await import('./rejection-list.js')).RejectionList }));
const ColumnChoice = lazy(async () => ({ default: (await import('./column-choice.js')).ColumnChoice }));
const RequestPanel = lazy(() => import('./request-panel.js'));

/** Outcomes by what the address says is shown. */
const STATUSES: Readonly<Record<string, string>> = { served: 'success', failed: 'error' };
const SHOWN = [
  { value: 'all', label: 'All' },
  { value: 'served', label: 'Served' },
  { value: 'failed', label: 'Failed' },
  { value: 'rejected', label: 'Refused' },
];

export default function RequestsPage(): ReactNode {
  const [url] = useParamsOfUrl();
  const [openedAt] = useState(() => Date.now());
  const [shown, setShown] = useState<readonly string[]>([]);
  const zone = useZone();
  const { since, until, hours } = rangeOfUrl(url, '24h', zone, openedAt);
  const rows = rowFiltersOf(url);
  // Rejections have no such order and no such filter.
  const isInTime = url.show === 'rejected' || Object.keys(rows).length === 0;
  const isLive = isInTime && url.live === 'yes';
  const filter: RequestFilter = { since, until, filters: shownFilters(url), isLive, rows };
  return (
    <>
      <PageHead
        title="Requests"
        scope={useScopes().usage}
        about="Every request that was served or failed, and every refusal."
      >
        <RangePicker otherwise="24h" />
        <Views page="/requests" />
        {url.show !== 'rejected' && hasFile(rows) && (
          <ExportButton filter={{ ...bodyOfFilter(filter), time_zone: zone }} />
        )}
      </PageHead>
      <Filters />
      {url.show === 'rejected' ? (
        <Suspense fallback={<Loading height={40} rows={8} />}>
          <RejectionList filter={filter} />
        </Suspense>
      ) : (
        <EventList filter={filter} hours={hours} onShown={setShown} />
      )}
      <Suspense>{url.open !== undefined && <RequestPanel id={url.open} among={shown} />}</Suspense>
    </>
  );
}

/** True where the file of all requests would have those that are shown: it knows no filter of the list alone. */
function hasFile({ sort: _order, ...narrowing }: RowFilters): boolean {
  return Object.keys(narrowing).length === 0;
}

/** Returns the filters of the address; what is shown is the outcome. */
function shownFilters(url: Params): UsageFilters {
  const { status, ...filters } = filtersOf(url);
  const chosen = url.show === undefined ? status : STATUSES[url.show];
  return { ...filters, ...(chosen && { status: chosen }) };
}

function Filters(): ReactNode {
  const [url, change] = useParamsOfUrl();
  const filters = filtersOf(url);
  const rows = rowFiltersOf(url);
  const isRejected = url.show === 'rejected';
  const names = { ...useFilterNames(useOrg().id, filters) };
  const search = (value: string): void => {
    // A pasted id opens its request.
    if (/^req_[\w-]+$/.test(value)) change({ open: value });
    else change({ model: value });
  };
  return (
    <Group mb="md" gap="sm">
      <SegmentedControl
        aria-label="Show"
        data={SHOWN}
        value={url.show ?? 'all'}
        onChange={(show) => change({ show: show === 'all' ? null : show, status: null })}
      />
      <SearchField label="Model or request id" text={url.model} onSearch={search} width={220} />
      <Suspense>
        <FilterPicker onPick={change} without="status" own={isRejected ? [] : ROW_KINDS} />
      </Suspense>
      <Switch
        label="Live"
        checked={url.live === 'yes' && (isRejected || Object.keys(rows).length === 0)}
        disabled={!isRejected && Object.keys(rows).length > 0}
        onChange={({ currentTarget }) => change({ live: currentTarget.checked ? 'yes' : null })}
      />
      <Suspense>{!isRejected && <ColumnChoice />}</Suspense>
      {Object.entries(filters)
        .filter(([name]) => name !== 'model')
        .map((one) => (
          <FilterChip key={one[0]} {...saidOf(one, names)} onRemove={() => change({ [one[0]]: null })} />
        ))}
      {!isRejected &&
        Object.entries(rows).map(([name, value]) => (
          <FilterChip
            key={name}
            {...rowFilterWords(name, String(value))}
            onRemove={() => change({ [name]: null })}
          />
        ))}
    </Group>
  );
}
