import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { Panel } from '../shell/panel.js';
import { useParamsOfUrl } from '../shell/search-params.js';

interface ChartPanelProps {
  title?: string;
  /** Owner of the figures; absent where the page says so. */
  scope?: string | undefined;
  /** Content beside the button of the table. */
  beside?: ReactNode;
  /** The chart as a table, with the same links. */
  table: ReactNode;
  children: ReactNode;
}

/** A chart, and on demand its table. */
export function ChartPanel({ title, scope, beside, table, children }: ChartPanelProps): ReactNode {
  const [url, change] = useParamsOfUrl();
  const isTable = url.table === 'yes';
  return (
    <Panel {...(title === undefined ? {} : { title })} scope={scope}>
      {children}
      <Group justify="space-between" gap="xs" mt="xs">
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-expanded={isTable}
          onClick={() => change({ table: isTable ? null : 'yes' })}
        >
          The chart as a table
        </Button>
        {beside}
      </Group>
      {isTable && table}
    </Panel>
  );
}
