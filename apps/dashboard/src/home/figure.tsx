import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useOrg } from '../shell/org.queries.js';
import { Panel } from '../shell/panel.js';

interface FigureProps {
  name: string;
  /** The page that it is of. */
  to: string;
  /** What it means, below it. */
  note?: string;
  children: ReactNode;
}

export function Figure({ name, to, note = '', children }: FigureProps): ReactNode {
  const { slug } = useOrg();
  return (
    <Panel>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Anchor component={Link} to={`/o/${slug}${to}`} fz="xl" fw={650} c="inherit">
        {children}
      </Anchor>
      {note !== '' && (
        <Text size="sm" c="dimmed">
          {note}
        </Text>
      )}
    </Panel>
  );
}
