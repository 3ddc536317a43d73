import { Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { absoluteTime, relativeTime } from '../format/time.js';
import { useZone } from '../session/me.queries.js';

/** A time as people say it; exact, with its zone, on hover and focus. */
export function When({ at, never = 'never' }: { at: string | null; never?: string }): ReactNode {
  const zone = useZone();
  if (at === null) return never;
  return (
    <Tooltip label={absoluteTime(at, zone)}>
      <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
        {relativeTime(at, Date.now())}
      </time>
    </Tooltip>
  );
}
