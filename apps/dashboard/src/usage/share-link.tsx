import { Button } from '@mantine/core';
import { IconCheck, IconLink } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useCopy } from '../shell/copy-text.js';
import { stringifySearch, useParamsOfUrl, type Params } from '../shell/search-params.js';
import { spanOf } from '../shell/span.js';
import type { Series } from './usage.queries.js';

type Times = Pick<Series, 'since' | 'until' | 'time_zone'>;

const MINUTE_MS = 60_000;

/** Returns the query of an address whose figures are of these times for everybody, whenever it is opened. */
export function sharedSearch(
  { range: _range, ...url }: Params,
  { since, until, time_zone: zone }: Times,
): string {
  // The last instant is covered; an address has whole minutes.
  const beforeMs = Math.ceil(Date.parse(until) / MINUTE_MS) * MINUTE_MS;
  return stringifySearch({ ...url, ...spanOf(Date.parse(since), beforeMs, zone) });
}

/** Button that copies an address of the page as it is now: its range does not move with the clock. */
export function ShareLink({ span }: { span: Times | undefined }): ReactNode {
  const [url] = useParamsOfUrl();
  const [state, copy] = useCopy();
  const share = (times: Times): void =>
    copy(`${location.origin}${location.pathname}${sharedSearch(url, times)}`);
  return (
    <Button
      variant="default"
      leftSection={state === 'copied' ? <IconCheck size={16} /> : <IconLink size={16} />}
      disabled={span === undefined}
      onClick={() => span !== undefined && share(span)}
    >
      {state === 'copied' ? 'Link copied' : state === 'refused' ? 'Not copied' : 'Copy link'}
    </Button>
  );
}
