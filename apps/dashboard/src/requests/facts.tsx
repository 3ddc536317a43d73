import { Text } from '@mantine/core';
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
