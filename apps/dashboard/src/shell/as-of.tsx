import { ActionIcon, Group, Text, Tooltip } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useReadAnew } from '../api/fresh-reads.js';
import { absoluteTime } from '../format/time.js';
import { useZone } from '../session/me.queries.js';

/** Age of a page's figures, and a button that reads them past the gateway's cache of a minute. */
export function AsOf({ at, isReading }: { at: string; isReading: boolean }): ReactNode {
  const zone = useZone();
  const readAnew = useReadAnew();
  return (
    <Group gap={4} wrap="nowrap">
      <Tooltip label="Refresh">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label="Refresh"
          loading={isReading}
          onClick={() => void readAnew()}
        >
          <IconRefresh size={16} />
        </ActionIcon>
      </Tooltip>
      <Text size="sm" c="dimmed" role="status">
        As of {absoluteTime(at, zone)}
      </Text>
    </Group>
  );
}
