import { Button, Group, Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { isZone } from '../format/zone.js';
import { useChangeMe } from '../session/change-me.queries.js';
import type { Me } from '../session/rights.js';

/**
 * Question whether times are shown in the browser's zone, until the person has a zone of their own: the answer is kept with
 * the person, so it is asked once.
 */
export default function ZoneQuestion({ me }: { me: Me }): ReactNode {
  const change = useChangeMe();
  const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions();
  if (me.user.time_zone !== null || zone === 'UTC' || !isZone(zone)) return null;
  const answer = (time_zone: string): void => change.mutate({ time_zone });
  return (
    <Paper
      component="section"
      aria-label="Time zone"
      withBorder
      shadow="md"
      p="sm"
      maw="calc(100% - 32px)"
      style={PLACE}
    >
      <Text size="sm" mb="xs">
        {change.error?.message ?? `Show times in ${zone}? They are in UTC now.`}
      </Text>
      <Group gap="sm" justify="flex-end">
        <Button size="compact-sm" variant="default" disabled={change.isPending} onClick={() => answer('UTC')}>
          Keep UTC
        </Button>
        <Button size="compact-sm" loading={change.isPending} onClick={() => answer(zone)}>
          Use {zone}
        </Button>
      </Group>
    </Paper>
  );
}

const PLACE = { position: 'fixed', bottom: 16, left: 16, zIndex: 150 } as const;
