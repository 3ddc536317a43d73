import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Panel } from '../shell/panel.js';

/** One figure of a request. */
export function Fact({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    <Panel>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text fw={600} component="div" style={{ whiteSpace: 'nowrap' }}>
        {children}
      </Text>
    </Panel>
  );
}

/** One line about a request, with its name before it. */
export function Line({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    <Group gap="sm" wrap="nowrap" align="flex-start">
      <Text size="sm" c="dimmed" w={90} style={{ flexShrink: 0 }}>
        {name}
      </Text>
      <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </Group>
  );
}
