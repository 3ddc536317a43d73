import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** One line about a thing, with its name before it. */
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
