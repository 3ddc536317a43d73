import { Button, Group, Text, Tooltip } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { count } from '../format/time.js';
import { useExport, type ExportFilter } from './export.queries.js';
import { useOrg } from './org.queries.js';

/** Writes what the filter finds to the disk, and says how many rows that is. */
export function ExportButton({ filter }: { filter: ExportFilter }): ReactNode {
  const { id } = useOrg();
  const file = useExport(id);
  const said = file.isSuccess ? rowsOf(file.data.rows) : (file.error?.message ?? '');
  return (
    <Group gap={said === '' ? 0 : 'xs'} wrap="nowrap">
      <Text size="sm" c="dimmed" role="status">
        {said}
      </Text>
      <Tooltip label="Everything that the filter finds, as it is shown">
        <Button
          variant="default"
          leftSection={<IconDownload size={16} />}
          loading={file.isPending}
          onClick={() => file.mutate(filter, { onSuccess: ({ url }) => location.assign(url) })}
        >
          Export CSV
        </Button>
      </Tooltip>
    </Group>
  );
}

function rowsOf(rows: number): string {
  return rows === 1 ? '1 row' : `${count(rows)} rows`;
}
