import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Panel } from '../shell/panel.js';
import { useParamsOfUrl } from '../shell/search-params.js';

const AT_THE_LEFT = { alignSelf: 'flex-start' } as const;

interface ChartPanelProps {
  title: string;
  /** Owner of the figures; absent where the page says so. */
  scope?: string | undefined;
  /** The chart as a table, with the same links. */
  table: ReactNode;
  children: ReactNode;
}

/** A chart, and on demand its table. */
export function ChartPanel({ title, scope, table, children }: ChartPanelProps): ReactNode {
  const [url, change] = useParamsOfUrl();
  const isTable = url.table === 'yes';
  return (
    <Panel title={title} scope={scope}>
      {children}
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        my="xs"
        style={AT_THE_LEFT}
        aria-expanded={isTable}
        onClick={() => change({ table: isTable ? null : 'yes' })}
      >
        The chart as a table
      </Button>
      {isTable && table}
    </Panel>
  );
}
